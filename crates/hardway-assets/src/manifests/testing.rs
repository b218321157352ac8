//! Everything a manifest reads, in small, for the tests of this module.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::graph::{Asset, Inputs};
use crate::install_config::{BootstrapInPlace, ClusterNetwork, MachineNetwork};
use crate::release_payload::{ComponentImages, FeatureGates, ReleasePayload};
use crate::secrets::SecretBundle;
use crate::{Cluster, Tree, yaml};

/// The inputs of every asset here.
pub(super) struct World {
    pub(super) cluster: Cluster,
    pub(super) release: ReleasePayload,
    pub(super) secrets: SecretBundle,
    pub(super) tree: Tree,
}

impl World {
    /// Three masters, two workers, release 4.18.1.
    pub(super) fn new() -> Self {
        let secrets = [
            ("kubeadmin-password.hash", "hash of the password"),
            ("machine-config-server.key", "key of the machine-config-server"),
            ("root-ca.key", "key of the root CA"),
        ];
        let mut tree = Tree::default();
        tree.insert("master.ign", "pointer of master");
        tree.insert("worker.ign", "pointer of worker");
        tree.insert("pki/machine-config-server.crt", MACHINE_CONFIG_SERVER);
        tree.insert("pki/root-ca.crt", CERTIFICATE);
        Self {
            cluster: crate::example::cluster(),
            release: release("4.18.1"),
            secrets: SecretBundle::from_files(secrets.map(|(name, text)| (name.to_owned(), text.into()))),
            tree,
        }
    }

    /// The same with another release.
    pub(super) fn of_version(version: &str) -> Self {
        Self { release: release(version), ..Self::new() }
    }

    /// The same with other numbers of machines.
    pub(super) fn sized(masters: u64, workers: u64) -> Self {
        let mut world = Self::new();
        world.cluster.config.control_plane.replicas = masters;
        world.cluster.config.compute[0].replicas = workers;
        world
    }

    /// One node that installs itself.
    pub(super) fn in_place() -> Self {
        let mut world = Self::sized(1, 0);
        world.cluster.config.bootstrap_in_place =
            Some(BootstrapInPlace { installation_disk: "/dev/sda".to_owned() });
        world
    }

    /// IPv4 and IPv6.
    pub(super) fn dual_stack(version: &str) -> Self {
        let mut world = Self::of_version(version);
        let networking = &mut world.cluster.config.networking;
        let ipv6 = Self::ipv6().cluster.config.networking;
        networking.cluster_network.extend(ipv6.cluster_network);
        networking.machine_network.extend(ipv6.machine_network);
        networking.service_network.extend(ipv6.service_network);
        world
    }

    /// IPv6 only.
    pub(super) fn ipv6() -> Self {
        let mut world = Self::new();
        let networking = &mut world.cluster.config.networking;
        let net = |text: &str| text.parse().unwrap();
        networking.cluster_network = vec![ClusterNetwork { cidr: net("fd01::/48"), host_prefix: 64 }];
        networking.machine_network = vec![MachineNetwork { cidr: net("fd00::/64") }];
        networking.service_network = vec![net("fd02::/112")];
        world
    }

    /// As assets get it.
    pub(super) fn inputs(&self) -> Inputs<'_> {
        Inputs { cluster: &self.cluster, release: &self.release, secrets: &self.secrets, tree: &self.tree }
    }

    /// All assets of this cluster.
    pub(super) fn assets(&self) -> Vec<Box<dyn Asset>> {
        super::assets(&self.cluster, &self.release)
    }

    /// The files they make.
    pub(super) fn paths(&self) -> Vec<String> {
        self.assets().iter().flat_map(|asset| asset.outputs()).map(|output| output.path).collect()
    }

    /// The permissions of one.
    pub(super) fn mode(&self, path: &str) -> u32 {
        let outputs = self.assets().into_iter().flat_map(|asset| asset.outputs());
        outputs.into_iter().find(|output| output.path == path).unwrap().mode
    }

    /// All of them, made.
    pub(super) fn made(&self) -> Tree {
        let mut tree = Tree::default();
        for asset in self.assets() {
            let contents = asset.make(&self.inputs()).unwrap();
            asset.outputs().into_iter().zip(contents).for_each(|(o, bytes)| tree.insert(o.path, bytes));
        }
        tree
    }

    /// The text of one.
    pub(super) fn text(&self, path: &str) -> String {
        let tree = self.made();
        let bytes = tree.get(path).unwrap_or_else(|| panic!("{path} is not made"));
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    /// The object in one.
    pub(super) fn object(&self, path: &str) -> Value {
        yaml::read(&self.text(path)).unwrap().to_json()
    }
}

