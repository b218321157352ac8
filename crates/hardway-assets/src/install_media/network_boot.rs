//! What machines that boot from the network are told: kernel arguments, and the iPXE scripts that carry them.
//!
//! Facts: coreos-installer `scripts/coreos-installer-service` (`coreos.inst.*`, and which arguments also count at the first
//! boot of the installed system), fedora-coreos-config `overlay.d/05core/usr/lib/dracut/modules.d/35coreos-live`
//! (`coreos.live.rootfs_url`), NetworkManager `nm-initrd-generator(8)` (`ip=`, `BOOTIF=`).

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use crate::Cluster;
use crate::inventory::Host;

/// The address of a network card, however it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mac([u8; 6]);

/// Where the files are that every machine loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootFiles {
    /// URL of the kernel.
    pub kernel: String,
    /// URL of the initramfs.
    pub initramfs: String,
    /// URL of the root file system; http, https or tftp.
    pub rootfs: String,
}

impl FromStr for Mac {
    type Err = ();

    /// Six bytes, with colons, with dashes, or with nothing between them.
    fn from_str(text: &str) -> Result<Self, ()> {
        let digits: String = text.chars().filter(|c| !":-".contains(*c)).collect();
        let is_hex = digits.len() == 12 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        if !is_hex || ![12, 17].contains(&text.len()) {
            return Err(());
        }
        let byte = |i: usize| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).map_err(|_| ());
        Ok(Self([byte(0)?, byte(1)?, byte(2)?, byte(3)?, byte(4)?, byte(5)?]))
    }
}

/// With dashes, as iPXE writes it in `${netX/mac:hexhyp}`.
impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}-{b:02x}-{c:02x}-{d:02x}-{e:02x}-{g:02x}")
    }
}

/// The kernel arguments that install a host: where the rest of the live system is, which disk, which config, and the
/// addresses, which count at the first boot of the installed system as well.
///
/// The installer does not check what it fetches from `config_url` when it is told so by a kernel argument.
pub fn kernel_arguments(cluster: &Cluster, host: &Host, files: &BootFiles, config_url: &str) -> Vec<String> {
    let mut arguments = vec![
        format!("coreos.live.rootfs_url={}", files.rootfs),
        "ignition.firstboot".to_owned(),
        "ignition.platform.id=metal".to_owned(),
        "rd.neednet=1".to_owned(),
    ];
    match &host.install_disk {
        // The live system itself reads such a config, and it brings its own installer.
        _ if cluster.is_bootstrap_in_place() => arguments.push(format!("ignition.config.url={config_url}")),
        Some(disk) => {
            arguments.push(format!("coreos.inst.install_dev={disk}"));
            arguments.push(format!("coreos.inst.ignition_url={config_url}"));
        }
        None => {}
    }
    // Without a name of a card in `ip=`, the card of BOOTIF gets the addresses.
    let mac = host.mac.as_deref().and_then(|mac| mac.parse::<Mac>().ok());
    if let (Some(mac), None) = (mac, &host.interface) {
        arguments.push(format!("BOOTIF=01-{mac}"));
    }
    arguments.extend(host.ip.iter().map(|ip| address(cluster, host, *ip)));
    arguments.extend(
        cluster.inventory.network.dns.iter().map(|server| format!("nameserver={}", in_brackets(server))),
    );
    arguments
}

/// The script of one host.
pub fn boot_script(cluster: &Cluster, host: &Host, files: &BootFiles, config_url: &str) -> String {
    let arguments = kernel_arguments(cluster, host, files, config_url).join(" ");
    // On UEFI the kernel finds its initramfs by the name in its arguments.
    format!(
        "#!ipxe\n# Written by hardway: installs {} and restarts.\nkernel {} initrd=main {arguments}\ninitrd --name main {}\nboot\n",
        cluster.node_name(host),
        files.kernel,
        files.initramfs
    )
}

