//! Folders of rendered configs that do not fit are refused, with all that is wrong.

use std::path::Path;

use hardway_assets::yaml;
use hardway_release::render::read_rendered_dir;
use serde_json::{Value, json};

use super::scenario::Scenario;

const HASH: &str = "0123456789abcdef0123456789abcdef";

fn write(dir: &Path, path: &str, value: &Value) {
    let path = dir.join(path);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, yaml::write(value)).unwrap();
}

fn machine_config(name: &str) -> Value {
    json!({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
           "metadata": {"name": name, "ownerReferences": [{"uid": ""}]},
           "spec": {"config": {"ignition": {"version": "3.4.0"}}, "osImageURL": "quay.io/x"}})
}

fn pool(name: &str, config: &str) -> Value {
    json!({"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
           "metadata": {"name": name}, "spec": {"configuration": {"name": config}},
           "status": {"configuration": {"name": config}}})
}

fn folder(scenario: &Scenario) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in ["master", "worker"] {
        let config = format!("rendered-{name}-{HASH}");
        write(dir.path(), &format!("machine-pools/{name}.yaml"), &pool(name, &config));
        write(dir.path(), &format!("machine-configs/{config}.yaml"), &machine_config(&config));
    }
    let infra = json!({"status": {"infrastructureName": scenario.cluster.identity.infra_id}});
    let config =
        json!({"kind": "ControllerConfig", "spec": {"releaseImage": scenario.release.image, "infra": infra}});
    write(dir.path(), "controller-config/machine-config-controller.yaml", &config);
    dir
}

#[test]
fn what_does_not_fit_is_told() {
    let scenario = Scenario::new("ha", "quay.io/a/b");
    let read = |dir: &Path| read_rendered_dir(dir, &scenario.release, &scenario.cluster);
    let good = folder(&scenario);
    let rendered = read(good.path()).unwrap();
    assert!(rendered.configs["master"].machine_config["metadata"]["ownerReferences"].is_null());

    let other = format!("rendered-worker-{}", HASH.replace('0', "1"));
    let worker = format!("machine-configs/rendered-worker-{HASH}.yaml");
    type Change<'c> = &'c dyn Fn(&Path);
    let rows: [(Change<'_>, &str); 8] = [
        (&|dir| fs_err::remove_file(dir.join(&worker)).unwrap(), "missing: the controller writes it"),
        (
            &|dir| fs_err::remove_file(dir.join("machine-pools/worker.yaml")).unwrap(),
            "a config that a pool names",
        ),
        (
            &|dir| {
                fs_err::remove_file(dir.join("machine-pools/worker.yaml")).unwrap();
                fs_err::remove_file(dir.join(&worker)).unwrap();
            },
            "machine-pools/worker.yaml: missing: every cluster has this pool",
        ),
        (
            &|dir| write(dir, "machine-pools/worker.yaml", &pool("worker", &other)),
            "missing: the controller writes it",
        ),
        (&|dir| write(dir, &worker, &machine_config(&other)), "metadata.name is"),
        (
            &|dir| {
                let mut pool = pool("worker", &format!("rendered-worker-{HASH}"));
                pool["status"]["configuration"]["name"] = other.clone().into();
                write(dir, "machine-pools/worker.yaml", &pool);
            },
            "status.configuration.name is",
        ),
        (
            &|dir| write(dir, "machine-pools/infra.yaml", &pool("worker", &other)),
            "metadata.name is \"worker\"",
        ),
        (
            &|dir| {
                let config = json!({"spec": {"releaseImage": "quay.io/other@sha256:1"}});
                write(dir, "controller-config/machine-config-controller.yaml", &config);
            },
            "spec.releaseImage is \"quay.io/other@sha256:1\", expected quay.io/hardway-sample/release@sha256:",
        ),
    ];
    for (change, expected) in rows {
        let dir = folder(&scenario);
        change(dir.path());
        let text = read(dir.path()).unwrap_err().to_string();
        assert!(text.contains(expected), "expected {expected:?} in:\n{text}");
    }

    let mut other_cluster = scenario.cluster.clone();
    other_cluster.identity.infra_id = "other-12345".to_owned();
    let error = read_rendered_dir(good.path(), &scenario.release, &other_cluster).unwrap_err();
    assert!(error.to_string().contains("spec.infra.status.infrastructureName is"), "{error}");
    assert!(read(Path::new("/no/such/folder")).is_err());
}
