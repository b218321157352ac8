//! What both clusters tell, kept current by watching.

use futures_util::stream::{BoxStream, select_all};
use futures_util::{StreamExt as _, TryStreamExt as _};
use hardway_cluster::api_error::sentence;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Secret};
use kube::api::Api;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::reflector::{self, Store};
use kube::runtime::watcher::{self, watcher};

use super::Controller;
use crate::names;
use crate::objects::{HostedCluster, NodePool};
use crate::worker::CLUSTER_LABEL;

/// The objects that count.
pub(super) struct Watches {
    pub(super) clusters: Store<HostedCluster>,
    pub(super) pools: Store<NodePool>,
    /// Of the control plane; all but those of pools without their values.
    pub(super) secrets: Store<Secret>,
    pub(super) records: Store<ConfigMap>,
    pub(super) nodes: Store<Node>,
}

/// Something changed, or could not be told.
pub(super) type Change = Result<(), WatchTrouble>;

/// Objects of a kind cannot be watched.
#[derive(Debug, thiserror::Error)]
#[error("{kind}: {}", sentence(why))]
pub(super) struct WatchTrouble {
    kind: String,
    why: watcher::Error,
}

/// After this long without a word, a connection counts as dead.
const SILENCE_SECONDS: u32 = 60;

impl Watches {
    /// Begins to watch.
    pub(super) fn begin(controller: &Controller) -> (Self, BoxStream<'static, Change>) {
        let management = &controller.management;
        let config = || watcher::Config::default().timeout(SILENCE_SECONDS);
        let own = config().fields(&format!("metadata.name={}", management.cluster));
        let records = config().labels(&format!("{CLUSTER_LABEL}={}", management.cluster));
        let (clusters, one) = watch(management.api(), own, |_| {});
        let (pools, two) = watch(management.api(), config(), |_| {});
        let (secrets, three) = watch(management.control_plane_api(), config(), forget_values);
        let (records, four) = watch(management.api(), records, |_| {});
        let (nodes, five) = watch(Api::all(controller.hosted.clone()), config(), forget_details);
        let changes = select_all([one, two, three, four, five]).boxed();
        (Self { clusters, pools, secrets, records, nodes }, changes)
    }

    /// Waits until everything was told once.
    pub(super) async fn complete(&self) {
        // A store that can never be complete lost its writer, which the caller holds.
        let _ = tokio::join!(
            self.clusters.wait_until_ready(),
            self.pools.wait_until_ready(),
            self.secrets.wait_until_ready(),
            self.records.wait_until_ready(),
            self.nodes.wait_until_ready(),
        );
    }
}

fn watch<K>(api: Api<K>, config: watcher::Config, trim: fn(&mut K)) -> (Store<K>, BoxStream<'static, Change>)
where
    K: kube::Resource<DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + serde::de::DeserializeOwned
        + Send
        + Sync
        + 'static,
{
    let (store, writer) = reflector::store();
    let trimmed = watcher(api, config).modify(move |object: &mut K| {
        object.meta_mut().managed_fields = None;
        trim(object);
    });
    let kind = K::kind(&()).into_owned();
    let changes = reflector::reflector(writer, trimmed.default_backoff())
        .map_ok(drop)
        .map_err(move |why| WatchTrouble { kind: kind.clone(), why });
    (store, changes.boxed())
}

/// The keys of the control plane are nobody's business here.
fn forget_values(secret: &mut Secret) {
    let annotations = secret.metadata.annotations.as_ref();
    if !annotations.is_some_and(|annotations| annotations.contains_key(names::NODE_POOL)) {
        secret.data = None;
    }
}

/// Images and volumes are most of a node.
fn forget_details(node: &mut Node) {
    if let Some(status) = &mut node.status {
        status.images = None;
        status.volumes_attached = None;
        status.volumes_in_use = None;
    }
}
