//! The right inputs pass.

use hardway_assets::Tree;
use hardway_assets::inventory::Role;
use hardway_release::render::{Rendered, run};

use super::scenario::{Scenario, policy};
use crate::containers::stand_in;

/// Renders a scenario, with what was logged.
fn render(scenario: &Scenario) -> Option<(Rendered, Vec<String>)> {
    let podman = &stand_in()?.podman;
    let workspace = tempfile::tempdir().unwrap();
    let mut lines = Vec::new();
    let Scenario { cluster, release, tree } = scenario;
    let mut log = |line: &str| lines.push(line.to_owned());
    let rendered = run(tree, release, cluster, (workspace.path(), podman), &mut log);
    Some((rendered.unwrap_or_else(|e| panic!("{e}")), lines))
}

fn names(rendered: &Rendered) -> Vec<String> {
    rendered.configs.values().map(|config| config.name.clone()).collect()
}

fn scenario(name: &str) -> Option<Scenario> {
    Some(Scenario::new(name, &stand_in()?.image))
}

#[test]
fn every_kind_of_cluster_is_rendered() {
    for name in ["ha", "single-node", "disconnected", "ipv6"] {
        let Some(mut scenario) = scenario(name) else { return };
        let (rendered, _) = render(&scenario).unwrap();
        assert_eq!(rendered.configs.keys().collect::<Vec<_>>(), ["master", "worker"], "{name}");
        for (pool, config) in &rendered.configs {
            let metadata = &config.machine_config["metadata"];
            assert!(config.name.starts_with(&format!("rendered-{pool}-")), "{}", config.name);
            assert_eq!(metadata["name"], config.name.as_str());
            assert!(metadata["ownerReferences"].is_null(), "the API server refuses one without a uid");
        }
        let files = rendered.files();
        let paths: Vec<_> = files.iter().map(|file| file.path.clone()).collect();
        assert_eq!(paths, ["release/rendered/master.yaml", "release/rendered/worker.yaml"]);
        assert!(files.iter().all(|file| file.mode == 0o600), "they hold the pull secret");
        scenario.release.rendered = rendered.configs.clone();
        let configs = node_configs(&scenario.remade());
        for host in scenario.cluster.inventory.hosts.iter().filter(|host| host.role != Role::Bootstrap) {
            let pool = if host.role == Role::Master { "master" } else { "worker" };
            assert!(
                configs.contains(&rendered.configs[pool].name),
                "{name}: no node of {pool} has its config"
            );
        }
    }
}

/// The text of every node's ignition config.
fn node_configs(tree: &Tree) -> String {
    tree.folder("ignition").map(|(_, bytes)| decoded(bytes)).collect()
}

/// An ignition config with the contents of its files in plain text.
fn decoded(config: &[u8]) -> String {
    use base64::Engine as _;
    let config: serde_json::Value = serde_json::from_slice(config).unwrap();
    let files = config["storage"]["files"].as_array().unwrap().iter();
    let sources = files.filter_map(|file| file["contents"]["source"].as_str()?.split_once("base64,"));
    let decode = |encoded: &str| base64::prelude::BASE64_STANDARD.decode(encoded).unwrap();
    sources.map(|(_, encoded)| String::from_utf8_lossy(&decode(encoded)).into_owned()).collect()
}

#[test]
fn the_names_follow_what_the_nodes_depend_on_and_nothing_else() {
    let Some(scenario) = scenario("ha") else { return };
    let (before, _) = render(&scenario).unwrap();
    let (again, _) = render(&scenario).unwrap();
    assert_eq!(before, again);

    let mut other = scenario.clone();
    other.edit("manifests/cluster-ingress-02-config.yml", "apps.ocp4", "apps2.ocp4");
    assert_eq!(names(&render(&other).unwrap().0), names(&before), "no node file depends on ingress");

    let mut other = scenario.clone();
    other.edit(
        "openshift/99_openshift-machineconfig_99-master-ssh.yaml",
        "ssh-ed25519 AAAA",
        "ssh-ed25519 BBBB",
    );
    let after = names(&render(&other).unwrap().0);
    assert_ne!(after[0], names(&before)[0], "a key for masters changes masters");
    assert_eq!(after[1], names(&before)[1], "and leaves workers alone");

    let mut other = scenario.clone();
    other.tree.insert(
        "manifests/mine.yaml",
        "apiVersion: config.openshift.io/v1\nkind: ImageTagMirrorSet\nmetadata: {name: mine}\nspec: {}\n",
    );
    let after = names(&render(&other).unwrap().0);
    assert!(after.iter().zip(names(&before)).all(|(after, before)| *after != before));
}

#[test]
fn image_policies_of_the_release_are_handed_over_where_the_cluster_gets_them() {
    let Some(scenario) = scenario("ha") else { return };
    let (before, _) = render(&scenario).unwrap();
    let with = |feature_set: &str| {
        let mut other = scenario.clone();
        other.release.image_policies.push(policy(feature_set));
        names(&render(&other).unwrap().0)
    };
    assert_eq!(with("TechPreviewNoUpgrade"), names(&before), "the cluster does not get it either");
    assert_ne!(with(""), names(&before));
}

#[test]
fn a_pool_of_ones_own_is_rendered_too() {
    let Some(mut scenario) = scenario("ha") else { return };
    scenario.tree.insert(
        "manifests/infra-pool.yaml",
        "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfigPool\nmetadata: {name: infra}\nspec:\n\
         \x20 machineConfigSelector:\n    matchExpressions:\n\
         \x20   - {key: machineconfiguration.openshift.io/role, operator: In, values: [worker, infra]}\n",
    );
    let (rendered, _) = render(&scenario).unwrap();
    assert_eq!(rendered.configs.keys().collect::<Vec<_>>(), ["infra", "master", "worker"]);
}

#[test]
fn a_login_does_not_show_in_what_the_commands_say() {
    let Some(scenario) = scenario("disconnected") else { return };
    let (_, lines) = render(&scenario).unwrap();
    let text = lines.join("\n");
    assert!(text.contains("writing the following controllerConfig to disk"), "{text}");
    assert!(text.contains("<redacted>") && !text.contains("p%40ss"), "{text}");
}
