//! The security context constraints that all releases since 4.18 have and the roles that let somebody use them.
//!
//! Admission refuses every pod that no SCC admits, so they must be there before the first pod that is not static
//! (cluster-kube-apiserver-operator `bindata/bootkube/scc-manifests`, where all values come from). The same objects are
//! in the release; of those marked create-only, the release leaves an existing one alone, so that what is missing here stays missing.
//! What newer releases have beyond them (restricted-v3, nested-container) the release creates; no pod of the bootstrap needs it.

use serde_json::{Map, Value, json};

use super::seed;
use crate::graph::{Facet, Source};
use crate::object_file::ObjectFile;
use crate::release_payload::VersionContract;
use crate::rotation::DESCRIPTION;

pub(super) fn seeds() -> Vec<ObjectFile> {
    let mut seeds: Vec<ObjectFile> = CONSTRAINTS
        .iter()
        .map(|constraint| {
            let name = format!("{PREFIX}_scc-{}", constraint.name);
            seed::public(name, vec![Source::Release(Facet::Version)], |inputs| {
                Ok(constraint.object(&inputs.version_contract()?))
            })
        })
        .collect();
    let names = CONSTRAINTS.iter().map(|constraint| constraint.name).chain([ROLE_WITHOUT_SCC]);
    seeds.extend(names.map(|name| seed::fixed(format!("{PREFIX}_cr-scc-{name}"), role(name))));
    seeds.push(seed::fixed(format!("{PREFIX}_crb-systemauthenticated-scc-restricted-v2"), default_binding()));
    seeds
}

/// As the release's own files are called.
const PREFIX: &str = "0000_20_kube-apiserver-operator_00";
/// The release has a role for an SCC that does not exist. It is made with the others so that none is missing.
const ROLE_WITHOUT_SCC: &str = "hostmount";

struct Constraint {
    name: &'static str,
    description: &'static str,
    /// False for those that the release keeps as they are: their later versions.
    create_only: bool,
    priority: Option<u32>,
    host: &'static [Host],
    privileged: bool,
    escalation: bool,
    capabilities: &'static [&'static str],
    dropped: &'static [&'static str],
    user: &'static str,
    selinux: &'static str,
    fs_group: &'static str,
    groups_of_pod: &'static str,
    seccomp: &'static [&'static str],
    sysctls: &'static [&'static str],
    /// Besides those that every SCC allows; `*` alone for all.
    volumes: &'static [&'static str],
    users: &'static [&'static str],
    groups: &'static [&'static str],
}

/// What of the host a pod may use.
#[derive(PartialEq, Eq)]
enum Host {
    Folders,
    Ipc,
    Network,
    Pid,
    Ports,
}

/// What most have in common.
const BASE: Constraint = Constraint {
    name: "",
    description: "",
    create_only: true,
    priority: None,
    host: &[],
    privileged: false,
    escalation: true,
    capabilities: &[],
    dropped: &["KILL", "MKNOD", "SETUID", "SETGID"],
    user: "MustRunAsRange",
    selinux: "MustRunAs",
    fs_group: "MustRunAs",
    groups_of_pod: "RunAsAny",
    seccomp: &[],
    sysctls: &[],
    volumes: &[],
    users: &[],
    groups: &[],
};

/// What the second versions have in common: no capability but one, no way up, the runtime's seccomp filter.
const BASE_V2: Constraint = Constraint {
    create_only: false,
    escalation: false,
    capabilities: &["NET_BIND_SERVICE"],
    dropped: &["ALL"],
    seccomp: &["runtime/default"],
    ..BASE
};

