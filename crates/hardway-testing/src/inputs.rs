//! The two input files of a cluster, as tests change them.

/// What the pull secret of tests holds.
pub const AUTH: &str = "aHVzaC1odXNoLXVzZXI6aHVzaC1odXNoLXBhc3N3b3Jk";

/// Three masters and a worker.
pub const INSTALL_CONFIG: &str = r#"apiVersion: v1
baseDomain: example.com
metadata:
  name: ocp4
networking:
  networkType: OVNKubernetes
  machineNetwork:
  - cidr: 192.168.126.0/24
  clusterNetwork:
  - cidr: 10.128.0.0/14
    hostPrefix: 23
  serviceNetwork:
  - 172.30.0.0/16
platform:
  none: {}
controlPlane:
  name: master
  replicas: 3
compute:
- name: worker
  replicas: 1
pullSecret: '{"auths":{"registry.example.com":{"auth":"aHVzaC1odXNoLXVzZXI6aHVzaC1odXNoLXBhc3N3b3Jk"}}}'
"#;

/// The hosts of that cluster, which a person boots.
pub const INVENTORY: &str = r"apiVersion: hardway.dev/v1alpha1
kind: Inventory
release:
  image: sample
machines:
  provider: bare-metal
network:
  gateway: 192.168.126.1
  dns: [192.168.126.1]
  apiVIP: 192.168.126.10
  ingressVIP: 192.168.126.11
pki:
  keyAlgorithm: ECDSA-P256
hosts:
- {name: bootstrap, role: bootstrap, ip: 192.168.126.100}
- {name: master-0, role: master, ip: 192.168.126.101}
- {name: master-1, role: master, ip: 192.168.126.102}
- {name: master-2, role: master, ip: 192.168.126.103}
- {name: worker-0, role: worker, ip: 192.168.126.110}
";

/// The same file with a MAC address, a disk and `more` for every host, as providers that make machines want it. The last
/// byte of both addresses is the same.
///
/// # Panics
/// When a host is not written as in [`INVENTORY`].
pub fn with_hardware(inventory: &str, more: &str) -> String {
    let line = |line: &str| {
        let Some(host) = line.strip_prefix("- ").and_then(|rest| rest.strip_suffix('}')) else {
            return line.to_owned() + "\n";
        };
        let last: u8 = host.rsplit('.').next().unwrap().parse().unwrap();
        format!("- {host}, mac: \"52:54:00:7e:00:{last:02x}\", installDisk: /dev/vda{more}}}\n")
    };
    inventory.lines().map(line).collect()
}

/// An inventory of hosted workers, which run without a cluster of the folder's own.
pub fn hosted_inventory(workers: impl IntoIterator<Item = (String, String)>) -> String {
    let head = "apiVersion: hardway.dev/v1alpha1
kind: Inventory
release: {image: sample}
machines: {provider: bare-metal}
network: {gateway: 10.20.255.254, dns: [10.20.255.254], apiVIP: 10.20.255.253, ingressVIP: 10.20.255.252}
hosts:
";
    let host = |(name, ip)| format!("- {{name: {name}, role: worker, ip: {ip}}}\n");
    head.to_owned() + &workers.into_iter().map(host).collect::<String>()
}
