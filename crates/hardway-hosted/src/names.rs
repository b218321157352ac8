//! What HyperShift calls things (openshift/hypershift `api/hypershift/v1beta1`, `hypershift-operator/controllers/nodepool/token.go`).

pub use hardway_machines::ignition_server::hosted_tokens::{
    IGNITION_CONFIG, IGNITION_REACHED, NODE_POOL, TOKEN_EXPIRES,
};

/// On a NodePool: the hash of its config with the version, as it is in the names of its Secrets.
pub const CURRENT_CONFIG_VERSION: &str = "hypershift.openshift.io/nodePoolCurrentConfigVersion";
/// On a token Secret: `InPlace` or `Replace`.
pub const UPGRADE_TYPE: &str = "hypershift.openshift.io/node-pool-upgrade-type";
/// On a token Secret: when its token was drawn.
pub const TOKEN_GENERATED: &str = "hypershift.openshift.io/last-token-generation-time";
/// On a HostedCluster: no cluster-api, no machine-approver.
pub const DISABLE_PKI: &str = "hypershift.openshift.io/disable-pki-reconciliation";
/// On a signed Secret: which signer it was signed with.
pub const CA_HASH: &str = "hypershiftlite.openshift.io/ca-hash";
/// On a Node: its NodePool.
pub const NODE_LABEL: &str = "hypershift.openshift.io/nodePool";
/// On a Node: the zone that its machine is in. On platform None nobody else sets it.
pub const ZONE: &str = "topology.kubernetes.io/zone";
/// On a Node: the region.
pub const REGION: &str = "topology.kubernetes.io/region";
/// Its Secret in the control plane's namespace has the certificate authority that workers trust on first boot.
pub const IGNITION_CA: &str = "ignition-server-ca-cert";
/// Its Secret in the control plane's namespace has the kubeconfig that every worker's kubelet starts with.
pub const BOOTSTRAP_KUBECONFIG: &str = "bootstrap-kubeconfig";
/// The signer of the hosted control plane.
pub const ROOT_CA: &str = "root-ca";

/// The namespace of the hosted control plane.
pub fn control_plane_namespace(namespace: &str, cluster: &str) -> String {
    format!("{namespace}-{}", cluster.replace('.', "-"))
}

/// The Secret with the tokens of a pool's config.
pub fn token_secret(node_pool: &str, config_hash: &str) -> String {
    format!("token-{node_pool}-{config_hash}")
}

/// The Secret with the pointer of a pool's config.
pub fn user_data_secret(node_pool: &str, config_hash: &str) -> String {
    format!("user-data-{node_pool}-{config_hash}")
}

/// The Secret with the administrator's kubeconfig, in the HostedCluster's own namespace.
pub fn admin_kubeconfig(cluster: &str) -> String {
    format!("{cluster}-admin-kubeconfig")
}

/// Namespace and ConfigMap of a pool's upgrade in place, in the hosted cluster.
pub fn upgrade(node_pool: &str) -> String {
    format!("{node_pool}-upgrade")
}

/// What things of a cluster are called outside: the cluster's name, shortened, and five letters. HyperShift's own tool draws them; here
/// they follow from namespace and name, so that whoever renders a cluster again, here or elsewhere, gets the same. A HostedCluster's can
/// never be changed, and on platform None nothing outside is called so.
pub fn infra_id(namespace: &str, cluster: &str) -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let hash = crate::hash::of_text(&format!("{namespace}/{cluster}"));
    let mut number = usize::from_str_radix(&hash, 16).unwrap_or_default();
    let mut letters = String::new();
    for _ in 0..5 {
        letters.push(char::from(LETTERS[number % LETTERS.len()]));
        number /= LETTERS.len();
    }
    let short: String = cluster.chars().take(21).collect();
    format!("{}-{letters}", short.trim_end_matches('-'))
}

#[cfg(test)]
mod tests {
    use hardway_assets::node_name::is_label;

    use super::*;

    #[test]
    fn an_infra_id_follows_from_the_name() {
        let id = infra_id("clusters", "demo");
        assert_eq!(id, infra_id("clusters", "demo"));
        assert!(id.len() == 10 && id.starts_with("demo-") && is_label(&id), "{id}");
        assert_ne!(id, infra_id("others", "demo"));
        let long = infra_id("clusters", "a-very-long-cluster--name-that-goes-on");
        assert!(long.len() <= 27 && is_label(&long), "{long}");
    }

    #[test]
    fn names_are_hypershifts() {
        assert_eq!(control_plane_namespace("clusters", "a.b"), "clusters-a-b");
        assert_eq!(token_secret("demo", "a2b27c3f"), "token-demo-a2b27c3f");
    }
}
