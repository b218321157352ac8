//! Files to start from, shared with the fuzz targets, and a way to change one piece of them.

/// A plain cluster: three masters, two workers, IPv4.
pub(crate) const HA: &str = include_str!("../../../../fuzz/seeds/install_config/plain.yaml");

/// The machines for it.
pub(crate) const HA_INVENTORY: &str = include_str!("../../../../fuzz/seeds/inventory/plain.yaml");

/// The text with one piece replaced. The piece must be there: a test that changes nothing proves nothing.
pub(crate) fn with(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{old:?} is not in the file");
    text.replacen(old, new, 1)
}

/// Two families.
pub(crate) const DUAL_STACK: &str = include_str!("../../../../fuzz/seeds/install_config/dual-stack.yaml");

/// Its machines: masters only, the second family written first here and there.
pub(crate) const DUAL_STACK_INVENTORY: &str =
    include_str!("../../../../fuzz/seeds/inventory/dual-stack.yaml");

/// One node that installs itself.
pub(crate) const SINGLE_NODE: &str = include_str!("../../../../fuzz/seeds/install_config/single-node.yaml");

/// Its machine: both names point at it.
pub(crate) const SINGLE_NODE_INVENTORY: &str =
    include_str!("../../../../fuzz/seeds/inventory/single-node.yaml");

/// Behind a proxy, with a certificate of one's own and mirrors. The certificate is a self-signed one made for this test
/// (`openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -days 36500 -subj "/CN=corporate root"`).
pub(crate) const DISCONNECTED: &str = include_str!("../../../../fuzz/seeds/install_config/disconnected.yaml");

/// Written for a release long gone.
pub(crate) const V1BETA3: &str = include_str!("../../../../fuzz/seeds/install_config/v1beta3.yaml");

/// The inventory of the design.
pub(crate) const DESIGN_INVENTORY: &str = r#"apiVersion: hardway.dev/v1alpha1
kind: Inventory
release:
  image: quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64   # tag or digest, resolved once and kept in assets.lock
machines:
  provider: libvirt            # libvirt | bare-metal | gce | lab
  libvirt: {uri: "qemu:///system", pool: default, network: ocp4}
network:
  gateway: 192.168.126.1
  dns: [192.168.126.1]
  apiVIP: 192.168.126.10
  ingressVIP: 192.168.126.11
  loadBalancer: haproxy        # haproxy | external
hosts:
- {name: bootstrap, role: bootstrap, ip: 192.168.126.100, mac: "52:54:00:7e:00:64", installDisk: /dev/vda, cpus: 4, memoryGiB: 16, diskGiB: 100}
- {name: master-0,  role: master,    ip: 192.168.126.101, mac: "52:54:00:7e:00:65", installDisk: /dev/vda}
- {name: worker-0,  role: worker,    ip: 192.168.126.110, mac: "52:54:00:7e:00:6e", installDisk: /dev/vda}
"#;
