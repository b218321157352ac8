//! HyperShift's kinds, trimmed to the fields that are read. Every field may be missing.

mod hosted_cluster;
mod node_pool;

pub use hosted_cluster::{
    HostedCluster, HostedClusterSpec, HostedClusterStatus, NetworkEntry, Networking, NodePort,
    PublishedService, Publishing, SecretReference,
};
pub use node_pool::{
    AutoScaling, InPlace, Management, NodePool, NodePoolSpec, NodePoolStatus, Platform, Release, Replace,
    RollingUpdate, Taint,
};

/// What kube's client must know about a kind to ask for it.
macro_rules! resource {
    ($kind:ident, $plural:literal) => {
        impl kube::Resource for $kind {
            type DynamicType = ();
            type Scope = k8s_openapi::NamespaceResourceScope;
            fn kind((): &()) -> std::borrow::Cow<'_, str> {
                stringify!($kind).into()
            }
            fn group((): &()) -> std::borrow::Cow<'_, str> {
                "hypershift.openshift.io".into()
            }
            fn version((): &()) -> std::borrow::Cow<'_, str> {
                "v1beta1".into()
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
