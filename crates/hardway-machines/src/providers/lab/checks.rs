//! What a lab asks of this host before anything is built.

use std::path::{Path, PathBuf};

use hardway_base::Judged;
use serde_json::Value;

use super::{WATCHES_OF_A_MACHINE, site};
use crate::check::{CheckedSite, NoAnswer, SHORT, ask_program, find_program};

// Who runs hardway.

pub(super) fn root(_: &CheckedSite<'_>) -> Judged {
    judge_root(rustix::process::geteuid().as_raw())
}

/// The lab makes network namespaces and privileged containers.
fn judge_root(user: u32) -> Judged {
    match user {
        0 => Judged::passed("running as root"),
        user => {
            Judged::refused(format!("running as user {user}, but the lab needs root"), "run it with sudo")
        }
    }
}

// podman, and the program with which it starts containers.

/// What is known of containers here.
#[derive(Clone, Debug)]
struct Runtime {
    podman: Result<Value, NoAnswer>,
    is_cgroup_v2: bool,
    has_runc: bool,
}

pub(super) fn container_runtime(_: &CheckedSite<'_>) -> Judged {
    judge_runtime(&Runtime {
        podman: podman_info(),
        is_cgroup_v2: Path::new("/sys/fs/cgroup/cgroup.controllers").exists(),
        has_runc: find_program("runc").is_some(),
    })
}

/// Where podman keeps images and volumes.
pub(super) fn storage_folder() -> Result<PathBuf, NoAnswer> {
    let info = podman_info()?;
    Ok(PathBuf::from(info["store"]["volumePath"].as_str().unwrap_or("/var/lib/containers/storage/volumes")))
}

fn podman_info() -> Result<Value, NoAnswer> {
    let text = ask_program("podman", &["info", "--format=json"], SHORT)?;
    serde_json::from_str(&text)
        .map_err(|error| NoAnswer::Failed { status: format!("not JSON: {error}"), said: String::new() })
}

/// crun starts no container with systemd where cgroups are of version 1, or of both versions.
fn judge_runtime(runtime: &Runtime) -> Judged {
    match &runtime.podman {
        // That it is missing is said by another check.
        Err(NoAnswer::Missing) => Judged::not_applicable("podman is missing: see programs"),
        Err(why) => Judged::refused(
            format!("podman info: {why}"),
            "make `podman info` work first: what it says is the reason",
        ),
        Ok(_) if !runtime.is_cgroup_v2 && !runtime.has_runc => Judged::refused(
            "this host uses cgroups v1, with which crun does not work, and runc is missing",
            "install runc, on Debian with: apt install runc",
        ),
        Ok(info) => {
            let version = info["version"]["Version"].as_str().unwrap_or("of unknown version");
            let (runtime, cgroups) = if runtime.is_cgroup_v2 {
                (info["host"]["ociRuntime"]["name"].as_str().unwrap_or("its default runtime"), 2)
            } else {
                ("runc", 1)
            };
            Judged::passed(format!("podman {version} with {runtime}, cgroups v{cgroups}"))
        }
    }
}

// How many watchers of files a user may have. All machines of the lab are one user's.

pub(super) const INOTIFY_LIMIT: &str = "/proc/sys/fs/inotify/max_user_instances";

pub(super) fn inotify(site: &CheckedSite<'_>) -> Judged {
    let limit = fs_err::read_to_string(INOTIFY_LIMIT).ok().and_then(|text| text.trim().parse().ok());
    // Only root may set it; whoever is not is told so by another check.
    let is_writable = fs_err::OpenOptions::new().write(true).open(INOTIFY_LIMIT).is_ok();
    judge_inotify(limit, is_writable, site.cluster.inventory.hosts.len())
}

