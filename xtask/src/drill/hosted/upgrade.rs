//! Upgrades in place: another config for the pool, and a pod on each node that applies it.

use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use fs_err as fs;
use serde_json::Value;

use super::site::Site;
use super::{Story, is_settled};

/// The stand-in of the daemon; machines find it among their images, also as what holds a pod's namespaces.
pub(super) const IMAGE: &str = "localhost/hardway-drill-daemon:1";
const DESIRED: &str = "4.18.2";

/// Nodes stay what they are, and get what is new.
pub(super) fn upgraded(site: &mut Site, story: &mut Story) -> Result<()> {
    let nodes = site.ready_nodes()?;
    give_image(site, &nodes)?;
    let before = hashes(site)?;
    site.make_payload(DESIRED)?;
    site.stand_in()?;
    site.until("all have the new config", |site| {
        let now = hashes(site)?;
        Ok(now.iter().all(|hash| !before.contains(hash)) && site.workers()?.iter().all(is_settled))
    })?;
    for (name, _) in &nodes {
        let file = ["exec", &site.lab.container(name), "cat", "/etc/hardway-drill/release"];
        let output = Command::new("podman").args(file).output()?;
        let found = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        ensure!(found == DESIRED, "{name} has {found:?}");
    }
    ensure!(site.ready_nodes()? == nodes, "the nodes are not the same: {nodes:?}");
    site.until("the daemons are gone", |site| {
        Ok(site.kubectl("hosted", &["-n=demo-upgrade", "get", "pods", "-o=name"])?.trim().is_empty())
    })?;
    story.tell("two were upgraded in place")
}

/// Which config each worker has.
fn hashes(site: &Site) -> Result<Vec<Value>> {
    Ok(site.workers()?.iter().map(|worker| worker["history"]["configHash"].clone()).collect())
}

/// As a registry would.
fn give_image(site: &Site, nodes: &[(String, String)]) -> Result<()> {
    let folder = site.lab.path("daemon");
    fs::create_dir_all(folder.join("bin"))?;
    fs::copy("/usr/bin/busybox", folder.join("bin/busybox"))?;
    fs::copy(
        crate::repository().join("xtask/src/drill/hosted/machine-config-daemon.sh"),
        folder.join("machine-config-daemon"),
    )?;
    fs::write(folder.join("Containerfile"), CONTAINERFILE)?;
    let archive = site.lab.path("daemon.tar").display().to_string();
    let folder = folder.display().to_string();
    podman(&["build", "--quiet", "--tag", IMAGE, &folder])?;
    let saved = podman(&["save", "--quiet", "--format=docker-archive", "--output", &archive, IMAGE]);
    podman(&["rmi", IMAGE])?;
    saved?;
    for (name, _) in nodes {
        let import = "ctr --address=/run/crio/crio.sock --namespace=k8s.io images import -";
        let container = site.lab.container(name);
        let mut command = Command::new("podman");
        command.args(["exec", "--interactive", &container]).args(import.split(' '));
        let archive = fs::File::open(&archive)?.into_parts().0;
        let output = command.stdin(archive).stdout(Stdio::null()).output()?;
        ensure!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

fn podman(words: &[&str]) -> Result<()> {
    let output = Command::new("podman").args(words).output()?;
    ensure!(output.status.success(), "podman {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

const CONTAINERFILE: &str = "FROM scratch
COPY bin/busybox /bin/busybox
COPY bin/busybox /bin/chroot
COPY --chmod=755 machine-config-daemon /usr/bin/machine-config-daemon
ENV PATH=/bin:/usr/bin:/sbin:/usr/sbin
ENTRYPOINT [\"/bin/busybox\", \"sleep\", \"1000000\"]
";