fn release(version: &str) -> ReleasePayload {
    let gates = |enabled: &[&str], disabled: &[&str]| FeatureGates {
        enabled: enabled.iter().map(|name| (*name).to_owned()).collect(),
        disabled: disabled.iter().map(|name| (*name).to_owned()).collect(),
    };
    ReleasePayload {
        image: "quay.io/example/release@sha256:00".to_owned(),
        version: version.to_owned(),
        architecture: "amd64".to_owned(),
        is_sample: true,
        stand_ins: Vec::new(),
        real: String::new(),
        images: ComponentImages::default(),
        crds: Vec::new(),
        feature_gates: BTreeMap::from([
            (String::new(), gates(&["Solid"], &["Fresh"])),
            ("TechPreviewNoUpgrade".to_owned(), gates(&["Fresh", "Solid"], &[])),
        ]),
        image_policies: Vec::new(),
        boot_images: None,
        rendered: BTreeMap::new(),
    }
}

// Made with openssl: `req -x509 -subj /OU=openshift/CN=root-ca -days 3650` on a P-256 key, and a leaf of it for
// api-int.ocp4.example.com and 192.168.126.10. Their keys are gone.
/// A CA.
pub(super) const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----
MIIBoDCCAUegAwIBAgIUVUcTKTPmefqHkI8ARCb03/gg8P0wCgYIKoZIzj0EAwIw
JjESMBAGA1UECwwJb3BlbnNoaWZ0MRAwDgYDVQQDDAdyb290LWNhMB4XDTI2MTEx
NTA0MjUxMloXDTM2MTExMjA0MjUxMlowJjESMBAGA1UECwwJb3BlbnNoaWZ0MRAw
DgYDVQQDDAdyb290LWNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAETcPvS+L8
ajnfCpYYkuzyr/jsPVTIeBayNncj6FOLQ9/8Scm5py46Ps+djGhshs3lIXaWXymb
U9pAC47PzW7TzaNTMFEwHQYDVR0OBBYEFD/AtlAUGqUOKo3KR63bo9NyeA3HMB8G
A1UdIwQYMBaAFD/AtlAUGqUOKo3KR63bo9NyeA3HMA8GA1UdEwEB/wQFMAMBAf8w
CgYIKoZIzj0EAwIDRwAwRAIgFlS/EsWWMZ9Ye5aTHFywIhhjKALXe/lbd7rVuJe9
H5ICIE5mhd3x1PuXjP7WE+GQmra8tdqUOO2skpd2snevsaSJ
-----END CERTIFICATE-----
";

/// A certificate of it.
const MACHINE_CONFIG_SERVER: &str = "-----BEGIN CERTIFICATE-----
MIIB1DCCAXmgAwIBAgIUftXh6y92nwo2IYqrqHj8MOVchBwwCgYIKoZIzj0EAwIw
JjESMBAGA1UECwwJb3BlbnNoaWZ0MRAwDgYDVQQDDAdyb290LWNhMB4XDTI2MTEx
NTA0MjUxMloXDTM2MTExMjA0MjUxMlowJzElMCMGA1UEAwwcc3lzdGVtOm1hY2hp
bmUtY29uZmlnLXNlcnZlcjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABO+t51EX
3ewe9XKAOEe6CzH2coxGElskeaiLdbZGBeiajZJkz8O+Q5nCC2DbFsAhbl1p82bE
+wOCg0YVrEUXuvijgYMwgYAwKQYDVR0RBCIwIIIYYXBpLWludC5vY3A0LmV4YW1w
bGUuY29thwTAqH4KMBMGA1UdJQQMMAoGCCsGAQUFBwMBMB0GA1UdDgQWBBQz8NNP
5VXqAZMbs8DAsAg+z2iPBDAfBgNVHSMEGDAWgBQ/wLZQFBqlDiqNyket26PTcngN
xzAKBggqhkjOPQQDAgNJADBGAiEAxBcGnLcadVzzbyrXb3eohOXBg11aCMC9SOdr
axbW7AcCIQDsotzq6Zahs/Xgk1N3pJccNTRc1HBd5lcGUzX2KYmfbg==
-----END CERTIFICATE-----
";
