//! A made-up cluster for tables and tests, built by hand so that nothing depends on the readers of the two files.

use std::collections::BTreeMap;

use crate::Cluster;
use crate::install_config::{
    ClusterNetwork, Empty, InstallConfig, MachineNetwork, MachinePool, Metadata, Networking, Platform,
};
use crate::inventory::{
    Balancer, Host, IgnitionServer, Inventory, KeyAlgorithm, Machines, Network, Options, Pki, Provider,
    Release, Role, ServerUrl,
};
use crate::secrets::Identity;
use hardway_base::Secret;

/// A made-up cluster for tables and tests: three masters, two workers, IPv4.
pub fn cluster() -> Cluster {
    Cluster { config: config(), inventory: inventory(), identity: identity() }
}

fn config() -> InstallConfig {
    let pool = |name: &str, replicas| MachinePool {
        architecture: "amd64".to_owned(),
        hyperthreading: "Enabled".to_owned(),
        name: name.to_owned(),
        platform: Empty {},
        replicas,
    };
    let net = |address: [u8; 4], prefix| ipnet::IpNet::new_assert(address.into(), prefix);
    InstallConfig {
        additional_trust_bundle: String::new(),
        additional_trust_bundle_policy: "Proxyonly".to_owned(),
        api_version: "v1".to_owned(),
        base_domain: "example.com".to_owned(),
        bootstrap_in_place: None,
        capabilities: None,
        compute: vec![pool("worker", 2)],
        control_plane: pool("master", 3),
        cpu_partitioning_mode: String::new(),
        feature_gates: Vec::new(),
        feature_set: String::new(),
        fips: false,
        image_content_sources: Vec::new(),
        image_digest_sources: Vec::new(),
        metadata: Metadata { creation_timestamp: (), name: "ocp4".to_owned() },
        networking: Networking {
            cluster_network: vec![ClusterNetwork { cidr: net([10, 128, 0, 0], 14), host_prefix: 23 }],
            machine_network: vec![MachineNetwork { cidr: net([192, 168, 126, 0], 24) }],
            network_type: "OVNKubernetes".to_owned(),
            ovn_kubernetes_config: None,
            service_network: vec![net([172, 30, 0, 0], 16)],
        },
        os_image_stream: String::new(),
        platform: Platform::default(),
        proxy: None,
        publish: "External".to_owned(),
        pull_secret: Secret::new(r#"{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}"#),
        ssh_key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGf1Zt0nHxq0V6c0q1mZs4rN2n9vQy0b3cYk8u6i2J5d me"
            .to_owned(),
    }
}

fn inventory() -> Inventory {
    let ip = |n: u8| vec![std::net::IpAddr::from([192, 168, 126, n])];
    let host = |name: &str, role, n: u8| Host {
        name: name.to_owned(),
        role,
        ip: ip(n),
        mac: Some(format!("52:54:00:7e:00:{n:02x}")),
        interface: None,
        install_disk: Some("/dev/vda".to_owned()),
        cpus: None,
        memory_gib: None,
        disk_gib: None,
    };
    Inventory {
        release: Release { image: "sample".to_owned() },
        machines: Machines { provider: Provider::BareMetal, settings: serde_json::json!({}) },
        network: Network {
            gateway: ip(1),
            dns: ip(1),
            api_vip: ip(10),
            ingress_vip: ip(11),
            load_balancer: Balancer::Haproxy,
        },
        pki: Pki { key_algorithm: KeyAlgorithm::EcdsaP256, short_lived_hours: 24 },
        ignition_server: IgnitionServer { url: Some(ServerUrl::at(ip(1)[0])) },
        options: Options::default(),
        hosts: vec![
            host("bootstrap", Role::Bootstrap, 100),
            host("master-0", Role::Master, 101),
            host("master-1", Role::Master, 102),
            host("master-2", Role::Master, 103),
            host("worker-0", Role::Worker, 110),
            host("worker-1", Role::Worker, 111),
        ],
    }
}

fn identity() -> Identity {
    Identity {
        cluster_id: "8b1c2f9e-6a57-4d0c-9f0e-3c6f1f6a1c11".to_owned(),
        infra_id: "ocp4-x7k2p".to_owned(),
        created: jiff::Timestamp::constant(1_794_700_800, 0), // 2026-11-15
        renewed: BTreeMap::new(),
        fingerprint_key: "00112233445566778899aabbccddeeff".to_owned(),
    }
}
