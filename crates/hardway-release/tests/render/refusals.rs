//! Whatever is missing or wrong is told before podman is called, and the commands themselves would have stopped at it.

use std::path::Path;

use hardway_release::render::{Podman, RenderCommands, RenderError, check, render_inputs, run, write_inputs};

use crate::containers::{Containers, output, said, stand_in};
use crate::scenario::{Scenario, SetImage as _};

const INFRASTRUCTURE: &str = "manifests/cluster-infrastructure-02-config.yml";
const FEATURE_GATE: &str = "openshift/99_feature-gate.yaml";
const PULL_SECRET: &str = "manifests/openshift-config-secret-pull-secret.yaml";
const CONTROLLER_DIR: &str = "assets/operator/bootstrap/manifests";

/// A mistake, our words for it, and those of the commands.
struct Case {
    name: &'static str,
    make: fn(&mut Scenario),
    ours: &'static str,
    theirs: Theirs,
}

enum Theirs {
    /// One of the commands stops, saying this.
    Stop(&'static str),
    /// They would not notice, and nodes would not come up or be rolled over later.
    Pass,
    /// Our layout leaves the file out; laid there by hand, they stop, saying this.
    StopAtFile(&'static str, &'static str),
}
use Theirs::{Pass, Stop, StopAtFile};

const fn case(name: &'static str, make: fn(&mut Scenario), ours: &'static str, theirs: Theirs) -> Case {
    Case { name, make, ours, theirs }
}

const CASES: [Case; 38] = [
    case(
        "no cluster config",
        |s| s.tree.remove("manifests/cluster-config.yaml"),
        "manifests/cluster-config.yaml: missing (fix: run `hardway phase run make-manifests`)",
        Stop("cluster-config.yaml: no such file"),
    ),
    case(
        "no infrastructure",
        |s| s.tree.remove(INFRASTRUCTURE),
        "manifests/cluster-infrastructure-02-config.yml: missing",
        Stop("cluster-infrastructure-02-config.yml: no such file"),
    ),
    case(
        "no network",
        |s| s.tree.remove("manifests/cluster-network-02-config.yml"),
        "manifests/cluster-network-02-config.yml: missing",
        Stop("cluster-network-02-config.yml: no such file"),
    ),
    case(
        "no DNS",
        |s| s.tree.remove("manifests/cluster-dns-02-config.yml"),
        "manifests/cluster-dns-02-config.yml: missing",
        Stop("cluster-dns-02-config.yml: no such file"),
    ),
    case(
        "no proxy",
        |s| s.tree.remove("manifests/cluster-proxy-01-config.yaml"),
        "manifests/cluster-proxy-01-config.yaml: missing",
        Stop("cluster-proxy-01-config.yaml: no such file"),
    ),
    case(
        "no pull secret",
        |s| s.tree.remove(PULL_SECRET),
        "manifests/openshift-config-secret-pull-secret.yaml: missing",
        Stop("openshift-config-secret-pull-secret.yaml: no such file"),
    ),
    case(
        "no root CA",
        |s| s.tree.remove("pki/root-ca.crt"),
        "pki/root-ca.crt: missing (fix: run `hardway phase run make-pki`)",
        Stop("root-ca.crt: no such file"),
    ),
    case(
        "no client CAs",
        |s| s.tree.remove("pki/kube-apiserver-complete-client-ca-bundle.crt"),
        "pki/kube-apiserver-complete-client-ca-bundle.crt: missing",
        Stop("kube-apiserver-complete-client-ca-bundle.crt: no such file"),
    ),
    case(
        "an empty CA file",
        |s| s.tree.insert("pki/root-ca.crt", "nothing\n"),
        "pki/root-ca.crt: expected PEM certificates, found none",
        Pass,
    ),
    case(
        "another object in the file",
        |s| s.edit(INFRASTRUCTURE, "kind: Infrastructure", "kind: DNS"),
        "cluster-infrastructure-02-config.yml: expected Infrastructure, found DNS",
        Stop("expected *configv1.Infrastructure found *v1.DNS"),
    ),
    case(
        "nothing in the file",
        |s| s.tree.insert(INFRASTRUCTURE, "---\n"),
        "cluster-infrastructure-02-config.yml: expected Infrastructure, found no object",
        Stop("Object 'Kind' is missing"),
    ),
    case(
        "the misspelt URL",
        |s| s.edit(INFRASTRUCTURE, "apiServerInternalURI", "apiServerInternalURL"),
        "status.apiServerInternalURL is no field of Infrastructure",
        Stop("unknown scheme in"),
    ),
    case(
        "no status of the infrastructure",
        |s| s.edit(INFRASTRUCTURE, "status:", "statuses:"),
        "status.apiServerInternalURI is missing or malformed",
        Stop("unknown scheme in"),
    ),
    case(
        "no platform",
        |s| s.edit(INFRASTRUCTURE, "platformStatus:", "platformState:"),
        "status.platformStatus.type is missing or malformed",
        Pass,
    ),
    case(
        "a cloud configuration",
        |s| s.edit(INFRASTRUCTURE, "name: \"\"", "name: mine"),
        "spec.cloudConfig.name is missing or malformed: platform none has no cloud configuration",
        Stop("failed to load the cloud provider config"),
    ),
    case(
        "no service network",
        |s| s.edit("manifests/cluster-network-02-config.yml", "serviceNetwork:", "services:"),
        "spec.serviceNetwork is missing or malformed",
        Stop("service cidr is empty in Network"),
    ),
    case(
        "no feature gates",
        |s| s.tree.remove(FEATURE_GATE),
        "openshift/99_feature-gate.yaml: missing",
        Stop("no featuregate found"),
    ),
    case(
        "feature gates without status",
        |s| s.edit(FEATURE_GATE, "status:", "statuses:"),
        "status.featureGates has no entry for version 4.18.1, only for: none",
        Stop("missing desired version \"4.18.1\""),
    ),
    case(
        "feature gates of another version",
        |s| s.edit(FEATURE_GATE, "version: \"4.18.1\"", "version: \"4.18.0\""),
        "status.featureGates has no entry for version 4.18.1, only for: 4.18.0",
        Stop("missing desired version \"4.18.1\""),
    ),
    case(
        "a pull secret of another type",
        |s| s.edit(PULL_SECRET, "kubernetes.io/dockerconfigjson", "Opaque"),
        "expected type kubernetes.io/dockerconfigjson, found Opaque",
        Stop("expected secret type kubernetes.io/dockerconfigjson found Opaque"),
    ),
    case(
        "a pull secret that is no JSON",
        |s| {
            s.tree.insert(PULL_SECRET, "apiVersion: v1\nkind: Secret\ntype: kubernetes.io/dockerconfigjson\ndata: {\".dockerconfigjson\": bm90IEpTT04=}\n")
        },
        "data[.dockerconfigjson] is missing or malformed",
        Stop("couldn't compact pullsecret"),
    ),
    case(
        "a missing image",
        |s| s.release.set_image("coredns", None),
        "release/image-references: the release has no image named coredns",
        Stop("Failed to find coredns in image references"),
    ),
    case(
        "no node image",
        |s| s.release.set_image("rhel-coreos", None),
        "the release has no image named rhel-coreos",
        Pass,
    ),
    case(
        "broken YAML of the user",
        |s| s.tree.insert("manifests/mine.yaml", "a: 1\nb: [\n"),
        "manifests/mine.yaml: line ",
        Stop("error parsing manifests from /assets/operator/bootstrap/manifests/mine.yaml"),
    ),
    case(
        "an object without a kind",
        |s| s.tree.insert("manifests/mine.yaml", "apiVersion: v1\n"),
        "manifests/mine.yaml: kind is missing or malformed",
        Stop("is missing"),
    ),
    case(
        "a file that is no manifest",
        |s| s.tree.insert("openshift/README.md", "# Mine\n\n- a: b: c\n"),
        "openshift/README.md: neither YAML nor JSON",
        StopAtFile(
            "README.md",
            "error parsing manifests from /assets/operator/bootstrap/manifests/README.md",
        ),
    ),
    case(
        "a list",
        |s| s.tree.insert("manifests/mine.yaml", "apiVersion: v1\nkind: List\nitems: []\n"),
        "manifests/mine.yaml: kind List is not looked into",
        Pass,
    ),
    case(
        "the same file name twice",
        |s| s.tree.insert("openshift/cluster-dns-02-config.yml", "apiVersion: v1\nkind: ConfigMap\n"),
        "openshift/cluster-dns-02-config.yml: has the same name as manifests/cluster-dns-02-config.yml",
        Pass,
    ),
    case(
        "the name of a file of the operator",
        |s| s.tree.insert("manifests/master.machineconfigpool.yaml", "apiVersion: v1\nkind: ConfigMap\n"),
        "has the same name as a file of the machine-config-operator",
        Pass,
    ),
    case(
        "a controller config of one's own",
        |s| {
            s.tree.insert("openshift/mine.yaml", "apiVersion: machineconfiguration.openshift.io/v1\nkind: ControllerConfig\nmetadata: {name: x}\nspec: {infra: {status: {apiServerInternalURI: 'https://x:1', platformStatus: {type: None}}}}\n")
        },
        "openshift/mine.yaml: a ControllerConfig of your own would take the place",
        Stop("Ignoring controller config generated"),
    ),
    case(
        "two kubelet configs for a pool",
        |s| {
            for name in ["one", "two"] {
                let text = format!(
                    "apiVersion: machineconfiguration.openshift.io/v1\nkind: KubeletConfig\nmetadata: {{name: {name}}}\nspec:\n  \
                     machineConfigPoolSelector:\n    matchLabels:\n      pools.operator.machineconfiguration.openshift.io/worker: \"\"\n"
                );
                s.tree.insert(format!("manifests/kubelet-{name}.yaml"), text);
            }
        },
        "manifests/kubelet-two.yaml: a second KubeletConfig for pool worker, after manifests/kubelet-one.yaml",
        Stop("Error found multiple KubeletConfigs targeting MachineConfigPool worker"),
    ),
    case(
        "a pool without a base",
        |s| {
            s.tree.insert("manifests/pool.yaml", "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfigPool\nmetadata: {name: infra}\nspec: {machineConfigSelector: {matchLabels: {machineconfiguration.openshift.io/role: infra}}}\n")
        },
        "manifests/pool.yaml: pool infra selects the MachineConfigs of neither worker nor master",
        Pass,
    ),
    case(
        "a pool that selects nothing",
        |s| {
            s.tree.insert("manifests/pool.yaml", "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfigPool\nmetadata: {name: infra}\nspec: {machineConfigSelector: {matchLabels: {machineconfiguration.openshift.io/role: other}}}\n")
        },
        "manifests/pool.yaml: pool infra selects the MachineConfigs of neither worker nor master",
        Stop("couldn't find any MachineConfigs for pool: infra"),
    ),
    case(
        "an Ignition version of the future",
        |s| {
            s.edit(
                "openshift/99_openshift-machineconfig_99-master-ssh.yaml",
                "version: \"3.2.0\"",
                "version: \"3.9.0\"",
            )
        },
        "expected spec.config.ignition.version up to 3.4.0, found 3.9.0",
        Stop("parsing Ignition config failed"),
    ),
    case(
        "an unknown kernel",
        |s| {
            s.edit(
                "openshift/99_openshift-machineconfig_99-worker-ssh.yaml",
                "spec:\n",
                "spec:\n  kernelType: tiny\n",
            )
        },
        "expected spec.kernelType default, realtime or 64k-pages, found tiny",
        Stop("kernelType=tiny is invalid"),
    ),
    case("the sample release", |s| s.release.is_sample = true, "the sample release is made up", Pass),
    case(
        "a release by tag",
        |s| s.release.image = "quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64".to_owned(),
        "release/release-image: release image is \"quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64\"",
        Pass,
    ),
    case(
        "a release of an unknown version",
        |s| s.release.version = "4.17.1".to_owned(),
        "release 4.17.1 is too old",
        Stop("missing desired version \"4.17.1\""),
    ),
];

const IMAGE: &str = "quay.io/a/b@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

#[test]
fn every_mistake_is_told_before_podman_is_called() {
    let dir = tempfile::tempdir().unwrap();
    let podman = Podman { program: "/no/such/podman".to_owned(), ..Podman::default() };
    let good = Scenario::new("ha", IMAGE);
    for case in &CASES {
        let mut scenario = good.clone();
        (case.make)(&mut scenario);
        let Scenario { cluster, release, tree } = &scenario;
        let error = run(tree, release, cluster, (dir.path(), &podman), &mut |_| {}).unwrap_err();
        assert!(matches!(error, RenderError::Faults(_)), "{}: {error}", case.name);
        assert!(error.to_string().contains(case.ours), "{}: expected {:?} in {error}", case.name, case.ours);
        assert_eq!(fs_err::read_dir(dir.path()).unwrap().count(), 0, "{}: nothing is written", case.name);
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let mut scenario = Scenario::new("ha", IMAGE);
    (CASES[3].make)(&mut scenario);
    (CASES[11].make)(&mut scenario);
    (CASES[21].make)(&mut scenario);
    scenario.tree.insert("manifests/notes.txt", "mine");
    let faults = check(&scenario.tree, &scenario.release, &scenario.cluster).unwrap_err().0;
    let files: Vec<_> = faults.iter().map(|fault| fault.file.as_str()).collect();
    assert_eq!(
        files,
        [
            "release/image-references",
            "manifests/cluster-dns-02-config.yml",
            "manifests/notes.txt",
            INFRASTRUCTURE
        ]
    );
}

#[test]
fn the_trust_bundle_of_the_cluster_may_not_be_left_out() {
    let good = Scenario::new("disconnected", IMAGE);
    check(&good.tree, &good.release, &good.cluster).unwrap();
    let path = "manifests/user-ca-bundle-config.yaml";
    let mut gone = good.clone();
    gone.tree.remove(path);
    let mut empty = good.clone();
    empty.edit(path, "ca-bundle.crt", "other.crt");
    for (scenario, expected) in [(gone, "missing"), (empty, "data[ca-bundle.crt] is missing or malformed")] {
        let error = check(&scenario.tree, &scenario.release, &scenario.cluster).unwrap_err().to_string();
        assert!(error.contains(&format!("{path}: {expected}")), "{error}");
    }
}

#[test]
fn from_4_21_the_registry_image_is_needed() {
    let mut scenario = Scenario::of_version("ha", stand_in().map_or(IMAGE, |built| &built.image), "4.21.0");
    check(&scenario.tree, &scenario.release, &scenario.cluster).unwrap();
    scenario.release.set_image("docker-registry", None);
    let error = check(&scenario.tree, &scenario.release, &scenario.cluster).unwrap_err().to_string();
    assert!(error.contains("the release has no image named docker-registry"), "{error}");
    if let Some(containers) = stand_in() {
        let said = directly(&scenario, containers, |_| {}).unwrap_err();
        assert!(said.contains("Failed to find docker-registry in image references"), "{said}");
    }
}

#[test]
fn the_commands_stop_at_them_too() {
    let Some(containers) = stand_in() else { return };
    let surprises = surprises(containers);
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

/// Gives every mistake to the commands themselves; where they do not do what is said of them here.
pub(crate) fn surprises(containers: &Containers) -> Vec<String> {
    let good = Scenario::new("ha", &containers.image);
    directly(&good, containers, |_| {}).unwrap();
    let mut surprises = Vec::new();
    for case in &CASES {
        let mut scenario = good.clone();
        (case.make)(&mut scenario);
        let (file, expected) = match case.theirs {
            Pass => (None, None),
            Stop(expected) => (None, Some(expected)),
            StopAtFile(file, expected) => (Some(file), Some(expected)),
        };
        let lay_by_hand = |workspace: &Path| {
            if let Some(file) = file {
                let text = scenario.tree.get(&format!("openshift/{file}")).unwrap();
                fs_err::write(workspace.join(CONTROLLER_DIR).join(file), text).unwrap();
            }
        };
        match (directly(&scenario, containers, lay_by_hand), expected) {
            (Ok(()), None) => {}
            (Err(said), Some(expected)) if said.contains(expected) => {}
            (result, expected) => {
                surprises.push(format!("{}: expected {expected:?}, got {result:?}", case.name))
            }
        }
    }
    surprises
}

#[test]
fn the_second_command_stops_without_the_first_and_without_the_version() {
    let Some(containers) = stand_in() else { return };
    let Scenario { cluster, release, tree } = Scenario::new("ha", &containers.image);
    let dir = tempfile::tempdir().unwrap();
    write_inputs(dir.path(), &render_inputs(&tree, &release, &cluster)).unwrap();
    let commands = RenderCommands::new(dir.path(), &release, &cluster, &containers.podman).unwrap();
    let [operator, controller] = &commands.lines;
    assert!(said(&output(controller)).contains("no controllerconfig found in dir"));
    assert!(output(operator).status.success());
    let mut unversioned = controller.clone();
    unversioned.arguments.retain(|argument| !argument.starts_with("--payload-version"));
    assert!(said(&output(&unversioned)).contains("missing desired version \"0.0.1-snapshot\""));
    let mut odd = operator.clone();
    odd.arguments.push("--no-such-flag=1".to_owned());
    assert!(said(&output(&odd)).contains("unknown flag"));
    let path = dir.path().join(CONTROLLER_DIR).join("machineconfigcontroller-controllerconfig.yaml");
    let text = fs_err::read_to_string(&path)
        .unwrap()
        .replace("generated-by-version: stand-in", "generated-by-version: other");
    fs_err::write(&path, text).unwrap();
    assert!(said(&output(controller)).contains("Ignoring controller config generated from other"));
}

#[test]
fn what_only_the_commands_see_is_explained() {
    let Some(containers) = stand_in() else { return };
    let mut scenario = Scenario::new("ha", &containers.image);
    scenario.tree.insert(
        "manifests/mine.yaml",
        "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata: {name: mine}\nspec: {kernelArguments: quiet}\n",
    );
    let dir = tempfile::tempdir().unwrap();
    let Scenario { cluster, release, tree } = &scenario;
    let error =
        run(tree, release, cluster, (dir.path(), &containers.podman), &mut |_| {}).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot render one config for each pool: podman ended with exit status: 255"),
        "{error}"
    );
    assert!(
        error.contains("cause: a file among the manifests is not what its kind asks for\nfix: "),
        "{error}"
    );
    assert!(error.contains("/mine.yaml"), "{error}");
}

/// Lays the inputs out and runs both commands without any check of ours; what the failing one said.
fn directly(scenario: &Scenario, containers: &Containers, change: impl Fn(&Path)) -> Result<(), String> {
    let Scenario { cluster, release, tree } = scenario;
    let dir = tempfile::tempdir().unwrap();
    write_inputs(dir.path(), &render_inputs(tree, release, cluster)).unwrap();
    change(dir.path());
    let commands = RenderCommands::new(dir.path(), release, cluster, &containers.podman).unwrap();
    for line in &commands.lines {
        let output = output(line);
        if !output.status.success() {
            return Err(said(&output));
        }
    }
    Ok(())
}