fn judge_inotify(limit: Option<usize>, is_writable: bool, machines: usize) -> Judged {
    let needed = machines * WATCHES_OF_A_MACHINE as usize;
    let fix = format!("sysctl -w fs.inotify.max_user_instances={}", needed * 2);
    match limit {
        None => Judged::warned(vec![format!("{INOTIFY_LIMIT} cannot be read")], fix),
        Some(limit) if limit < needed && is_writable => Judged::passed(format!(
            "the limit of inotify instances is {limit}, {needed} are needed: build-infra raises it, destroy restores it"
        )),
        Some(limit) if limit < needed => Judged::refused(
            format!("the limit of inotify instances is {limit}; {machines} machines need {needed}"),
            fix,
        ),
        Some(limit) => {
            Judged::passed(format!("the limit of inotify instances is {limit}, {needed} are needed"))
        }
    }
}

// What the lab wants of the kernel, tried out in namespaces that are gone afterwards.

/// Each line it prints is a feature, and what went wrong with it, if anything.
const SCRIPT: &str = r#"
try() { name=$1; shift; if said=$("$@" 2>&1); then echo "$name"; else echo "$name: $(printf %s "$said" | tail -n 1)"; fi; }
overlay() {
  mount -t tmpfs tmpfs /mnt && mkdir /mnt/lower /mnt/upper /mnt/work /mnt/all &&
    mount -t overlay overlay -o lowerdir=/mnt/lower,upperdir=/mnt/upper,workdir=/mnt/work /mnt/all
}
bridge_filter() {
  test -e /proc/sys/net/bridge/bridge-nf-call-iptables || modprobe br_netfilter
}
rules() {
  if command -v nft >/dev/null; then nft add table ip hardway_check && nft add chain ip hardway_check out '{ type nat hook postrouting priority 100; }'
  elif command -v iptables >/dev/null; then iptables --table nat --new-chain HARDWAY-CHECK
  fi
}
try overlay overlay
try veth ip link add hardway-check type veth peer name hardway-peer
try bridge ip link add hardway-bridge type bridge
try br_netfilter bridge_filter
try nat rules
"#;

/// What every line of the script should be about.
const FEATURES: [&str; 5] = ["overlay", "veth", "bridge", "br_netfilter", "nat"];

pub(super) fn kernel(_: &CheckedSite<'_>) -> Judged {
    if !rustix::process::geteuid().is_root() {
        return Judged::not_applicable("only root can test it: see root");
    }
    judge_kernel(&ask_program(
        "unshare",
        &["--net", "--mount", "--propagation=private", "sh", "-c", SCRIPT],
        SHORT,
    ))
}

fn judge_kernel(printed: &Result<String, NoAnswer>) -> Judged {
    let fix = "load the modules (modprobe NAME), or use a kernel that has them; in a container, do so on the outer host";
    let text = match printed {
        Ok(text) => text,
        Err(NoAnswer::Missing) => return Judged::not_applicable("unshare is missing: see programs"),
        Err(why) => return Judged::refused(format!("cannot create a namespace: {why}"), fix),
    };
    let line_of = |feature: &str| text.lines().find(|line| line.split(':').next() == Some(feature));
    let wrong: Vec<String> = FEATURES
        .iter()
        .filter_map(|feature| match line_of(feature) {
            Some(line) if line == *feature => None,
            Some(line) => Some(line.to_owned()),
            None => Some(format!("{feature}: not tested")),
        })
        .collect();
    Judged::of(wrong, Vec::new(), fix, format!("{} work", FEATURES.join(", ")))
}

// The scripts that make the lab.

/// Those that the provider starts.
const FILES: [&str; 7] = [
    "build.sh",
    "clean.sh",
    "common.sh",
    "network/service.sh",
    "node/boot.sh",
    "node/define.sh",
    "node/remove.sh",
];

pub(super) fn lab_files(_: &CheckedSite<'_>) -> Judged {
    judge_files(site::files().as_deref(), Path::is_file)
}

