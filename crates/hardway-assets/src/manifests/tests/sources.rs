//! What assets say they read is what they read.

use std::collections::BTreeSet;

use super::{World, everything};
use crate::graph::{Asset, Fingerprints, Source};
use crate::install_config::{Capabilities, Proxy};
use crate::release_payload::FeatureGates;
use crate::secrets::SecretBundle;
use hardway_base::Secret;

/// Changes of one input each, so that every one of them reaches some file.
fn mutations() -> Vec<fn(&mut World)> {
    vec![
        |w| w.cluster.config.additional_trust_bundle = super::CERTIFICATE.repeat(2),
        |w| w.cluster.config.additional_trust_bundle.clear(),
        |w| w.cluster.config.additional_trust_bundle_policy = "Always".to_owned(),
        |w| w.cluster.config.base_domain = "other.example".to_owned(),
        |w| {
            w.cluster.config.capabilities = Some(Capabilities {
                additional_enabled_capabilities: Vec::new(),
                baseline_capability_set: "None".to_owned(),
            });
        },
        |w| w.cluster.config.compute[0].replicas = 0,
        |w| w.cluster.config.compute[0].replicas = 1,
        |w| w.cluster.config.control_plane.replicas = 1,
        |w| w.cluster.config.cpu_partitioning_mode = "AllNodes".to_owned(),
        |w| w.cluster.config.feature_set = "TechPreviewNoUpgrade".to_owned(),
        |w| w.cluster.config.feature_set = "CustomNoUpgrade".to_owned(),
        |w| w.cluster.config.feature_gates = vec!["New=true".to_owned()],
        |w| w.cluster.config.fips = false,
        |w| w.cluster.config.image_content_sources[0].mirrors.push("b.example".to_owned()),
        |w| w.cluster.config.image_digest_sources[0].mirrors.push("b.example".to_owned()),
        |w| w.cluster.config.metadata.name = "other".to_owned(),
        |w| w.cluster.config.networking.cluster_network[0].host_prefix = 24,
        |w| w.cluster.config.networking.cluster_network[0].cidr = "10.64.0.0/14".parse().unwrap(),
        |w| w.cluster.config.networking.machine_network[0].cidr = "10.9.0.0/16".parse().unwrap(),
        |w| w.cluster.config.networking.network_type = "Other".to_owned(),
        |w| {
            let ovn = w.cluster.config.networking.ovn_kubernetes_config.as_mut().unwrap();
            ovn.ipv4.as_mut().unwrap().internal_join_subnet = Some("100.98.0.0/16".parse().unwrap());
        },
        |w| w.cluster.config.networking.service_network[0] = "172.29.0.0/16".parse().unwrap(),
        |w| {
            w.cluster.config.proxy = Some(Proxy {
                http_proxy: String::new(),
                https_proxy: "https://other".to_owned(),
                no_proxy: String::new(),
            });
        },
        |w| w.cluster.config.proxy = None,
        |w| w.cluster.config.pull_secret = Secret::new("{}"),
        |w| w.cluster.config.ssh_key = "ssh-rsa AAAA you".to_owned(),
        |w| w.cluster.identity.cluster_id = "other".to_owned(),
        |w| w.cluster.identity.infra_id = "other".to_owned(),
        |w| w.cluster.identity.created = "2027-01-01T00:00:00Z".parse().unwrap(),
        |w| w.cluster.inventory.hosts.clear(),
        |w| w.release.version = "4.18.1".to_owned(),
        |w| w.release.version = "4.20.1".to_owned(),
        |w| w.release.image = "other".to_owned(),
        |w| {
            let gates = FeatureGates { enabled: vec!["X".to_owned()], disabled: Vec::new() };
            w.release.feature_gates.insert(String::new(), gates);
        },
        |w| replace_secret(w, "kubeadmin-password.hash"),
        |w| replace_secret(w, "machine-config-server.key"),
        |w| replace_secret(w, "root-ca.key"),
        |w| swap_file(w, "master.ign"),
        |w| swap_file(w, "worker.ign"),
        |w| swap_file(w, "pki/machine-config-server.crt"),
        |w| swap_file(w, "pki/root-ca.crt"),
    ]
}

fn replace_secret(world: &mut World, name: &str) {
    let files: Vec<(String, Vec<u8>)> = world
        .secrets
        .files()
        .map(|(file, secret)| {
            (file.to_owned(), if file == name { vec![7] } else { secret.expose().to_vec() })
        })
        .collect();
    world.secrets = SecretBundle::from_files(files);
}

fn swap_file(world: &mut World, path: &str) {
    let doubled = world.tree.get(path).unwrap().repeat(2);
    world.tree.insert(path, doubled);
}

#[test]
fn an_output_changes_only_with_its_sources_and_every_source_matters() {
    let custom = || {
        let mut world = everything();
        world.cluster.config.feature_set = "CustomNoUpgrade".to_owned();
        world
    };
    let direct = || {
        let mut world = everything();
        world.cluster.config.proxy = None;
        world
    };
    let mut declared: BTreeSet<(String, Source)> = BTreeSet::new();
    let mut mattered: BTreeSet<(String, Source)> = BTreeSet::new();
    for make in [everything, custom, direct] {
        let before = make();
        for asset in before.assets() {
            declared.extend(asset.sources().into_iter().map(|source| (asset.id(), source)));
        }
        for mutate in mutations() {
            let mut after = make();
            mutate(&mut after);
            for asset in before.assets() {
                mattered.extend(changed(asset.as_ref(), &before, &after));
            }
        }
    }
    let idle: Vec<_> = declared.difference(&mattered).collect();
    assert!(idle.is_empty(), "declared, but no change of them changes the file: {idle:?}");
}

/// The sources of an asset that differ, given that its output does.
fn changed(asset: &dyn Asset, before: &World, after: &World) -> Vec<(String, Source)> {
    let now = after.assets().into_iter().find(|other| other.id() == asset.id());
    let Some(Ok(made)) = now.map(|now| now.make(&after.inputs())) else { return Vec::new() };
    if asset.make(&before.inputs()).unwrap() == made {
        return Vec::new();
    }
    let hash = |world: &World, source: &Source| Fingerprints::new(world.inputs()).of(source, &world.tree);
    let sources: Vec<(String, Source)> = asset
        .sources()
        .into_iter()
        .filter(|source| hash(before, source) != hash(after, source))
        .map(|source| (asset.id(), source))
        .collect();
    assert!(!sources.is_empty(), "{} changed, but none of its sources", asset.id());
    sources
}
