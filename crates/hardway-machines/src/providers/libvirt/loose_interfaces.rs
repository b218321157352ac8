//! Interfaces of machines that have lost their bridge.

use std::path::Path;

use fs_err as fs;
use hardway_assets::Cluster;

use super::machine::machine_mac;

/// Those of this cluster's machines, on this host.
pub(super) fn all(cluster: &Cluster) -> Vec<String> {
    let macs: Vec<String> = cluster.inventory.hosts.iter().map(|host| machine_mac(cluster, host)).collect();
    loose_interfaces(Path::new("/sys/class/net"), &macs)
}

/// libvirt calls machines' interfaces vnet0, vnet1 and so on; one that is on a bridge has it as its master. Other people's
/// machines are left alone.
fn loose_interfaces(folder: &Path, macs: &[String]) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let is_loose = |name: &String| {
        is_a_machines(name)
            && !folder.join(name).join("master").exists()
            && fs::read_to_string(folder.join(name).join("address")).is_ok_and(|text| is_one_of(&text, macs))
    };
    let mut loose: Vec<String> = names.filter(is_loose).collect();
    loose.sort_unstable();
    loose
}

/// On the host's side the card has the machine's address but for the first two digits (libvirt src/util/virnetdevtap.c).
fn is_one_of(address: &str, macs: &[String]) -> bool {
    let after_first = |mac: &str| mac.trim().get(3..).map(str::to_lowercase);
    macs.iter().any(|mac| after_first(mac).is_some() && after_first(mac) == after_first(address))
}

fn is_a_machines(name: &str) -> bool {
    name.strip_prefix("vnet").is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_of_a_machine_without_a_bridge_is_loose() {
        let folder = tempfile::tempdir().unwrap();
        for (name, address) in [
            ("vnet0", "fe:54:00:00:00:01"),
            ("vnet1", "fe:54:00:00:00:02"),
            ("vnet2", "fe:54:00:00:00:99"),
            ("eth0", "52:54:00:00:00:02"),
            ("vnetwork", "fe:54:00:00:00:02"),
        ] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("address"), format!("{address}\n")).unwrap();
        }
        fs::create_dir(folder.path().join("vnet0/master")).unwrap();
        let macs = ["52:54:00:00:00:01", "52:54:00:00:00:02"].map(str::to_owned);
        assert_eq!(loose_interfaces(folder.path(), &macs), ["vnet1"], "vnet2 is somebody else's");
    }
}
