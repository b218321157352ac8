//! `openshift/99_openshift-machineconfig_*.yaml`: settings of nodes that install-config asks for.

use serde_json::{Value, json};

use super::manifest::{Manifest, fields};
use crate::graph::Inputs;
use crate::install_config::InstallConfig;

/// The MachineConfigs of both roles that apply. The worker ones are there without workers too: some may join later.
pub(super) fn machine_configs(config: &InstallConfig, version: &str) -> Vec<Manifest> {
    ["master", "worker"].into_iter().flat_map(|role| of_role(config, version, role)).collect()
}

fn of_role(config: &InstallConfig, version: &str, role: &'static str) -> Vec<Manifest> {
    let mut manifests = Vec::new();
    if is_hyperthreading_disabled(config, role) {
        let name = format!("99-{role}-disable-hyperthreading");
        let arguments = ["nosmt", "smt-enabled=off"];
        manifests.push(fixed(name, role, json!({"kernelArguments": arguments})));
    }
    if !config.ssh_key.is_empty() {
        manifests.push(ssh(role));
    }
    if config.fips {
        manifests.push(fixed(format!("99-{role}-fips"), role, json!({"fips": true})));
    }
    if config.networking.service_network.len() == 2 && asks_for_both_families(version) {
        let name = format!("99-dual-stack-{role}");
        manifests.push(fixed(name, role, json!({"kernelArguments": ["ip=dhcp,dhcp6"]})));
    }
    manifests
}

fn is_hyperthreading_disabled(config: &InstallConfig, role: &str) -> bool {
    match role {
        "master" => config.control_plane.hyperthreading == "Disabled",
        _ => config.compute.iter().any(|pool| pool.hyperthreading == "Disabled"),
    }
}

/// From 4.20 dual stack makes nodes ask for addresses of both families; before, not on platform none (installer
/// `machines/master.go`).
fn asks_for_both_families(version: &str) -> bool {
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
    (numbers.next(), numbers.next()) >= (Some(4), Some(20))
}

/// Lets the owner of the key log in as `core`.
fn ssh(role: &'static str) -> Manifest {
    machine_config(format!("99-{role}-ssh"), role, ["sshKey"], |inputs| {
        // All keys in one string, as they came: the machine-config-operator writes it to authorized_keys as it is.
        let user = json!({"name": "core", "sshAuthorizedKeys": [inputs.cluster.config.ssh_key]});
        json!({"config": {"ignition": {"version": IGNITION}, "passwd": {"users": [user]}}})
    })
}

/// One whose presence, not whose content, depends on install-config.
fn fixed(name: String, role: &'static str, mut spec: Value) -> Manifest {
    spec["config"] = json!({"ignition": {"version": IGNITION}});
    machine_config(name, role, [], move |_| spec.clone())
}

fn machine_config<const N: usize>(
    name: String,
    role: &'static str,
    paths: [&'static str; N],
    spec: impl Fn(&Inputs<'_>) -> Value + Send + Sync + 'static,
) -> Manifest {
    let id = format!("machine-config-{name}");
    let path = format!("openshift/99_openshift-machineconfig_{name}.yaml");
    Manifest::new(id, path, fields(paths), move |inputs| {
        Ok(json!({
            "apiVersion": "machineconfiguration.openshift.io/v1",
            "kind": "MachineConfig",
            "metadata": {"labels": {"machineconfiguration.openshift.io/role": role}, "name": name},
            "spec": spec(inputs),
        }))
    })
}

/// The spec version that openshift-install's Ignition library writes.
const IGNITION: &str = "3.2.0";

#[cfg(test)]
mod tests {
    use super::super::testing::World;
    use serde_json::json;

    fn names(world: &World) -> Vec<String> {
        let prefix = "openshift/99_openshift-machineconfig_";
        let mut names: Vec<String> = world
            .paths()
            .iter()
            .filter_map(|path| path.strip_prefix(prefix)?.strip_suffix(".yaml").map(str::to_owned))
            .collect();
        names.sort();
        names
    }

    #[test]
    fn each_setting_brings_its_own() {
        let mut world = World::new();
        assert_eq!(names(&world), ["99-master-ssh", "99-worker-ssh"]);
        world.cluster.config.ssh_key.clear();
        assert_eq!(names(&world), [""; 0]);
        world.cluster.config.fips = true;
        assert_eq!(names(&world), ["99-master-fips", "99-worker-fips"]);
        world.cluster.config.fips = false;
        world.cluster.config.compute[0].hyperthreading = "Disabled".to_owned();
        assert_eq!(names(&world), ["99-worker-disable-hyperthreading"]);
        world.cluster.config.control_plane.hyperthreading = "Disabled".to_owned();
        assert_eq!(names(&world), ["99-master-disable-hyperthreading", "99-worker-disable-hyperthreading"]);
    }

    #[test]
    fn dual_stack_brings_kernel_arguments_from_4_20_on() {
        let dual_stack = |version| {
            names(&World::dual_stack(version))
                .into_iter()
                .filter(|name| name.contains("dual"))
                .collect::<Vec<_>>()
        };
        assert_eq!(dual_stack("4.18.1"), [""; 0]);
        assert_eq!(dual_stack("4.19.3"), [""; 0]);
        assert_eq!(dual_stack("4.20.0"), ["99-dual-stack-master", "99-dual-stack-worker"]);
    }

    #[test]
    fn contents() {
        let mut world = World::dual_stack("4.20.0");
        world.cluster.config.fips = true;
        world.cluster.config.control_plane.hyperthreading = "Disabled".to_owned();
        let spec = |name: &str| {
            let object = world.object(&format!("openshift/99_openshift-machineconfig_{name}.yaml"));
            assert_eq!(object["metadata"]["name"], name);
            assert_eq!(
                object["metadata"]["labels"],
                json!({"machineconfiguration.openshift.io/role": "master"})
            );
            object["spec"].clone()
        };
        let ignition = json!({"ignition": {"version": "3.2.0"}});
        assert_eq!(spec("99-master-fips"), json!({"fips": true, "config": ignition}));
        assert_eq!(
            spec("99-master-disable-hyperthreading"),
            json!({"kernelArguments": ["nosmt", "smt-enabled=off"], "config": ignition})
        );
        assert_eq!(
            spec("99-dual-stack-master"),
            json!({"kernelArguments": ["ip=dhcp,dhcp6"], "config": ignition})
        );
        let user = &spec("99-master-ssh")["config"]["passwd"]["users"][0];
        assert_eq!(user["name"], "core");
        assert_eq!(user["sshAuthorizedKeys"], json!([world.cluster.config.ssh_key]));
    }
}