static CONSTRAINTS: [Constraint; 11] = [
    Constraint {
        name: "anyuid",
        description: "Like restricted, but with any user and group ID.",
        priority: Some(10),
        dropped: &["MKNOD"],
        user: "RunAsAny",
        fs_group: "RunAsAny",
        groups: &["system:cluster-admins"],
        ..BASE
    },
    Constraint {
        name: "hostaccess",
        description: "All namespaces, files and ports of the host, but the namespace's own user ID and SELinux \
                      label. Whoever has it owns the host: for trusted pods only.",
        host: &[Host::Folders, Host::Ipc, Host::Network, Host::Pid, Host::Ports],
        volumes: &["hostPath"],
        ..BASE
    },
    Constraint {
        name: "hostmount-anyuid",
        description: "Like restricted, but with files of the host and any user ID, root included. The recycler of \
                      persistent volumes needs it; others hardly ever.",
        host: &[Host::Folders],
        dropped: &["MKNOD"],
        user: "RunAsAny",
        fs_group: "RunAsAny",
        volumes: &["hostPath", "nfs"],
        users: &["system:serviceaccount:openshift-infra:pv-recycler-controller"],
        ..BASE
    },
    Constraint {
        name: "hostmount-anyuid-v2",
        description: "Like hostmount-anyuid, and with any SELinux label as well.",
        host: &[Host::Folders],
        dropped: &["MKNOD"],
        user: "RunAsAny",
        selinux: "RunAsAny",
        fs_group: "RunAsAny",
        volumes: &["hostPath", "nfs"],
        ..BASE
    },
    Constraint {
        name: "hostnetwork",
        description: "Like restricted, but on the host's network and ports.",
        host: &[Host::Network, Host::Ports],
        groups_of_pod: "MustRunAs",
        ..BASE
    },
    Constraint {
        name: "hostnetwork-v2",
        description: "Like restricted-v2, but on the host's network and ports.",
        host: &[Host::Network, Host::Ports],
        groups_of_pod: "MustRunAs",
        ..BASE_V2
    },
    Constraint {
        name: "nonroot",
        description: "Like restricted, but with any user ID except root's, named by the pod or its image.",
        user: "MustRunAsNonRoot",
        fs_group: "RunAsAny",
        ..BASE
    },
    Constraint {
        name: "nonroot-v2",
        description: "Like restricted-v2, but with any user ID except root's, named by the pod or its image.",
        user: "MustRunAsNonRoot",
        fs_group: "RunAsAny",
        ..BASE_V2
    },
    Constraint {
        name: "privileged",
        description: "Everything. For the cluster's own administration only.",
        host: &[Host::Folders, Host::Ipc, Host::Network, Host::Pid, Host::Ports],
        privileged: true,
        capabilities: &["*"],
        dropped: &[],
        user: "RunAsAny",
        selinux: "RunAsAny",
        fs_group: "RunAsAny",
        seccomp: &["*"],
        sysctls: &["*"],
        volumes: &["*"],
        users: &["system:admin", "system:serviceaccount:openshift-infra:build-controller"],
        groups: &["system:cluster-admins", "system:nodes", "system:masters"],
        ..BASE
    },
    Constraint {
        name: "restricted",
        description: "Nothing of the host; the namespace's own user ID and SELinux label.",
        ..BASE
    },
    Constraint {
        name: "restricted-v2",
        description: "Like restricted, and without capabilities or privilege escalation, under the runtime's seccomp \
                      filter. What every authenticated user may use.",
        ..BASE_V2
    },
];

/// What every SCC but the privileged one allows.
const VOLUMES: [&str; 8] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

impl Constraint {
    fn object(&self, contract: &VersionContract) -> Value {
        let host = |part: Host| self.host.contains(&part);
        let mut object = json!({
            "apiVersion": "security.openshift.io/v1",
            "kind": "SecurityContextConstraints",
            "metadata": {"name": self.name, "annotations": self.annotations()},
            "allowHostDirVolumePlugin": host(Host::Folders),
            "allowHostIPC": host(Host::Ipc),
            "allowHostNetwork": host(Host::Network),
            "allowHostPID": host(Host::Pid),
            "allowHostPorts": host(Host::Ports),
            "allowPrivilegeEscalation": self.escalation,
            "allowPrivilegedContainer": self.privileged,
            "allowedCapabilities": or_null(self.capabilities),
            "defaultAddCapabilities": null,
            "fsGroup": {"type": self.fs_group},
            "groups": self.groups,
            "priority": self.priority,
            "readOnlyRootFilesystem": false,
            "requiredDropCapabilities": or_null(self.dropped),
            "runAsUser": {"type": self.user},
            "seLinuxContext": {"type": self.selinux},
            "supplementalGroups": {"type": self.groups_of_pod},
            "users": self.users,
            "volumes": self.volumes(contract),
        });
        if !self.seccomp.is_empty() {
            object["seccompProfiles"] = json!(self.seccomp);
        }
        if !self.sysctls.is_empty() {
            object["allowedUnsafeSysctls"] = json!(self.sysctls);
        }
        object
    }

    fn annotations(&self) -> Map<String, Value> {
        let mut annotations = profiles();
        annotations.insert("kubernetes.io/description".to_owned(), self.description.into());
        if self.create_only {
            annotations.insert("release.openshift.io/create-only".to_owned(), "true".into());
        }
        annotations
    }

    fn volumes(&self, contract: &VersionContract) -> Vec<&'static str> {
        if self.volumes == ["*"] {
            return vec!["*"];
        }
        let mut volumes = [VOLUMES.as_slice(), self.volumes].concat();
        volumes.extend(contract.has_image_volumes().then_some("image"));
        volumes.sort_unstable();
        volumes
    }
}

fn role(name: &str) -> Value {
    let mut annotations = profiles();
    annotations.insert("rbac.authorization.kubernetes.io/autoupdate".to_owned(), "true".into());
    if name == ROLE_WITHOUT_SCC {
        annotations
            .insert(DESCRIPTION.to_owned(), "For an SCC that does not exist: it allows nothing.".into());
    }
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": format!("system:openshift:scc:{name}"), "annotations": annotations},
        "rules": [{
            "apiGroups": ["security.openshift.io"],
            "resourceNames": [name],
            "resources": ["securitycontextconstraints"],
            "verbs": ["use"],
        }],
    })
}

/// Everyone may use the strictest.
fn default_binding() -> Value {
    let name = "system:openshift:scc:restricted-v2";
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name, "annotations": profiles()},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:authenticated"},
        ],
    })
}

/// The kinds of cluster that the release puts these objects into.
fn profiles() -> Map<String, Value> {
    ["ibm-cloud-managed", "self-managed-high-availability", "single-node-developer"]
        .iter()
        .map(|profile| (format!("include.release.openshift.io/{profile}"), "true".into()))
        .collect()
}

/// The schema wants the field even where there is nothing to say.
fn or_null(list: &[&str]) -> Value {
    if list.is_empty() { Value::Null } else { json!(list) }
}
