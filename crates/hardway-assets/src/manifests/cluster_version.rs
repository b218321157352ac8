//! `manifests/cvo-overrides.yaml`: ClusterVersion, and what becomes of it on the bootstrap host.

use serde_json::{Value, json};

use super::objects::{Object, objects};
use crate::Tree;
use crate::graph::{Facet, Inputs, MakeError, Source};
use crate::object_file::{ObjectFile, fields};
use crate::release_payload::ObjectId;

const PATH: &str = "manifests/cvo-overrides.yaml";

/// Tells the version operator who the cluster is, where its updates come from and what is not wanted.
pub(super) fn cluster_version() -> ObjectFile {
    let mut sources = fields(["capabilities"]);
    sources.extend([Source::Identity, Source::Release(Facet::Version)]);
    ObjectFile::new("cluster-version", PATH, sources, build)
}

/// ClusterVersion as the bootstrap host creates it, and the patch that undoes the difference once the cluster runs.
///
/// While the cluster comes up, the version operator must leave every object alone that the bootstrap host is about to
/// create: each becomes an override. The patch, `original_cvo_overrides.patch`, puts the user's own overrides back
/// (installer `ignition/bootstrap/cvoignore.go`).
pub(crate) fn with_overrides(tree: &Tree) -> Result<(Vec<u8>, Vec<u8>), MakeError> {
    let (ours, others): (Vec<Object>, Vec<Object>) =
        objects(tree)?.into_iter().partition(|object| object.path == PATH);
    let [object] = ours.as_slice() else {
        return Err(match ours.get(1) {
            Some(second) => bad("one document expected", second.node.span.start),
            None => MakeError::MissingFile(PATH.to_owned()),
        });
    };
    let mut cluster_version = object.node.to_json();
    let spec = &mut cluster_version["spec"];
    if spec.is_null() {
        *spec = json!({});
    }
    let place = object.node.locate("spec.overrides").start;
    let Value::Object(spec) = spec else {
        return Err(bad("unexpected type for .spec in clusterversion", place));
    };
    let theirs = spec.remove("overrides").unwrap_or_default();
    let overrides = match &theirs {
        Value::Array(theirs) => merged(theirs, &others),
        Value::Null => merged(&[], &others),
        _ => return Err(bad("unexpected type for .spec.overrides in clusterversion", place)),
    };
    spec.insert("overrides".to_owned(), overrides.into());
    let patch = json!({"spec": {"overrides": theirs}});
    Ok((crate::yaml::write(&cluster_version).into_bytes(), patch.to_string().into_bytes()))
}

fn build(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let contract = inputs.version_contract()?;
    let mut spec = json!({
        "channel": contract.update_channel(),
        "clusterID": inputs.cluster.identity.cluster_id,
    });
    if contract.is_okd() {
        spec["upstream"] = OKD_UPDATES.into();
    }
    if let Some(capabilities) = &inputs.cluster.config.capabilities {
        spec["capabilities"] = json!(capabilities);
    }
    Ok(json!({
        "apiVersion": "config.openshift.io/v1",
        "kind": "ClusterVersion",
        "metadata": {"name": "version", "namespace": "openshift-cluster-version"},
        "spec": spec,
    }))
}

/// The user's own first. The API takes an object once only: where the user names one of ours, it is theirs that is
/// made unmanaged, until the patch restores it.
fn merged(theirs: &[Value], objects: &[Object]) -> Vec<Value> {
    let mut overrides = theirs.to_vec();
    for Object { id, .. } in objects {
        match overrides.iter_mut().find(|entry| is_of(entry, id)) {
            Some(entry) => entry["unmanaged"] = true.into(),
            None => overrides.push(json!({
                "group": id.group,
                "kind": id.kind,
                "name": id.name,
                "namespace": id.namespace,
                "unmanaged": true,
            })),
        }
    }
    overrides
}

fn is_of(entry: &Value, id: &ObjectId) -> bool {
    let has = |key: &str, value: &str| entry[key].as_str().unwrap_or_default() == value;
    has("group", &id.group)
        && has("kind", &id.kind)
        && has("name", &id.name)
        && has("namespace", &id.namespace)
}

fn bad(reason: &str, offset: usize) -> MakeError {
    MakeError::BadFile { path: PATH.to_owned(), reason: reason.to_owned(), offset: Some(offset) }
}

/// Where OKD looks for updates; OpenShift uses the address built into its version operator (installer
/// `data/manifests/bootkube/cvo-overrides.yaml.template`).
const OKD_UPDATES: &str = "https://amd64.origin.releases.ci.openshift.org/graph";

#[cfg(test)]
mod tests {
    use super::super::testing::World;
    use super::*;
    use crate::graph::Asset as _;
    use crate::install_config::Capabilities;
    use crate::yaml;

    const VERSION: &str =
        "apiVersion: config.openshift.io/v1\nkind: ClusterVersion\nmetadata: {name: version}\n";

