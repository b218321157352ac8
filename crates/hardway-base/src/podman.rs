//! What podman has to be told so that a container starts on this host at all.
//!
//! Run by root, podman gives containers a million open files and processes, which takes CAP_SYS_RESOURCE. Root in a container or on
//! a build host may lack it, and then no container starts: `error setting rlimit`. Rootless podman keeps to its own limits by itself.

/// Bit of CAP_SYS_RESOURCE (linux/capability.h).
const SYS_RESOURCE: u32 = 24;

/// Options of `podman run` for the limits of this process.
#[cfg(feature = "files")]
pub fn limits_here() -> Vec<String> {
    let text = |path: &str| fs_err::read_to_string(path).unwrap_or_default();
    limits(&text("/proc/self/status"), &text("/proc/self/limits"), &text("/proc/sys/kernel/pid_max"))
}

/// The runtime for this host: crun, podman's own choice, does not work with cgroups of version 1.
#[cfg(feature = "files")]
pub fn runtime_here() -> Option<String> {
    let is_unified = std::path::Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
    (!is_unified).then(|| "--runtime=runc".to_owned())
}

/// The same from `/proc/self/status`, `/proc/self/limits` and `/proc/sys/kernel/pid_max`. None where podman may do as it likes, or
/// where these texts say nothing.
pub fn limits(status: &str, limits: &str, pid_max: &str) -> Vec<String> {
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
    // Of processes podman itself keeps no more than there are process ids.
    if let Some(most) =
        hard_limit(limits, "Max processes").into_iter().chain(pid_max.trim().parse().ok()).min()
    {
        options.push(format!("--ulimit=nproc={most}:{most}"));
    }
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

    const PID_MAX: &str = "32768\n";

    #[test]
    fn only_root_without_the_right_to_raise_limits_needs_options() {
        let bounded = ["--ulimit=nofile=20000:20000", "--ulimit=nproc=32768:32768"];
        assert_eq!(limits(&status(0, "000001fffeffffff"), LIMITS, PID_MAX), bounded);
        let many = limits(&status(0, "0"), LIMITS, "4194304\n");
        assert_eq!(many[1], "--ulimit=nproc=96349:96349");
        for (uid, capabilities) in [(0, "000001ffffffffff"), (1000, "0000000000000000")] {
            assert!(limits(&status(uid, capabilities), LIMITS, PID_MAX).is_empty(), "{uid} {capabilities}");
        }
        assert!(limits("", "", "").is_empty());
        let unlimited = "Max open files            unlimited            unlimited            files\n";
        assert_eq!(limits(&status(0, "0"), unlimited, PID_MAX), ["--ulimit=nproc=32768:32768"]);
    }
}
