//! Programs that hardway starts.

use std::path::{Path, PathBuf};

use hardway_assets::inventory::Balancer;
use hardway_assets::release_payload::SAMPLE;

use crate::check::find_program;
use crate::preflight::Judged;
use crate::preflight::scene::Scene;
use crate::providers::{Ground, NeededProgram};

const HAPROXY: NeededProgram = NeededProgram::new("haproxy", "haproxy", "the load balancer");
const IP: NeededProgram = NeededProgram::new("ip", "iproute2", "virtual addresses");
const PODMAN: NeededProgram =
    NeededProgram::new("podman", "podman", "rendering the nodes' configs with the release's own program");
const SSH: NeededProgram = NeededProgram::new("ssh", "openssh-client", "watching the bootstrap host");

pub(in crate::preflight) fn programs(scene: &Scene<'_>) -> Judged {
    let needed = list(&Wishes::of(scene));
    let found: Vec<_> = needed.into_iter().map(|row| (row, find_program(row.program))).collect();
    let busybox = found.iter().find(|(row, _)| row.program == "busybox");
    let is_static = busybox.and_then(|(_, path)| path.as_deref()).is_none_or(is_static);
    judge(&found, is_static)
}

/// What decides which programs are started.
#[derive(Clone, Debug)]
struct Wishes {
    /// The provider's own.
    own: Vec<NeededProgram>,
    /// Its machines are podman's.
    needs_podman: bool,
    /// Its node configs are built in.
    is_sample: bool,
    /// Whether HAProxy runs on this host, and not in a container.
    is_balancer_here: bool,
    /// Whether virtual addresses are made on this host.
    is_network_here: bool,
}

impl Wishes {
    fn of(scene: &Scene<'_>) -> Self {
        let inventory = &scene.site.cluster.inventory;
        let is_here = scene.ground() == Ground::Here;
        let is_haproxy = inventory.network.load_balancer == Balancer::Haproxy;
        Self {
            own: (scene.surroundings().programs)(scene.site.cluster),
            needs_podman: scene.surroundings().needs_podman,
            is_sample: inventory.release.image == SAMPLE,
            is_balancer_here: is_here && is_haproxy && scene.setting("haproxy") != Some("podman"),
            is_network_here: is_here,
        }
    }
}

fn list(wishes: &Wishes) -> Vec<NeededProgram> {
    let others = [
        (PODMAN, !wishes.is_sample || wishes.needs_podman),
        (SSH, true),
        (HAPROXY, wishes.is_balancer_here),
        (IP, wishes.is_network_here),
    ];
    let others = others.into_iter().filter(|(_, is_needed)| *is_needed).map(|(row, _)| row);
    others.chain(wishes.own.iter().copied()).collect()
}

/// A program that is linked with shared libraries names their loader near its beginning.
fn is_static(path: &Path) -> bool {
    let head = fs_err::read(path).unwrap_or_default();
    let head = &head[..head.len().min(4096)];
    !head.windows(8).any(|bytes| bytes == b"ld-linux")
}

fn judge(found: &[(NeededProgram, Option<PathBuf>)], is_busybox_static: bool) -> Judged {
    let missing: Vec<NeededProgram> =
        found.iter().filter(|(_, path)| path.is_none()).map(|(row, _)| *row).collect();
    let mut wrong: Vec<String> =
        missing.iter().map(|row| format!("{} is missing: {} needs it", row.program, row.why)).collect();
    let mut packages: Vec<&str> = missing.iter().map(|row| row.package).collect();
    if !is_busybox_static {
        wrong.push("busybox is not statically linked, so it would not run in its own image".to_owned());
        packages.push("busybox-static");
    }
    packages.dedup();
    let names: Vec<&str> = found.iter().map(|(row, _)| row.program).collect();
    let fix = format!("install them, on Debian with: apt install {}", packages.join(" "));
    Judged::of(wrong, Vec::new(), fix, names.join(", "))
}

#[cfg(test)]
mod tests {
    use hardway_assets::example;
    use hardway_assets::inventory::Provider;

    use super::*;
    use crate::preflight::Verdict;
    use crate::providers::descriptor;

    fn wishes(provider: Provider) -> Wishes {
        let mut cluster = example::cluster();
        cluster.inventory.machines.provider = provider;
        let surroundings = &descriptor(provider).surroundings;
        Wishes {
            own: (surroundings.programs)(&cluster),
            needs_podman: surroundings.needs_podman,
            is_sample: false,
            is_balancer_here: true,
            is_network_here: true,
        }
    }

    #[test]
    fn every_program_can_be_the_one_that_is_missing() {
        for provider in Provider::ALL.iter().copied() {
            let there: Vec<_> =
                list(&wishes(provider)).into_iter().map(|row| (row, Some(PathBuf::from("/bin/x")))).collect();
            assert_eq!(judge(&there, true).verdict, Verdict::Passed);
            for gone in 0..there.len() {
                let mut found = there.clone();
                found[gone].1 = None;
                let judged = judge(&found, true);
                let NeededProgram { program, package, .. } = found[gone].0;
                assert_eq!(judged.verdict, Verdict::Failed);
                assert!(judged.seen[0].starts_with(&format!("{program} is missing")), "{judged:?}");
                assert!(judged.fix.unwrap().ends_with(package));
            }
        }
        assert!(judge(&[], false).seen[0].contains("not statically linked"));
    }

    #[test]
    fn what_is_elsewhere_is_not_asked_for() {
        let sample = |provider| Wishes { is_sample: true, ..wishes(provider) };
        assert!(!list(&sample(Provider::BareMetal)).contains(&PODMAN));
        assert!(list(&sample(Provider::Lab)).contains(&PODMAN));
        let elsewhere =
            Wishes { is_balancer_here: false, is_network_here: false, ..wishes(Provider::Libvirt) };
        assert!([HAPROXY, IP].iter().all(|row| !list(&elsewhere).contains(row)));
        let has_nft = |wishes| list(&wishes).iter().any(|row| row.program == "nft");
        // firewalld does what nft would.
        assert_eq!(has_nft(wishes(Provider::Libvirt)), find_program("firewall-cmd").is_none());
        assert!(!has_nft(wishes(Provider::BareMetal)));
        let mut remote = example::cluster();
        remote.inventory.machines.settings = serde_json::json!({"uri": "qemu+ssh://big/system"});
        let own = (descriptor(Provider::Libvirt).surroundings.programs)(&remote);
        assert!(!has_nft(Wishes { own, ..wishes(Provider::Libvirt) }));
    }

    #[test]
    fn a_loader_is_seen() {
        assert!(!is_static(Path::new("/proc/self/exe")));
    }
}
