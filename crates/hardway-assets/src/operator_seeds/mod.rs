//! Seeds for the operators: what each operator's `render` command would put into the cluster at bootstrap.
//!
//! ```text
//! namespaces                    where the others go
//! etcd                          etcd's CAs and certificates, endpoints, service
//! kube_apiserver                signers, CA bundles and service-account keys of the API servers
//! kube_controller_manager       signer of kubelet certificates, service-account key, roles of the policy controller
//! machine_config                who may ask for a node certificate, what nodes trust, what their controller has to see first
//! security_context_constraints  which pods may do what
//! ```
//!
//! In: `pki/*`, `secrets/*.key`, install-config, inventory. Out: `operator-seeds/*.yaml`, one object per file, under the
//! names that the renders use. The operators adopt what they find: same keys, same certificates, so that the masters'
//! control plane and the bootstrap one trust each other. A signer without its annotations is minted anew, and then
//! nothing fits any more.
//!
//! Left to others: the cluster version operator's own namespace content, roles and Deployment are in the release that
//! its static pod applies; the ServiceAccount `node-bootstrapper` is made by the machine config operator.

mod cluster_role;
mod etcd;
mod kube_apiserver;
mod kube_controller_manager;
mod machine_config;
mod namespaces;
mod security_context_constraints;
mod seed;
#[cfg(test)]
mod tests;

use crate::Cluster;
use crate::graph::Asset;
use crate::object_file::ObjectFile;

/// The assets of this module for one cluster.
pub(crate) fn assets(cluster: &Cluster) -> Vec<Box<dyn Asset>> {
    let mut seeds = namespaces::seeds();
    seeds.extend(etcd::seeds(cluster));
    seeds.extend(kube_apiserver::seeds());
    seeds.extend(kube_controller_manager::seeds());
    seeds.extend(machine_config::seeds());
    seeds.extend(security_context_constraints::seeds());
    seeds.into_iter().map(ObjectFile::boxed).collect()
}
