//! What the API server tells: one stream of all that bears on requests. It survives an API server that restarts, vanishes, or
//! falls silent, and lists again when it has missed something.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _, stream};
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use k8s_openapi::api::core::v1::Node;
use kube::ResourceExt;
use kube::api::{Api, PartialObjectMeta};
use kube::runtime::utils::Backoff;
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt as _, watcher as watch};

use crate::api_error::sentence;

/// Something that was told.
#[derive(Debug)]
pub(crate) enum Seen {
    Request(Box<CertificateSigningRequest>),
    RequestGone(String),
    /// A list is complete: what is not in it is gone.
    Requests(BTreeSet<String>),
    Node(String),
    NodeGone(String),
    Nodes(BTreeSet<String>),
    /// It was not told, and why.
    Trouble(String),
}

/// After this long without a word, the connection counts as dead.
const SILENCE_SECONDS: u32 = 60;

/// Begins to watch.
pub(crate) fn watch_all(client: &kube::Client) -> BoxStream<'static, Seen> {
    let config = || watcher::Config::default().timeout(SILENCE_SECONDS);
    let requests: Api<CertificateSigningRequest> = Api::all(client.clone());
    let nodes: Api<PartialObjectMeta<Node>> = Api::all(client.clone());
    let requests = told(
        watch(requests, config()).backoff(Pace::default()),
        |request| Seen::Request(Box::new(request)),
        Seen::RequestGone,
        Seen::Requests,
    );
    let nodes = told(
        watch(nodes, config()).backoff(Pace::default()),
        |node| Seen::Node(node.name_any()),
        Seen::NodeGone,
        Seen::Nodes,
    );
    stream::select(requests, nodes).boxed()
}

/// Follows lists too, so that their end tells what they held.
fn told<K: ResourceExt + Send + 'static>(
    events: impl Stream<Item = Result<Event<K>, watcher::Error>> + Send + 'static,
    is: fn(K) -> Seen,
    gone: fn(String) -> Seen,
    whole: fn(BTreeSet<String>) -> Seen,
) -> BoxStream<'static, Seen> {
    let mut listed = BTreeSet::new();
    let seen = events.filter_map(move |event| {
        let seen = match event {
            Ok(Event::Apply(object)) => Some(is(object)),
            Ok(Event::Delete(object)) => Some(gone(object.name_any())),
            Ok(Event::Init) => {
                listed.clear();
                None
            }
            Ok(Event::InitApply(object)) => {
                listed.insert(object.name_any());
                Some(is(object))
            }
            Ok(Event::InitDone) => Some(whole(std::mem::take(&mut listed))),
            Err(error) => Some(Seen::Trouble(sentence(&error))),
        };
        std::future::ready(seen)
    });
    seen.boxed()
}

/// How long to wait before the next try: half a second, then twice as long, at most five seconds. An API server that
/// restarts is soon back, and requests wait for nobody else.
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
