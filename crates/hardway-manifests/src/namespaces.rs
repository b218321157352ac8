//! Namespaces that are there without a file of the folder: Kubernetes' own, and those that a release brings.

use hardway_assets::violation::FieldErrorKind;

use crate::values::near_word;
use crate::{FieldPath, Mistake, Severity};

/// What comes with Kubernetes, and with OpenShift and OKD 4.12 to 4.22 on any platform: the Namespaces in the payload's manifests, and
/// those that its operators make. Without `openshift-`.
const OF_RELEASES: [&str; 72] = [
    "apiserver",
    "apiserver-operator",
    "authentication",
    "authentication-operator",
    "catalogd",
    "cloud-controller-manager",
    "cloud-controller-manager-operator",
    "cloud-credential-operator",
    "cloud-network-config-controller",
    "cloud-platform-infra",
    "cluster-api",
    "cluster-csi-drivers",
    "cluster-machine-approver",
    "cluster-node-tuning-operator",
    "cluster-olm-operator",
    "cluster-samples-operator",
    "cluster-storage-operator",
    "cluster-version",
    "config",
    "config-managed",
    "config-operator",
    "console",
    "console-operator",
    "console-user-settings",
    "controller-manager",
    "controller-manager-operator",
    "dns",
    "dns-operator",
    "etcd",
    "etcd-operator",
    "frr-k8s",
    "host-network",
    "image-registry",
    "infra",
    "ingress",
    "ingress-canary",
    "ingress-operator",
    "insights",
    "kni-infra",
    "kube-apiserver",
    "kube-apiserver-operator",
    "kube-controller-manager",
    "kube-controller-manager-operator",
    "kube-proxy",
    "kube-scheduler",
    "kube-scheduler-operator",
    "kube-storage-version-migrator",
    "kube-storage-version-migrator-operator",
    "machine-api",
    "machine-config-operator",
    "marketplace",
    "monitoring",
    "multus",
    "network-console",
    "network-diagnostics",
    "network-node-identity",
    "network-operator",
    "node",
    "nutanix-infra",
    "oauth-apiserver",
    "openstack-infra",
    "operator-controller",
    "operator-lifecycle-manager",
    "operators",
    "ovirt-infra",
    "ovn-kubernetes",
    "route-controller-manager",
    "sdn",
    "service-ca",
    "service-ca-operator",
    "user-workload-monitoring",
    "vsphere-infra",
];
const OF_KUBERNETES: [&str; 5] = ["default", "kube-node-lease", "kube-public", "kube-system", "openshift"];
const PREFIX: &str = "openshift-";

/// Whether it is there in every cluster, or named as if operators of a release made it.
pub(crate) fn is_of_operators(namespace: &str) -> bool {
    OF_KUBERNETES.contains(&namespace) || namespace.starts_with(PREFIX)
}

/// What is wrong with an object being in a namespace that no file makes.
pub(crate) fn unmade(namespace: &str) -> Option<(Severity, Mistake)> {
    let path = FieldPath::of(&["metadata", "namespace"]);
    let mistake = |detail: &str| Mistake::new(&path, FieldErrorKind::NotFound, detail).of(&namespace.into());
    const ADD: &str = "add a Namespace of this name, or use an existing one";
    let Some(name) = namespace.strip_prefix(PREFIX) else {
        let near = near_word(namespace, OF_KUBERNETES.into_iter());
        let fix = near.map_or(ADD.to_owned(), |near| format!("did you mean {near:?}?"));
        let is_there = OF_KUBERNETES.contains(&namespace);
        return (!is_there).then(|| (Severity::Error, mistake("nothing creates this namespace").fix(fix)));
    };
    if OF_RELEASES.contains(&name) {
        return None;
    }
    Some(match near_word(name, OF_RELEASES.into_iter()) {
        Some(near) => {
            let fix = format!("did you mean {:?}?", format!("{PREFIX}{near}"));
            (Severity::Error, mistake("nothing creates this namespace").fix(fix))
        }
        // A newer release may bring more than are known here.
        None => (
            Severity::Warning,
            mistake("no file here creates this namespace, and no release that is known").fix(ADD),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_hand_is_an_error_and_what_is_unknown_a_warning() {
        let told = |namespace: &str| {
            unmade(namespace).map(|(severity, mistake)| (severity, mistake.fix.unwrap_or_default()))
        };
        for there in ["default", "kube-system", "openshift", "openshift-config", "openshift-machine-api"] {
            assert_eq!(told(there), None, "{there}");
        }
        let near = |name: &str| Some((Severity::Error, format!("did you mean {name:?}?")));
        assert_eq!(told("openshift-confg"), near("openshift-config"));
        assert_eq!(told("openshift-machine-ap"), near("openshift-machine-api"));
        assert_eq!(told("kube-sytem"), near("kube-system"));
        assert_eq!(told("mine").unwrap().0, Severity::Error);
        for own in
            ["openshift-gitops", "openshift-nfd", "openshift-lvm", "openshift-cnv", "openshift-logging"]
        {
            assert_eq!(told(own).unwrap().0, Severity::Warning, "{own}");
        }
    }
}
