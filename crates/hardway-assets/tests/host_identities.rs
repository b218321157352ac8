//! The identity of each host: in its own config and nowhere else, and what OpenSSL reads in its certificate.

use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_assets::graph::{Graph, Inputs, World, plan};
use hardway_assets::ignition::{KUBECONFIG_PATH, NodeConfig, data_of, first_boot_config};
use hardway_assets::inventory::Host;
use hardway_assets::release_payload::sample;
use hardway_assets::secrets::Comes;
use hardway_assets::{host_identity, pki};
use serde_json::Value;

use crate::common::{Made, SCENARIOS, made, make, texts};

fn hosts(made: &Made) -> impl Iterator<Item = &Host> {
    made.cluster.inventory.hosts.iter().filter(|host| host.has_identity())
}

/// Every file that holds these bytes, as they are, in base64, or in a file of an Ignition config however deep.
fn holders<'m>(made: &'m Made, secret: &[u8]) -> Vec<&'m str> {
    let holders = made.tree.iter().filter(|(_, bytes)| holds(bytes, secret));
    holders.map(|(path, _)| path).collect()
}

fn holds(bytes: &[u8], secret: &[u8]) -> bool {
    let encoded = STANDARD.encode(secret);
    let has = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    if has(secret) || has(encoded.as_bytes()) {
        return true;
    }
    let Ok(config) = serde_json::from_slice::<Value>(bytes) else { return false };
    let files = config["storage"]["files"].as_array().into_iter().flatten();
    files.into_iter().any(|file| {
        let source = file["contents"]["source"].as_str().unwrap_or_default();
        data_of(source).is_some_and(|content| holds(&content, secret))
    })
}

#[test]
fn each_identity_is_in_one_config_and_in_no_other_file() {
    for scenario in SCENARIOS {
        let made = made(scenario);
        assert!(hosts(&made).count() > 0);
        for host in hosts(&made) {
            let key = made.secrets.get(&format!("{}.key", host_identity::certificate(&host.name))).unwrap();
            let kubeconfig = host_identity::kubeconfig(&host.name);
            let mut expected = vec![NodeConfig::path(host), kubeconfig.clone()];
            // A node that installs itself carries its own config in the one it boots from.
            if made.cluster.is_bootstrap_in_place() {
                expected.insert(0, "bootstrap-in-place-for-live-iso.ign".to_owned());
            }
            assert_eq!(holders(&made, key.expose()), expected, "{scenario}: {}", host.name);
            let config: Value =
                serde_json::from_slice(made.tree.get(&NodeConfig::path(host)).unwrap()).unwrap();
            let files = config["storage"]["files"].as_array().unwrap();
            let file = files.iter().find(|file| file["path"] == KUBECONFIG_PATH).unwrap();
            assert_eq!((&file["mode"], &file["user"]["name"]), (&0o600.into(), &"root".into()));
            let content = data_of(file["contents"]["source"].as_str().unwrap()).unwrap();
            assert_eq!(content, made.tree.get(&kubeconfig).unwrap());
            let output = made.plan.writes.iter().find(|file| file.path == kubeconfig).unwrap();
            assert_eq!(output.mode, 0o600);
        }
        // And the one that machines share is in none of them.
        let shared = made.secrets.get("kubelet-client.key").unwrap();
        let found = holders(&made, shared.expose());
        assert!(found.iter().all(|path| !path.starts_with("ignition/")), "{scenario}: {found:?}");
    }
}

