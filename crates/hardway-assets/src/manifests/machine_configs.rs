//! `openshift/99_openshift-machineconfig_*.yaml`: settings of nodes that install-config asks for.

use serde_json::{Value, json};

use crate::graph::Inputs;
use crate::ignition_spec;
use crate::install_config::InstallConfig;
use crate::object_file::{ObjectFile, fields};
use crate::release_payload::{ReleasePayload, VersionContract};

/// The MachineConfigs of both roles that apply. The worker ones are there without workers too: some may join later.
pub(super) fn machine_configs(config: &InstallConfig, release: &ReleasePayload) -> Vec<ObjectFile> {
    ["master", "worker"].into_iter().flat_map(|role| of_role(config, release, role)).collect()
}

fn of_role(config: &InstallConfig, release: &ReleasePayload, role: &'static str) -> Vec<ObjectFile> {
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
    if config.cpu_partitioning_mode == "AllNodes" {
        manifests.push(cpu_partitioning(role));
    }
    let is_dual_stack = config.networking.service_network.len() == 2;
    if is_dual_stack && release.promises(VersionContract::dual_stack_asks_for_both_families) {
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

/// Lets the owner of the key log in as `core`.
fn ssh(role: &'static str) -> ObjectFile {
    machine_config(format!("99-{role}-ssh"), role, ["sshKey"], |inputs| {
        // All keys in one string, as they came: the machine-config-operator writes it to authorized_keys as it is.
        let user = json!({"name": "core", "sshAuthorizedKeys": [inputs.cluster.config.ssh_key]});
        json!({"config": {"ignition": {"version": ignition_spec::VERSION}, "passwd": {"users": [user]}}})
    })
}

/// Makes kubelet and CRI-O take part in workload partitioning, with no processors set aside yet: the files that a
/// PerformanceProfile overrides later. The node-tuning-operator writes this when a cluster is bootstrapped, and never
/// again, so a cluster without it says `AllNodes` and has nodes that know nothing of it (cluster-node-tuning-operator
/// pkg/performanceprofile/cmd/render/render.go `genBootstrapWorkloadPinningManifests`, the same from 4.18 to main). It
/// makes one for every pool; the pools of one's own select worker's too.
fn cpu_partitioning(role: &'static str) -> ObjectFile {
    let file = |path: &str, text: &str| json!({"path": path, "mode": 0o644, "contents": {"source": ignition_spec::data_url(text.as_bytes())}});
    let files = [
        file("/etc/kubernetes/openshift-workload-pinning", KUBELET_PARTITION),
        file("/etc/crio/crio.conf.d/01-workload-pinning-default.conf", CRIO_PARTITION),
    ];
    let spec =
        json!({"config": {"ignition": {"version": ignition_spec::VERSION}, "storage": {"files": files}}});
    machine_config(format!("01-{role}-cpu-partitioning"), role, [], move |_| spec.clone())
}

/// One whose presence, not whose content, depends on install-config.
fn fixed(name: String, role: &'static str, mut spec: Value) -> ObjectFile {
    spec["config"] = json!({"ignition": {"version": ignition_spec::VERSION}});
    machine_config(name, role, [], move |_| spec.clone())
}

fn machine_config<const N: usize>(
    name: String,
    role: &'static str,
    paths: [&'static str; N],
    spec: impl Fn(&Inputs<'_>) -> Value + Send + Sync + 'static,
) -> ObjectFile {
    let id = format!("machine-config-{name}");
    let path = format!("openshift/99_openshift-machineconfig_{name}.yaml");
    ObjectFile::new(id, path, fields(paths), move |inputs| {
        Ok(json!({
            "apiVersion": "machineconfiguration.openshift.io/v1",
            "kind": "MachineConfig",
            "metadata": {"labels": {"machineconfiguration.openshift.io/role": role}, "name": name},
            "spec": spec(inputs),
        }))
    })
}

/// What the operator's templates give for an empty set of processors, to the byte, with the empty line they begin with:
/// only so is the rendered configuration the one that nodes of openshift-install have.
const KUBELET_PARTITION: &str = r#"
{
  "management": {
    "cpuset": ""
  }
}
"#;
const CRIO_PARTITION: &str = r#"
[crio.runtime.workloads.management]
activation_annotation = "target.workload.openshift.io/management"
annotation_prefix = "resources.workload.openshift.io"
resources = { "cpushares" = 0, "cpuset" = "" }
"#;

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
    fn cpu_partitioning_reaches_kubelet_and_crio_of_every_node() {
        let mut world = World::new();
        world.cluster.config.ssh_key.clear();
        world.cluster.config.cpu_partitioning_mode = "None".to_owned();
        assert_eq!(names(&world), [""; 0]);
        world.cluster.config.cpu_partitioning_mode = "AllNodes".to_owned();
        assert_eq!(names(&world), ["01-master-cpu-partitioning", "01-worker-cpu-partitioning"]);
        let file = |path: &str, contents: &str| {
            let source = format!("data:text/plain;charset=utf-8;base64,{contents}");
            json!({"path": path, "mode": 420, "contents": {"source": source}})
        };
        // As `cluster-node-tuning-operator render` writes it.
        let kubelet = "CnsKICAibWFuYWdlbWVudCI6IHsKICAgICJjcHVzZXQiOiAiIgogIH0KfQo=";
        let crio = "CltjcmlvLnJ1bnRpbWUud29ya2xvYWRzLm1hbmFnZW1lbnRdCmFjdGl2YXRpb25fYW5ub3RhdGlvbiA9ICJ0YXJnZXQud29ya2xvYWQub\
                    3BlbnNoaWZ0LmlvL21hbmFnZW1lbnQiCmFubm90YXRpb25fcHJlZml4ID0gInJlc291cmNlcy53b3JrbG9hZC5vcGVuc2hpZnQuaW8iCn\
                    Jlc291cmNlcyA9IHsgImNwdXNoYXJlcyIgPSAwLCAiY3B1c2V0IiA9ICIiIH0K";
        for role in ["master", "worker"] {
            let object = world
                .object(&format!("openshift/99_openshift-machineconfig_01-{role}-cpu-partitioning.yaml"));
            assert_eq!(object["metadata"]["labels"], json!({"machineconfiguration.openshift.io/role": role}));
            assert_eq!(object["spec"]["config"]["ignition"], json!({"version": "3.2.0"}));
            assert_eq!(
                object["spec"]["config"]["storage"]["files"],
                json!([
                    file("/etc/kubernetes/openshift-workload-pinning", kubelet),
                    file("/etc/crio/crio.conf.d/01-workload-pinning-default.conf", crio),
                ])
            );
        }
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
