//! podman, and the program with which it starts containers.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::preflight::asked_program::{NoAnswer, SHORT, ask_program, find_program};
use crate::preflight::check_result::Judged;
use crate::preflight::scene::Scene;

/// What is known of containers here.
#[derive(Clone, Debug)]
struct Runtime {
    podman: Result<Value, NoAnswer>,
    is_cgroup_v2: bool,
    has_runc: bool,
}

pub(in crate::preflight) fn container_runtime(_: &Scene<'_>) -> Judged {
    judge(&Runtime {
        podman: podman_info(),
        is_cgroup_v2: Path::new("/sys/fs/cgroup/cgroup.controllers").exists(),
        has_runc: find_program("runc").is_some(),
    })
}

/// Where podman keeps images and volumes.
pub(in crate::preflight) fn storage_folder() -> Result<PathBuf, NoAnswer> {
    let info = podman_info()?;
    Ok(PathBuf::from(info["store"]["volumePath"].as_str().unwrap_or("/var/lib/containers/storage/volumes")))
}

fn podman_info() -> Result<Value, NoAnswer> {
    let text = ask_program("podman", &["info", "--format=json"], SHORT)?;
    serde_json::from_str(&text)
        .map_err(|error| NoAnswer::Failed { status: format!("no JSON: {error}"), said: String::new() })
}

/// crun starts no container with systemd where cgroups are of version 1, or of both versions.
fn judge(runtime: &Runtime) -> Judged {
    match &runtime.podman {
        // That it is missing is said by another check.
        Err(NoAnswer::Missing) => Judged::not_applicable("podman is missing: see programs"),
        Err(why) => Judged::refused(
            format!("podman info: {why}"),
            "make `podman info` work first; `podman system reset` starts anew, without any image or container",
        ),
        Ok(_) if !runtime.is_cgroup_v2 && !runtime.has_runc => Judged::refused(
            "this host has cgroups of version 1, with which crun does not work, and runc is missing",
            "install runc, on Debian with: apt install runc",
        ),
        Ok(info) => {
            let version = info["version"]["Version"].as_str().unwrap_or("of unknown version");
            let (runtime, cgroups) = if runtime.is_cgroup_v2 {
                (info["host"]["ociRuntime"]["name"].as_str().unwrap_or("its default runtime"), 2)
            } else {
                ("runc", 1)
            };
            Judged::passed(format!("podman {version} with {runtime}, cgroups of version {cgroups}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::preflight::Verdict;

    #[test]
    fn version_1_wants_runc() {
        let info = json!({"version": {"Version": "4.3.1"}, "host": {"ociRuntime": {"name": "crun"}}});
        let good = Runtime { podman: Ok(info), is_cgroup_v2: false, has_runc: true };
        assert_eq!(judge(&good).seen, ["podman 4.3.1 with runc, cgroups of version 1"]);
        let newer = Runtime { is_cgroup_v2: true, has_runc: false, ..good.clone() };
        assert_eq!(judge(&newer).seen, ["podman 4.3.1 with crun, cgroups of version 2"]);
        let without = judge(&Runtime { has_runc: false, ..good.clone() });
        assert_eq!((without.verdict, without.seen[0].contains("runc is missing")), (Verdict::Failed, true));
        let said = "database is locked".to_owned();
        let broken = Err(NoAnswer::Failed { status: "exit status: 125".to_owned(), said });
        assert_eq!(judge(&Runtime { podman: broken, ..good }).seen, ["podman info: database is locked"]);
    }
}
