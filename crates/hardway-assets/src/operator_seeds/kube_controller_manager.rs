//! What the controller manager operator finds, and what the bootstrap cluster policy controller may do
//! (cluster-kube-controller-manager-operator `bindata/bootkube/manifests`).

use super::cluster_role::{Binding, PolicyRule, Role, Subject};
use super::seed::{self, object};
use crate::graph::Source;
use crate::object_file::ObjectFile;
use crate::rotation::{self, RotatedKind, private_key, tls_secret};

pub(super) fn seeds() -> Vec<ObjectFile> {
    let mut seeds = vec![csr_signer_signer(), service_account_key()];
    seeds.extend(ROLES.iter().map(Role::seed));
    seeds.extend(BINDINGS.iter().map(Binding::seed));
    seeds
}

/// The CA of kubelet certificates: the operator signs with it from the first minute, so that it goes on where the
/// bootstrap controller manager stops.
fn csr_signer_signer() -> ObjectFile {
    const SIGNER: &str = "kubelet-signer";
    seed::secret("secret-csr-signer-signer", rotation::sources(SIGNER), |inputs| {
        let place = ("openshift-kube-controller-manager-operator", "csr-signer-signer");
        tls_secret(inputs, place, SIGNER, RotatedKind::Signer, "kube-controller-manager")
    })
}

/// The key of old-style tokens, from which the operator makes its own while the bootstrap API server still runs.
fn service_account_key() -> ObjectFile {
    let file = "secret-initial-kube-controller-manager-service-account-private-key";
    seed::secret(file, vec![Source::key("service-account")], |inputs| {
        let mut object = object("Secret", "openshift-config", "initial-service-account-private-key");
        object["data"]["service-account.key"] = private_key(inputs, "service-account")?;
        Ok(object)
    })
}

const ALLOCATION: &str = "system:openshift:controller:namespace-security-allocation-controller";
const LABELS: &str = "system:openshift:controller:podsecurity-admission-label-syncer-controller";
const PRIVILEGED_LABELS: &str = "system:openshift:controller:privileged-namespaces-psa-label-syncer";
/// The API server may add rules that a later version has.
const AUTOUPDATE: &[(&str, &str)] = &[("rbac.authorization.kubernetes.io/autoupdate", "true")];

const EVENTS: PolicyRule =
    PolicyRule { groups: &[""], resources: &["events"], names: &[], verbs: &["create", "patch", "update"] };
const CHANGE_NAMESPACES: PolicyRule = PolicyRule {
    groups: &[""],
    resources: &["namespaces"],
    names: &[],
    verbs: &["get", "list", "update", "watch", "patch"],
};

const ROLES: &[Role] = &[
    Role {
        file: "00_namespace-security-allocation-controller-clusterrole",
        name: ALLOCATION,
        annotations: AUTOUPDATE,
        rules: &[
            PolicyRule {
                groups: &["security.openshift.io", "security.internal.openshift.io"],
                resources: &["rangeallocations"],
                names: &[],
                verbs: &["create", "get", "update"],
            },
            CHANGE_NAMESPACES,
            EVENTS,
        ],
    },
    Role {
        file: "00_podsecurity-admission-label-syncer-controller-clusterrole",
        name: LABELS,
        annotations: AUTOUPDATE,
        rules: &[
            CHANGE_NAMESPACES,
            EVENTS,
            PolicyRule { groups: &[""], resources: &["serviceaccounts"], names: &[], verbs: READ },
            PolicyRule {
                groups: &["security.openshift.io"],
                resources: &["securitycontextconstraints"],
                names: &[],
                verbs: READ,
            },
            PolicyRule {
                groups: &["rbac.authorization.k8s.io"],
                resources: &["clusterroles", "clusterrolebindings", "roles", "rolebindings"],
                names: &[],
                verbs: READ,
            },
        ],
    },
    Role {
        file: "00_podsecurity-admission-label-privileged-namespaces-syncer-controller-clusterrole",
        name: PRIVILEGED_LABELS,
        annotations: &[],
        rules: &[
            PolicyRule { groups: &[""], resources: &["namespaces"], names: &[], verbs: READ },
            PolicyRule {
                groups: &[""],
                resources: &["namespaces"],
                names: &["default", "kube-system", "kube-public"],
                verbs: &["patch"],
            },
        ],
    },
];

const BINDINGS: &[Binding] = &[
    Binding {
        file: "00_namespace-security-allocation-controller-clusterrolebinding",
        name: ALLOCATION,
        annotations: AUTOUPDATE,
        role: ALLOCATION,
        subjects: &[Subject::ServiceAccount("openshift-infra", "namespace-security-allocation-controller")],
    },
    Binding {
        file: "00_podsecurity-admission-label-syncer-controller-clusterrolebinding",
        name: LABELS,
        annotations: AUTOUPDATE,
        role: LABELS,
        subjects: &[Subject::ServiceAccount(
            "openshift-infra",
            "podsecurity-admission-label-syncer-controller",
        )],
    },
    Binding {
        file: "00_podsecurity-admission-label-privileged-namespaces-syncer-controller-clusterrolebinding",
        name: PRIVILEGED_LABELS,
        annotations: &[],
        role: PRIVILEGED_LABELS,
        subjects: &[Subject::ServiceAccount("openshift-infra", "privileged-namespaces-psa-label-syncer")],
    },
];

const READ: &[&str] = &["get", "list", "watch"];
