//! Limits that podman may not raise here.
//!
//! Run by root, podman gives containers a million open files and processes, which takes CAP_SYS_RESOURCE. Root in a
//! container or on a build host may lack it, and then no container starts: `error setting rlimit`. Rootless podman keeps
//! to its own limits by itself.

/// Plenty for the two commands, and within what podman itself may set.
const PROCESSES: u64 = 4096;
/// Bit of CAP_SYS_RESOURCE (linux/capability.h).
const SYS_RESOURCE: u32 = 24;

/// Options of `podman run` that this host needs, from its `/proc/self/status` and `/proc/self/limits`. None where podman
/// may do as it likes, or where these texts say nothing.
pub fn run_options(status: &str, limits: &str) -> Vec<String> {
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_whitespace().next()
    };
    let is_root = field("Uid") == Some("0");
    let capabilities = field("CapEff").and_then(|text| u64::from_str_radix(text, 16).ok());
    let may_raise = capabilities.is_none_or(|set| set >> SYS_RESOURCE & 1 == 1);
    if !is_root || may_raise {
        return Vec::new();
    }
    let mut options = Vec::new();
    if let Some(most) = hard_limit(limits, "Max open files") {
        options.push(format!("--ulimit=nofile={most}:{most}"));
    }
    let most = hard_limit(limits, "Max processes").unwrap_or(PROCESSES).min(PROCESSES);
    options.push(format!("--ulimit=nproc={most}:{most}"));
    options
}

/// The third column: `Max open files   1024   20000   files`. Nothing where it is unlimited.
fn hard_limit(limits: &str, name: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: &str = "Limit                     Soft Limit           Hard Limit           Units     \n\
                          Max processes             96349                96349                processes \n\
                          Max open files            1024                 20000                files     \n";

    fn status(uid: u32, capabilities: &str) -> String {
        format!("Name:\thardway\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\nCapEff:\t{capabilities}\n")
    }

    #[test]
    fn only_root_without_the_right_to_raise_limits_needs_options() {
        let bounded = ["--ulimit=nofile=20000:20000", "--ulimit=nproc=4096:4096"];
        assert_eq!(run_options(&status(0, "000001fffeffffff"), LIMITS), bounded);
        for (uid, capabilities) in [(0, "000001ffffffffff"), (1000, "0000000000000000")] {
            assert!(run_options(&status(uid, capabilities), LIMITS).is_empty(), "{uid} {capabilities}");
        }
        assert!(run_options("", "").is_empty());
        let unlimited = "Max open files            unlimited            unlimited            files\n";
        assert_eq!(run_options(&status(0, "0"), unlimited), ["--ulimit=nproc=4096:4096"]);
    }
}
