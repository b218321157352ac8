//! What to do about the words that libvirt, QEMU and the kernel complain with.

use crate::providers::advice::Known;

/// The more special come first.
pub(in crate::providers) const KNOWN: &[Known] = &[
    Known {
        words: &["Cannot access storage file", "Permission denied"],
        advice: "QEMU runs as a user of its own and must be able to enter every folder above the file: keep disks and media in the storage pool (machines.libvirt.poolPath below /var/lib/libvirt/images), and after moving files there by hand run `restorecon -R` on it",
    },
    Known {
        words: &["Could not open", "Permission denied"],
        advice: "QEMU may not read this file: keep disks and media in the storage pool, where libvirt gives them the right owner and label; turning off its security driver is not needed",
    },
    Known {
        words: &["already in use by interface"],
        advice: "another interface or network of the host has addresses of networking.machineNetwork: `ip route` and `virsh net-list --all` show which; stop it, or choose another machine network",
    },
    Known {
        words: &["already exists with uuid"],
        advice: "something of that name is there and was not made by hardway for this cluster: it is left alone; remove it yourself, or choose another name in machines.libvirt",
    },
    Known {
        words: &["bridge name", "already in use"],
        advice: "another network has this bridge: choose another name with machines.libvirt.bridge",
    },
    Known {
        words: &["Numerical result out of range"],
        advice: "the name of the bridge is too long for the kernel: choose a shorter one with machines.libvirt.bridge",
    },
    Known {
        words: &["authentication unavailable"],
        advice: "this user may not use libvirt: run hardway as root, or join the group libvirt and log in again",
    },
    Known {
        words: &["Failed to connect socket"],
        advice: "libvirt does not run on the host: `systemctl enable --now libvirtd.socket` (or virtqemud.socket, virtnetworkd.socket and virtstoraged.socket on newer systems)",
    },
    Known {
        words: &["Could not access KVM kernel module"],
        advice: "KVM does not work here: turn on virtualization in the firmware (nested, if this host is a machine of another), or set machines.libvirt.accelerator: tcg, which is slow",
    },
    Known {
        words: &["invalid argument", "KVM"],
        advice: "KVM does not work here: set machines.libvirt.accelerator: tcg, which is slow, or turn on virtualization in the firmware",
    },
    Known {
        words: &["Cannot allocate memory"],
        advice: "the host has too little memory for this machine beside the others: lower memoryGiB in the inventory, or start workers after the bootstrap host is gone",
    },
    Known {
        words: &["cannot bind socket", "Cannot assign requested address"],
        advice: "the virtual address is not on the bridge: `virsh net-start` puts it there; was the network restarted by hand?",
    },
    Known {
        words: &["storage volume", "not found"],
        advice: "the install medium is not in the pool yet: `hardway media iso` makes it, the first boot uploads it",
    },
    Known {
        words: &["no storage vol with matching"],
        advice: "the disk or install medium is not in the pool: `hardway infra up` makes disks, `hardway media iso` makes media, which the first boot uploads",
    },
    Known {
        words: &["FirewallD is not running"],
        advice: "firewalld was stopped after hardway looked: run the command again",
    },
    Known {
        words: &["No space left on device"],
        advice: "the file system of the storage pool is full: `virsh pool-info` shows how much there is; disks take up what is written to them, not diskGiB",
    },
];
