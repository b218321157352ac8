//! A pool comes through gate by gate.

use serde_json::{Value, json};

use super::*;
use crate::config_watch::REST;

/// What of each kind is there at a moment.
struct World {
    cluster: Value,
    pool: Value,
    user_data: bool,
    since: Option<&'static str>,
}

const NOW: &str = "2026-11-15T12:00:00Z";

impl World {
    fn begin() -> Self {
        let pool = json!({"metadata": {"name": "demo", "namespace": "clusters"},
            "spec": {"clusterName": "demo", "platform": {"type": "None"}}});
        Self { cluster: Value::Null, pool, user_data: false, since: None }
    }

    fn condition(&mut self, r#type: &str, status: &str) {
        let conditions = &mut self.pool["status"]["conditions"];
        if conditions.is_null() {
            *conditions = json!([]);
        }
        let conditions = conditions.as_array_mut().unwrap();
        conditions.retain(|one| one["type"] != r#type);
        conditions.push(json!({"type": r#type, "status": status, "reason": "Why", "message": "so"}));
    }

    fn held(&self) -> Option<(&'static str, String)> {
        let cluster: Option<HostedCluster> = serde_json::from_value(self.cluster.clone()).unwrap();
        let pool: NodePool = serde_json::from_value(self.pool.clone()).unwrap();
        let secret = Secret::default();
        let now = NOW.parse().unwrap();
        let mut config = ConfigWatch::default();
        config.see(self.since.map(|_| "a"), self.since.map(|since| since.parse().unwrap()), now);
        let facts = GateFacts {
            cluster: cluster.as_ref(),
            pool: &pool,
            user_data: self.user_data.then_some(&secret),
            config: &config,
            rest: REST,
            now,
        };
        first_held(&gates(&facts)).map(|gate| (gate.name.name(), gate.seen.clone()))
    }
}

#[test]
fn every_gate_in_order() {
    let mut world = World::begin();
    let mut held = Vec::new();
    let mut look = |world: &World| held.push(world.held().map_or("open", |(name, _)| name));
    look(&world);
    world.cluster = json!({"metadata": {"name": "demo"}, "spec": {"pausedUntil": "2026-11-15T13:00:00Z"}});
    look(&world);
    world.cluster["spec"]["pausedUntil"] = json!("2026-11-15T11:00:00Z");
    look(&world);
    world.cluster["spec"]["infraID"] = json!("demo-x");
    look(&world);
    world.cluster["status"] = json!({"kubeconfig": {"name": "k"}});
    look(&world);
    world.cluster["status"]["ignitionEndpoint"] = json!("10.0.0.5:30003");
    world.condition("ValidReleaseImage", "False");
    look(&world);
    world.condition("ValidReleaseImage", "True");
    world.condition("IgnitionEndpointAvailable", "False");
    look(&world);
    world.pool["status"]["conditions"]
        .as_array_mut()
        .unwrap()
        .retain(|c| c["type"] != "IgnitionEndpointAvailable");
    look(&world);
    world.condition("ValidMachineConfig", "True");
    look(&world);
    world.pool["metadata"]["annotations"] =
        json!({"hypershift.openshift.io/nodePoolCurrentConfigVersion": "a2b27c3f"});
    look(&world);
    world.user_data = true;
    look(&world);
    // A status that is no word at all, as HyperShift writes it for configs that cannot be made.
    world.condition("ValidGeneratedPayload", "");
    look(&world);
    world.condition("ValidGeneratedPayload", "True");
    look(&world);
    world.since = Some("2026-11-15T11:59:00Z");
    look(&world);
    world.since = Some("2026-11-15T11:58:00Z");
    // What is never right on platform None holds nothing.
    world.condition("AllMachinesReady", "False");
    world.condition("AllNodesHealthy", "False");
    look(&world);
    let expected = [
        "hosted-cluster",
        "paused",
        "infra-id",
        "kubeconfig",
        "ignition-endpoint",
        "release-image",
        "ignition-server",
        "machine-config",
        "config-hash",
        "user-data",
        "payload",
        "payload",
        "config-at-rest",
        "config-at-rest",
        "open",
    ];
    assert_eq!(held, expected);
    world.pool["spec"]["platform"]["type"] = json!("AWS");
    assert_eq!(world.held().unwrap().0, "platform");
}

#[test]
fn what_is_held_is_told_in_hypershifts_own_words() {
    let mut world = World::begin();
    world.cluster = json!({"metadata": {"name": "demo"}, "spec": {"infraID": "x"},
        "status": {"kubeconfig": {}, "ignitionEndpoint": "x:1"}});
    world.condition("ValidMachineConfig", "False");
    assert_eq!(world.held(), Some(("machine-config", "ValidMachineConfig=False Why: so".to_owned())));
}

#[test]
fn secrets_are_found_by_annotation_and_whole_name() {
    let secret = |name: &str, pool: &str| -> Secret {
        serde_json::from_value(
            json!({"metadata": {"name": name, "annotations": {"hypershift.openshift.io/nodePool": pool}}}),
        )
        .unwrap()
    };
    let pool: NodePool =
        serde_json::from_value(json!({"metadata": {"name": "a", "namespace": "clusters"}})).unwrap();
    let secrets =
        [secret("user-data-a-b-11111111", "clusters/a-b"), secret("user-data-a-22222222", "clusters/a")];
    assert!(secret_of(&secrets, &pool, "user-data-a-22222222").is_some());
    assert!(
        secret_of(&secrets, &pool, "user-data-a-b-11111111").is_none(),
        "another pool's, though the prefix fits"
    );
}
