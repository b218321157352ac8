//! The CRDs of the sample release, made from a table: names as in 4.18, schemas that accept anything.
//!
//! The real CRDs check every field, prune unknown ones and fill in defaults; these do not. They let the objects that
//! are generated be created and read back, no more.

use serde_json::{Value, json};

use super::ReleaseManifest;
use crate::yaml;

/// One kind. `status` tells whether status is a sub-resource: where it is, creating an object drops its status.
struct SampleCrd {
    /// Begins the file name and decides the order of the files.
    prefix: &'static str,
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
    short_name: &'static str,
    is_namespaced: bool,
    has_status: bool,
    /// The cluster cannot bootstrap without it (annotation `release.openshift.io/bootstrap-required`).
    is_bootstrap: bool,
}

const CONFIG: &str = "config.openshift.io";
const OPERATOR: &str = "operator.openshift.io";
const MACHINE_CONFIG: &str = "machineconfiguration.openshift.io";

impl SampleCrd {
    /// Cluster-scoped, `v1`, with a status sub-resource: what most kinds are.
    const fn new(
        prefix: &'static str,
        group: &'static str,
        kind: &'static str,
        plural: &'static str,
    ) -> Self {
        Self {
            prefix,
            group,
            version: "v1",
            kind,
            plural,
            short_name: "",
            is_namespaced: false,
            has_status: true,
            is_bootstrap: false,
        }
    }

    const fn bootstrap(mut self) -> Self {
        self.is_bootstrap = true;
        self
    }

    const fn without_status(mut self) -> Self {
        self.has_status = false;
        self
    }

    const fn namespaced(mut self) -> Self {
        self.is_namespaced = true;
        self
    }

    const fn short(mut self, name: &'static str) -> Self {
        self.short_name = name;
        self
    }

    const fn version(mut self, version: &'static str) -> Self {
        self.version = version;
        self
    }
}

const CVO: &str = "0000_00_cluster-version-operator_01";
const CONFIG_03: &str = "0000_03_config-operator_01";
const CONFIG_10: &str = "0000_10_config-operator_01";
const MCO: &str = "0000_80_machine-config_01";

