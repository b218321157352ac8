//! Clusters made in memory from the files in `scenarios/`, with keys derived from their names, so that every run gives
//! the same bytes.

#![allow(dead_code, reason = "each test program uses its own part")]

use hardway_assets::graph::{Graph, Inputs, Lock, Plan, World, plan};
use hardway_assets::install_config::{self, InstallConfig, Rules};
use hardway_assets::install_media::{LiveConfig, Script, When};
use hardway_assets::inventory::{self, Inventory, KeyAlgorithm};
use hardway_assets::release_payload::{ReleaseManifest, ReleasePayload, sample};
use hardway_assets::secrets::{Identity, SecretBundle, TOKEN_KEY};
use hardway_assets::{Cluster, Tree, pki};
use sha2::{Digest as _, Sha256};

pub(crate) const SCENARIOS: [&str; 7] =
    ["ha", "compact", "single-node", "single-node-in-place", "dual-stack", "ipv6", "disconnected"];

/// A cluster and everything made for it.
pub(crate) struct Made {
    pub(crate) cluster: Cluster,
    pub(crate) release: ReleasePayload,
    pub(crate) secrets: SecretBundle,
    pub(crate) tree: Tree,
    pub(crate) plan: Plan,
}

impl Made {
    pub(crate) fn inputs(&self) -> Inputs<'_> {
        Inputs { cluster: &self.cluster, release: &self.release, secrets: &self.secrets, tree: &self.tree }
    }

    pub(crate) fn text(&self, path: &str) -> &str {
        std::str::from_utf8(self.tree.get(path).unwrap_or_else(|| panic!("{path} was not made"))).unwrap()
    }
}

/// Makes a scenario of `scenarios/`.
pub(crate) fn made(scenario: &str) -> Made {
    let (config, inventory) = texts(scenario);
    make(&config, &inventory, sample())
}

/// The same with ECDSA keys asked for.
pub(crate) fn made_with_ecdsa(scenario: &str) -> Made {
    let (config, inventory) = texts(scenario);
    make(&config, &(inventory + "pki: {keyAlgorithm: ECDSA-P256}\n"), sample())
}

pub(crate) fn texts(scenario: &str) -> (String, String) {
    let dir = format!("{}/tests/scenarios/{scenario}", env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(format!("{dir}/{name}")).unwrap();
    (read("install-config.yaml"), read("inventory.yaml"))
}

pub(crate) fn make(config: &str, inventory: &str, release: ReleasePayload) -> Made {
    let rules = Rules::for_version(&release.version);
    let config = install_config::read(config, rules).unwrap_or_else(|e| panic!("{e:#?}")).value;
    let inventory = inventory::read(inventory, Some(&config)).unwrap_or_else(|e| panic!("{e:#?}")).value;
    make_checked(config, inventory, release)
}

pub(crate) fn make_checked(config: InstallConfig, inventory: Inventory, release: ReleasePayload) -> Made {
    let cluster = Cluster { config, inventory, identity: identity() };
    let secrets = secrets(&cluster);
    let graph = Graph::of(&cluster, &release, &Tree::default(), &Lock::default()).unwrap();
    let empty = Tree::default();
    let lock = Lock::default();
    let inputs = Inputs { cluster: &cluster, release: &release, secrets: &secrets, tree: &empty };
    let world = World { inputs, lock: &lock, generator: "test", expiring: &[], undone: &[] };
    let plan = plan(&graph, &world, |_| true).unwrap_or_else(|e| panic!("{}: {}", e.asset, e.error));
    let mut tree = Tree::default();
    plan.writes.iter().for_each(|file| tree.insert(&file.path, file.bytes.clone()));
    Made { cluster, release, secrets, tree, plan }
}

/// The config of a live system that installs a host with this config, with everything that can be in one.
pub(crate) fn live_config(config: &[u8]) -> serde_json::Value {
    let script = |when| Script { when, name: "any.sh".to_owned(), text: b"#!/bin/sh\n".to_vec() };
    let live = LiveConfig {
        disk: "/dev/vda",
        config,
        copy_network: true,
        append_kernel_arguments: &["console=ttyS0".to_owned()],
        delete_kernel_arguments: &["quiet".to_owned()],
        scripts: &[script(When::BeforeInstall), script(When::AfterInstall)],
        ssh_key: "ssh-ed25519 AAAA",
        user_config: Some(br#"{"ignition":{"version":"3.2.0"}}"#),
    };
    serde_json::from_slice(&live.write().unwrap()).unwrap()
}

/// An image policy as newer releases have one, for every feature set.
pub(crate) fn image_policy() -> ReleaseManifest {
    ReleaseManifest {
        file_name: "0000_90_openshift-cluster-image-policy.yaml".to_owned(),
        text: "apiVersion: config.openshift.io/v1\nkind: ClusterImagePolicy\nmetadata:\n  name: openshift\n  annotations:\n    \
               include.release.openshift.io/self-managed-high-availability: \"true\"\nspec:\n  scopes: [quay.io/ocp]\n"
            .to_owned(),
    }
}

pub(crate) fn identity() -> Identity {
    Identity {
        cluster_id: "8b1c2f9e-6a57-4d0c-9f0e-3c6f1f6a1c11".to_owned(),
        infra_id: "ocp4-x7k2p".to_owned(),
        created: "2026-11-15T00:00:00Z".parse().unwrap(),
        renewed: Default::default(),
        generations: Default::default(),
        fingerprint_key: "00112233445566778899aabbccddeeff".to_owned(),
    }
}

/// Every key of the cluster: the RSA keys of `keys/`, ECDSA keys derived from their names.
pub(crate) fn secrets(cluster: &Cluster) -> SecretBundle {
    let mut files = Vec::new();
    for (name, algorithm) in pki::catalogue::keys(cluster) {
        let pem = match algorithm {
            KeyAlgorithm::EcdsaP256 => derived_key(&name),
            KeyAlgorithm::Rsa2048 => rsa_key(&name),
        };
        files.push((format!("{name}.key"), pem.into_bytes()));
    }
    files.push(("kubeadmin-password".to_owned(), b"AAAAA-bbbbb-CCCCC-ddddd".to_vec()));
    let hash = b"$2a$10$abcdefghijklmnopqrstuuN0tAReAlHashButTheRightShape000".to_vec();
    files.push(("kubeadmin-password.hash".to_owned(), hash));
    files.push((TOKEN_KEY.to_owned(), b"0011223344556677\n".to_vec()));
    let mut secrets = SecretBundle::from_files(files);
    secrets.set_identity(&cluster.identity);
    secrets
}

/// etcd's keys are called after their host, but there is one of each in a cluster.
fn rsa_key(name: &str) -> String {
    let etcds = ["etcd-peer", "etcd-serving-metrics", "etcd-serving"];
    let file = etcds.into_iter().find(|kind| name.starts_with(&format!("{kind}-"))).unwrap_or(name);
    let path = format!("{}/tests/keys/{file}.key", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}; see keys/README.md"))
}

fn derived_key(name: &str) -> String {
    use p256::pkcs8::EncodePrivateKey as _;
    let scalar = Sha256::digest(format!("hardway test key {name}"));
    let key = p256::SecretKey::from_slice(&scalar).unwrap();
    hardway_base::pem::encode("PRIVATE KEY", key.to_pkcs8_der().unwrap().as_bytes())
}
