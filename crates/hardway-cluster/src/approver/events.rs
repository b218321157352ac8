//! Requests and nodes as one stream of events. It survives an API server that restarts, vanishes or falls silent, and lists again
//! when it has missed something.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _, stream};
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use k8s_openapi::api::core::v1::Node;
use kube::ResourceExt;
use kube::api::{Api, PartialObjectMeta};
use kube::runtime::utils::Backoff;
use kube::runtime::watcher::{self, Event as WatchEvent};
use kube::runtime::{WatchStreamExt as _, watcher as watch};

use crate::api_error::sentence;

/// A change in the cluster.
#[derive(Debug)]
pub(crate) enum ApproverEvent {
    Request(Box<CertificateSigningRequest>),
    RequestGone(String),
    /// A complete list: what is not in it is gone.
    Requests(BTreeSet<String>),
    Node(String),
    NodeGone(String),
    Nodes(BTreeSet<String>),
    /// Watching fails, and why.
    Trouble(String),
}

/// A connection that brings nothing for this long counts as dead.
const SILENCE_SECONDS: u32 = 60;

/// Starts watching.
pub(crate) fn watch_all(client: &kube::Client) -> BoxStream<'static, ApproverEvent> {
    let config = || watcher::Config::default().timeout(SILENCE_SECONDS);
    let requests: Api<CertificateSigningRequest> = Api::all(client.clone());
    let nodes: Api<PartialObjectMeta<Node>> = Api::all(client.clone());
    let requests = events(
        watch(requests, config()).backoff(Pace::default()),
        |request| ApproverEvent::Request(Box::new(request)),
        ApproverEvent::RequestGone,
        ApproverEvent::Requests,
    );
    let nodes = events(
        watch(nodes, config()).backoff(Pace::default()),
        |node| ApproverEvent::Node(node.name_any()),
        ApproverEvent::NodeGone,
        ApproverEvent::Nodes,
    );
    stream::select(requests, nodes).boxed()
}

/// Remembers what a list brings, so that its end says what is gone.
fn events<K: ResourceExt + Send + 'static>(
    watched: impl Stream<Item = Result<WatchEvent<K>, watcher::Error>> + Send + 'static,
    is: fn(K) -> ApproverEvent,
    gone: fn(String) -> ApproverEvent,
    whole: fn(BTreeSet<String>) -> ApproverEvent,
) -> BoxStream<'static, ApproverEvent> {
    let mut listed = BTreeSet::new();
    let events = watched.filter_map(move |event| {
        let event = match event {
            Ok(WatchEvent::Apply(object)) => Some(is(object)),
            Ok(WatchEvent::Delete(object)) => Some(gone(object.name_any())),
            Ok(WatchEvent::Init) => {
                listed.clear();
                None
            }
            Ok(WatchEvent::InitApply(object)) => {
                listed.insert(object.name_any());
                Some(is(object))
            }
            Ok(WatchEvent::InitDone) => Some(whole(std::mem::take(&mut listed))),
            Err(error) => Some(ApproverEvent::Trouble(sentence(&error))),
        };
        std::future::ready(event)
    });
    events.boxed()
}

/// Backoff from half a second, doubling up to five: an API server that restarts is soon back, and nobody else serves the requests.
#[derive(Debug, Default)]
struct Pace {
    tries: u32,
}

impl Iterator for Pace {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let pause = Duration::from_millis(500 << self.tries.min(4)).min(Duration::from_secs(5));
        self.tries += 1;
        Some(pause)
    }
}

impl Backoff for Pace {
    fn reset(&mut self) {
        self.tries = 0;
    }
}
