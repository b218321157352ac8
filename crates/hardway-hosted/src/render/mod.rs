//! The objects of a hosted cluster of platform None, as `hypershift create cluster none` makes them (openshift/hypershift
//! `cmd/cluster/none/create.go`, `cmd/cluster/core/create.go`), with two differences: the ports are fixed, because the list of
//! services can never be changed and firewalls want to know them; and OIDC, which does nothing, is not published.

mod cluster;
mod network;
mod node_pool;
mod words;

pub use cluster::{Availability, ClusterRequest, objects};
pub use network::{ServicePorts, is_address};
pub use node_pool::{NodePoolRequest, UpgradeType, object as node_pool_object};

/// Everything that is wrong with a request, at once.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} invalid values", .0.len())]
pub struct RequestErrors(pub Vec<String>);
