//! Keeps the hosted tokens current from the API server, and marks Secrets whose workers have arrived.
//!
//! Any number of replicas may do so: nothing is written but the one annotation, always with the same value.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use hardway_base::error_sentence;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Patch, PatchParams};
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client};
use serde_json::json;
use tokio::sync::mpsc;

use super::hosted_tokens::{HostedTokens, IGNITION_REACHED, TokenSecret};

/// Watches the Secrets of a namespace for ever. Trouble with the API server is told to `trouble` and tried again, later
/// and later up to half a minute; what is known stays in use meanwhile.
pub async fn watch(client: Client, namespace: &str, tokens: Arc<HostedTokens>, trouble: impl Fn(&str)) {
    let api: Api<Secret> = Api::namespaced(client, namespace);
    let mut names = Vec::new();
    let mut events = std::pin::pin!(watcher::watcher(api, watcher::Config::default()));
    let mut pause = Duration::from_millis(500);
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => {
                apply(&tokens, event, &mut names);
                pause = Duration::from_millis(500);
            }
            Err(error) => {
                trouble(&error_sentence(&error));
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(30));
            }
        }
    }
}

/// One event. Between `Init` and `InitDone` the whole namespace is told again; what is not told is gone.
pub fn apply(tokens: &HostedTokens, event: Event<Secret>, names: &mut Vec<String>) {
    match event {
        Event::Init => names.clear(),
        Event::InitApply(secret) => {
            names.extend(secret.metadata.name.clone());
            put(tokens, &secret);
        }
        Event::InitDone => tokens.complete(&std::mem::take(names)),
        Event::Apply(secret) => put(tokens, &secret),
        Event::Delete(secret) => tokens.remove(&secret.metadata.name.unwrap_or_default()),
    }
}

fn put(tokens: &HostedTokens, secret: &Secret) {
    match TokenSecret::read(secret) {
        Some(secret) => tokens.put(secret),
        // It may have been one before.
        None => tokens.remove(secret.metadata.name.as_deref().unwrap_or_default()),
    }
}

/// Marks each Secret that comes in as reached, with a patch of that annotation alone: the rest of the Secret is somebody
/// else's to write.
pub async fn mark(
    client: Client,
    namespace: &str,
    mut reached: mpsc::Receiver<String>,
    trouble: impl Fn(&str),
) {
    let api: Api<Secret> = Api::namespaced(client, namespace);
    let patch = json!({"metadata": {"annotations": {IGNITION_REACHED: "True"}}});
    while let Some(name) = reached.recv().await {
        if let Err(error) = api.patch_metadata(&name, &PatchParams::default(), &Patch::Merge(&patch)).await {
            trouble(&format!("could not mark Secret {name} as reached: {}", error_sentence(&error)));
        }
    }
}
