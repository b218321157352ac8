//! From an OpenShift configuration file to the command line of the upstream Kubernetes 1.31 program.
//!
//! Tests start real API servers and controller managers with it, and the lab's `hyperkube` does. What upstream does
//! not know is left out: OpenShift's authorizers, its admission plugins and its feature gates. Everything that decides
//! who is trusted, where data lies and how the server behaves is carried over.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::graph::MakeError;
use crate::yaml;

/// What a value that starts with the key starts with instead: `/etc/kubernetes/secrets` → a folder of a test.
pub type Replace = BTreeMap<String, String>;

/// A command line, and the files it names that the configuration file held inside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Upstream {
    /// `--name=value`, without the program.
    pub arguments: Vec<String>,
    /// Path and content of each file that must be written first.
    pub files: Vec<(String, String)>,
}

/// Converts `kube-apiserver-config.yaml`.
pub fn kube_apiserver(config: &str, replace: &Replace) -> Result<Upstream, MakeError> {
    let config = read("kube-apiserver-config.yaml", config)?;
    let mut upstream = Upstream::default();
    upstream.put_lists(&config["apiServerArguments"], replace);
    upstream.put_serving(&config["servingInfo"], replace);
    if let Some(networks) = config["servicesSubnet"].as_str() {
        upstream.put("service-cluster-ip-range", networks);
    }
    if config["auditConfig"]["enabled"] == true {
        upstream.put_file(
            "audit-policy-file",
            "audit-policy.yaml",
            &config["auditConfig"]["policyConfiguration"],
            replace,
        );
    }
    let plugins = admission(&config["admission"]["pluginConfig"]);
    upstream.put_file("admission-control-config-file", "admission-config.yaml", &plugins, replace);
    Ok(upstream)
}

/// Converts `kube-controller-manager-config.yaml`.
pub fn kube_controller_manager(config: &str, replace: &Replace) -> Result<Upstream, MakeError> {
    let config = read("kube-controller-manager-config.yaml", config)?;
    let mut upstream = Upstream::default();
    upstream.put_lists(&config["extendedArguments"], replace);
    Ok(upstream)
}

impl Upstream {
    fn put(&mut self, name: &str, value: &str) {
        self.arguments.push(format!("--{name}={value}"));
    }

    /// Argument lists become flags, one per value.
    fn put_lists(&mut self, lists: &Value, replace: &Replace) {
        for (name, values) in lists.as_object().into_iter().flatten() {
            for value in values.as_array().into_iter().flatten().filter_map(Value::as_str) {
                if is_known(name, value) {
                    self.put(name, &replaced(value, replace));
                }
            }
        }
    }

    fn put_serving(&mut self, serving: &Value, replace: &Replace) {
        if let Some((address, port)) = serving["bindAddress"].as_str().and_then(|at| at.rsplit_once(':')) {
            self.put("bind-address", address.trim_matches(['[', ']']));
            self.put("secure-port", port);
        }
        for certificate in serving["namedCertificates"].as_array().into_iter().flatten() {
            let path = |key: &str| replaced(certificate[key].as_str().unwrap_or_default(), replace);
            let names: Vec<&str> =
                certificate["names"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let names = if names.is_empty() { String::new() } else { format!(":{}", names.join(",")) };
            self.put("tls-sni-cert-key", &format!("{},{}{names}", path("certFile"), path("keyFile")));
        }
    }

    /// A part of the configuration that upstream reads from a file of its own.
    fn put_file(&mut self, flag: &str, name: &str, content: &Value, replace: &Replace) {
        let path = replaced(&format!("/etc/kubernetes/config/{name}"), replace);
        self.put(flag, &path);
        self.files.push((path, yaml::write(content)));
    }
}

/// Whether upstream takes this value of this flag.
fn is_known(name: &str, value: &str) -> bool {
    match name {
        // Written as a file of its own instead.
        "audit-policy-file" => false,
        "authorization-mode" => !["Scope", "SystemMasters"].contains(&value),
        "enable-admission-plugins" => !value.contains(".openshift.io/"),
        "feature-gates" => {
            value.split_once('=').is_some_and(|(gate, _)| SHARED_FEATURE_GATES.contains(&gate))
        }
        _ => true,
    }
}

/// The configuration of upstream's plugins, in upstream's form.
fn admission(plugins: &Value) -> Value {
    let plugins: Vec<Value> = plugins
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| !name.contains(".openshift.io/"))
        .map(|(name, plugin)| json!({"name": name, "configuration": plugin["configuration"]}))
        .collect();
    json!({"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration", "plugins": plugins})
}

fn replaced(value: &str, replace: &Replace) -> String {
    let hit =
        replace.iter().find_map(|(from, to)| Some(format!("{to}{}", value.strip_prefix(from.as_str())?)));
    hit.unwrap_or_else(|| value.to_owned())
}

fn read(path: &str, text: &str) -> Result<Value, MakeError> {
    match yaml::read(text) {
        Ok(node) => Ok(node.to_json()),
        Err(errors) => Err(MakeError::BadFile {
            path: path.to_owned(),
            reason: errors.first().map(ToString::to_string).unwrap_or_default(),
            offset: errors.first().map(|error| error.span.start),
        }),
    }
}

/// The gates of OpenShift 4.18 that Kubernetes 1.31 has too and has not locked.
const SHARED_FEATURE_GATES: [&str; 10] = [
    "DynamicResourceAllocation",
    "EventedPLEG",
    "MaxUnavailableStatefulSet",
    "NodeSwap",
    "ProcMountType",
    "ServiceAccountTokenNodeBinding",
    "TranslateStreamCloseWebsocketRequests",
    "UserNamespacesPodSecurityStandards",
    "UserNamespacesSupport",
    "VolumeAttributesClass",
];
