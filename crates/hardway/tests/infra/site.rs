//! A working folder of a cluster on libvirt.

use std::process::Command;

use hardway_testing::{INSTALL_CONFIG, INVENTORY, Work, with_hardware};

use crate::work;

/// A bootstrap host and one master, as small as can be.
pub(crate) fn inventory() -> String {
    let (small, _) = INVENTORY.split_once("- {name: master-1").unwrap();
    let libvirt = "provider: libvirt\n  libvirt: {pool: ocp4, accelerator: tcg}\n";
    with_hardware(small, ", cpus: 1, memoryGiB: 1, diskGiB: 2").replace("provider: bare-metal\n", libvirt)
}

/// With both input files.
pub(crate) fn on_libvirt(inventory: &str) -> Work {
    let config = INSTALL_CONFIG.replace("replicas: 1", "replicas: 0").replace("replicas: 3", "replicas: 1");
    work::with_inputs(&config, inventory).with_real_clock().on_disk()
}

/// What a program prints.
pub(crate) fn printed(line: &str) -> String {
    hardway_testing::succeed(Command::new("sh").args(["-c", line]))
}

/// What hardway may change about the host.
pub(crate) fn host() -> String {
    printed(
        "virsh -c qemu:///system net-list --all; virsh -c qemu:///system pool-list --all; \
         virsh -c qemu:///system list --all; ip -o addr | awk '{print $2, $4}'; ip route show table all; \
         sysctl -a 2>/dev/null | grep -E '^net[.]ipv[46][.](ip_forward|conf[.](all|default|lo)[.])'; \
         nft list ruleset | grep -E 'virbr|hardway|192[.]168' | sed 's/packets.*bytes [0-9]*//'; \
         find /etc /run /var/lib/libvirt /var/log/libvirt/qemu 2>/dev/null | grep -vE '^/run/(old|work)/' | \
         grep -vxE '/etc/libvirt/storage(/autostart)?|/var/lib/libvirt/(dnsmasq|qemu/[^/]*)|/run/(libvirt|systemd|udev|dbus)/.*|/run/[^/]*[.]pid|.*[.]log' | sort; \
         ps -eo args= | grep '^haproxy ' | sed 's/ -sf .*//'; true",
    )
}
