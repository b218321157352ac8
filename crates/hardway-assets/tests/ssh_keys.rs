//! The ssh keys of the hosts, as OpenSSH itself reads them.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use hardway_assets::ignition::{data_of, first_boot_config};
use hardway_assets::pki::{KNOWN_HOSTS, expected_host_key};
use hardway_testing::succeed;
use serde_json::Value;

use crate::common::{Made, SCENARIOS, made};

const KEY: &str = "/etc/ssh/ssh_host_ecdsa_key";

/// Mode and text of a file that a config brings.
fn file(made: &Made, config: &str, path: &str) -> (u64, String) {
    let config: Value = serde_json::from_slice(made.tree.get(config).unwrap()).unwrap();
    let files = config["storage"]["files"].as_array().unwrap();
    let file =
        files.iter().find(|file| file["path"] == path).unwrap_or_else(|| panic!("{path} is not there"));
    let bytes = data_of(file["contents"]["source"].as_str().unwrap()).unwrap();
    (file["mode"].as_u64().unwrap(), String::from_utf8(bytes).unwrap())
}

fn keygen(words: &[&str], file: &Path) -> String {
    succeed(Command::new("ssh-keygen").args(words).arg("-f").arg(file))
}

#[test]
fn every_host_has_a_key_of_its_own_and_known_hosts_has_it_under_each_name() {
    let folder = tempfile::tempdir().unwrap();
    let (private, public, known) =
        (folder.path().join("key"), folder.path().join("key.pub"), folder.path().join("known_hosts"));
    for scenario in SCENARIOS {
        let made = made(scenario);
        std::fs::write(&known, made.text(KNOWN_HOSTS)).unwrap();
        let mut keys = BTreeSet::new();
        for host in made.cluster.inventory.hosts.iter().filter(|host| host.has_own_config()) {
            let config = first_boot_config(&made.cluster, host);
            let (mode, text) = file(&made, &config, KEY);
            assert_eq!(mode, 0o600);
            std::fs::write(&private, text).unwrap();
            std::fs::set_permissions(&private, std::fs::Permissions::from_mode(0o600)).unwrap();
            let (mode, text) = file(&made, &config, &format!("{KEY}.pub"));
            assert_eq!(mode, 0o644);
            std::fs::write(&public, &text).unwrap();

            // Kind and Base64; behind them is a comment.
            let key = text.split(' ').take(2).collect::<Vec<_>>().join(" ");
            assert_eq!(keygen(&["-y"], &private).trim(), key);
            let mut names = vec![made.cluster.node_name(host), host.name.clone()];
            names.extend(host.ip.iter().map(ToString::to_string));
            for name in names {
                let found = keygen(&["-F", &name], &known);
                assert!(found.lines().any(|line| line.ends_with(&key)), "{name}: {found}");
                let expected = expected_host_key(made.text(KNOWN_HOSTS), &name).unwrap();
                assert!(keygen(&["-l"], &public).contains(&expected), "{expected}");
            }
            assert!(keys.insert(key), "{} has the key of another host", host.name);
        }
        assert_eq!(made.text(KNOWN_HOSTS).lines().count(), keys.len() + 1, "and nobody else");
    }
}
