//! Programs that hardway starts.

use std::path::{Path, PathBuf};

use hardway_assets::inventory::Provider;

use super::{is_remote, libvirt_uri};
use crate::preflight::asked_program::find_program;
use crate::preflight::check_result::Judged;
use crate::preflight::scene::Scene;

/// A program, and the package that has it on Debian and Fedora alike, or Debian's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Needed {
    program: &'static str,
    package: &'static str,
    why: &'static str,
}

const fn needed(program: &'static str, package: &'static str, why: &'static str) -> Needed {
    Needed { program, package, why }
}

const LAB: &[Needed] = &[
    needed("ip", "iproute2", "the lab's network"),
    needed("nsenter", "util-linux", "the lab's network"),
    needed("unshare", "util-linux", "the lab's network"),
    needed("jq", "jq", "the lab's release"),
    needed("curl", "curl", "the lab's machines"),
    needed("mmdebstrap", "mmdebstrap", "the nodes' root file system"),
    needed("go", "golang", "the lab's programs"),
    needed("busybox", "busybox-static", "the lab's images"),
    needed("skopeo", "skopeo", "the lab's release"),
    needed("docker-registry", "docker-registry", "the lab's release"),
];
const LIBVIRT: &[Needed] = &[needed("virsh", "libvirt-clients", "machines and networks")];
const GCE: &[Needed] = &[needed("gcloud", "google-cloud-cli", "instances and images")];
const HAPROXY: Needed = needed("haproxy", "haproxy", "the load balancer");
const IP: Needed = needed("ip", "iproute2", "virtual addresses");
const NFT: Needed = needed("nft", "nftables", "machines reaching the world through this host");
const PODMAN: Needed =
    needed("podman", "podman", "rendering the nodes' configs with the release's own program");
const SSH: Needed = needed("ssh", "openssh-client", "watching the bootstrap host");

pub(in crate::preflight) fn programs(scene: &Scene<'_>) -> Judged {
    let needed = list(&Wishes::of(scene));
    let found: Vec<_> = needed.into_iter().map(|row| (row, find_program(row.program))).collect();
    let busybox = found.iter().find(|(row, _)| row.program == "busybox");
    let is_static = busybox.and_then(|(_, path)| path.as_deref()).is_none_or(is_static);
    judge(&found, is_static)
}

/// On what it depends which programs are started.
#[derive(Clone, Copy, Debug)]
struct Wishes {
    provider: Provider,
    /// Its node configs are built in.
    is_sample: bool,
    /// Whether HAProxy runs on this host, and not in a container.
    is_balancer_here: bool,
    /// Whether virtual addresses and rules are made on this host.
    is_network_here: bool,
    has_firewalld: bool,
}

impl Wishes {
    fn of(scene: &Scene<'_>) -> Self {
        let inventory = &scene.site.cluster.inventory;
        let is_here = match scene.provider() {
            Provider::BareMetal => true,
            Provider::Libvirt => !is_remote(libvirt_uri(scene)),
            Provider::Gce | Provider::Lab => false,
        };
        let is_haproxy = inventory.network.load_balancer == "haproxy";
        Self {
            provider: scene.provider(),
            is_sample: inventory.release.image == "sample",
            is_balancer_here: is_here && is_haproxy && scene.setting("haproxy") != Some("podman"),
            is_network_here: is_here,
            has_firewalld: find_program("firewall-cmd").is_some(),
        }
    }
}

fn list(wishes: &Wishes) -> Vec<Needed> {
    let Wishes { provider, is_sample, is_balancer_here, is_network_here, has_firewalld } = *wishes;
    let own = match provider {
        Provider::BareMetal => &[],
        Provider::Gce => GCE,
        Provider::Lab => LAB,
        Provider::Libvirt => LIBVIRT,
    };
    let others = [
        // The lab's machines are podman's.
        (PODMAN, !is_sample || provider == Provider::Lab),
        (SSH, true),
        (HAPROXY, is_balancer_here),
        (IP, is_network_here),
        (NFT, is_network_here && provider == Provider::Libvirt && !has_firewalld),
    ];
    let others = others.into_iter().filter(|(_, is_needed)| *is_needed).map(|(row, _)| row);
    others.chain(own.iter().copied()).collect()
}

/// A program that is linked with shared libraries names their loader near its beginning.
fn is_static(path: &Path) -> bool {
    let head = fs_err::read(path).unwrap_or_default();
    let head = &head[..head.len().min(4096)];
    !head.windows(8).any(|bytes| bytes == b"ld-linux")
}

fn judge(found: &[(Needed, Option<PathBuf>)], is_busybox_static: bool) -> Judged {
    let missing: Vec<Needed> = found.iter().filter(|(_, path)| path.is_none()).map(|(row, _)| *row).collect();
    let mut wrong: Vec<String> =
        missing.iter().map(|row| format!("{} is missing: {} needs it", row.program, row.why)).collect();
    let mut packages: Vec<&str> = missing.iter().map(|row| row.package).collect();
    if !is_busybox_static {
        wrong.push("busybox is not the static one: it would not run in an image of its own".to_owned());
        packages.push("busybox-static");
    }
    packages.dedup();
    let names: Vec<&str> = found.iter().map(|(row, _)| row.program).collect();
    let fix = format!("install them, on Debian with: apt install {}", packages.join(" "));
    Judged::of(wrong, Vec::new(), fix, names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::Verdict;

    fn wishes(provider: Provider) -> Wishes {
        let is_sample = false;
        Wishes { provider, is_sample, is_balancer_here: true, is_network_here: true, has_firewalld: false }
    }

    #[test]
    fn every_program_can_be_the_one_that_is_missing() {
        for provider in [Provider::BareMetal, Provider::Gce, Provider::Lab, Provider::Libvirt] {
            let there: Vec<_> =
                list(&wishes(provider)).into_iter().map(|row| (row, Some(PathBuf::from("/bin/x")))).collect();
            assert_eq!(judge(&there, true).verdict, Verdict::Passed);
            for gone in 0..there.len() {
                let mut found = there.clone();
                found[gone].1 = None;
                let judged = judge(&found, true);
                let Needed { program, package, .. } = found[gone].0;
                assert_eq!(judged.verdict, Verdict::Failed);
                assert!(judged.seen[0].starts_with(&format!("{program} is missing")), "{judged:?}");
                assert!(judged.fix.unwrap().ends_with(package));
            }
        }
        assert!(judge(&[], false).seen[0].contains("not the static one"));
    }

    #[test]
    fn what_is_elsewhere_is_not_asked_for() {
        let sample = |provider| Wishes { is_sample: true, ..wishes(provider) };
        assert!(!list(&sample(Provider::BareMetal)).contains(&PODMAN));
        assert!(list(&sample(Provider::Lab)).contains(&PODMAN));
        let elsewhere =
            Wishes { is_balancer_here: false, is_network_here: false, ..wishes(Provider::Libvirt) };
        assert!([HAPROXY, IP, NFT].iter().all(|row| !list(&elsewhere).contains(row)));
        assert!(
            list(&wishes(Provider::Libvirt)).contains(&NFT)
                && !list(&wishes(Provider::BareMetal)).contains(&NFT)
        );
    }

    #[test]
    fn a_loader_is_seen() {
        assert!(!is_static(Path::new("/proc/self/exe")));
    }
}
