//! What to do about the words that programs complain with.
//!
//! The same words mean different things where machines are made in different ways, so each provider has its own table, and
//! what all hosts have in common comes after it.

use hardway_assets::inventory::Provider;

use super::descriptor;

/// What a program says when something is wrong, known by words that stand in it.
pub(super) struct Complaint {
    /// All of these stand in it.
    pub(super) words: &'static [&'static str],
    pub(super) advice: &'static str,
}

/// What to do, if the complaint is a known one. Without a provider only what holds on every host is known.
pub fn advice(provider: Option<Provider>, complaint: &str) -> Option<&'static str> {
    let own = provider.map_or(&[][..], |provider| descriptor(provider).complaints);
    let is_meant = |known: &&Complaint| known.words.iter().all(|word| complaint.contains(word));
    own.iter().chain(EVERYWHERE).find(is_meant).map(|known| known.advice)
}

/// The more special come first.
const EVERYWHERE: &[Complaint] = &[
    Complaint {
        words: &["No space left on device"],
        advice: "a file system of this host is full: `df -h` shows which",
    },
    Complaint {
        words: &["cannot bind socket", "Permission denied"],
        advice: "SELinux keeps HAProxy from these ports: `setsebool -P haproxy_connect_any on`",
    },
    Complaint {
        words: &["cannot bind socket", "Address already in use"],
        advice: "another program listens on this address and port: `ss -ltnp` shows which; HAProxy only binds to the virtual \
         addresses, so a program that listens on all addresses conflicts with it",
    },
    Complaint {
        words: &["Operation not permitted"],
        advice: "only root can change addresses, firewall and services of the host: run hardway as root",
    },
    Complaint {
        words: &["you must be root"],
        advice: "only root can change addresses, firewall and services of the host: run hardway as root",
    },
    Complaint {
        words: &["could not be started", "haproxy"],
        advice: "HAProxy is not installed: install the package haproxy, or set network.loadBalancer: external",
    },
    Complaint {
        words: &["could not be started", "No such file or directory"],
        advice: "this program is not installed, or not in PATH: `hardway check` lists the packages",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// As the real programs say it.
    #[test]
    fn complaints_are_known_again() {
        use Provider::{BareMetal, Gce, Lab, Libvirt};
        for (provider, complaint, word) in [
            (
                Libvirt,
                "error: Cannot access storage file '/root/a.iso' (as uid:64055, gid:106): Permission denied",
                "storage pool",
            ),
            (Libvirt, "internal error: Network is already in use by interface eth0", "machine network"),
            (
                Libvirt,
                "operation failed: network 'ocp4' already exists with uuid 3cfa3b31",
                "does not touch it",
            ),
            (
                Libvirt,
                "error: Failed to connect socket to '/var/run/libvirt/libvirt-sock': No such file or directory",
                "is not running",
            ),
            (Libvirt, "cannot bind socket (Cannot assign requested address) [192.168.126.10:6443]", "bridge"),
            (
                BareMetal,
                "cannot bind socket (Cannot assign requested address) [192.168.126.10:6443]",
                "machines.bare-metal.interface",
            ),
            (
                Gce,
                "ERROR: (gcloud) You do not currently have an active account selected.",
                "gcloud auth login",
            ),
            (
                Gce,
                "The zone 'projects/acme/zones/us-central1-a' does not have enough resources available",
                "machines.gce.zones",
            ),
            (Gce, "Quota 'CPUS' exceeded. Limit: 24.0 in region us-central1.", "quota"),
            (Lab, "`podman run` could not be started: No such file or directory", "podman"),
            (Lab, "Error: writing blob: No space left on device", "podman system"),
        ] {
            let told = advice(Some(provider), complaint).unwrap_or_else(|| panic!("{complaint}"));
            assert!(told.contains(word), "{complaint}: {told}");
        }
        assert_eq!(advice(Some(Libvirt), "error: something new"), None);
    }

    #[test]
    fn nobody_is_sent_to_another_providers_tools() {
        for complaint in
            ["No space left on device", "Cannot allocate memory", "Permission denied", "already exists"]
        {
            for provider in [Provider::BareMetal, Provider::Gce, Provider::Lab] {
                let told = advice(Some(provider), complaint).unwrap_or_default();
                assert!(!told.contains("virsh") && !told.contains("machines.libvirt"), "{complaint}: {told}");
            }
        }
    }
}
