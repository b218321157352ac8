//! A NodePool of platform None.

use std::collections::BTreeMap;

use hardway_assets::node_name;
use serde_json::{Value, json};

use super::{RequestErrors, words};
use crate::objects::Taint;

/// What a pool is made from.
#[derive(Clone, Debug)]
pub struct NodePoolRequest {
    /// Its name.
    pub name: String,
    /// Its cluster's namespace, and its own.
    pub namespace: String,
    /// Its cluster.
    pub cluster: String,
    /// A pull spec; the cluster's own, unless an older one is wanted.
    pub release_image: String,
    /// How many workers are wanted.
    pub replicas: u32,
    /// `amd64` or `arm64`.
    pub arch: String,
    /// In place, unless every upgrade shall be a new machine.
    pub upgrade_type: UpgradeType,
    /// How many may be away during an upgrade: a number or a share.
    pub max_unavailable: Option<String>,
    /// Whether nodes that stay unwell are replaced.
    pub auto_repair: bool,
    /// On every node, once it has joined.
    pub node_labels: BTreeMap<String, String>,
    /// On every node, once it has joined.
    pub taints: Vec<Taint>,
}

/// `spec.management.upgradeType`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpgradeType {
    /// The config is kept in the token Secret, so that it can be served and applied without HyperShift's own server.
    InPlace,
    /// Every upgrade is a new machine.
    Replace,
}

/// The object, or everything that is wrong with the request.
///
/// # Errors
/// When the API, or HyperShift's operator, would refuse it.
pub fn object(request: &NodePoolRequest) -> Result<Value, RequestErrors> {
    let errors = errors(request);
    if !errors.is_empty() {
        return Err(RequestErrors(errors));
    }
    let mut management = json!({"autoRepair": request.auto_repair});
    match request.upgrade_type {
        UpgradeType::InPlace => {
            management["upgradeType"] = json!("InPlace");
            if let Some(wanted) = &request.max_unavailable {
                let number = wanted.parse::<u32>().map(|number| json!(number));
                management["inPlace"] = json!({"maxUnavailable": number.unwrap_or_else(|_| json!(wanted))});
            }
        }
        UpgradeType::Replace => {
            management["upgradeType"] = json!("Replace");
            management["replace"] =
                json!({"strategy": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}});
        }
    }
    let mut spec = json!({
        "clusterName": request.cluster, "replicas": request.replicas, "arch": request.arch,
        "release": {"image": request.release_image}, "platform": {"type": "None"}, "management": management,
    });
    if !request.node_labels.is_empty() {
        spec["nodeLabels"] = json!(request.node_labels);
    }
    if !request.taints.is_empty() {
        spec["taints"] = json!(request.taints);
    }
    Ok(json!({
        "apiVersion": "hypershift.openshift.io/v1beta1", "kind": "NodePool",
        "metadata": {"name": request.name, "namespace": request.namespace}, "spec": spec,
    }))
}

fn errors(request: &NodePoolRequest) -> Vec<String> {
    let share = |text: &str| text.strip_suffix('%').unwrap_or(text).parse::<u32>().is_ok_and(|n| n >= 1);
    let mut errors = Vec::new();
    for (what, name) in
        [("pool", &request.name), ("cluster", &request.cluster), ("namespace", &request.namespace)]
    {
        if !node_name::is_label(name) {
            errors.push(format!(
                "{name:?} is not a valid name of a {what}: use at most 63 lower-case letters, digits and dashes"
            ));
        }
    }
    errors.extend(words::pull_spec_error(&request.release_image));
    if !matches!(request.arch.as_str(), "amd64" | "arm64") {
        errors.push(format!("architecture {:?}: platform None supports amd64 and arm64", request.arch));
    }
    if let Some(wanted) = request.max_unavailable.as_deref().filter(|wanted| !share(wanted)) {
        errors.push(format!(
            "{wanted:?} is not valid for --max-unavailable: use a number from 1, or a percentage such as 25%"
        ));
    }
    let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    for taint in request.taints.iter().filter(|taint| !effects.contains(&taint.effect.as_str())) {
        errors.push(format!("taint {}: the effect must be one of {}", taint.key, effects.join(", ")));
    }
    errors
}
