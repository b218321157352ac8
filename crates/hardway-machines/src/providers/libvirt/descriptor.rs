//! libvirt, as the rest of hardway knows it.

use hardway_assets::{Cluster, inventory};
use hardway_base::Judged;

use super::{Libvirt, Settings, checks, loose_interfaces};
use crate::check::{CheckName, CheckedSite, FITS, NAMES, find_program};
use crate::providers::Provider;
use crate::providers::advice::Complaint;
use crate::providers::descriptor::{
    Descriptor, GATEWAY, Ground, HostedSample, Inputs, Installs, NeededProgram, ProviderError,
    ProviderSurroundings, Sample,
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
        name_server: GATEWAY,
        release: None,
        server: "",
        hosts: "",
        host: |n| format!(", mac: \"52:54:00:7e:00:{n:02x}\", installDisk: /dev/vda"),
        is_complete: false,
    },
    hosted_sample: Some(HostedSample { machines: HOSTED_MACHINES, name_server: GATEWAY, pool: HOSTED_POOL }),
    complaints: COMPLAINTS,
    checks: &[NAMES, FITS, &[CheckName::Subnet, CheckName::Addresses, CheckName::MachineSizes]],
    own_checks: &[
        (CheckName::Libvirt, checks::libvirt),
        (CheckName::Kvm, checks::kvm),
        (CheckName::Processor, checks::processor),
        (CheckName::LibvirtPool, checks::libvirt_pool),
    ],
    surroundings: ProviderSurroundings {
        ground,
        brings_names: |_| true,
        programs,
        disks,
        ..ProviderSurroundings::ELSEWHERE
    },
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

const HOSTED_MACHINES: &str = "  provider: libvirt
  libvirt: {uri: \"qemu:///system\", pool: default}
";

const HOSTED_POOL: &str = "  names: POOL-{n}                 # {n} is counted from 0
  addresses: [192.168.126.110-192.168.126.139]
  macPrefix: \"52:54:00:7e:01\"
  installDisk: /dev/vda
  cpus: 4
  memoryGiB: 16
  diskGiB: 120
";

/// By the URI alone: settings that are otherwise wrong are told of elsewhere.
fn ground(cluster: &Cluster) -> Ground {
    match checks::is_remote(checks::uri(cluster)) {
        true => Ground::Elsewhere,
        false => Ground::Here,
    }
}

fn programs(cluster: &Cluster) -> Vec<NeededProgram> {
    let nft = NeededProgram::new("nft", "nftables", "masquerading of the machines' traffic");
    let needs_nft = ground(cluster) == Ground::Here && find_program("firewall-cmd").is_none();
    let virsh = NeededProgram::new("virsh", "libvirt-clients", "machines and networks");
    needs_nft.then_some(nft).into_iter().chain([virsh]).collect()
}

fn disks(site: &CheckedSite<'_>) -> Result<std::path::PathBuf, Judged> {
    checks::pool_folder(site)
        .map_err(|_| Judged::not_applicable("libvirt does not report its path: see libvirt"))
}

/// What to do about the words that libvirt complains with.
const COMPLAINTS: &[Complaint] = &[
    Complaint {
        words: &["Cannot access storage file", "Permission denied"],
        advice: "QEMU runs as its own user, which must be able to enter every folder above the file: keep disks and media in \
         the storage pool (machines.libvirt.poolPath below /var/lib/libvirt/images), and after moving files there by hand run \
         `restorecon -R` on it",
    },
    Complaint {
        words: &["Could not open", "Permission denied"],
        advice: "QEMU may not read this file: keep disks and media in the storage pool, where libvirt gives them the right owner and label; turning off its security driver is not needed",
    },
    Complaint {
        words: &["already in use by interface"],
        advice: "another interface or network of the host uses addresses of networking.machineNetwork: `ip route` and `virsh \
         net-list --all` show which; stop it, or choose another machine network",
    },
    Complaint {
        words: &["already exists with uuid"],
        advice: "a resource of that name exists and was not made from this folder: hardway does not touch it. If it was made \
         from another folder, run `hardway destroy` there; otherwise remove it yourself, or choose another name in \
         machines.libvirt",
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
        advice: "this user has no access to libvirt: run hardway as root, or join the group libvirt and log in again",
    },
    Complaint {
        words: &["Failed to connect socket"],
        advice: "libvirt is not running on the host: run `systemctl enable --now libvirtd.socket` (or virtqemud.socket, \
         virtnetworkd.socket and virtstoraged.socket on newer systems)",
    },
    Complaint {
        words: &["Could not access KVM kernel module"],
        advice: "KVM does not work here: enable virtualization in the firmware (nested, if this host is a virtual machine), or \
         set machines.libvirt.accelerator: tcg, which is slow",
    },
    Complaint {
        words: &["invalid argument", "KVM"],
        advice: "KVM does not work here: set machines.libvirt.accelerator: tcg, which is slow, or enable virtualization in the \
         firmware",
    },
    Complaint {
        words: &["Cannot allocate memory"],
        advice: "the host has not enough memory for this machine: lower memoryGiB in the inventory, or start workers after the \
         bootstrap host is removed",
    },
    Complaint {
        words: &["cannot bind socket", "Cannot assign requested address"],
        advice: "the virtual address is not on the bridge, perhaps because the network was restarted by hand: `virsh \
         net-start` adds it",
    },
    Complaint {
        words: &["storage volume", "not found"],
        advice: "the install medium is not in the pool yet: create it with `hardway media iso`; the first boot uploads it",
    },
    Complaint {
        words: &["no storage vol with matching"],
        advice: "the disk or install medium is not in the pool: create disks with `hardway infra up` and media with `hardway \
         media iso`; the first boot uploads them",
    },
    Complaint {
        words: &["FirewallD is not running"],
        advice: "firewalld was stopped meanwhile: run the command again",
    },
    Complaint {
        words: &["No space left on device"],
        advice: "the file system of the storage pool is full: `virsh pool-info` shows how much there is; disks take up what is written to them, not diskGiB",
    },
];
