//! What a step makes: objects of the cluster, and the files of a folder that a GitOps repository can hold.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_base::Secret;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{DayTwoSettings, DayTwoStep, identity, node_settings, operator_settings, serving_certificates};
use crate::violation::{FieldErrorKind, Violation};
use crate::{Cluster, File, yaml};

/// What objects are made from.
pub struct DayTwoInputs<'i> {
    /// The cluster they are for.
    pub cluster: &'i Cluster,
    /// The contents of files, by the path that a setting names them with.
    pub files: &'i BTreeMap<String, Secret>,
    /// What salts of password hashes are derived from.
    pub salt_key: &'i [u8],
    /// Certificates are judged by it.
    pub now: Timestamp,
}

/// An object that a step wants in the cluster.
#[derive(Clone, PartialEq)]
pub struct DayTwoObject {
    /// All of it: what it does not say is left to others.
    pub value: Value,
}

// By hand: a Secret is one of them.
impl fmt::Debug for DayTwoObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl DayTwoObject {
    pub(super) fn new(value: Value) -> Self {
        Self { value }
    }

    /// `Secret openshift-config/pull-secret`, `OAuth cluster`
    pub fn name(&self) -> String {
        let text = |pointer: &str| self.value.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        match text("/metadata/namespace") {
            "" => format!("{} {}", text("/kind"), text("/metadata/name")),
            namespace => format!("{} {namespace}/{}", text("/kind"), text("/metadata/name")),
        }
    }

    /// Whether it may not be shown, nor lie in a repository as it is.
    pub fn is_secret(&self) -> bool {
        let has_login = |field: &str| self.value["spec"][field].as_str().is_some_and(|url| url.contains('@'));
        // Of a proxy, a password may stand in its URL.
        self.value["kind"] == "Secret"
            || self.value["kind"] == "Proxy" && ["httpProxy", "httpsProxy"].into_iter().any(has_login)
    }

    fn file_name(&self) -> String {
        let text = |pointer: &str| self.value.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        format!("{}-{}.yaml", text("/kind").to_lowercase(), text("/metadata/name"))
    }
}

/// The objects of a step, or everything that is wrong with what they would be made from.
///
/// # Errors
/// Each at the setting that names it. A file that was not given is not complained about here.
pub fn objects(step: DayTwoStep, inputs: &DayTwoInputs<'_>) -> Result<Vec<DayTwoObject>, Vec<Violation>> {
    let mut made = Made { inputs, objects: Vec::new(), wrong: Vec::new() };
    let settings = &inputs.cluster.inventory.day_two;
    match step {
        DayTwoStep::Identity => identity::make(&mut made, settings),
        DayTwoStep::KubeadminGone => {}
        DayTwoStep::Certificates => serving_certificates::make(&mut made, settings),
        DayTwoStep::Trust => operator_settings::trust(&mut made, settings),
        DayTwoStep::Proxy => operator_settings::proxy(&mut made, settings),
        DayTwoStep::Time => node_settings::time(&mut made, settings),
        DayTwoStep::SshKeys => node_settings::ssh_keys(&mut made, settings),
        DayTwoStep::PullSecret => operator_settings::pull_secret(&mut made, settings),
        DayTwoStep::Registry => operator_settings::registry(&mut made, settings),
        DayTwoStep::Monitoring => operator_settings::monitoring(&mut made, settings),
    }
    if made.wrong.is_empty() { Ok(made.objects) } else { Err(made.wrong) }
}

/// The objects as files below `day2/STEP/`: what may lie in a repository, secrets apart, and a README that tells one from the other.
pub fn files(step: DayTwoStep, objects: &[DayTwoObject]) -> Vec<File> {
    let folder = format!("day2/{}", step.name());
    let (secret, public): (Vec<_>, Vec<_>) = objects.iter().partition(|object| object.is_secret());
    let names: Vec<String> = public.iter().map(|object| object.file_name()).collect();
    let kustomization = json!({
        "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": names,
    });
    let mut files = vec![File::public(format!("{folder}/README.md"), readme(step, &public, &secret))];
    if !names.is_empty() {
        files.push(File::public(format!("{folder}/kustomization.yaml"), yaml::write(&kustomization)));
    }
    let path = |object: &DayTwoObject, below: &str| format!("{folder}/{below}{}", object.file_name());
    files.extend(public.iter().map(|object| File::public(path(object, ""), yaml::write(&object.value))));
    files.extend(
        secret.iter().map(|object| File::secret(path(object, "secret/"), yaml::write(&object.value))),
    );
    files
}

