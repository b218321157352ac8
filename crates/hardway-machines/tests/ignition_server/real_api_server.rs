//! HyperShift's token Secrets on a real API server, with the rights that the deployment gives and no others.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use hardway_machines::ignition_server::hosted_tokens::{HostedTokens, IGNITION_REACHED};
use hardway_machines::ignition_server::token_watch;
use hardway_testing::eventually;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::api_server::{ApiServer, NAMESPACE};
use super::site::{NOW, OLD_TOKEN, TOKEN, token_secret};

const DEPLOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/ignition-server");

fn secret(name: &str, token: &str) -> Value {
    let mut secret =
        serde_json::to_value(token_secret(name, b"{\"ignition\":{\"version\":\"3.2.0\"}}")).unwrap();
    secret["apiVersion"] = json!("v1");
    secret["kind"] = json!("Secret");
    secret["metadata"]["namespace"] = json!(NAMESPACE);
    secret["data"].as_object_mut().unwrap().remove("old_token");
    secret["data"].as_object_mut().unwrap().remove("token");
    secret["stringData"] = json!({"token": token});
    secret
}

#[tokio::test(flavor = "multi_thread")]
async fn real_tokens_follow_the_cluster_with_the_rights_of_the_deployment() {
    let api = tokio::task::spawn_blocking(ApiServer::start).await.unwrap();
    manifests_are_accepted(&api);
    api.kubectl(&["apply", "-k", DEPLOY]);

    api.apply(&secret("token-demo-1", TOKEN));
    api.apply(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "pull-secret", "namespace": NAMESPACE}}));
    let file = kube::config::Kubeconfig::read_from(api.kubeconfig()).unwrap();
    let config = kube::Config::from_custom_kubeconfig(file, &Default::default()).await.unwrap();
    assert_eq!(config.default_namespace, NAMESPACE);
    let client = kube::Client::try_from(config).unwrap();
    let tokens = Arc::new(HostedTokens::default());
    let (reached, receiver) = mpsc::channel(10);
    let watching = tokio::spawn({
        let (client, tokens) = (client.clone(), tokens.clone());
        async move { token_watch::watch(client, NAMESPACE, tokens, |what| eprintln!("{what}")).await }
    });
    let marking = tokio::spawn(async move {
        token_watch::mark(client, NAMESPACE, receiver, |what| panic!("{what}")).await;
    });
    let now = NOW.parse().unwrap();
    let knows = |token: &str| tokens.find(token.as_bytes(), now).is_some();

    eventually("the first Secret is read", async || tokens.is_complete()).await;
    assert!(knows(TOKEN) && !knows(OLD_TOKEN) && tokens.len() == 1);
    api.apply(&secret("token-demo-2", OLD_TOKEN));
    eventually("a new Secret is seen", async || knows(OLD_TOKEN)).await;
    api.apply(&secret("token-demo-1", "rotated"));
    eventually("a rotated token is seen", async || knows("rotated") && !knows(TOKEN)).await;
    api.kubectl(&["delete", "secret", "token-demo-2"]);
    eventually("a deleted Secret's token is dead", async || !knows(OLD_TOKEN)).await;

    reached.send("token-demo-1".to_owned()).await.unwrap();
    let read = || api.get("secret", "token-demo-1");
    eventually("the Secret is marked", async || {
        read()["metadata"]["annotations"][IGNITION_REACHED] == "True"
    })
    .await;
    let annotations = &read()["metadata"]["annotations"];
    assert_eq!(annotations["hypershift.openshift.io/nodePool"], "clusters/demo", "nothing else was changed");
    eventually("the mark is known here, too", async || tokens.find(b"rotated", now).unwrap().is_reached)
        .await;
    watching.abort();
    marking.abort();
    tokio::task::block_in_place(|| api.has_exactly_the_rights_it_used());
}

/// Every object of the recipe, by the API server itself.
fn manifests_are_accepted(api: &ApiServer) {
    let said =
        api.kubectl(&["apply", "-k", DEPLOY, "--server-side", "--dry-run=server", "--validate=strict"]);
    for object in [
        "serviceaccount/hardway-ignition-server",
        "role.rbac.authorization.k8s.io/hardway-ignition-server",
        "rolebinding.rbac.authorization.k8s.io/hardway-ignition-server",
        "deployment.apps/hardway-ignition-server",
        "service/hardway-ignition-server",
        "poddisruptionbudget.policy/hardway-ignition-server",
        "networkpolicy.networking.k8s.io/hardway-ignition-server",
    ] {
        assert!(said.contains(&format!("{object} serverside-applied")), "{object}:\n{said}");
    }
}

#[test]
fn the_systemd_unit_is_good_and_tight() {
    let unit = Path::new(DEPLOY).join("hardway-ignition-server.service");
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(&unit).unwrap();
    // Verified as if the program were installed.
    let copy = dir.path().join("hardway-ignition-server.service");
    let documented = "Documentation=man:hardway(1)\n";
    assert!(text.contains("ExecStart=/usr/bin/hardway serve ") && text.contains(documented));
    std::fs::write(&copy, text.replace("/usr/bin/hardway", "/usr/bin/true").replace(documented, "")).unwrap();
    let run = |args: &[&str]| {
        let output = Command::new("systemd-analyze").args(args).arg(&copy).output().unwrap();
        (
            output.status.success(),
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
        )
    };
    let (is_good, said) = run(&["verify"]);
    assert!(is_good && !said.contains("hardway-ignition-server.service:"), "{said}");
    // In tenths; 9.6 is a unit without any hardening.
    let (is_tight, said) = run(&["security", "--offline=true", "--threshold=20", "--no-pager"]);
    assert!(is_tight, "{said}");
}
