//! Files to start from, and a way to change one line of them.

/// A plain cluster: three masters, two workers, IPv4.
pub(crate) const HA: &str = r#"apiVersion: v1
baseDomain: corp.example
metadata:
  name: prod1
compute:
- name: worker
  replicas: 2
controlPlane:
  name: master
  replicas: 3
networking:
  clusterNetwork:
  - cidr: 10.132.0.0/14
    hostPrefix: 23
  machineNetwork:
  - cidr: 10.20.30.0/24
  networkType: OVNKubernetes
  serviceNetwork:
  - 172.31.0.0/16
platform:
  none: {}
pullSecret: '{"auths":{"quay.io":{"auth":"aHVzaDpodXNo"}}}'
sshKey: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGf1Zt0nHxq0V6c0q1mZs4rN2n9vQy0b3cYk8u6i2J5d admin@corp.example
"#;

/// The machines for it.
pub(crate) const HA_INVENTORY: &str = r#"apiVersion: hardway.dev/v1alpha1
kind: Inventory
release:
  image: quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64
machines:
  provider: libvirt
  libvirt: {uri: "qemu:///system", pool: default, network: ocp4}
network:
  gateway: 10.20.30.1
  dns: [10.20.30.1]
  apiVIP: 10.20.30.10
  ingressVIP: 10.20.30.11
hosts:
- {name: bootstrap, role: bootstrap, ip: 10.20.30.100, mac: "52:54:00:7e:00:64", installDisk: /dev/vda, cpus: 4, memoryGiB: 16, diskGiB: 100}
- {name: master-0, role: master, ip: 10.20.30.101, mac: "52:54:00:7e:00:65", installDisk: /dev/vda}
- {name: master-1, role: master, ip: 10.20.30.102, mac: "52:54:00:7E:00:66"}
- {name: master-2, role: master, ip: 10.20.30.103, mac: "52-54-00-7e-00-67"}
- {name: worker-0, role: worker, ip: 10.20.30.110, interface: enp1s0}
- {name: worker-1, role: worker, ip: 10.20.30.111}
"#;

/// The text with one piece replaced. The piece must be there: a test that changes nothing proves nothing.
pub(crate) fn with(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{old:?} is not in the file");
    text.replacen(old, new, 1)
}
