//! Our output beside that of a real openshift-install.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_assets::graph::{Graph, Inputs, Lock, World, plan};
use hardway_assets::install_config::{self, Rules};
use hardway_assets::release_payload::sample;
use hardway_assets::secrets::SecretBundle;
use hardway_assets::{Cluster, Tree, diff, inventory, pki};
use serde_json::json;

use crate::peer_summary;

#[test]
fn a_summary_masks_what_is_random_and_keeps_the_rest() {
    let mut tree = Tree::default();
    tree.insert(
        "manifests/a.yml",
        "kind: Infrastructure\nstatus: {infrastructureName: prod1-x7k2p, platform: None}\n",
    );
    tree.insert(
        "master.ign",
        r#"{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://a"}]}}}"#,
    );
    let summary = peer_summary::summary(&tree);
    assert_eq!(
        summary,
        json!({
            "manifests": {"manifests/a.yml": [{"kind": "Infrastructure", "status": {"infrastructureName": "prod1-<rand5>", "platform": "None"}}]},
            "master.ign": {"files": {}, "units": {}, "users": [], "merge": ["https://a"], "version": "3.2.0"},
        })
    );
    assert_eq!(peer_summary::lacking(&summary, &summary), [""; 0]);
    let other = json!({"master.ign": {"merge": ["https://b"], "x": {}}, "worker.ign": {"version": "3.2.0"}});
    assert_eq!(
        peer_summary::lacking(&other, &summary),
        [
            r#"/master.ign/merge[0]: "https://b" recorded, "https://a" here"#,
            r#"/worker.ign: {"version":"3.2.0"} recorded, nothing here"#
        ]
    );
}

#[test]
fn two_runs_mean_the_same_and_another_cluster_shows_no_secret() {
    // ECDSA: the keys of three clusters take no time to make.
    let inventory = format!("{INVENTORY}\npki: {{keyAlgorithm: ECDSA-P256}}\n");
    let (tree, secrets) = made(CONFIG, &inventory);
    let (again, _) = made(CONFIG, &inventory);
    assert_eq!(diff::compare(&tree, &again), []);

    let config = CONFIG.replace("prod1", "prod2").replace("dXNlcjpwYXNz", "bWU6eW91");
    let (other, other_secrets) = made(&config, &inventory);
    let differences = diff::compare(&tree, &other);
    assert!(differences.len() > 50, "{}", diff::report(&differences));
    let shown = serde_json::to_string(&differences).unwrap() + &diff::report(&differences);
    for piece in
        pieces(&secrets).chain(pieces(&other_secrets)).chain(["dXNlcjpwYXNz".into(), "bWU6eW91".into()])
    {
        assert!(!shown.contains(&piece), "{piece}");
    }
}

/// Pieces of every secret, as it is and in base64, that are too long to be seen by chance.
fn pieces(secrets: &SecretBundle) -> impl Iterator<Item = String> {
    secrets.files().filter(|(name, _)| *name != "identity.json").flat_map(|(_, secret)| {
        let text = secret.expose_text();
        let plain = text.lines().filter(|line| !line.starts_with("-----")).collect::<Vec<_>>().join("");
        [plain, STANDARD.encode(text)].into_iter().flat_map(|text| {
            let pieces = text.as_bytes().chunks(40).filter(|piece| piece.len() >= 20);
            // All keys of one kind begin alike; what follows is theirs alone.
            pieces.skip(1).map(|piece| String::from_utf8_lossy(piece).into_owned()).collect::<Vec<_>>()
        })
    })
}

#[test]
fn we_make_everything_that_openshift_install_made() {
    let (Some(record), Some(config)) =
        (peer_summary::recorded("prod1"), peer_summary::install_config("prod1"))
    else {
        return;
    };
    let lacking = peer_summary::lacking(&record, &peer_summary::summary(&made(&config, INVENTORY).0));
    let unexpected: Vec<&String> =
        lacking.iter().filter(|place| !ON_PURPOSE.iter().any(|known| place.starts_with(known))).collect();
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    for known in ON_PURPOSE {
        assert!(lacking.iter().any(|place| place.starts_with(known)), "no longer so, take it out: {known}");
    }
}

