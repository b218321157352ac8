//! The objects that are watched, trimmed to the fields that are read. Every field may be missing: while a cluster boots
//! most of them are, and a field that a newer release drops must not stop the waiting.
//!
//! ```text
//! Condition, find         condition.rs
//! ClusterVersion          cluster_version.rs
//! ClusterOperator         cluster_operator.rs
//! StaticPodOperator       static_pod_operator.rs   etcds, kubeapiservers, kubecontrollermanagers, kubeschedulers
//! Node, ConfigMap, Request, Pod, Route  core.rs
//! ```

mod cluster_operator;
mod cluster_version;
mod condition;
mod core;
mod static_pod_operator;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

pub use cluster_operator::{ClusterOperator, OperatorStatus, OperatorVersion};
pub use cluster_version::{ClusterVersion, Override, UpdateHistory, VersionSpec, VersionStatus};
pub use condition::{Condition, Truth, find};
pub use core::{
    Address, CLIENT_SIGNER, ConfigMap, ContainerStatus, Node, NodeInfo, NodeStatus, Pod, PodSpec, PodStatus,
    RequestSpec, RequestStatus, Route, RouteIngress, RouteSpec, RouteStatus, SERVING_SIGNER, SigningRequest,
    is_request_name,
};
pub use static_pod_operator::{
    Etcd, KubeApiServer, KubeControllerManager, KubeScheduler, NodeRevision, StaticPodOperator,
    StaticPodStatus,
};

/// When an object was made. API servers always say so; one that comes from a file may not, and is as old as can be.
pub fn created(metadata: &ObjectMeta) -> Timestamp {
    metadata.creation_timestamp.as_ref().map_or(Timestamp::UNIX_EPOCH, |time| time.0)
}

/// What kube's client must know about a kind to ask for it.
macro_rules! resource {
    ($kind:ident, $name:expr, $group:literal, $version:literal, $plural:literal, $scope:ty) => {
        impl kube::Resource for $kind {
            type DynamicType = ();
            type Scope = $scope;
            fn kind((): &()) -> std::borrow::Cow<'_, str> {
                $name.into()
            }
            fn group((): &()) -> std::borrow::Cow<'_, str> {
                $group.into()
            }
            fn version((): &()) -> std::borrow::Cow<'_, str> {
                $version.into()
            }
            fn plural((): &()) -> std::borrow::Cow<'_, str> {
                $plural.into()
            }
            fn meta(&self) -> &kube::api::ObjectMeta {
                &self.metadata
            }
            fn meta_mut(&mut self) -> &mut kube::api::ObjectMeta {
                &mut self.metadata
            }
        }
    };
}
use resource;
