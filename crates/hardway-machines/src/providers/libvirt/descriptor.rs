//! libvirt, as the rest of hardway knows it.

use hardway_assets::{Cluster, inventory};

use super::{Libvirt, Settings, checks, loose_interfaces};
use crate::preflight::{CheckName, FITS, Judged, NAMES, Scene, find_program};
use crate::providers::Provider;
use crate::providers::advice::Complaint;
use crate::providers::descriptor::{
    Descriptor, Ground, Inputs, Installs, NeededProgram, ProviderError, Sample, Surroundings,
};

/// The provider's row.
pub static DESCRIPTOR: Descriptor = Descriptor {
    installs: Installs::FromMedia,
    leaves: Some(
        "libvirt's own chains in nftables (LIBVIRT_INP, …), empty now, its folders below /etc/libvirt and \
         /var/lib/libvirt, and net.ipv4.ip_forward where another bridge of the host needs it",
    ),
    loose_interfaces: |cluster| match ground(cluster) {
        Ground::Here => Some(loose_interfaces::all(cluster)),
        Ground::Elsewhere | Ground::Namespace => None,
    },
    sample: Sample {
        settings: "  libvirt: {uri: \"qemu:///system\", pool: default, network: ocp4}\n",
        release: None,
        server: "",
        hosts: "",
        host: |n| format!(", mac: \"52:54:00:7e:00:{n:02x}\", installDisk: /dev/vda"),
        is_complete: false,
    },
    complaints: COMPLAINTS,
    checks: &[NAMES, FITS, &[CheckName::Subnet, CheckName::Addresses, CheckName::MachineSizes]],
    own_checks: &[
        (CheckName::Libvirt, checks::libvirt),
        (CheckName::Kvm, checks::kvm),
        (CheckName::Processor, checks::processor),
        (CheckName::LibvirtPool, checks::libvirt_pool),
    ],
    surroundings: Surroundings { ground, brings_names: true, programs, disks, ..Surroundings::ELSEWHERE },
    ..Descriptor::new(
        inventory::Provider::Libvirt,
        |cluster, findings| drop(Settings::look(cluster, findings)),
        planner,
    )
};

fn planner(inputs: &Inputs<'_>) -> Result<Box<dyn Provider>, ProviderError> {
    let Inputs { cluster, folder, program, stage } = *inputs;
    Ok(Box::new(Libvirt::new(cluster, folder, stage)?.with_program(program.to_owned())))
}

/// By the URI alone: settings that are otherwise wrong are told of elsewhere.
fn ground(cluster: &Cluster) -> Ground {
    match checks::is_remote(checks::uri(cluster)) {
        true => Ground::Elsewhere,
        false => Ground::Here,
    }
}

fn programs(cluster: &Cluster) -> Vec<NeededProgram> {
    let nft = NeededProgram::new("nft", "nftables", "machines reaching the world through this host");
    let needs_nft = ground(cluster) == Ground::Here && find_program("firewall-cmd").is_none();
    let virsh = NeededProgram::new("virsh", "libvirt-clients", "machines and networks");
    needs_nft.then_some(nft).into_iter().chain([virsh]).collect()
}

fn disks(scene: &Scene<'_>) -> Result<std::path::PathBuf, Judged> {
    checks::pool_folder(scene).map_err(|_| Judged::not_applicable("libvirt does not say where: see libvirt"))
}

/// What to do about the words that libvirt complains with.
const COMPLAINTS: &[Complaint] = &[
    Complaint {
        words: &["Cannot access storage file", "Permission denied"],
        advice: "QEMU runs as a user of its own and must be able to enter every folder above the file: keep disks and media in the storage pool (machines.libvirt.poolPath below /var/lib/libvirt/images), and after moving files there by hand run `restorecon -R` on it",
    },
    Complaint {
        words: &["Could not open", "Permission denied"],
        advice: "QEMU may not read this file: keep disks and media in the storage pool, where libvirt gives them the right owner and label; turning off its security driver is not needed",
    },
    Complaint {
        words: &["already in use by interface"],
        advice: "another interface or network of the host has addresses of networking.machineNetwork: `ip route` and `virsh net-list --all` show which; stop it, or choose another machine network",
    },
    Complaint {
        words: &["already exists with uuid"],
        advice: "something of that name is there and was not made from this folder: it is left alone. If another folder made it, `hardway destroy` there takes it away; otherwise remove it yourself, or choose another name in machines.libvirt",
    },
    Complaint {
        words: &["bridge name", "already in use"],
        advice: "another network has this bridge: choose another name with machines.libvirt.bridge",
    },
    Complaint {
        words: &["Numerical result out of range"],
        advice: "the name of the bridge is too long for the kernel: choose a shorter one with machines.libvirt.bridge",
    },
    Complaint {
        words: &["authentication unavailable"],
        advice: "this user may not use libvirt: run hardway as root, or join the group libvirt and log in again",
    },
    Complaint {
        words: &["Failed to connect socket"],
        advice: "libvirt does not run on the host: `systemctl enable --now libvirtd.socket` (or virtqemud.socket, virtnetworkd.socket and virtstoraged.socket on newer systems)",
    },
    Complaint {
        words: &["Could not access KVM kernel module"],
        advice: "KVM does not work here: turn on virtualization in the firmware (nested, if this host is a machine of another), or set machines.libvirt.accelerator: tcg, which is slow",
    },
    Complaint {
        words: &["invalid argument", "KVM"],
        advice: "KVM does not work here: set machines.libvirt.accelerator: tcg, which is slow, or turn on virtualization in the firmware",
    },
    Complaint {
        words: &["Cannot allocate memory"],
        advice: "the host has too little memory for this machine beside the others: lower memoryGiB in the inventory, or start workers after the bootstrap host is gone",
    },
    Complaint {
        words: &["cannot bind socket", "Cannot assign requested address"],
        advice: "the virtual address is not on the bridge: `virsh net-start` puts it there; was the network restarted by hand?",
    },
    Complaint {
        words: &["storage volume", "not found"],
        advice: "the install medium is not in the pool yet: `hardway media iso` makes it, the first boot uploads it",
    },
    Complaint {
        words: &["no storage vol with matching"],
        advice: "the disk or install medium is not in the pool: `hardway infra up` makes disks, `hardway media iso` makes media, which the first boot uploads",
    },
    Complaint {
        words: &["FirewallD is not running"],
        advice: "firewalld was stopped after hardway looked: run the command again",
    },
    Complaint {
        words: &["No space left on device"],
        advice: "the file system of the storage pool is full: `virsh pool-info` shows how much there is; disks take up what is written to them, not diskGiB",
    },
];
