//! Podman on this host: how it is called, and what it needs to pull the operator's image as the nodes will pull it.

use std::fmt;
use std::fmt::Write as _;

use hardway_assets::{Cluster, File};

pub(super) const AUTH: &str = "auth.json";
pub(super) const REGISTRIES: &str = "registries.conf";
pub(super) const TRUST: &str = "trust-bundle.crt";
/// Bit of CAP_SYS_RESOURCE (linux/capability.h).
const SYS_RESOURCE: u32 = 24;

/// How podman is called on this host.
#[derive(Clone, PartialEq, Eq)]
pub struct Podman {
    /// Name or path of the program.
    pub program: String,
    /// Options before `run`, such as `--runtime=runc`.
    pub options: Vec<String>,
    /// Options of `run`, such as `--ulimit=nofile=20000:20000` where the host allows no more.
    pub run_options: Vec<String>,
    /// Registries (`host:port`) that are asked without TLS. Nobody else is.
    pub plain_http: Vec<String>,
    /// Environment variables for the way to registries, such as `HTTPS_PROXY`. Logins in them are not shown.
    pub environment: Vec<(String, String)>,
}

impl Default for Podman {
    fn default() -> Self {
        Self {
            program: "podman".to_owned(),
            options: Vec::new(),
            run_options: Vec::new(),
            plain_http: Vec::new(),
            environment: Vec::new(),
        }
    }
}

// By hand: the password of a proxy may be in the environment.
impl fmt::Debug for Podman {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.environment.iter().map(|(name, _)| name).collect();
        write!(f, "Podman({} {:?} {:?} {names:?})", self.program, self.options, self.run_options)
    }
}

/// Options of `podman run` that this host needs, from its `/proc/self/status`, `/proc/self/limits` and
/// `/proc/sys/kernel/pid_max`. None where podman may do as it likes, or where these texts say nothing. The lab's scripts go by the same
/// rule (`podman_limits` in `lab/common.sh`), and a test holds both together.
///
/// Run by root, podman gives containers a million open files and processes, which takes CAP_SYS_RESOURCE. Root in a
/// container or on a build host may lack it, and then no container starts: `error setting rlimit`. Rootless podman keeps
/// to its own limits by itself.
pub fn run_options(status: &str, limits: &str, pid_max: &str) -> Vec<String> {
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

/// The files, those left out that the cluster has no use for.
pub(super) fn host_files(cluster: &Cluster, podman: &Podman) -> Vec<File> {
    let config = &cluster.config;
    let mut files = vec![File::secret(AUTH, config.pull_secret.expose())];
    files.extend(registries_conf(cluster, podman).map(|text| File::public(REGISTRIES, text)));
    if !config.additional_trust_bundle.is_empty() {
        files.push(File::public(TRUST, config.additional_trust_bundle.as_str()));
    }
    files
}

/// containers-registries.conf(5), second version; nothing where images come from where their names say, by TLS. Sources
/// that stand twice become one with all their mirrors, because podman refuses a location that stands twice.
pub(super) fn registries_conf(cluster: &Cluster, podman: &Podman) -> Option<String> {
    let config = &cluster.config;
    let mut sources: Vec<(&str, bool, Vec<&str>)> = Vec::new();
    let entries = config.image_digest_sources.iter().chain(&config.image_content_sources);
    for entry in entries.filter(|entry| !entry.mirrors.is_empty()) {
        let at = sources.iter().position(|(source, ..)| *source == entry.source).unwrap_or_else(|| {
            sources.push((&entry.source, false, Vec::new()));
            sources.len() - 1
        });
        sources[at].1 |= entry.source_policy == "NeverContactSource";
        sources[at].2.extend(entry.mirrors.iter().map(String::as_str));
    }
    let insecure = |location: &str| {
        let registry = location.split('/').next().unwrap_or_default();
        if podman.plain_http.iter().any(|plain| plain == registry) { "insecure = true\n" } else { "" }
    };
    let mut text = String::new();
    for registry in &podman.plain_http {
        if !sources.iter().any(|(source, ..)| source == registry) {
            let _ = write!(text, "[[registry]]\nlocation = {registry:?}\ninsecure = true\n");
        }
    }
    for (source, is_blocked, mirrors) in &sources {
        let _ = write!(
            text,
            "[[registry]]\nlocation = {source:?}\nmirror-by-digest-only = true\nblocked = {is_blocked}\n{}",
            insecure(source)
        );
        for mirror in mirrors {
            let _ = write!(text, "[[registry.mirror]]\nlocation = {mirror:?}\n{}", insecure(mirror));
        }
    }
    (!text.is_empty()).then_some(text)
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
        assert_eq!(run_options(&status(0, "000001fffeffffff"), LIMITS, PID_MAX), bounded);
        let many = run_options(&status(0, "0"), LIMITS, "4194304\n");
        assert_eq!(many[1], "--ulimit=nproc=96349:96349");
        for (uid, capabilities) in [(0, "000001ffffffffff"), (1000, "0000000000000000")] {
            assert!(
                run_options(&status(uid, capabilities), LIMITS, PID_MAX).is_empty(),
                "{uid} {capabilities}"
            );
        }
        assert!(run_options("", "", "").is_empty());
        let unlimited = "Max open files            unlimited            unlimited            files\n";
        assert_eq!(run_options(&status(0, "0"), unlimited, PID_MAX), ["--ulimit=nproc=32768:32768"]);
    }

    #[test]
    fn the_labs_scripts_say_the_same_of_this_host() {
        let text = |path: &str| fs_err::read_to_string(path).unwrap();
        let ours = run_options(
            &text("/proc/self/status"),
            &text("/proc/self/limits"),
            &text("/proc/sys/kernel/pid_max"),
        );
        let common = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab/common.sh");
        let labs = hardway_testing::succeed(std::process::Command::new("bash").args([
            "-c",
            "source \"$1\"; podman_limits",
            "bash",
            common,
        ]));
        // The runtime is the lab's alone: elsewhere it is for the host's own configuration to say.
        let labs: Vec<&str> = labs.lines().filter(|option| !option.starts_with("--runtime=")).collect();
        assert_eq!(ours, labs);
    }
}