#[test]
fn openssl_reads_who_the_host_is_and_for_how_long() {
    let made = made("ha");
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| {
        let path = dir.path().join(format!("{name}.crt"));
        std::fs::write(&path, made.text(&pki::path(name))).unwrap();
        path
    };
    let (signer, clients) =
        (file("kubelet-bootstrap-kubeconfig-signer"), file("kube-apiserver-complete-client-ca-bundle"));
    for host in hosts(&made) {
        let certificate = file(&host_identity::certificate(&host.name));
        let mut read = Command::new("openssl");
        read.args([
            "x509", "-noout", "-text", "-subject", "-nameopt", "RFC2253", "-dateopt", "iso_8601", "-dates",
            "-in",
        ]);
        let output = read.arg(&certificate).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        for line in [
            &format!("subject=CN=hardway:host:{}:1,O=hardway:hosts\n", host.name),
            "X509v3 Extended Key Usage: \n                TLS Web Client Authentication\n",
            "CA:FALSE",
            "NIST CURVE: P-256",
            "notBefore=2026-11-15 00:00:00Z\n",
            "notAfter=2026-11-16 00:00:00Z\n",
        ] {
            assert!(text.contains(line), "{line:?}: {text}");
        }
        assert!(!text.contains("Subject Alternative Name"), "{text}");
        let verify = |anchor: &std::path::Path, purpose: &str, second: &str| {
            let mut verify = Command::new("openssl");
            verify.args(["verify", "-x509_strict", "-purpose", purpose, "-attime", second, "-CAfile"]);
            verify.arg(anchor).arg(&certificate).output().unwrap().status.success()
        };
        let (begin, end) = (1_794_700_800, 1_794_787_200);
        for anchor in [&signer, &clients] {
            assert!(verify(anchor, "sslclient", &(begin + 60).to_string()), "{}", host.name);
        }
        assert!(!verify(&signer, "sslserver", &(begin + 60).to_string()), "{}", host.name);
        assert!(!verify(&signer, "sslclient", &(end + 1).to_string()), "{} outlives its day", host.name);
        assert!(!verify(&file("root-ca"), "sslclient", &(begin + 60).to_string()), "{}", host.name);
    }
}

/// The next generation of one host: another key, another name, and nobody else's files.
#[test]
fn a_generation_changes_the_files_of_its_host_only() {
    let before = made("ha");
    let (mut cluster, mut secrets) = (before.cluster.clone(), before.secrets.clone());
    let now = "2026-11-15T06:00:00Z".parse().unwrap();
    secrets.next_generation("worker-0", Comes::WithConfig, now).unwrap();
    cluster.identity = secrets.identity().unwrap();
    let graph = Graph::of(&cluster, &before.release, &before.tree, &before.plan.lock).unwrap();
    let inputs =
        Inputs { cluster: &cluster, release: &before.release, secrets: &secrets, tree: &before.tree };
    let world = World { inputs, lock: &before.plan.lock, generator: "test", expiring: &[], undone: &[] };
    let after = plan(&graph, &world, |_| true).unwrap();
    let mut written: Vec<&str> = after.writes.iter().map(|file| file.path.as_str()).collect();
    written.sort_unstable();
    assert_eq!(
        written,
        [
            "auth/known_hosts",
            "ignition/pointers/worker-0.ign",
            "ignition/worker-0.ign",
            "kubeconfigs/hosts/worker-0.kubeconfig",
            "pki/host-identity-worker-0.crt",
        ]
    );
    let certificate = after.writes.iter().find(|file| file.path == "pki/host-identity-worker-0.crt").unwrap();
    let facts = pki::inspect(std::str::from_utf8(&certificate.bytes).unwrap()).unwrap().remove(0);
    let old = pki::inspect(before.text("pki/host-identity-worker-0.crt")).unwrap().remove(0);
    assert_eq!(
        (facts.common_name.as_str(), old.common_name.as_str()),
        ("hardway:host:worker-0:2", "hardway:host:worker-0:1")
    );
    assert_ne!(facts.public_key_info, old.public_key_info);
    assert_eq!(facts.not_after, "2026-11-16T06:00:00Z".parse().unwrap());
}

#[test]
fn a_host_from_a_stock_pointer_has_neither_identity_nor_config_of_its_own() {
    let (config, inventory) = texts("ha");
    let stock = inventory.replace("{name: worker-1,", "{name: worker-1, stockPointer: true,");
    assert_ne!(stock, inventory);
    let made = make(&config, &stock, sample());
    let host = made.cluster.inventory.hosts.iter().find(|host| host.name == "worker-1").unwrap();
    assert!(!host.has_identity());
    assert_eq!(first_boot_config(&made.cluster, host), "worker.ign");
    let of_it: Vec<&str> =
        made.tree.iter().map(|(path, _)| path).filter(|path| path.contains("worker-1")).collect();
    assert_eq!(of_it, ["ignition/pointers/worker-1.ign"], "a pointer to worker.ign, and nothing else");
    assert!(!made.text(pki::KNOWN_HOSTS).contains("worker-1"), "nobody knows its ssh key");
    assert!(pki::catalogue::keys(&made.cluster).iter().all(|(name, _)| !name.contains("worker-1")));
}
