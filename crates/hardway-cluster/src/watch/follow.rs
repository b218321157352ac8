//! Following a cluster: one task per kind, each of which lists, watches for a while, and lists again.
//!
//! A list is the truth at one moment, whatever happened before: an API server that moved, a load balancer that dropped a
//! connection without a word, events that were missed. So no watch lasts longer than a window, each round has a
//! connection of its own, and a watch that brings nothing ends by our own clock even if its end never arrives.

use std::fmt::Debug;
use std::time::Duration;

use futures_util::StreamExt as _;
use kube::api::{Api, ListParams, WatchEvent, WatchParams};
use kube::core::{ClusterResourceScope, NamespaceResourceScope};
use kube::{Client, Config, Resource, ResourceExt as _};
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{ClusterEvent, Observed, WatchedKind};
use crate::api_error::sentence;

/// How patient following is.
#[derive(Clone, Copy, Debug)]
pub struct WatchPatience {
    /// A watch is begun anew after this long.
    pub window: Duration,
    /// For an answer to a list, and for the end of a watch that is due.
    pub answer: Duration,
    /// Between tries while nothing answers.
    pub pause: Duration,
}

impl Default for WatchPatience {
    fn default() -> Self {
        Self {
            window: Duration::from_secs(45),
            answer: Duration::from_secs(15),
            pause: Duration::from_secs(2),
        }
    }
}

/// A cluster that is being followed, until this is dropped.
#[derive(Debug)]
pub struct Watch {
    events: Receiver<ClusterEvent>,
    _tasks: JoinSet<()>,
}

impl Watch {
    /// Begins.
    pub fn start(config: &Config, patience: WatchPatience) -> Self {
        let (sender, events) = channel(256);
        let mut tasks = JoinSet::new();
        for kind in WatchedKind::ALL {
            let follower = Follower { config: config.clone(), kind, patience, sender: sender.clone() };
            tasks.spawn(follower.run());
        }
        Self { events, _tasks: tasks }
    }

    /// The next event; a tick when nothing happens for that long.
    pub async fn next(&mut self, at_most: Duration) -> ClusterEvent {
        timeout(at_most, self.events.recv()).await.ok().flatten().unwrap_or(ClusterEvent::Tick)
    }
}

struct Follower {
    config: Config,
    kind: WatchedKind,
    patience: WatchPatience,
    sender: Sender<ClusterEvent>,
}

/// Why a round ended.
enum End {
    /// Begin the next.
    Round,
    /// Nobody listens any more.
    Dropped,
}

impl Follower {
    async fn run(self) {
        while let End::Round = self.round().await {}
    }

    async fn round(&self) -> End {
        let client = match Client::try_from(self.config.clone()) {
            Ok(client) => client,
            Err(error) => return self.lost(&sentence(&error)).await,
        };
        let everything = ListParams::default();
        let named = |name: &str| ListParams::default().fields(&format!("metadata.name={name}"));
        match self.kind {
            WatchedKind::Bootstrap => {
                self.inside(client, "kube-system", named("bootstrap"), Observed::Bootstrap).await
            }
            WatchedKind::Endpoints => {
                self.inside(client, "openshift-etcd", named("etcd-endpoints"), Observed::Endpoints).await
            }
            WatchedKind::Operators => self.all(client, everything, Observed::Operator).await,
            WatchedKind::Version => self.all(client, named("version"), Observed::Version).await,
            WatchedKind::Etcd => self.all(client, named("cluster"), Observed::Etcd).await,
            WatchedKind::KubeApiServer => self.all(client, named("cluster"), Observed::KubeApiServer).await,
            WatchedKind::KubeControllerManager => {
                self.all(client, named("cluster"), Observed::KubeControllerManager).await
            }
            WatchedKind::KubeScheduler => self.all(client, named("cluster"), Observed::KubeScheduler).await,
            WatchedKind::Nodes => self.all(client, everything, Observed::Node).await,
            WatchedKind::Requests => self.all(client, everything, Observed::Request).await,
        }
    }

    async fn all<K>(&self, client: Client, which: ListParams, wrap: fn(K) -> Observed) -> End
    where
        K: Resource<DynamicType = (), Scope = ClusterResourceScope> + Clone + Debug + DeserializeOwned,
    {
        self.list_and_watch(&Api::<K>::all(client), which, wrap).await
    }

    async fn inside<K>(
        &self,
        client: Client,
        namespace: &str,
        which: ListParams,
        wrap: fn(K) -> Observed,
    ) -> End
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
    {
        self.list_and_watch(&Api::<K>::namespaced(client, namespace), which, wrap).await
    }

    async fn list_and_watch<K>(&self, api: &Api<K>, which: ListParams, wrap: fn(K) -> Observed) -> End
    where
        K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned,
    {
        let listed = match timeout(self.patience.answer, api.list(&which)).await {
            Err(_) => {
                return self
                    .lost(&format!("no answer within {} s", self.patience.answer.as_secs_f32()))
                    .await;
            }
            // Its CRD comes later.
            Ok(Err(kube::Error::Api(status))) if status.code == 404 => return self.absent().await,
            Ok(Err(error)) => return self.lost(&sentence(&error)).await,
            Ok(Ok(listed)) => listed,
        };
        let version = listed.metadata.resource_version.clone().unwrap_or_default();
        let objects = listed.items.into_iter().map(wrap).collect();
        if self.send(ClusterEvent::Listed(self.kind, objects)).await {
            self.watch(api, &which, &version, wrap).await
        } else {
            End::Dropped
        }
    }

    /// Until the window is over, the server says so, or something breaks. All of them lead to a new list, which says
    /// whether anything is wrong.
    async fn watch<K>(&self, api: &Api<K>, which: &ListParams, version: &str, wrap: fn(K) -> Observed) -> End
    where
        K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned,
    {
        let window = u32::try_from(self.patience.window.as_secs()).unwrap_or(60).max(1);
        let mut parameters = WatchParams::default().timeout(window).disable_bookmarks();
        parameters.field_selector.clone_from(&which.field_selector);
        let start = tokio::time::Instant::now();
        let end = start + self.patience.window + self.patience.answer;
        let began = timeout(self.patience.answer, api.watch(&parameters, version)).await;
        let Ok(Ok(events)) = began else { return self.pause().await };
        let mut events = std::pin::pin!(events);
        while let Ok(Some(Ok(event))) = tokio::time::timeout_at(end, events.next()).await {
            let event = match event {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                    ClusterEvent::Changed(wrap(object))
                }
                WatchEvent::Deleted(object) => ClusterEvent::Deleted(self.kind, object.name_any()),
                WatchEvent::Bookmark(_) => continue,
                WatchEvent::Error(_) => break,
            };
            if !self.send(event).await {
                return End::Dropped;
            }
        }
        // A server that ends every watch at once is not asked in a tight loop.
        if start.elapsed() < self.patience.pause { self.pause().await } else { End::Round }
    }

    async fn lost(&self, why: &str) -> End {
        if self.send(ClusterEvent::Lost(self.kind, why.to_owned())).await {
            self.pause().await
        } else {
            End::Dropped
        }
    }

    async fn absent(&self) -> End {
        if self.send(ClusterEvent::Absent(self.kind)).await { self.pause().await } else { End::Dropped }
    }

    async fn pause(&self) -> End {
        tokio::time::sleep(self.patience.pause).await;
        End::Round
    }

    async fn send(&self, event: ClusterEvent) -> bool {
        self.sender.send(event).await.is_ok()
    }
}
