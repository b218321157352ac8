//! Working directories in memory, made from the scenarios of the assets' own tests.

use std::path::Path;
use std::sync::OnceLock;

use hardway_assets::graph::{Graph, Inputs, Lock, World, plan};
use hardway_assets::install_config::{self, Rules};
use hardway_assets::release_payload::{ReleaseManifest, ReleasePayload, sample};
use hardway_assets::secrets::{Identity, SecretBundle};
use hardway_assets::{Cluster, Tree, inventory, pki};

/// A cluster, its release and everything made for it.
#[derive(Clone)]
pub(crate) struct Scenario {
    pub(crate) cluster: Cluster,
    pub(crate) release: ReleasePayload,
    pub(crate) tree: Tree,
}

impl Scenario {
    /// One of `crates/hardway-assets/tests/scenarios`, of version 4.18.1, with this operator image.
    pub(crate) fn new(name: &str, operator_image: &str) -> Self {
        Self::of_version(name, operator_image, "4.18.1")
    }

    /// The same with another install-config, of a version that knows all its fields.
    pub(crate) fn changed(name: &str, operator_image: &str, change: impl Fn(&str) -> String) -> Self {
        Self::make(name, operator_image, "4.21.0", change)
    }

    pub(crate) fn of_version(name: &str, operator_image: &str, version: &str) -> Self {
        Self::make(name, operator_image, version, str::to_owned)
    }

    fn make(name: &str, operator_image: &str, version: &str, change: impl Fn(&str) -> String) -> Self {
        let mut release = sample();
        release.is_sample = false;
        release.version = version.to_owned();
        release.set_image("machine-config-operator", Some(operator_image));
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hardway-assets/tests/scenarios").join(name);
        let read = |file: &str| fs_err::read_to_string(dir.join(file)).unwrap();
        let config = install_config::read(&change(&read("install-config.yaml")), Rules::for_version(version))
            .unwrap()
            .value;
        let inventory = inventory::read(&read("inventory.yaml"), Some(&config)).unwrap().value;
        let cluster = Cluster { config, inventory, identity: identity() };
        let tree = made(&cluster, &release);
        Self { cluster, release, tree }
    }

    /// The text of a file.
    pub(crate) fn text(&self, path: &str) -> String {
        String::from_utf8(self.tree.get(path).unwrap_or_else(|| panic!("{path}")).to_vec()).unwrap()
    }

    /// Changes a file; what is to be replaced must be there.
    pub(crate) fn edit(&mut self, path: &str, from: &str, to: &str) {
        let text = self.text(path);
        assert!(text.contains(from), "{path} has no {from:?}:\n{text}");
        self.tree.insert(path, text.replace(from, to));
    }

    /// The working directory as it is made once the node configs are known.
    pub(crate) fn remade(&self) -> Tree {
        made(&self.cluster, &self.release)
    }
}

/// An image policy as releases have one, for a feature set or for all.
pub(crate) fn policy(feature_set: &str) -> ReleaseManifest {
    let set = match feature_set {
        "" => String::new(),
        set => format!("    release.openshift.io/feature-set: {set}\n"),
    };
    let text = format!(
        "apiVersion: config.openshift.io/v1\nkind: ClusterImagePolicy\nmetadata:\n  name: openshift\n  annotations:\n    \
         include.release.openshift.io/self-managed-high-availability: \"true\"\n{set}spec:\n  scopes: [quay.io/ocp]\n"
    );
    ReleaseManifest { file_name: "0000_90_policy.yaml".to_owned(), text }
}

pub(crate) trait SetImage {
    /// Sets the image of a tag, or takes it out.
    fn set_image(&mut self, name: &str, image: Option<&str>);
}

impl SetImage for ReleasePayload {
    fn set_image(&mut self, name: &str, image: Option<&str>) {
        let others = self.images.iter().filter(|(other, _)| *other != name);
        let given = image.map(|image| (name, image));
        self.images = others.chain(given).map(|(name, image)| (name.to_owned(), image.to_owned())).collect();
    }
}

fn made(cluster: &Cluster, release: &ReleasePayload) -> Tree {
    let secrets = secrets(cluster);
    let graph = Graph::of(cluster, release, &Tree::default(), &Lock::default()).unwrap();
    let (empty, lock) = (Tree::default(), Lock::default());
    let inputs = Inputs { cluster, release, secrets: &secrets, tree: &empty };
    let world = World { inputs, lock: &lock, generator: "test", expiring: &[], undone: &[] };
    let plan = plan(&graph, &world, |_| true).unwrap_or_else(|e| panic!("{}: {}", e.asset, e.error));
    let mut tree = Tree::default();
    plan.writes.iter().for_each(|file| tree.insert(&file.path, file.bytes.clone()));
    tree
}

/// Keys are drawn once for all tests: making them is most of the time.
fn secrets(cluster: &Cluster) -> SecretBundle {
    static DRAWN: OnceLock<SecretBundle> = OnceLock::new();
    let mut secrets = DRAWN
        .get_or_init(|| {
            let mut secrets = SecretBundle::default();
            secrets.set_identity(&cluster.identity);
            secrets.complete(&pki::catalogue::keys(cluster)).unwrap();
            secrets
        })
        .clone();
    secrets.complete(&pki::catalogue::keys(cluster)).unwrap();
    secrets.set_identity(&cluster.identity);
    secrets
}

fn identity() -> Identity {
    Identity {
        cluster_id: "8b1c2f9e-6a57-4d0c-9f0e-3c6f1f6a1c11".to_owned(),
        infra_id: "ocp4-x7k2p".to_owned(),
        created: "2026-11-15T00:00:00Z".parse().unwrap(),
        renewed: Default::default(),
        generations: Default::default(),
        fingerprint_key: "00112233445566778899aabbccddeeff".to_owned(),
    }
}
