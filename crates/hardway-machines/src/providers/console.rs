//! What a machine's serial log tells of it.
//!
//! Only the kernel's and the installer's own words count, and only those that no other part of the boot says:
//!
//! ```text
//! coreos.liveiso=     on the kernel's command line: it has started from its medium (coreos/coreos-assembler src/cmd-buildextend-live)
//! Install complete    the disk is written (coreos/coreos-installer src/install.rs); a restart follows
//! ostree=             on the kernel's command line: it has started from its disk (ostreedev/ostree, ostree-prepare-root(1))
//! ```

use hardway_journal::Sight;

/// By what a program such as `grep -aohE` finds them, in the order in which they were said.
pub(super) const MARKS: &str = "coreos\\.liveiso=|Install complete|[ ]ostree=";

/// What the last of them tells; `found` has one per line.
pub(super) fn sight(found: &str) -> Option<Sight> {
    found.lines().rev().find_map(|line| match line.trim() {
        "Install complete" => Some(Sight::OsWritten),
        "coreos.liveiso=" => Some(Sight::Live),
        "ostree=" => Some(Sight::Rebooted),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_counts() {
        assert_eq!(sight(""), None);
        assert_eq!(sight("coreos.liveiso=\n"), Some(Sight::Live));
        assert_eq!(sight("coreos.liveiso=\ncoreos.liveiso=\nInstall complete\n"), Some(Sight::OsWritten));
        assert_eq!(sight("coreos.liveiso=\nInstall complete\n ostree=\n"), Some(Sight::Rebooted));
        assert_eq!(
            sight("Install complete\ncoreos.liveiso=\n"),
            Some(Sight::Live),
            "it installs itself again"
        );
    }
}
