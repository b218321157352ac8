//! The objects that openshift-install writes into `manifests/` and `openshift/`, and `metadata.json`.
//!
//! In: the cluster, the release, certificates (`pki/`), keys and the password (`secrets/`), the pointer configs.
//! Out: one file per object, under the names the readers on the bootstrap host look for (`.yml` and `.yaml` are not
//! interchangeable). In files by noun:
//!
//! ```text
//! cluster_config.rs            kube-system/cluster-config-v1: the install-config, without the pull secret
//! cluster_version.rs           ClusterVersion: channel, cluster ID, capabilities, overrides while bootstrapping
//! config_objects.rs            DNS, Ingress, Scheduler: the cluster domain, where routers run, whether masters take workloads
//! feature_gate.rs              FeatureGate: the feature set, and what it turns on and off in this release
//! infrastructure.rs            Infrastructure: API addresses, topologies, platform
//! machine_config_server_tls.rs what nodes check the machine-config-server by, and its CA where operators rotate it
//! machine_configs.rs           MachineConfigs for SSH keys, FIPS, hyperthreading, CPU partitioning, dual stack
//! metadata.rs                  metadata.json, what other tools know the cluster by
//! mirrors.rs                   ImageContentSourcePolicy and ImageDigestMirrorSet
//! network.rs                   Network, both the cluster's and, where needed, the operator's
//! os_image_stream.rs           OSImageStream: which operating system of the release nodes run
//! pki_config.rs                PKI: with which keys operators sign
//! plain_objects.rs             kube-system/kubeadmin and root-ca, openshift-config/pull-secret and OKD's support, and who made all this
//! proxy.rs                     Proxy, with the whole list of what is not proxied
//! user_ca_bundle.rs            openshift-config/user-ca-bundle: the additional trust bundle
//! user_data.rs                 openshift-machine-api/*-user-data: the pointer configs
//! ```
//!
//! Shared: `objects.rs` reads every object of both folders back.
//!
//! A field that openshift-install writes with nothing in it (`creationTimestamp: null`, `status: {}`) is left out where
//! the API server would prune or refuse it.

mod cluster_config;
mod cluster_version;
mod config_objects;
mod feature_gate;
mod infrastructure;
mod machine_config_server_tls;
mod machine_configs;
mod metadata;
mod mirrors;
mod network;
mod objects;
mod os_image_stream;
mod pki_config;
mod plain_objects;
mod proxy;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod user_ca_bundle;
mod user_data;

use crate::Cluster;
use crate::graph::Asset;
use crate::inventory::Role;
use crate::object_file::ObjectFile;
use crate::release_payload::ReleasePayload;
pub(crate) use cluster_version::with_overrides;
pub use proxy::no_proxy;

/// The assets that apply to this cluster and release.
pub(crate) fn assets(cluster: &Cluster, release: &ReleasePayload) -> Vec<Box<dyn Asset>> {
    let always = [
        cluster_config::cluster_config(&cluster.config),
        cluster_version::cluster_version(),
        config_objects::dns(),
        feature_gate::feature_gate(),
        infrastructure::infrastructure(),
        config_objects::ingress(),
        plain_objects::install_manifests(),
        plain_objects::kube_cloud_config(),
        plain_objects::kubeadmin_password(),
        machine_config_server_tls::tls_secret(),
        network::network(),
        proxy::proxy(&cluster.config),
        plain_objects::pull_secret(),
        plain_objects::root_ca(),
        config_objects::scheduler(),
        user_data::user_data(Role::Master),
        user_data::user_data(Role::Worker),
    ];
    let sometimes = [
        mirrors::image_content_source_policy(&cluster.config),
        mirrors::image_digest_mirror_set(&cluster.config),
        network::operator_network(&cluster.config),
        os_image_stream::os_image_stream(&cluster.config, release),
        pki_config::pki_config(&cluster.config, release),
        plain_objects::okd_support(release),
        user_ca_bundle::user_ca_bundle(&cluster.config),
    ];
    let mut assets: Vec<Box<dyn Asset>> = vec![Box::new(metadata::Metadata)];
    let manifests = always
        .into_iter()
        .chain(sometimes.into_iter().flatten())
        .chain(machine_config_server_tls::rotated_ca(release))
        .chain(machine_configs::machine_configs(&cluster.config, release));
    assets.extend(manifests.map(ObjectFile::boxed));
    assets
}
