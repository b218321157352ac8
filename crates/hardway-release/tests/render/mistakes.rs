//! What can be wrong with a working directory: our words for it, and what the two commands do with it.

use super::scenario::{Scenario, SetImage as _, policy};

pub(crate) const INFRASTRUCTURE: &str = "manifests/cluster-infrastructure-02-config.yml";
const FEATURE_GATE: &str = "openshift/99_feature-gate.yaml";
const PULL_SECRET: &str = "manifests/openshift-config-secret-pull-secret.yaml";

/// A mistake, our words for it, and those of the commands.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) make: fn(&mut Scenario),
    pub(crate) ours: &'static str,
    pub(crate) theirs: Theirs,
}

pub(crate) enum Theirs {
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

pub(crate) const CASES: [Case; 40] = [
    case(
        "no cluster config",
        |s| s.tree.remove("manifests/cluster-config.yaml"),
        "manifests/cluster-config.yaml: missing (fix: run `hardway create manifests` to create it)",
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
        "pki/root-ca.crt: missing (fix: run `hardway create manifests` to create it)",
        Stop("root-ca.crt: no such file"),
    ),
    // 4.22 passes over this one, and its kubelets would then trust no client.
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
        "Infrastructure has no field status.apiServerInternalURL",
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
        "manifests/mine.yaml: the controller ignores the items of a kind List",
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
        "openshift/mine.yaml: your own ControllerConfig would replace",
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
    case(
        "the sample release",
        |s| s.release.is_sample = true,
        "the sample release has no image to render with",
        Pass,
    ),
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
    case(
        "a performance profile",
        |s| {
            let text =
                "apiVersion: performance.openshift.io/v2\nkind: PerformanceProfile\nmetadata: {name: x}\n";
            s.tree.insert("manifests/tuned.yaml", text);
        },
        "manifests/tuned.yaml: the node-tuning-operator makes MachineConfigs from a PerformanceProfile",
        Pass,
    ),
    case(
        "the name of an image policy of the release",
        |s| {
            s.release.image_policies.push(policy(""));
            s.tree.insert(
                "manifests/0000_90_policy.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n",
            );
        },
        "manifests/0000_90_policy.yaml: has the same name as one of the release",
        Pass,
    ),
];