fn judge_files(folder: Option<&Path>, is_there: impl Fn(&Path) -> bool) -> Judged {
    let fix = site::find_files();
    let Some(folder) = folder else { return Judged::refused("the lab's scripts are not found", fix) };
    let missing = FILES.iter().map(|file| folder.join(file)).filter(|file| !is_there(file));
    let wrong = missing.map(|file| format!("{} is missing", file.display())).collect();
    Judged::of(wrong, Vec::new(), fix, folder.display().to_string())
}

#[cfg(test)]
mod tests {
    use hardway_base::Verdict;
    use serde_json::json;

    use super::*;

    #[test]
    fn only_root_will_do() {
        assert_eq!(judge_root(0).verdict, Verdict::Passed);
        let user = judge_root(1000);
        assert_eq!((user.verdict, user.seen[0].contains("user 1000")), (Verdict::Failed, true));
    }

    #[test]
    fn version_1_wants_runc() {
        let info = json!({"version": {"Version": "4.3.1"}, "host": {"ociRuntime": {"name": "crun"}}});
        let good = Runtime { podman: Ok(info), is_cgroup_v2: false, has_runc: true };
        assert_eq!(judge_runtime(&good).seen, ["podman 4.3.1 with runc, cgroups v1"]);
        let newer = Runtime { is_cgroup_v2: true, has_runc: false, ..good.clone() };
        assert_eq!(judge_runtime(&newer).seen, ["podman 4.3.1 with crun, cgroups v2"]);
        let without = judge_runtime(&Runtime { has_runc: false, ..good.clone() });
        assert_eq!((without.verdict, without.seen[0].contains("runc is missing")), (Verdict::Failed, true));
        let said = "database is locked".to_owned();
        let broken = Err(NoAnswer::Failed { status: "exit status: 125".to_owned(), said });
        assert_eq!(
            judge_runtime(&Runtime { podman: broken, ..good }).seen,
            ["podman info: database is locked"]
        );
    }

    #[test]
    fn too_few_comes_with_the_command() {
        assert_eq!(judge_inotify(Some(192), false, 6).verdict, Verdict::Passed);
        assert_eq!(judge_inotify(Some(128), true, 6).verdict, Verdict::Passed);
        let few = judge_inotify(Some(128), false, 6);
        assert_eq!(few.seen, ["the limit of inotify instances is 128; 6 machines need 192"]);
        assert_eq!(few.fix.as_deref(), Some("sysctl -w fs.inotify.max_user_instances=384"));
        assert_eq!((few.verdict, judge_inotify(None, false, 6).verdict), (Verdict::Failed, Verdict::Warned));
    }

    #[test]
    fn every_feature_can_be_the_one_that_is_missing() {
        let good = || FEATURES.join("\n");
        assert_eq!(judge_kernel(&Ok(good())).verdict, Verdict::Passed);
        for feature in FEATURES {
            let refused = format!("{feature}: Error: Unknown device type.");
            let lines: Vec<String> = FEATURES
                .iter()
                .map(|line| if *line == feature { refused.clone() } else { (*line).to_owned() })
                .collect();
            let judged = judge_kernel(&Ok(lines.join("\n")));
            assert_eq!((judged.verdict, judged.seen), (Verdict::Failed, vec![refused]));
        }
        let denied = NoAnswer::Failed {
            status: "exit status: 1".to_owned(),
            said: "Operation not permitted".to_owned(),
        };
        assert!(judge_kernel(&Err(denied)).seen[0].contains("Operation not permitted"));
    }

    #[test]
    fn the_missing_file_is_named() {
        let folder = Path::new("/src/lab");
        assert_eq!(judge_files(Some(folder), |_| true).verdict, Verdict::Passed);
        let gone = judge_files(Some(folder), |file| !file.ends_with("node/boot.sh"));
        assert_eq!(
            (gone.verdict, gone.seen),
            (Verdict::Failed, vec!["/src/lab/node/boot.sh is missing".to_owned()])
        );
        assert_eq!(judge_files(None, |_| true).verdict, Verdict::Failed);
    }
}