/// The reasons are those of `diff/reasons.rs`.
const ON_PURPOSE: &[&str] = &[
    "/bootstrap.ign/files//opt/openshift/manifests/kube-cloud-config.yaml/mode:",
    "/bootstrap.ign/files//opt/openshift/manifests/machine-config-server-tls-secret.yaml/mode:",
    "/bootstrap.ign/files//opt/openshift/manifests/openshift-config-secret-pull-secret.yaml/mode:",
    "/bootstrap.ign/files//opt/openshift/openshift/99_kubeadmin-password-secret.yaml/mode:",
    "/bootstrap.ign/files//opt/openshift/openshift/99_openshift-cluster-api_master-user-data-secret.yaml/mode:",
    "/bootstrap.ign/files//opt/openshift/openshift/99_openshift-cluster-api_worker-user-data-secret.yaml/mode:",
    "/bootstrap.ign/files//usr/local/bin/approve-csr.sh:",
    "/bootstrap.ign/files//usr/local/bin/bootstrap-pivot.sh:",
    "/bootstrap.ign/units/approve-csr.service:",
    "/bootstrap.ign/units/release-image-pivot.service:",
    "/manifests/manifests/cluster-config.yaml[0]/metadata/annotations/kubernetes.io/description:",
    "/manifests/openshift/99_feature-gate.yaml[0]/status/featureGates: null recorded",
    "/manifests/openshift/99_openshift-machineconfig_99-master-ssh.yaml[0]/spec/fips: false recorded, nothing",
    "/manifests/openshift/99_openshift-machineconfig_99-worker-ssh.yaml[0]/spec/fips: false recorded, nothing",
    "/manifests/openshift/openshift-install-manifests.yaml[0]/data/invoker:",
    "/manifests/openshift/openshift-install-manifests.yaml[0]/data/version:",
];

/// The working directory of a cluster, and its secrets.
fn made(config: &str, inventory: &str) -> (Tree, SecretBundle) {
    let release = sample();
    let config =
        install_config::read(config, Rules::for_version(&release.version)).expect("it is valid").value;
    let inventory = inventory::read(inventory, Some(&config)).expect("it is valid").value;
    let mut secrets = SecretBundle::from_files([]);
    secrets.draw_identity(&config.metadata.name, "2026-11-15T00:00:00Z".parse().expect("it is a time"));
    let cluster = Cluster { config, inventory, identity: secrets.identity().expect("it was drawn") };
    secrets.complete(&pki::catalogue::keys(&cluster)).expect("keys can be made");
    let graph =
        Graph::of(&cluster, &release, &Tree::default(), &Lock::default()).expect("the graph has no cycle");
    let inputs = Inputs { cluster: &cluster, release: &release, secrets: &secrets, tree: &Tree::default() };
    let world = World { inputs, lock: &Lock::default(), generator: "test", expiring: &[], undone: &[] };
    let plan = plan(&graph, &world, |_| true).expect("every asset can be made");
    let mut tree = Tree::default();
    plan.writes.iter().for_each(|file| tree.insert(&file.path, file.bytes.clone()));
    (tree, secrets)
}

const CONFIG: &str = "
apiVersion: v1
baseDomain: corp.example
metadata: {name: prod1}
networking: {machineNetwork: [{cidr: 10.20.30.0/24}]}
platform: {none: {}}
controlPlane: {name: master, replicas: 3}
compute: [{name: worker, replicas: 2}]
pullSecret: '{\"auths\":{\"quay.io\":{\"auth\":\"dXNlcjpwYXNz\"}}}'
";

const INVENTORY: &str = "
apiVersion: hardway.dev/v1alpha1
kind: Inventory
release: {image: sample}
machines: {provider: bare-metal}
network: {gateway: 10.20.30.1, dns: [10.20.30.1], apiVIP: 10.20.30.10, ingressVIP: 10.20.30.11, loadBalancer: external}
hosts:
- {name: bootstrap, role: bootstrap, ip: 10.20.30.100, mac: '52:54:00:00:00:64', installDisk: /dev/vda}
- {name: master-0, role: master, ip: 10.20.30.101, mac: '52:54:00:00:00:65', installDisk: /dev/vda}
- {name: master-1, role: master, ip: 10.20.30.102, mac: '52:54:00:00:00:66', installDisk: /dev/vda}
- {name: master-2, role: master, ip: 10.20.30.103, mac: '52:54:00:00:00:67', installDisk: /dev/vda}
- {name: worker-0, role: worker, ip: 10.20.30.110, mac: '52:54:00:00:00:6e', installDisk: /dev/vda}
- {name: worker-1, role: worker, ip: 10.20.30.111, mac: '52:54:00:00:00:6f', installDisk: /dev/vda}
";