fn readme(step: DayTwoStep, public: &[&DayTwoObject], secret: &[&DayTwoObject]) -> String {
    let row = step.row();
    let mut text = format!(
        "# Day two: {}\n\n{}. Written by `hardway day2`, which overwrites it: settings are in inventory.yaml, below `day2`.\n\n\
         - Way back: {}.\n",
        row.name, row.what, row.back
    );
    if !public.is_empty() {
        text += "\nFor a repository, with `kustomization.yaml`:\n\n";
        public.iter().for_each(|object| _ = writeln!(text, "- `{}`: {}", object.file_name(), object.name()));
    }
    if !secret.is_empty() {
        text += "\nNot for a repository unless they are sealed first (SealedSecrets, SOPS, an external secret store):\n\n";
        secret
            .iter()
            .for_each(|object| _ = writeln!(text, "- `secret/{}`: {}", object.file_name(), object.name()));
        text += "\nKeep them out with a line `secret/` in `.gitignore`.\n";
    }
    text
}

/// Objects on their way, and what is wrong.
pub(super) struct Made<'m, 'i> {
    pub(super) inputs: &'m DayTwoInputs<'i>,
    objects: Vec<DayTwoObject>,
    wrong: Vec<Violation>,
}

impl Made<'_, '_> {
    pub(super) fn object(&mut self, value: Value) {
        self.objects.push(DayTwoObject::new(value));
    }

    /// A Secret, of its own type if it has one.
    pub(super) fn secret(&mut self, namespace: &str, name: &str, kind: &str, data: &[(&str, &[u8])]) {
        let data: Map<String, Value> =
            data.iter().map(|(key, bytes)| ((*key).to_owned(), STANDARD.encode(bytes).into())).collect();
        self.object(json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": namespace, "name": name},
            "type": kind, "data": data,
        }));
    }

    pub(super) fn config_map(&mut self, namespace: &str, name: &str, key: &str, text: &str) {
        self.object(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": namespace, "name": name},
            "data": {key: text},
        }));
    }

    /// Something wrong with what a setting names.
    pub(super) fn wrong(&mut self, field: impl Into<String>, detail: impl Into<String>) {
        self.wrong.push(Violation::new(field, FieldErrorKind::Invalid, None, detail));
    }

    /// The content of a file; none where it was not given, which somebody else complains about.
    pub(super) fn file(&self, path: &str) -> Option<Secret> {
        self.inputs.files.get(path).cloned()
    }

    /// The same as text, which a file of this kind has to be.
    pub(super) fn text(&mut self, field: &str, path: &str) -> Option<Secret> {
        let secret = self.file(path)?;
        if std::str::from_utf8(secret.expose()).is_err() {
            self.wrong(field, format!("{path} is not text"));
            return None;
        }
        Some(secret)
    }

    /// The same of what everybody may read afterwards: certificates, and no key among them.
    pub(super) fn public_text(&mut self, field: &str, path: &str) -> Option<Secret> {
        let text = self.text(field, path)?;
        if text.expose_text().contains("PRIVATE KEY") {
            self.wrong(
                field,
                format!("{path} holds a private key, which everybody could read: leave it out"),
            );
            return None;
        }
        Some(text)
    }

    /// A password: one line.
    pub(super) fn password(&mut self, field: &str, path: &str) -> Option<Secret> {
        let secret = self.text(field, path)?;
        let line = secret.expose_text().trim_end_matches(['\n', '\r']);
        if line.is_empty() || line.contains(['\n', '\r', '\0']) {
            self.wrong(field, format!("{path} must hold one line, and nothing else"));
            return None;
        }
        Some(Secret::new(line))
    }
}

/// Whether a step was asked for, for those who make its objects.
pub(super) type Settings = DayTwoSettings;