/// By file name. SecurityContextConstraints and RangeAllocation have no spec: their fields are at the top.
const ROWS: [SampleCrd; 45] = [
    SampleCrd::new(CVO, CONFIG, "ClusterOperator", "clusteroperators").short("co"),
    SampleCrd::new(CVO, CONFIG, "ClusterVersion", "clusterversions"),
    SampleCrd::new(CONFIG_03, "quota.openshift.io", "ClusterResourceQuota", "clusterresourcequotas")
        .bootstrap(),
    SampleCrd::new(CONFIG_03, CONFIG, "Proxy", "proxies").bootstrap(),
    SampleCrd::new(
        CONFIG_03,
        "authorization.openshift.io",
        "RoleBindingRestriction",
        "rolebindingrestrictions",
    )
    .bootstrap()
    .namespaced()
    .without_status(),
    SampleCrd::new(
        CONFIG_03,
        "security.openshift.io",
        "SecurityContextConstraints",
        "securitycontextconstraints",
    )
    .bootstrap()
    .without_status(),
    SampleCrd::new(
        "0000_03_config-operator_02",
        "security.internal.openshift.io",
        "RangeAllocation",
        "rangeallocations",
    )
    .bootstrap()
    .without_status(),
    SampleCrd::new("0000_03_marketplace_01", CONFIG, "OperatorHub", "operatorhubs"),
    SampleCrd::new(CONFIG_10, CONFIG, "APIServer", "apiservers").bootstrap(),
    SampleCrd::new(CONFIG_10, CONFIG, "Authentication", "authentications").bootstrap(),
    SampleCrd::new(CONFIG_10, OPERATOR, "Config", "configs"),
    SampleCrd::new(CONFIG_10, CONFIG, "Console", "consoles").bootstrap(),
    SampleCrd::new(CONFIG_10, CONFIG, "DNS", "dnses").bootstrap(),
    SampleCrd::new(CONFIG_10, CONFIG, "FeatureGate", "featuregates").bootstrap(),
    SampleCrd::new(CONFIG_10, CONFIG, "ImageContentPolicy", "imagecontentpolicies").bootstrap(),
    SampleCrd::new(CONFIG_10, OPERATOR, "ImageContentSourcePolicy", "imagecontentsourcepolicies")
        .bootstrap()
        .version("v1alpha1"),
    SampleCrd::new(CONFIG_10, CONFIG, "ImageDigestMirrorSet", "imagedigestmirrorsets")
        .bootstrap()
        .short("idms"),
    SampleCrd::new(CONFIG_10, CONFIG, "Image", "images").bootstrap(),
    SampleCrd::new(CONFIG_10, CONFIG, "ImageTagMirrorSet", "imagetagmirrorsets").bootstrap().short("itms"),
    SampleCrd::new(CONFIG_10, CONFIG, "Infrastructure", "infrastructures").bootstrap(),
    SampleCrd::new(CONFIG_10, CONFIG, "Ingress", "ingresses").bootstrap(),
    SampleCrd::new(CONFIG_10, CONFIG, "Network", "networks").bootstrap().without_status(),
    SampleCrd::new(CONFIG_10, CONFIG, "Node", "nodes").bootstrap(),
    SampleCrd::new(CONFIG_10, CONFIG, "OAuth", "oauths").bootstrap(),
    SampleCrd::new(CONFIG_10, CONFIG, "Project", "projects").bootstrap(),
    SampleCrd::new(CONFIG_10, CONFIG, "Scheduler", "schedulers").bootstrap(),
    SampleCrd::new("0000_10_openshift-controller-manager_01", CONFIG, "Build", "builds"),
    SampleCrd::new("0000_12_etcd_01", OPERATOR, "Etcd", "etcds"),
    SampleCrd::new("0000_20_kube-apiserver_01", OPERATOR, "KubeAPIServer", "kubeapiservers"),
    SampleCrd::new(
        "0000_25_kube-controller-manager_01",
        OPERATOR,
        "KubeControllerManager",
        "kubecontrollermanagers",
    ),
    SampleCrd::new("0000_25_kube-scheduler_01", OPERATOR, "KubeScheduler", "kubeschedulers"),
    SampleCrd::new("0000_30_openshift-apiserver_01", OPERATOR, "OpenShiftAPIServer", "openshiftapiservers"),
    SampleCrd::new("0000_50_authentication_01", OPERATOR, "Authentication", "authentications"),
    SampleCrd::new(
        "0000_50_openshift-controller-manager_02",
        OPERATOR,
        "OpenShiftControllerManager",
        "openshiftcontrollermanagers",
    ),
    SampleCrd::new("0000_50_service-ca_02", OPERATOR, "ServiceCA", "servicecas"),
    SampleCrd::new("0000_50_storage_01", OPERATOR, "Storage", "storages"),
    SampleCrd::new("0000_70_dns_00", OPERATOR, "DNS", "dnses"),
    SampleCrd::new("0000_70_network_01", OPERATOR, "Network", "networks"),
    SampleCrd::new(MCO, MACHINE_CONFIG, "ContainerRuntimeConfig", "containerruntimeconfigs").short("ctrcfg"),
    SampleCrd::new(MCO, MACHINE_CONFIG, "ControllerConfig", "controllerconfigs"),
    SampleCrd::new(MCO, MACHINE_CONFIG, "KubeletConfig", "kubeletconfigs"),
    SampleCrd::new(MCO, MACHINE_CONFIG, "MachineConfigPool", "machineconfigpools").short("mcp"),
    SampleCrd::new(MCO, MACHINE_CONFIG, "MachineConfig", "machineconfigs").short("mc").without_status(),
    SampleCrd::new(MCO, OPERATOR, "MachineConfiguration", "machineconfigurations"),
    SampleCrd::new(MCO, MACHINE_CONFIG, "MachineOSConfig", "machineosconfigs"),
];

