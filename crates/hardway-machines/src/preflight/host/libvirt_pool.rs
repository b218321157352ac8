//! Where disks and install media of virtual machines lie.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::{is_remote, libvirt_uri};
use crate::preflight::asked_program::{NoAnswer, SHORT, ask_program};
use crate::preflight::check_result::Judged;
use crate::preflight::scene::Scene;

/// Where libvirt's own pool is, and below which build-infra makes others.
const USUAL: &str = "/var/lib/libvirt/images";

/// A pool.
#[derive(Clone, Debug)]
struct Pool {
    name: String,
    /// What `virsh pool-info` says.
    info: Result<String, NoAnswer>,
    folder: PathBuf,
    /// Each folder on the way, with its permissions.
    way: Vec<(PathBuf, u32)>,
}

pub(in crate::preflight) fn libvirt_pool(scene: &Scene<'_>) -> Judged {
    let (uri, name) = (libvirt_uri(scene), pool_name(scene));
    let info = ask_program("virsh", &["-c", uri, "pool-info", name], SHORT);
    let folder = pool_folder(scene).unwrap_or_else(|_| to_be_made(scene));
    let way = if is_remote(uri) { Vec::new() } else { way(&folder) };
    judge(&Pool { name: name.to_owned(), info, folder, way })
}

/// The folder of the pool that the inventory names; the usual one where build-infra has yet to make it. An error where libvirt
/// does not answer.
pub(in crate::preflight) fn pool_folder(scene: &Scene<'_>) -> Result<PathBuf, NoAnswer> {
    let text = ask_program("virsh", &["-c", libvirt_uri(scene), "pool-dumpxml", pool_name(scene)], SHORT);
    match text {
        Ok(xml) => Ok(path_in(&xml).unwrap_or_else(|| to_be_made(scene))),
        Err(NoAnswer::Failed { said, .. }) if !said.contains("failed to connect") => Ok(to_be_made(scene)),
        Err(why) => Err(why),
    }
}

fn to_be_made(scene: &Scene<'_>) -> PathBuf {
    let own = match pool_name(scene) {
        "default" => PathBuf::from(USUAL),
        name => Path::new(USUAL).join(name),
    };
    scene.setting("poolPath").map_or(own, PathBuf::from)
}

fn pool_name<'a>(scene: &'a Scene<'_>) -> &'a str {
    scene.setting("pool").unwrap_or("default")
}

/// `<target><path>…</path>`
fn path_in(xml: &str) -> Option<PathBuf> {
    let (_, target) = xml.split_once("<target>")?;
    let (_, path) = target.split_once("<path>")?;
    Some(PathBuf::from(path.split_once("</path>")?.0.trim()))
}

fn way(folder: &Path) -> Vec<(PathBuf, u32)> {
    let there = folder
        .ancestors()
        .filter_map(|folder| Some((folder.to_owned(), fs_err::metadata(folder).ok()?.mode())));
    there.collect()
}

/// qemu runs as a user of its own: each folder on the way must let everybody through.
fn judge(pool: &Pool) -> Judged {
    let Pool { name, info, folder, way } = pool;
    let shut = way.iter().filter(|(_, mode)| mode & 0o001 == 0).map(|(folder, mode)| {
        format!("{} (mode {:o}) keeps the qemu user out of pool {name}", folder.display(), mode & 0o7777)
    });
    let wrong: Vec<String> = shut.collect();
    if !wrong.is_empty() {
        let first = way.iter().find(|(_, mode)| mode & 0o001 == 0).map_or(folder, |(folder, _)| folder);
        let fix = format!("chmod o+x {}, or a pool elsewhere, such as {USUAL}", first.display());
        return Judged::failed(wrong, fix);
    }
    match info {
        Err(NoAnswer::Missing) => Judged::not_applicable("virsh is missing: see programs"),
        Err(why) if why.to_string().contains("failed to connect") => {
            Judged::not_applicable("libvirt does not answer: see libvirt")
        }
        Err(_) => Judged::passed(format!("there is no pool {name} yet: build-infra makes it")),
        Ok(info) if !info.lines().any(|line| line.starts_with("State:") && line.ends_with("running")) => {
            Judged::passed(format!("pool {name} does not run yet: build-infra starts it"))
        }
        Ok(_) => Judged::passed(format!("pool {name} runs, in {}", folder.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::Verdict;

    fn good() -> Pool {
        let folder = PathBuf::from("/home/me/images");
        let way =
            ["/home/me/images", "/home/me", "/home", "/"].map(|folder| (PathBuf::from(folder), 0o40755));
        let info = Ok("Name:           ocp4\nState:          running\n".to_owned());
        Pool { name: "ocp4".to_owned(), info, folder, way: way.into() }
    }

    #[test]
    fn the_folder_that_is_shut_is_named() {
        assert_eq!(judge(&good()).verdict, Verdict::Passed);
        let mut shut = good();
        shut.way[1].1 = 0o40700;
        let shut = judge(&shut);
        assert_eq!(shut.seen, ["/home/me (mode 700) keeps the qemu user out of pool ocp4"]);
        assert!(shut.fix.unwrap().starts_with("chmod o+x /home/me,"));
    }

    #[test]
    fn a_pool_that_does_not_run_or_is_not_there_is_build_infras() {
        let stopped = Pool { info: Ok("State:          inactive\n".to_owned()), ..good() };
        assert_eq!(judge(&stopped).seen, ["pool ocp4 does not run yet: build-infra starts it"]);
        let said = "error: Storage pool not found: no storage pool with matching name 'ocp4'".to_owned();
        let absent = Pool { info: Err(NoAnswer::Failed { status: String::new(), said }), ..good() };
        assert_eq!(judge(&absent).verdict, Verdict::Passed);
    }

    #[test]
    fn the_path_is_that_of_the_target() {
        let xml = "<pool><source><path>no</path></source><target>\n<path>/srv/vm</path></target></pool>";
        assert_eq!(path_in(xml), Some(PathBuf::from("/srv/vm")));
        assert_eq!(path_in("<pool/>"), None);
    }
}
