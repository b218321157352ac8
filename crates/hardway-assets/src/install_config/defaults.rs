//! What is filled in where the file says nothing (installer `pkg/types/defaults`).

use super::draft::{Draft, Net, Pool};
use super::rules::Rules;

/// Fills in every default. A default is taken only when the whole list or field is missing.
pub(super) fn apply(draft: &mut Draft<'_>, rules: &Rules) {
    let architecture = rules.default_architecture;
    if !has_elements(draft, "machineNetwork") {
        draft.machine_networks = vec![net("machineNetwork", "10.0.0.0/16", 0)];
    }
    if !has_elements(draft, "serviceNetwork") {
        draft.service_networks = vec![net("serviceNetwork", "172.30.0.0/16", 0)];
    }
    if !has_elements(draft, "clusterNetwork") {
        draft.cluster_networks = vec![net("clusterNetwork", "10.128.0.0/14", 23)];
    }
    fill(&mut draft.network_type, "OVNKubernetes");
    fill(&mut draft.publish, "External");
    if rules.fills_in_os_image_stream {
        fill(&mut draft.os_image_stream, rules.default_os_image_stream);
    }
    fill(&mut draft.trust_bundle_policy, "Proxyonly");
    draft.control_plane.name = "master".to_owned();
    pool(&mut draft.control_plane, architecture);
    if !draft.compute.iter().any(|pool| pool.name == "worker") {
        draft.compute.push(Pool {
            path: format!("compute[{}]", draft.compute.len()),
            name: "worker".to_owned(),
            replicas: None,
            hyperthreading: String::new(),
            architecture: String::new(),
            platforms: Vec::new(),
        });
    }
    draft.compute.iter_mut().for_each(|compute| pool(compute, architecture));
}

fn pool(pool: &mut Pool, architecture: &str) {
    // An edge pool is refused on platform none; its default only keeps the message about replicas away.
    let replicas = if pool.name == "edge" { 0 } else { 3 };
    pool.replicas.get_or_insert(replicas);
    fill(&mut pool.hyperthreading, "Enabled");
    fill(&mut pool.architecture, architecture);
}

/// A list whose elements could not be understood is not empty: its default must not hide that.
fn has_elements(draft: &Draft<'_>, list: &str) -> bool {
    use crate::yaml::Value;
    match draft.node.get("networking").and_then(|networking| networking.get(list)).map(|list| &list.value) {
        Some(Value::List(items)) => !items.is_empty(),
        Some(Value::Null) | None => false,
        Some(_) => true,
    }
}

fn net(list: &str, cidr: &str, host_prefix: i64) -> Net {
    let cidr = cidr.parse().expect("a constant network parses");
    Net { path: format!("networking.{list}[0]"), index: 0, cidr, host_prefix }
}

fn fill(field: &mut String, default: &str) {
    if field.is_empty() {
        default.clone_into(field);
    }
}
