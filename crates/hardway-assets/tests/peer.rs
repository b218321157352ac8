//! Our output beside that of a real openshift-install.

mod peer_summary;

use hardway_assets::Tree;
use serde_json::json;

#[test]
fn a_summary_masks_what_is_random_and_keeps_the_rest() {
    let mut tree = Tree::default();
    tree.insert(
        "manifests/a.yml",
        "kind: Infrastructure\nstatus: {infrastructureName: prod1-x7k2p, platform: None}\n",
    );
    tree.insert(
        "master.ign",
        r#"{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://a"}]}}}"#,
    );
    let summary = peer_summary::summary(&tree);
    assert_eq!(
        summary,
        json!({
            "manifests": {"manifests/a.yml": [{"kind": "Infrastructure", "status": {"infrastructureName": "prod1-<rand5>", "platform": "None"}}]},
            "master.ign": {"files": {}, "units": {}, "users": [], "merge": ["https://a"], "version": "3.2.0"},
        })
    );
    assert_eq!(peer_summary::lacking(&summary, &summary), [""; 0]);
    let other = json!({"master.ign": {"merge": ["https://b"]}, "worker.ign": {}});
    assert_eq!(
        peer_summary::lacking(&other, &summary),
        [
            r#"/master.ign/merge: ["https://b"] recorded, ["https://a"] here"#,
            "/worker.ign: {} recorded, nothing here"
        ]
    );
}

#[test]
fn the_record_is_complete_where_it_exists() {
    let Some(record) = peer_summary::recorded("prod1") else { return };
    assert_eq!(record["bootstrap.ign"]["version"], "3.2.0");
    assert!(peer_summary::lacking(&record, &peer_summary::summary(&Tree::default())).len() >= 4);
}
