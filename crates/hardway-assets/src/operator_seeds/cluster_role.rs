//! ClusterRoles and ClusterRoleBindings as rows.

use serde_json::{Map, Value, json};

use super::seed;
use crate::object_file::ObjectFile;

/// A ClusterRole.
pub(super) struct Role {
    pub(super) file: &'static str,
    pub(super) name: &'static str,
    pub(super) annotations: &'static [(&'static str, &'static str)],
    pub(super) rules: &'static [PolicyRule],
}

/// One of its rules.
pub(super) struct PolicyRule {
    pub(super) groups: &'static [&'static str],
    pub(super) resources: &'static [&'static str],
    /// Only these objects; empty for all.
    pub(super) names: &'static [&'static str],
    pub(super) verbs: &'static [&'static str],
}

/// A ClusterRoleBinding.
pub(super) struct Binding {
    pub(super) file: &'static str,
    pub(super) name: &'static str,
    pub(super) annotations: &'static [(&'static str, &'static str)],
    pub(super) role: &'static str,
    pub(super) subjects: &'static [Subject],
}

/// Whom a role is bound to.
pub(super) enum Subject {
    /// Namespace and name.
    ServiceAccount(&'static str, &'static str),
    User(&'static str),
    Group(&'static str),
}

impl Role {
    pub(super) fn seed(&self) -> ObjectFile {
        let rules: Value = self.rules.iter().map(PolicyRule::value).collect();
        seed::fixed(self.file, object("ClusterRole", self.name, self.annotations, ("rules", rules)))
    }
}

impl Binding {
    pub(super) fn seed(&self) -> ObjectFile {
        seed::fixed(self.file, self.object())
    }

    pub(super) fn object(&self) -> Value {
        let subjects: Value = self.subjects.iter().map(Subject::value).collect();
        let mut object = object("ClusterRoleBinding", self.name, self.annotations, ("subjects", subjects));
        object["roleRef"] = json!({"apiGroup": GROUP, "kind": "ClusterRole", "name": self.role});
        object
    }
}

impl PolicyRule {
    fn value(&self) -> Value {
        let mut rule = json!({"apiGroups": self.groups, "resources": self.resources, "verbs": self.verbs});
        if !self.names.is_empty() {
            rule["resourceNames"] = json!(self.names);
        }
        rule
    }
}

impl Subject {
    fn value(&self) -> Value {
        match self {
            Self::ServiceAccount(namespace, name) => {
                json!({"kind": "ServiceAccount", "namespace": namespace, "name": name})
            }
            Self::User(name) => json!({"apiGroup": GROUP, "kind": "User", "name": name}),
            Self::Group(name) => json!({"apiGroup": GROUP, "kind": "Group", "name": name}),
        }
    }
}

fn object(kind: &str, name: &str, annotations: &[(&str, &str)], (key, value): (&str, Value)) -> Value {
    let mut object = json!({
        "apiVersion": format!("{GROUP}/v1"),
        "kind": kind,
        "metadata": {"name": name},
    });
    if !annotations.is_empty() {
        let pairs = annotations.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value)));
        object["metadata"]["annotations"] = pairs.collect::<Map<_, _>>().into();
    }
    object[key] = value;
    object
}

const GROUP: &str = "rbac.authorization.k8s.io";
