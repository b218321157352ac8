//! Working inside a lab's network, where its names and addresses are.
//!
//! hardway starts itself anew there: what was done so far is in the journal, so it simply goes on. Programs that set up this
//! computer (podman, ip) must not run there; they are sent back through the namespaces that the first process kept open.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use hardway_assets::Cluster;
use hardway_machines::actions::{Host, Program};
use hardway_machines::providers::{LabSite, descriptor};

use super::provider::unusable;
use crate::inputs::InputFiles;
use crate::report::{Code, Report};

/// Name of the lab that this process is in, and the open namespaces of the computer: `NAME NET MOUNT`.
const INSIDE: &str = "HARDWAY_INSIDE_LAB";

/// The lab of a cluster, if that is where its machines are.
pub(crate) fn lab_site(cluster: &Cluster, files: &InputFiles) -> Result<Option<LabSite>, Report> {
    let Some(site) = descriptor(cluster.inventory.machines.provider).lab else { return Ok(None) };
    site(cluster).map(Some).map_err(|error| unusable(files, error))
}

/// Whether this process is in that lab.
pub(crate) fn is_inside(site: &LabSite) -> bool {
    std::env::var(INSIDE).is_ok_and(|value| value.split(' ').next() == Some(&site.lab))
}

/// How programs are started on the computer itself.
pub(crate) fn outside() -> Host {
    let Ok(value) = std::env::var(INSIDE) else { return Host::default() };
    let words: Vec<&str> = value.split(' ').collect();
    let [_, net, mount] = words.as_slice() else { return Host::default() };
    let through =
        ["nsenter", &format!("--net=/proc/self/fd/{net}"), &format!("--mount=/proc/self/fd/{mount}")];
    Host::through(through.map(str::to_owned).into())
}

/// Goes on inside, with the same command line, if there is a lab to go into and this process is not in it. Comes back only
/// when nothing had to be done, or it did not work.
pub(crate) fn enter(site: &LabSite) -> Result<(), Report> {
    if is_inside(site) || !site.namespace_file().exists() {
        return Ok(());
    }
    let failed = |error: &dyn std::error::Error| {
        Report::from_error(Code::LabUnreachable, error)
            .fix("labs need root, and nsenter and unshare from util-linux")
    };
    let net = kept_open("/proc/self/ns/net").map_err(|error| failed(&error))?;
    let mount = kept_open("/proc/self/ns/mnt").map_err(|error| failed(&error))?;
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut arguments = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let inside = site.inside(&Program::new(program.display().to_string(), arguments.by_ref()));
    let error = Command::new(&inside.program)
        .args(&inside.arguments)
        .env(INSIDE, format!("{} {} {}", site.lab, net.as_raw_fd(), mount.as_raw_fd()))
        .exec();
    Err(failed(&error))
}

/// Programs started from here have it too.
fn kept_open(path: &str) -> std::io::Result<OwnedFd> {
    let file: OwnedFd = fs_err::File::open(path)?.into_parts().0.into();
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty())?;
    Ok(file)
}