/// One file per kind, in file name order.
pub(super) fn sample_crds() -> Vec<ReleaseManifest> {
    ROWS.iter()
        .map(|row| ReleaseManifest {
            file_name: format!("{}_{}.crd.yaml", row.prefix, row.plural),
            text: yaml::write(&definition(row)),
        })
        .collect()
}

fn definition(row: &SampleCrd) -> Value {
    let mut annotations = json!({"include.release.openshift.io/self-managed-high-availability": "true"});
    if row.is_bootstrap {
        annotations["release.openshift.io/bootstrap-required"] = "true".into();
    }
    let mut names = json!({
        "kind": row.kind,
        "listKind": format!("{}List", row.kind),
        "plural": row.plural,
        "singular": row.kind.to_lowercase(),
    });
    if !row.short_name.is_empty() {
        names["shortNames"] = json!([row.short_name]);
    }
    let mut version = json!({
        "name": row.version,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
        "served": true,
        "storage": true,
    });
    if row.has_status {
        version["subresources"] = json!({"status": {}});
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"annotations": annotations, "name": format!("{}.{}", row.plural, row.group)},
        "spec": {
            "group": row.group,
            "names": names,
            "scope": if row.is_namespaced { "Namespaced" } else { "Cluster" },
            "versions": [version],
        },
    })
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::release_payload::{real_data, sample};

    #[test]
    fn every_kind_is_there_once_in_file_order_and_for_every_feature_set() {
        let payload = sample();
        assert!(payload.crds.is_sorted_by_key(|crd| &crd.file_name));
        let files: Vec<_> = payload.crds.iter().map(|crd| crd.file_name.as_str()).collect();
        let names: BTreeSet<_> = payload.crds.iter().map(|crd| crd.head().unwrap().name).collect();
        assert_eq!(names.len(), ROWS.len());
        assert_eq!(files.iter().collect::<BTreeSet<_>>().len(), ROWS.len());
        assert_eq!(payload.crds_for("").len(), ROWS.len());
        assert_eq!(payload.crds_for("TechPreviewNoUpgrade").len(), ROWS.len());
        assert!(payload.crds.iter().all(|crd| crd.head().unwrap().is_crd()));
    }

    /// Names, scope, version, sub-resources and the bootstrap mark agree with the real files.
    #[test]
    fn the_table_agrees_with_the_real_ones() {
        let Some(real) = real_data("crds-4.18") else { return };
        let facts = |crd: &ReleaseManifest| {
            let object = yaml::read(&crd.text).unwrap().to_json();
            let spec = &object["spec"];
            let mut names = spec["names"].clone();
            names.as_object_mut().unwrap().remove("categories");
            let versions: Vec<_> = spec["versions"]
                .as_array()
                .unwrap()
                .iter()
                .map(|v| json!([v["name"], v["served"], v["storage"], v["subresources"]]))
                .collect();
            let mark = &object["metadata"]["annotations"]["release.openshift.io/bootstrap-required"];
            let name = object["metadata"]["name"].as_str().unwrap().to_owned();
            (name, json!([spec["group"], names, spec["scope"], versions, mark]))
        };
        let real: BTreeMap<_, _> = real.iter().map(facts).collect();
        let mut compared = 0;
        for (name, ours) in sample().crds.iter().map(facts) {
            if let Some(theirs) = real.get(&name) {
                assert_eq!(&ours, theirs, "{name}");
                compared += 1;
            }
        }
        assert_eq!(
            compared,
            ROWS.len() - 4,
            "all but OperatorHub, ServiceCA and the operators' DNS and Network"
        );
        let bootstrap = real.values().filter(|facts| facts[4] == "true").count();
        assert_eq!(ROWS.iter().filter(|row| row.is_bootstrap).count(), bootstrap);
    }
}
