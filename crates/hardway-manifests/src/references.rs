//! What objects name: namespaces, Secrets, ConfigMaps and ServiceAccounts that must be somewhere.

use std::collections::BTreeSet;

use hardway_assets::violation::FieldErrorKind;
use serde_json::Value;

use crate::manifest_object::ManifestObject;
use crate::namespaces::{self, is_of_operators};
use crate::{FieldPath, Kinds, Mistake, Scope, Severity};

/// Number of an object, and what is wrong with it.
pub(crate) type Found = (usize, Severity, Mistake);

/// Everything that names something nobody makes.
pub(crate) fn check(objects: &[ManifestObject<'_>], kinds: &Kinds) -> Vec<Found> {
    let there: BTreeSet<String> = objects.iter().map(ManifestObject::name).collect();
    let mut found = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        let namespace = object.text_at("/metadata/namespace");
        let scope = kinds.scope(object.text_at("/apiVersion"), object.text_at("/kind"));
        let is_made = namespace.is_empty() || there.contains(&format!("Namespace {namespace}"));
        if scope != Some(Scope::Cluster) && !is_made {
            let unmade = namespaces::unmade(namespace);
            found.extend(unmade.map(|(severity, mistake)| (index, severity, mistake)));
        }
        for (path, kind, name) in named(object) {
            if !there.contains(&format!("{kind} {name}")) {
                let detail = format!("{kind} {name} is not in any of these files");
                found.push((index, Severity::Warning, Mistake::new(&path, FieldErrorKind::NotFound, detail)));
            }
        }
    }
    found
}

/// Where a cluster-wide object names a Secret or ConfigMap, and in which namespace that is looked for
/// (openshift/api `config/v1`, `SecretNameReference` and `ConfigMapNameReference`).
const NAMED: [(&str, &str, &str); 8] = [
    ("Proxy", "spec.trustedCA.name", "ConfigMap"),
    ("Image", "spec.additionalTrustedCA.name", "ConfigMap"),
    ("APIServer", "spec.clientCA.name", "ConfigMap"),
    ("APIServer", "spec.servingCerts.namedCertificates[].servingCertificate.name", "Secret"),
    ("OAuth", "spec.identityProviders[].htpasswd.fileData.name", "Secret"),
    ("OAuth", "spec.identityProviders[].openID.clientSecret.name", "Secret"),
    ("OAuth", "spec.identityProviders[].ldap.bindPassword.name", "Secret"),
    ("Scheduler", "spec.policy.name", "ConfigMap"),
];

/// Path, kind and full name of everything that an object names.
fn named(object: &ManifestObject<'_>) -> Vec<(FieldPath, &'static str, String)> {
    let mut found = Vec::new();
    if object.text_at("/apiVersion").starts_with("config.openshift.io/") {
        for (kind, path, named) in NAMED.iter().filter(|(kind, ..)| *kind == object.text_at("/kind")) {
            let _ = kind;
            let steps: Vec<&str> = path.split('.').collect();
            collect(&object.value, &steps, &FieldPath::default(), &mut |path, name| {
                found.push((path, *named, format!("openshift-config/{name}")));
            });
        }
    }
    let namespace = object.text_at("/metadata/namespace");
    // What operators put into their own namespaces is not in any file here.
    if namespace.is_empty() || is_of_operators(namespace) {
        return found;
    }
    for root in ["spec", "spec.template.spec", "spec.jobTemplate.spec.template.spec"] {
        let is_pod = root == "spec" && object.text_at("/kind") == "Pod";
        if (root == "spec") != is_pod {
            continue;
        }
        for (below, kind) in [
            ("volumes[].secret.secretName", "Secret"),
            ("volumes[].configMap.name", "ConfigMap"),
            ("imagePullSecrets[].name", "Secret"),
            ("serviceAccountName", "ServiceAccount"),
        ] {
            let path = format!("{root}.{below}");
            let steps: Vec<&str> = path.split('.').collect();
            collect(&object.value, &steps, &FieldPath::default(), &mut |path, name| {
                if !(kind == "ServiceAccount" && name == "default") {
                    found.push((path, kind, format!("{namespace}/{name}")));
                }
            });
        }
    }
    found
}

fn collect(value: &Value, steps: &[&str], path: &FieldPath, tell: &mut impl FnMut(FieldPath, &str)) {
    let Some((step, rest)) = steps.split_first() else {
        if let Some(text) = value.as_str().filter(|text| !text.is_empty()) {
            tell(path.clone(), text);
        }
        return;
    };
    // Whoever may be missing is marked so.
    if value.get("optional") == Some(&Value::Bool(true)) {
        return;
    }
    match step.strip_suffix("[]") {
        Some(name) => {
            let items = value.get(name).and_then(Value::as_array).into_iter().flatten();
            for (index, item) in items.enumerate() {
                collect(item, rest, &path.field(name).index(index), tell);
            }
        }
        None => {
            if let Some(below) = value.get(step) {
                collect(below, rest, &path.field(step), tell);
            }
        }
    }
}