    fn tree(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        files.iter().for_each(|(path, text)| tree.insert(*path, *text));
        tree
    }

    fn overridden(tree: &Tree) -> (Value, Value) {
        let (version, patch) = with_overrides(tree).unwrap();
        let version = yaml::read(std::str::from_utf8(&version).unwrap()).unwrap().to_json();
        (version, serde_json::from_slice(&patch).unwrap())
    }

    fn error(text: &str) -> String {
        with_overrides(&tree(&[(PATH, text)])).unwrap_err().to_string()
    }

    #[test]
    fn names_channel_cluster_and_capabilities() {
        let mut world = World::new();
        let spec = world.object(PATH)["spec"].clone();
        assert_eq!(
            spec,
            json!({"channel": "stable-4.18", "clusterID": "8b1c2f9e-6a57-4d0c-9f0e-3c6f1f6a1c11"})
        );
        world.cluster.config.capabilities = Some(Capabilities {
            additional_enabled_capabilities: vec!["Ingress".to_owned()],
            baseline_capability_set: "None".to_owned(),
        });
        assert_eq!(
            world.object(PATH)["spec"]["capabilities"],
            json!({"baselineCapabilitySet": "None", "additionalEnabledCapabilities": ["Ingress"]})
        );
    }

    #[test]
    fn okd_updates_from_its_own_service() {
        let spec = World::of_version("4.19.0-okd-scos.2").object(PATH)["spec"].clone();
        assert_eq!(spec["channel"], "stable-scos-4");
        assert!(spec["upstream"].as_str().unwrap().ends_with("/graph"));
    }

    #[test]
    fn a_version_without_numbers_is_refused() {
        let world = World::of_version("newest");
        let error = cluster_version().make(&world.inputs()).unwrap_err();
        assert!(error.to_string().starts_with("\"newest\" is not a release version"), "{error}");
    }

    #[test]
    fn every_object_of_both_folders_becomes_an_override() {
        let mut world = World::new();
        world.tree = world.made();
        world.tree.insert(
            "openshift/mine.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n",
        );
        let (version, patch) = overridden(&world.tree);
        let overrides = version["spec"]["overrides"].as_array().unwrap();
        // Every file of ours holds one object; this one is not in the list, and the user's file brings two.
        let ours = world.tree.folder("manifests").count() + world.tree.folder("openshift").count();
        assert_eq!(overrides.len(), ours - 2 + 2);
        assert!(
            overrides.iter().all(|entry| entry["unmanaged"] == true && entry["kind"] != "ClusterVersion")
        );
        assert_eq!(
            overrides[0],
            json!({"group": "", "kind": "ConfigMap", "name": "cluster-config-v1", "namespace": "kube-system", "unmanaged": true})
        );
        assert!(overrides.contains(
            &json!({"group": "apps", "kind": "Deployment", "name": "web", "namespace": "shop", "unmanaged": true})
        ));
        assert_eq!(version["spec"]["channel"], "stable-4.18");
        assert_eq!(patch, json!({"spec": {"overrides": null}}));
    }

    #[test]
    fn the_users_own_overrides_come_first_and_come_back() {
        let entry = |name: &str, unmanaged: bool| json!({"group": "", "kind": "Secret", "name": name, "namespace": "n", "unmanaged": unmanaged});
        let theirs = json!([entry("theirs", true), entry("both", false)]);
        let secret =
            |name: &str| format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}, namespace: n}}\n");
        let (version, patch) = overridden(&tree(&[
            (PATH, &format!("{VERSION}spec: {{clusterID: x, overrides: {theirs}}}\n")),
            ("manifests/a.yaml", &secret("ours")),
            ("openshift/b.yaml", &secret("both")),
        ]));
        assert_eq!(
            version["spec"]["overrides"],
            json!([entry("theirs", true), entry("both", true), entry("ours", true)])
        );
        assert_eq!(version["spec"]["clusterID"], "x");
        assert_eq!(patch, json!({"spec": {"overrides": theirs}}));
    }

    #[test]
    fn a_damaged_cluster_version_is_refused() {
        assert_eq!(with_overrides(&Tree::default()).unwrap_err().to_string(), format!("{PATH} is missing"));
        assert_eq!(
            error(&format!("{VERSION}spec: {{overrides: all}}\n")),
            format!("{PATH}: unexpected type for .spec.overrides in clusterversion")
        );
        assert_eq!(
            error(&format!("{VERSION}spec: all\n")),
            format!("{PATH}: unexpected type for .spec in clusterversion")
        );
        assert!(
            error(&format!("{VERSION}---\napiVersion: v1\nkind: A\nmetadata: {{name: a}}\n"))
                .ends_with("one document expected")
        );
        let another = tree(&[(PATH, VERSION), ("openshift/a.yaml", VERSION)]);
        assert!(
            with_overrides(&another)
                .unwrap_err()
                .to_string()
                .contains("multiple manifests for group config.openshift.io")
        );
    }
}
