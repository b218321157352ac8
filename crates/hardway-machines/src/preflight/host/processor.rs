//! Whether the processor is new enough for the system that runs on the machines.

use super::{is_remote, libvirt_uri};
use crate::preflight::check_result::Judged;
use crate::preflight::scene::Scene;

/// What x86-64-v2 adds (x86-64 psABI, table 3.1), by the kernel's names. RHEL 9 is built for it.
const NEEDED: [&str; 7] = ["cx16", "lahf_lm", "pni", "popcnt", "sse4_1", "sse4_2", "ssse3"];

pub(in crate::preflight) fn processor(scene: &Scene<'_>) -> Judged {
    let architecture = &scene.site.cluster.config.control_plane.architecture;
    if is_remote(libvirt_uri(scene)) {
        return Judged::not_applicable("the machines are on another host");
    }
    if architecture != "amd64" {
        return Judged::not_applicable(format!("nothing is asked of {architecture}"));
    }
    judge(&fs_err::read_to_string("/proc/cpuinfo").unwrap_or_default())
}

/// The flags of the first processor.
pub(super) fn flags(cpuinfo: &str) -> Vec<&str> {
    let line = cpuinfo.lines().find_map(|line| line.strip_prefix("flags"));
    line.and_then(|line| line.split_once(':'))
        .map_or_else(Vec::new, |(_, flags)| flags.split_whitespace().collect())
}

fn judge(cpuinfo: &str) -> Judged {
    let flags = flags(cpuinfo);
    let missing: Vec<&str> = NEEDED.iter().copied().filter(|flag| !flags.contains(flag)).collect();
    if missing.is_empty() {
        return Judged::passed("the processor has all of x86-64-v2");
    }
    Judged::refused(
        format!("the processor lacks {} of x86-64-v2", missing.join(", ")),
        "take another host; if this one is a virtual machine, give it the CPU model host-passthrough",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::Verdict;

    #[test]
    fn every_flag_can_be_the_one_that_is_missing() {
        let with =
            |flags: &[&str]| format!("processor\t: 0\nflags\t\t: fpu {}\nbugs\t\t: none\n", flags.join(" "));
        assert_eq!(judge(&with(&NEEDED)).verdict, Verdict::Passed);
        for gone in NEEDED {
            let rest: Vec<&str> = NEEDED.iter().copied().filter(|flag| *flag != gone).collect();
            let judged = judge(&with(&rest));
            assert_eq!(judged.seen, [format!("the processor lacks {gone} of x86-64-v2")]);
            assert_eq!(judged.verdict, Verdict::Failed);
        }
    }
}
