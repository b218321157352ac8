//! Room for the machines' disks.

use std::io;
use std::path::{Path, PathBuf};

use hardway_assets::Cluster;

use super::machine_sizes::least;
use crate::preflight::Judged;
use crate::preflight::scene::Scene;
use crate::providers::{Footprint, Ground, descriptor};

const GIB: u64 = 1 << 30;
/// What a fresh node has written when its images are there. Disks grow as they are written.
const WRITTEN: u64 = 25 * GIB;

/// How much is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Room {
    /// Without which an install does not end.
    least: u64,
    /// When every disk is full.
    most: u64,
}

pub(in crate::preflight) fn disk_space(scene: &Scene<'_>) -> Judged {
    let folder = match machines_folder(scene) {
        Ok(folder) => folder,
        Err(judged) => return judged,
    };
    let free = rustix::fs::statvfs(&folder).map(|found| found.f_bavail * found.f_frsize);
    judge(&folder, room(scene.site.cluster), free.map_err(io::Error::from))
}

/// Where disks of machines on this host will lie, or the nearest folder above that is there; the verdict of a check where
/// there is none on this host.
pub(super) fn machines_folder(scene: &Scene<'_>) -> Result<PathBuf, Judged> {
    if scene.ground() == Ground::Elsewhere {
        return Err(Judged::not_applicable("the machines are on another host"));
    }
    let folder = (scene.surroundings().disks)(&scene.checked)?;
    Ok(folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/")).to_owned())
}

fn room(cluster: &Cluster) -> Room {
    let hosts = &cluster.inventory.hosts;
    let count = hosts.len() as u64;
    let footprint = descriptor(cluster.inventory.machines.provider).surroundings.footprint;
    if let Footprint::Measured { disk: [a_machine, around], .. } = footprint {
        let all = count * a_machine + around;
        return Room { least: all, most: all };
    }
    let sizes = hosts.iter().map(|host| u64::from(host.disk_gib.unwrap_or(least(host.role).disk_gib)) * GIB);
    Room { least: count * WRITTEN, most: sizes.sum() }
}

fn judge(folder: &Path, room: Room, free: io::Result<u64>) -> Judged {
    let folder = folder.display();
    let fix = "free some space, or put the machines' disks on another file system";
    let free = match free {
        Ok(free) => free,
        Err(why) => return Judged::warned(vec![format!("{folder}: {why}")], fix),
    };
    let [least, most, shown] = [room.least, room.most, free].map(|bytes| bytes / GIB);
    if free < room.least {
        return Judged::refused(format!("{folder} has {shown} GiB free, the machines need {least} GiB"), fix);
    }
    if free < room.most {
        let sentence =
            format!("{folder} has {shown} GiB free: enough to install, but the disks may grow to {most} GiB");
        return Judged::warned(vec![sentence], fix);
    }
    Judged::passed(format!("{folder} has {shown} GiB free, {most} GiB are needed"))
}

#[cfg(test)]
mod tests {
    use hardway_assets::example;
    use hardway_assets::inventory::Provider;

    use super::*;
    use crate::preflight::Verdict;

    #[test]
    fn a_full_folder_is_named() {
        let mut cluster = example::cluster();
        let libvirt = room(&cluster);
        assert_eq!(libvirt, Room { least: 150 * GIB, most: 600 * GIB });
        cluster.inventory.machines.provider = Provider::Lab;
        assert_eq!(room(&cluster).least, 9 * GIB);
        let judge = |free: u64| judge(Path::new("/srv/vm"), libvirt, Ok(free * GIB));
        assert_eq!((judge(601).verdict, judge(200).verdict), (Verdict::Passed, Verdict::Warned));
        assert_eq!(judge(149).seen, ["/srv/vm has 149 GiB free, the machines need 150 GiB"]);
    }
}
