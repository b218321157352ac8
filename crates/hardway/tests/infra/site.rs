//! A working folder of a cluster on libvirt.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use hardway_assets::Cluster;
use hardway_assets::install_config::Rules;
use hardway_assets::inventory::read_both;
use tempfile::TempDir;

const CONFIG: &str = r#"apiVersion: v1
baseDomain: example.com
metadata:
  name: ocp4
networking:
  machineNetwork:
  - cidr: 192.168.126.0/24
platform:
  none: {}
controlPlane:
  name: master
  replicas: 1
compute:
- name: worker
  replicas: 0
pullSecret: '{"auths":{"registry.example.com":{"auth":"bm9ib2R5Om5vdGhpbmc="}}}'
"#;

pub(crate) const INVENTORY: &str = r#"apiVersion: hardway.dev/v1alpha1
kind: Inventory
release:
  image: sample
machines:
  provider: libvirt
  libvirt: {pool: ocp4, accelerator: tcg}
network:
  gateway: 192.168.126.1
  dns: [192.168.126.1]
  apiVIP: 192.168.126.10
  ingressVIP: 192.168.126.11
pki:
  keyAlgorithm: ECDSA-P256
hosts:
- {name: bootstrap, role: bootstrap, ip: 192.168.126.100, mac: "52:54:00:7e:00:64", installDisk: /dev/vda, cpus: 1, memoryGiB: 1, diskGiB: 2}
- {name: master-0, role: master, ip: 192.168.126.101, mac: "52:54:00:7e:00:65", installDisk: /dev/vda, cpus: 1, memoryGiB: 1, diskGiB: 2}
"#;

pub(crate) struct Folder {
    dir: TempDir,
}

impl Folder {
    pub(crate) fn new(inventory: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs_err::write(dir.path().join("install-config.yaml"), CONFIG).unwrap();
        fs_err::write(dir.path().join("inventory.yaml"), inventory).unwrap();
        Self { dir }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hardway"));
        command.args(words).current_dir(self.path("")).stdin(Stdio::null());
        command.env_remove("HARDWAY_NOW").env_remove("KUBECONFIG");
        command
    }

    /// Its exit code, what it printed, what it said.
    pub(crate) fn run(&self, words: &[&str]) -> (Option<i32>, String, String) {
        let output = self.command(words).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    /// What it printed.
    pub(crate) fn ok(&self, words: &[&str]) -> String {
        let (code, stdout, stderr) = self.run(words);
        assert_eq!(code, Some(0), "{words:?}: {stderr}");
        stdout
    }

    /// What the files say.
    pub(crate) fn cluster(&self) -> Cluster {
        let text = |name| fs_err::read_to_string(self.path(name)).unwrap();
        let both =
            read_both(&text("install-config.yaml"), &text("inventory.yaml"), Rules::for_version("4.18.1"));
        let (config, inventory) = both.map_err(|_| "a file is wrong").unwrap();
        let identity = hardway_assets::example::cluster().identity;
        Cluster { config: config.value, inventory: inventory.value, identity }
    }
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
