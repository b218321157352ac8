//! A made-up cluster for tables, documentation and tests: three masters, two workers, IPv4.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::Cluster;
use crate::install_config::Rules;
use crate::inventory::read_both;
use crate::release_payload::SAMPLE_VERSION;
use crate::secrets::Identity;

/// Its `install-config.yaml`.
pub const INSTALL_CONFIG: &str = include_str!("../example/install-config.yaml");
/// Its `inventory.yaml`.
pub const INVENTORY: &str = include_str!("../example/inventory.yaml");

/// The cluster that both files describe, with an identity that is always the same.
///
/// ```
/// let cluster = hardway_assets::example::cluster();
/// assert_eq!(cluster.api_url(), "https://api.ocp4.example.com:6443");
/// ```
pub fn cluster() -> Cluster {
    static CLUSTER: LazyLock<Cluster> = LazyLock::new(|| {
        let rules = Rules::for_version(SAMPLE_VERSION);
        let (config, inventory) =
            read_both(INSTALL_CONFIG, INVENTORY, rules).expect("the example has no mistakes");
        Cluster { config: config.value, inventory: inventory.value, identity: identity() }
    });
    CLUSTER.clone()
}

fn identity() -> Identity {
    Identity {
        cluster_id: "8b1c2f9e-6a57-4d0c-9f0e-3c6f1f6a1c11".to_owned(),
        infra_id: "ocp4-x7k2p".to_owned(),
        created: jiff::Timestamp::constant(1_794_700_800, 0), // 2026-11-15
        renewed: BTreeMap::new(),
        generations: BTreeMap::new(),
        fingerprint_key: "00112233445566778899aabbccddeeff".to_owned(),
    }
}
