//! Which nodes the machine-config-operator takes for a change, and in what order, by its rules of release 4.18:
//! `sortNodeList`, `maxUnavailable` and `filterControlPlaneCandidateNodes` in pkg/controller/node/node_controller.go.

use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::core::GroupVersionKind;
use kube::{Client, ResourceExt as _};
use serde::Serialize;
use serde_json::Value;

use crate::api_error::Unanswered;

const ZONE: &str = "topology.kubernetes.io/zone";

/// Of every pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Forecast {
    /// Pools work at the same time, each by itself.
    pub pools: Vec<PoolForecast>,
}

/// Of one pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolForecast {
    /// `master`, `worker` or a pool of the user's.
    pub pool: String,
    /// Whether somebody has paused it: then nothing happens until it goes on.
    pub is_paused: bool,
    /// How many nodes go at the same time.
    pub at_once: usize,
    /// By zone, then by age. Of masters, the one that the operator itself runs on goes last, wherever it stands here.
    pub nodes: Vec<String>,
}

impl Forecast {
    /// Asks the cluster for its pools and nodes; none where there is no machine-config-operator.
    ///
    /// # Errors
    /// When it does not answer.
    pub async fn ask(client: &Client) -> Result<Self, Unanswered> {
        let nodes: Api<Node> = Api::all(client.clone());
        let nodes = nodes.list(&ListParams::default()).await?.items;
        let kind = ApiResource::from_gvk_with_plural(
            &GroupVersionKind::gvk("machineconfiguration.openshift.io", "v1", "MachineConfigPool"),
            "machineconfigpools",
        );
        let pools: Api<DynamicObject> = Api::all_with(client.clone(), &kind);
        let pools = match pools.list(&ListParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == 404 => return Ok(Self::default()),
            pools => pools?.items,
        };
        let pools: Vec<(String, Value)> =
            pools.into_iter().map(|pool| (pool.name_any(), pool.data["spec"].clone())).collect();
        Ok(Self::of(&pools, &nodes))
    }

    /// The same without a cluster: pools with their `spec`, and nodes.
    pub fn of(pools: &[(String, Value)], nodes: &[Node]) -> Self {
        let pools = pools.iter().map(|(name, spec)| {
            let mut of_pool: Vec<&Node> =
                nodes.iter().filter(|node| pool_of(node, pools) == Some(name)).collect();
            of_pool.sort_by_key(|node| {
                let zone = node.labels().get(ZONE);
                (zone.is_none(), zone.cloned(), node.metadata.creation_timestamp.clone().map(|time| time.0))
            });
            PoolForecast {
                pool: name.clone(),
                is_paused: spec["paused"] == true,
                at_once: at_once(&spec["maxUnavailable"], of_pool.len()),
                nodes: of_pool.iter().map(|node| node.name_any()).collect(),
            }
        });
        Self { pools: pools.filter(|pool| !pool.nodes.is_empty()).collect() }
    }
}

/// A node belongs to master if it is one, else to a pool of the user's, else to worker (`GetPoolsForNode`).
fn pool_of<'p>(node: &Node, pools: &'p [(String, Value)]) -> Option<&'p String> {
    let selected = |(_, spec): &&(String, Value)| {
        let labels = spec["nodeSelector"]["matchLabels"].as_object();
        labels.is_some_and(|labels| {
            !labels.is_empty()
                && labels
                    .iter()
                    .all(|(key, value)| node.labels().get(key).map(String::as_str) == value.as_str())
        })
    };
    let of_node: Vec<&(String, Value)> = pools.iter().filter(selected).collect();
    let named = |name: &str| of_node.iter().find(|(pool, _)| pool == name);
    let custom = of_node.iter().find(|(pool, _)| pool != "master" && pool != "worker");
    let found = match (named("master"), custom, named("worker")) {
        (Some(master), _, _) => Some(master),
        (None, Some(custom), _) => Some(custom),
        (None, None, worker) => worker,
    };
    found.map(|(name, _)| name)
}

/// One unless somebody says otherwise; a percentage is rounded down, and never to none.
fn at_once(setting: &Value, nodes: usize) -> usize {
    let wanted = match setting {
        Value::Number(number) => number.as_u64().unwrap_or(1) as usize,
        Value::String(text) => {
            let percent: usize = text.trim_end_matches('%').parse().unwrap_or_default();
            nodes * percent / 100
        }
        _ => 1,
    };
    wanted.max(1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nodes_go_by_zone_and_age_and_each_belongs_to_one_pool() {
        let node = |name: &str, roles: &[&str], zone: Option<&str>, born: &str| -> Node {
            let mut labels: serde_json::Map<String, Value> =
                roles.iter().map(|role| (format!("node-role.kubernetes.io/{role}"), json!(""))).collect();
            labels.extend(zone.map(|zone| (ZONE.to_owned(), json!(zone))));
            serde_json::from_value(
                json!({"metadata": {"name": name, "labels": labels, "creationTimestamp": born}}),
            )
            .unwrap()
        };
        let nodes = [
            node("w-young", &["worker"], None, "2026-11-15T03:00:00Z"),
            node("w-old", &["worker"], None, "2026-11-15T01:00:00Z"),
            node("w-zoned", &["worker"], Some("b"), "2026-11-15T02:00:00Z"),
            node("infra-0", &["worker", "infra"], None, "2026-11-15T01:00:00Z"),
            node("m-0", &["master", "worker"], None, "2026-11-15T01:00:00Z"),
        ];
        let pool = |name: &str, more: Value| {
            let mut spec =
                json!({"nodeSelector": {"matchLabels": {format!("node-role.kubernetes.io/{name}"): ""}}});
            spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            (name.to_owned(), spec)
        };
        let pools = [
            pool("infra", json!({"paused": true})),
            pool("master", json!({})),
            pool("worker", json!({"maxUnavailable": "70%"})),
        ];
        let forecast = Forecast::of(&pools, &nodes).pools;
        let shown: Vec<String> = forecast
            .iter()
            .map(|pool| format!("{} {} {} {}", pool.pool, pool.is_paused, pool.at_once, pool.nodes.join(",")))
            .collect();
        assert_eq!(
            shown,
            ["infra true 1 infra-0", "master false 1 m-0", "worker false 2 w-zoned,w-old,w-young"]
        );
    }

    #[test]
    fn a_percentage_is_rounded_down_and_never_to_none() {
        for (setting, nodes, at_once_) in [
            (json!("10%"), 5, 1),
            (json!("50%"), 5, 2),
            (json!(3), 5, 3),
            (json!(0), 5, 1),
            (json!(null), 5, 1),
        ] {
            assert_eq!(at_once(&setting, nodes), at_once_, "{setting}");
        }
    }
}
