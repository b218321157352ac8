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

/// Two families.
pub(crate) const DUAL_STACK: &str = r#"apiVersion: v1
baseDomain: corp.example
metadata: {name: dual}
compute: [{name: worker, replicas: 0}]
networking:
  clusterNetwork: [{cidr: 10.132.0.0/14, hostPrefix: 23}, {cidr: 'fd01::/48', hostPrefix: 64}]
  machineNetwork: [{cidr: 10.20.30.0/24}, {cidr: 'fd00::/64'}]
  serviceNetwork: [172.31.0.0/16, 'fd02::/112']
platform: {none: {}}
pullSecret: '{"auths":{"quay.io":{"auth":"aHVzaDpodXNo"}}}'
"#;

/// Its machines: masters only, the second family written first here and there.
pub(crate) const DUAL_STACK_INVENTORY: &str = r#"apiVersion: hardway.dev/v1alpha1
kind: Inventory
release: {image: sample}
machines: {provider: bare-metal}
network:
  gateway: [10.20.30.1, 'fe80::1']
  dns: ['fd00::53', 10.20.30.1]
  apiVIP: [10.20.30.10, 'fd00::10']
  ingressVIP: [10.20.30.11, 'fd00::11']
hosts:
- {name: bootstrap, role: bootstrap, ip: [10.20.30.100, 'fd00::100']}
- {name: master-0, role: master, ip: [10.20.30.101, 'fd00::101']}
- {name: master-1, role: master, ip: ['fd00::102', 10.20.30.102]}
- {name: master-2, role: master, ip: [10.20.30.103, 'fd00::103']}
"#;

/// One node that installs itself.
pub(crate) const SINGLE_NODE: &str = r#"apiVersion: v1
baseDomain: corp.example
metadata: {name: edge}
controlPlane: {replicas: 1}
compute: [{name: worker, replicas: 0}]
networking: {machineNetwork: [{cidr: 10.20.30.0/24}]}
bootstrapInPlace: {installationDisk: /dev/nvme0n1}
platform: {none: {}}
pullSecret: '{"auths":{"quay.io":{"auth":"aHVzaDpodXNo"}}}'
"#;

/// Its machine: both names point at it.
pub(crate) const SINGLE_NODE_INVENTORY: &str = r#"apiVersion: hardway.dev/v1alpha1
kind: Inventory
release: {image: sample}
machines: {provider: lab}
network: {gateway: 10.20.30.1, dns: 10.20.30.1, apiVIP: 10.20.30.5, ingressVIP: 10.20.30.5}
pki: {keyAlgorithm: ECDSA-P256, shortLivedHours: 48}
options: {kubeProxyOnMasters: true}
hosts:
- {name: node, role: master, ip: 10.20.30.5}
"#;

/// Behind a proxy, with a certificate of one's own and mirrors. The certificate is a self-signed one made for this test
/// (`openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -days 36500 -subj "/CN=corporate root"`).
pub(crate) const DISCONNECTED: &str = r#"apiVersion: v1
baseDomain: corp.example.
metadata: {name: inside}
additionalTrustBundlePolicy: Always
additionalTrustBundle: |
  # the corporate root
  -----BEGIN CERTIFICATE-----
  MIIBdjCCARygAwIBAgIBATAKBggqhkjOPQQDAjAZMRcwFQYDVQQDDA5jb3Jwb3Jh
  dGUgcm9vdDAgFw0yNjExMTUwNDQxNDNaGA8yMTI2MTAyMjA0NDE0M1owGTEXMBUG
  A1UEAwwOY29ycG9yYXRlIHJvb3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASg
  Ft+hy4KBN7nJ6lMF89TD8BOaPDKv1zr1JW6YFtcwnw5uXs1GLyAs8Tum5Rvaggxu
  dZx+1ByNVqyepAoCOJPzo1MwUTAdBgNVHQ4EFgQU8Oym4uulOlwmNJ4VEZ3TjrkF
  p7swHwYDVR0jBBgwFoAU8Oym4uulOlwmNJ4VEZ3TjrkFp7swDwYDVR0TAQH/BAUw
  AwEB/zAKBggqhkjOPQQDAgNIADBFAiBNZ1hiFZeHJB+1fW0JY0u19adia/69tFCB
  RVLuQr4+FwIhAPMHcD8gdPUbdVKu1sjKsVGSJz1Iwc5vyeHSyhlM4beN
  -----END CERTIFICATE-----
proxy:
  httpProxy: http://proxy.corp.example:3128
  httpsProxy: http://me:password@proxy.corp.example:3128
  noProxy: .corp.example,10.20.30.0/24
imageDigestSources:
- source: quay.io/openshift-release-dev/ocp-release
  mirrors: [registry.corp.example:5000/ocp/release]
- source: quay.io/openshift-release-dev/ocp-v4.0-art-dev
  mirrors: [registry.corp.example:5000/ocp/release]
capabilities: {baselineCapabilitySet: None, additionalEnabledCapabilities: [Ingress, Console]}
featureSet: CustomNoUpgrade
featureGates: [Example=true]
cpuPartitioningMode: AllNodes
networking:
  machineNetwork: [{cidr: 10.20.30.0/24}]
  ovnKubernetesConfig: {ipv4: {internalJoinSubnet: 100.99.0.0/16}}
platform: {none: {}}
pullSecret: '{"auths":{"registry.corp.example:5000":{"auth":"aHVzaDpodXNo"}}}'
"#;

/// Written for a release long gone.
pub(crate) const V1BETA3: &str = r#"apiVersion: v1beta3
baseDomain: corp.example
metadata: {name: old}
networking:
  type: OVNkubernetes
  machineCIDR: 10.20.30.0/24
  serviceCIDR: 172.31.0.0/16
  clusterNetworks: [{cidr: 10.132.0.0/14, hostSubnetLength: 9}]
platform: {none: {}}
pullSecret: '{"auths":{"quay.io":{"auth":"aHVzaDpodXNo"}}}'
"#;

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
