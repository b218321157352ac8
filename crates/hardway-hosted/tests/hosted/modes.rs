//! Where configs come from without HyperShift's server keeping them in Secrets: the stand-in, and the caching proxy.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_base::Secret;
use hardway_cluster::csr_policy::IgnitionEvidence;
use hardway_hosted::stand_in::{StandIn, StandInConfig};
use hardway_hosted::token::{Moment, ROTATION, TokenSecret};
use hardway_machines::ignition_server::hosted_tokens::{HostedTokens, Payload, TokenSecret as Served};
use hardway_machines::ignition_server::upstream::{Upstream, watch};
use hardway_testing::until_found;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use serde_json::json;

use crate::site::{FIRST, Site};

async fn tokens(site: &Site) -> Vec<TokenSecret> {
    let api = site.management.control_plane_api::<v1::Secret>();
    api.list(&ListParams::default()).await.unwrap().items.iter().filter_map(TokenSecret::read).collect()
}

/// Five and a half hours, and eleven, and two more: with a clock that is told what time it is.
#[tokio::test(flavor = "multi_thread")]
async fn real_the_stand_in_keeps_tokens_by_the_clock() {
    let site = Site::start(IgnitionEvidence::Ignored).await;
    let time = Arc::new(Mutex::new(Timestamp::now()));
    let told = Arc::clone(&time);
    let stand_in = StandIn::new(site.management.clone(), move || *told.lock().unwrap());
    let config = |text: &str| StandInConfig {
        node_pool: "demo".to_owned(),
        config: Secret::new(text),
        endpoint: site.endpoint.to_string(),
        authority: site.management_plane.read("ca.crt"),
        release_version: "4.18.1".to_owned(),
    };
    let one = config(r#"{"ignition":{"version":"3.2.0"}}"#);
    stand_in.publish(&one).await.unwrap();
    stand_in.publish(&one).await.unwrap();
    let pool = site.management.node_pool("demo").await.unwrap();
    assert_eq!(pool.config_hash(), Some(one.hash().as_str()));
    let own = async |config: &StandInConfig| {
        let hash = config.hash();
        tokens(&site).await.into_iter().find(|token| token.config_hash == hash)
    };
    let found = own(&one).await.unwrap();
    let Moment::At(drawn) = found.generated else { panic!("{found:?}") };
    let (first, next) = (found.token.unwrap(), drawn + ROTATION);
    // Of the config before it, which is outdated, somebody else wrote the token.
    assert!(stand_in.keep(&one).await.unwrap().unwrap() <= next);
    *time.lock().unwrap() = next - SignedDuration::from_secs(1);
    stand_in.keep(&one).await.unwrap();
    assert_eq!(own(&one).await.unwrap().token.as_ref(), Some(&first), "not a second too early");
    *time.lock().unwrap() = next;
    stand_in.keep(&one).await.unwrap();
    let rotated = own(&one).await.unwrap();
    assert!(
        rotated.old_token.as_ref() == Some(&first)
            && rotated.token.as_ref() != Some(&first)
            && rotated.payload.is_some()
    );
    let pointer = site.management.secret(&format!("user-data-demo-{}", one.hash())).await.unwrap().unwrap();
    let pointer = String::from_utf8(pointer.data.unwrap()["value"].0.clone()).unwrap();
    assert!(pointer.contains(rotated.bearer().unwrap().expose_text()), "the pointer carries the new token");
    *time.lock().unwrap() = next + SignedDuration::from_mins(330);
    stand_in.keep(&one).await.unwrap();
    assert!(!own(&one).await.unwrap().has_token(first.expose()), "after eleven hours it opens nothing");

    let two = config(r#"{"ignition":{"version":"3.3.0"}}"#);
    stand_in.publish(&two).await.unwrap();
    assert!(
        site.management.secret(&format!("user-data-demo-{}", one.hash())).await.unwrap().is_none(),
        "outdated pointers go at once"
    );
    stand_in.keep(&two).await.unwrap();
    assert!(own(&one).await.is_some(), "outdated tokens stay for two hours");
    *time.lock().unwrap() += SignedDuration::from_hours(2);
    stand_in.keep(&two).await.unwrap();
    assert!(own(&one).await.is_none() && own(&two).await.is_some());
}

/// A pool that replaces has no config in its Secret: it is fetched once from the server behind, and kept while the Secret is there.
#[tokio::test(flavor = "multi_thread")]
async fn real_the_proxy_fetches_once_and_survives_the_server_behind() {
    let mut site = Site::start(IgnitionEvidence::Required).await;
    let name = format!("token-demo-{FIRST}");
    let api = site.management.control_plane_api::<v1::Secret>();
    let patch = async |data: serde_json::Value| {
        api.patch(&name, &PatchParams::default(), &Patch::Merge(json!({"data": data}))).await.unwrap();
    };
    patch(json!({"token": STANDARD.encode("token-one")})).await;
    // The server behind keeps the config for itself.
    let behind = Arc::new(HostedTokens::default());
    behind.put(Served::read(&api.get(&name).await.unwrap()).unwrap());
    behind.complete(std::slice::from_ref(&name));
    site.serve_tokens(behind, tokio::spawn(async {})).await;
    patch(json!({"payload": null})).await;
    let upstream = Upstream::new(&site.endpoint.to_string(), &site.management_plane.read("ca.crt")).unwrap();
    let tokens = Arc::new(HostedTokens::default());
    let (client, namespace, known) =
        (site.management.client.clone(), site.management.control_plane(), Arc::clone(&tokens));
    let watching = tokio::spawn(async move { watch(client, &namespace, known, upstream, |_| {}).await });
    let opens = |token: &str| {
        let found = tokens.find(token.as_bytes(), Timestamp::now());
        found.is_some_and(|secret| matches!(secret.payload, Payload::Ready(_)))
    };
    until_found("the config from behind", async || opens("token-one").then_some(())).await;
    site.stop_serving().await;
    patch(json!({"token": STANDARD.encode("token-two"), "old_token": STANDARD.encode("token-one")})).await;
    until_found("the new token", async || opens("token-two").then_some(())).await;
    assert!(opens("token-one"), "the server behind is down, and the config is kept for both tokens");
    api.delete(&name, &DeleteParams::default()).await.unwrap();
    until_found("nothing", async || (!opens("token-two") && !opens("token-one")).then_some(())).await;
    watching.abort();
}
