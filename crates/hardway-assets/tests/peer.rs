//! Our output beside that of a real openshift-install.

mod peer_summary;

use hardway_assets::graph::{Graph, Inputs, Lock, World, plan};
use hardway_assets::install_config::{self, Rules};
use hardway_assets::release_payload::sample;
use hardway_assets::secrets::SecretBundle;
use hardway_assets::{Cluster, Tree, assets, inventory, pki};
use serde_json::json;

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
fn we_make_everything_that_openshift_install_made() {
    let (Some(record), Some(config)) =
        (peer_summary::recorded("prod1"), peer_summary::install_config("prod1"))
    else {
        return;
    };
    let lacking = peer_summary::lacking(&record, &peer_summary::summary(&made(&config)));
    let unexpected: Vec<&String> =
        lacking.iter().filter(|place| !ON_PURPOSE.iter().any(|known| place.starts_with(known))).collect();
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    for known in ON_PURPOSE {
        assert!(lacking.iter().any(|place| place.starts_with(known)), "no longer so, take it out: {known}");
    }
}

/// The reasons are those of `diff/reasons.rs`.
const ON_PURPOSE: &[&str] = &[
    "/bootstrap.ign/files//opt/openshift/manifests/cvo-overrides.yaml/mode:",
    "/bootstrap.ign/files//opt/openshift/manifests/kube-cloud-config.yaml/mode:",
    "/bootstrap.ign/files//opt/openshift/manifests/machine-config-server-tls-secret.yaml/mode:",
    "/bootstrap.ign/files//opt/openshift/manifests/openshift-config-secret-pull-secret.yaml/mode:",
    "/bootstrap.ign/files//opt/openshift/openshift/99_kubeadmin-password-secret.yaml/mode:",
    "/bootstrap.ign/files//opt/openshift/openshift/99_openshift-cluster-api_master-user-data-secret.yaml/mode:",
    "/bootstrap.ign/files//opt/openshift/openshift/99_openshift-cluster-api_worker-user-data-secret.yaml/mode:",
    "/bootstrap.ign/units/release-image-pivot.service:",
    "/manifests/manifests/cluster-config.yaml[0]/metadata/annotations/kubernetes.io/description:",
    "/manifests/openshift/99_feature-gate.yaml[0]/status/featureGates: null recorded",
    "/manifests/openshift/99_openshift-machineconfig_99-master-ssh.yaml[0]/spec/fips: false recorded, nothing",
    "/manifests/openshift/99_openshift-machineconfig_99-worker-ssh.yaml[0]/spec/fips: false recorded, nothing",
    "/manifests/openshift/openshift-install-manifests.yaml[0]/data/invoker:",
    "/manifests/openshift/openshift-install-manifests.yaml[0]/data/version:",
];

/// The working directory of a cluster, with RSA keys as the record has them.
fn made(config: &str) -> Tree {
    let release = sample();
    let config = install_config::read(config, Rules::for_version(&release.version)).unwrap().value;
    let inventory = inventory::read(INVENTORY, Some(&config)).unwrap().value;
    let mut secrets = SecretBundle::from_files([]);
    secrets.draw_identity(&config.metadata.name, "2026-11-15T00:00:00Z".parse().unwrap());
    let cluster = Cluster { config, inventory, identity: secrets.identity().unwrap() };
    secrets.complete(&pki::catalogue::keys(&cluster)).unwrap();
    let graph = Graph::new(assets(&cluster, &release)).unwrap();
    let inputs = Inputs { cluster: &cluster, release: &release, secrets: &secrets, tree: &Tree::default() };
    let world = World { inputs, lock: &Lock::default(), generator: "test", expiring: &[] };
    let plan = plan(&graph, &world, |_| true).unwrap();
    let mut tree = Tree::default();
    plan.writes.iter().for_each(|file| tree.insert(&file.path, file.bytes.clone()));
    tree
}

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