/// The script that sends every machine to its own. `url` is where both are served.
pub fn boot_index(url: &str) -> String {
    format!(
        "#!ipxe\n# Written by hardway: every machine goes on with the script of its own MAC address.\n\
         chain --replace {url}/ipxe/${{netX/mac:hexhyp}} || echo no script for ${{netX/mac}}, going on with the next boot device\nexit\n"
    )
}

/// The script of a machine that shall start from its disk.
pub fn boot_local(why: &str) -> String {
    format!("#!ipxe\n# Written by hardway: {why}.\nexit\n")
}

/// `ip=<address>::<gateway>:<mask>:<name>:<card>:none`
fn address(cluster: &Cluster, host: &Host, ip: IpAddr) -> String {
    let network = cluster.machine_network_of(ip);
    let mask = match network {
        Some(network) if ip.is_ipv4() => network.netmask().to_string(),
        Some(network) => network.prefix_len().to_string(),
        None => if ip.is_ipv4() { "255.255.255.255" } else { "128" }.to_owned(),
    };
    let gateways = cluster.inventory.network.gateway.iter();
    let gateway = { gateways }.find(|gateway| network.is_some_and(|network| network.contains(*gateway)));
    format!(
        "ip={}::{}:{mask}:{}:{}:none",
        in_brackets(&ip),
        gateway.map(in_brackets).unwrap_or_default(),
        cluster.node_name(host),
        host.interface.as_deref().unwrap_or_default()
    )
}

fn in_brackets(ip: &IpAddr) -> String {
    if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn files() -> BootFiles {
        let at = |name: &str| format!("http://192.168.126.1:8080/{name}");
        BootFiles { kernel: at("vmlinuz"), initramfs: at("initrd.img"), rootfs: at("rootfs.img") }
    }

    #[test]
    fn one_family_by_mac() {
        let cluster = example::cluster();
        let script =
            boot_script(&cluster, &cluster.inventory.hosts[1], &files(), "http://192.168.126.1:8080/m.ign");
        assert_eq!(
            script,
            "#!ipxe\n# Written by hardway: installs master-0.ocp4.example.com and restarts.\n\
             kernel http://192.168.126.1:8080/vmlinuz initrd=main coreos.live.rootfs_url=http://192.168.126.1:8080/rootfs.img \
             ignition.firstboot ignition.platform.id=metal rd.neednet=1 \
             coreos.inst.install_dev=/dev/vda coreos.inst.ignition_url=http://192.168.126.1:8080/m.ign BOOTIF=01-52-54-00-7e-00-65 \
             ip=192.168.126.101::192.168.126.1:255.255.255.0:master-0.ocp4.example.com::none nameserver=192.168.126.1\n\
             initrd --name main http://192.168.126.1:8080/initrd.img\nboot\n"
        );
    }

    #[test]
    fn both_families_and_a_named_card() {
        let mut cluster = example::cluster();
        let network = crate::install_config::MachineNetwork { cidr: "fd00:126::/64".parse().unwrap() };
        cluster.config.networking.machine_network.push(network);
        let host = &mut cluster.inventory.hosts[1];
        host.ip.push("fd00:126::101".parse().unwrap());
        host.interface = Some("ens3".to_owned());
        let arguments = kernel_arguments(&cluster, &cluster.inventory.hosts[1], &files(), "u");
        assert!(!arguments.iter().any(|argument| argument.starts_with("BOOTIF")));
        let expected = "ip=[fd00:126::101]:::64:master-0.ocp4.example.com:ens3:none";
        assert!(arguments.iter().any(|argument| argument == expected), "{arguments:?}");
    }

    #[test]
    fn a_mac_is_the_same_however_it_is_written() {
        for text in ["52:54:00:7E:00:65", "52-54-00-7e-00-65", "5254007e0065"] {
            assert_eq!(text.parse::<Mac>().unwrap().to_string(), "52-54-00-7e-00-65");
        }
        for text in ["", "52:54:00:7e:00", "52:54:00:7e:00:6g", "../../etc/passwd", "52:54:00:7e:00:65:"] {
            assert!(text.parse::<Mac>().is_err(), "{text}");
        }
    }
}
