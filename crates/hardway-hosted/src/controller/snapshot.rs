//! Both clusters at one moment, pool by pool, as the planner wants them.

use std::collections::BTreeMap;
use std::net::IpAddr;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Secret;

use super::Controller;
use super::journal_news::JournalNews;
use super::watches::Watches;
use crate::config_watch::ConfigWatch;
use crate::expected::ClusterNetworks;
use crate::gates::{GateFacts, gates, secret_of};
use crate::names;
use crate::node_view::NodeView;
use crate::objects::{HostedCluster, NodePool};
use crate::reconcile::PoolView;
use crate::token::TokenSecret;
use crate::worker::Worker;

/// Both clusters at one moment.
pub(super) struct Snapshot {
    pub(super) pools: Vec<PoolView>,
    pub(super) workers: Vec<Worker>,
    /// Versions of the records, by worker.
    pub(super) versions: BTreeMap<String, String>,
    pub(super) surroundings: ClusterNetworks,
    /// Records that cannot be read as one.
    pub(super) strange: Vec<String>,
}

/// What is remembered between snapshots.
#[derive(Default)]
pub(super) struct Memory {
    configs: BTreeMap<String, ConfigWatch>,
}

impl Snapshot {
    pub(super) fn take(
        watches: &Watches,
        news: &JournalNews,
        memory: &mut Memory,
        controller: &Controller,
        now: Timestamp,
    ) -> Self {
        let clusters = watches.clusters.state();
        let cluster = clusters.first().map(AsRef::as_ref);
        let secrets = watches.secrets.state();
        let mut snapshot = Self {
            pools: Vec::new(),
            workers: Vec::new(),
            versions: BTreeMap::new(),
            surroundings: cluster.map(surroundings).unwrap_or_default(),
            strange: Vec::new(),
        };
        for record in watches.records.state() {
            match Worker::from_config_map(&record) {
                Ok(worker) => {
                    let version = record.metadata.resource_version.clone().unwrap_or_default();
                    snapshot.versions.insert(worker.name.clone(), version);
                    snapshot.workers.push(worker);
                }
                Err(error) => snapshot.strange.push(error.to_string()),
            }
        }
        snapshot.workers.sort_by(|a, b| a.name.cmp(&b.name));
        let nodes: BTreeMap<String, NodeView> = watches
            .nodes
            .state()
            .iter()
            .map(|node| NodeView::of(node))
            .map(|node| (node.name.clone(), node))
            .collect();
        let news = news.of(&snapshot.workers, &controller.management.namespace);
        for pool in watches.pools.state() {
            if cluster.is_none_or(|cluster| cluster.metadata.name.as_deref() != Some(&pool.spec.cluster_name))
            {
                continue;
            }
            let name = pool.metadata.name.clone().unwrap_or_default();
            let workers: Vec<Worker> =
                snapshot.workers.iter().filter(|worker| worker.node_pool == name).cloned().collect();
            let config = memory.configs.entry(name.clone()).or_default();
            snapshot.pools.push(PoolView {
                gates: gates_of(cluster, &pool, &secrets, config, controller.rest, now),
                tokens: tokens_of(&pool, &secrets),
                nodes: nodes.clone(),
                news: news.clone(),
                workers,
                pool: pool.as_ref().clone(),
            });
        }
        snapshot
    }
}

fn gates_of(
    cluster: Option<&HostedCluster>,
    pool: &NodePool,
    secrets: &[std::sync::Arc<Secret>],
    config: &mut ConfigWatch,
    rest: SignedDuration,
    now: Timestamp,
) -> Vec<crate::gates::Gate> {
    let name = pool.metadata.name.as_deref().unwrap_or_default();
    let user_data = pool.config_hash().and_then(|hash| {
        secret_of(secrets.iter().map(AsRef::as_ref), pool, &names::user_data_secret(name, hash))
    });
    let made = user_data.and_then(|secret| secret.metadata.creation_timestamp.as_ref()).map(|time| time.0);
    config.see(pool.config_hash(), made, now);
    gates(&GateFacts { cluster, pool, user_data, config, rest, now })
}

fn tokens_of(pool: &NodePool, secrets: &[std::sync::Arc<Secret>]) -> Vec<TokenSecret> {
    let key = pool.key();
    secrets
        .iter()
        .filter_map(|secret| TokenSecret::read(secret))
        .filter(|token| token.node_pool == key)
        .collect()
}

fn surroundings(cluster: &HostedCluster) -> ClusterNetworks {
    let networking = &cluster.spec.networking;
    let networks = |list: &[crate::objects::NetworkEntry]| {
        list.iter().filter_map(|entry| entry.cidr.parse().ok()).collect()
    };
    let published = cluster.spec.services.iter().filter_map(|service| {
        service.service_publishing_strategy.node_port.as_ref()?.address.parse::<IpAddr>().ok()
    });
    ClusterNetworks {
        service_networks: networks(&networking.service_network),
        pod_networks: networks(&networking.cluster_network),
        published: published.collect(),
    }
}
