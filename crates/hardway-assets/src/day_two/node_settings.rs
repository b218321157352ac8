//! What nodes are told by MachineConfigs: time servers and ssh keys.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::objects::{Made, Settings};
use crate::ignition_spec::{VERSION, data_url};

const ROLES: [&str; 2] = ["master", "worker"];
/// What `sshd` of RHEL 9 takes.
const KEY_TYPES: [&str; 7] = [
    "ssh-ed25519",
    "ssh-rsa",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
];

pub(super) fn time(made: &mut Made<'_, '_>, settings: &Settings) {
    let Some(time) = &settings.time else { return };
    let mut text = String::new();
    time.servers.iter().for_each(|server| _ = writeln!(text, "server {server} iburst"));
    // As the file that RHEL CoreOS comes with says, but for its servers.
    text += "driftfile /var/lib/chrony/drift\nmakestep 1.0 3\nrtcsync\nlogdir /var/log/chrony\n";
    let file = json!({
        "path": "/etc/chrony.conf", "mode": 0o644, "overwrite": true,
        "contents": {"source": data_url(text.as_bytes())},
    });
    for role in ROLES {
        made.object(machine_config(role, "chrony", &json!({"storage": {"files": [file]}})));
    }
}

/// Beside those of the install: the machine-config-operator puts the lists together.
pub(super) fn ssh_keys(made: &mut Made<'_, '_>, settings: &Settings) {
    let Some(keys) = &settings.ssh_keys else { return };
    let Some(text) = made.text("day2.sshKeys.file", &keys.file) else { return };
    let lines: Vec<&str> = text
        .expose_text()
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    if lines.is_empty() {
        made.wrong("day2.sshKeys.file", format!("{} holds no key", keys.file));
    }
    for (i, line) in lines.iter().enumerate() {
        if !is_public_key(line) {
            let detail =
                format!("key {} of {} is no public ssh key, such as ssh-ed25519 AAAA…", i + 1, keys.file);
            made.wrong("day2.sshKeys.file", detail);
        }
    }
    let users = json!({"passwd": {"users": [{"name": "core", "sshAuthorizedKeys": lines}]}});
    for role in ROLES {
        made.object(machine_config(role, "ssh", &users));
    }
}

fn is_public_key(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let (kind, key) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let Ok(bytes) = STANDARD.decode(key) else { return false };
    // The type stands in the key once more, behind its length.
    let named = bytes.get(4..4 + kind.len());
    KEY_TYPES.contains(&kind) && named == Some(kind.as_bytes())
}

fn machine_config(role: &str, what: &str, config: &Value) -> Value {
    let mut config = config.clone();
    config["ignition"] = json!({"version": VERSION});
    json!({
        "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
        "metadata": {
            "name": format!("99-{role}-day2-{what}"),
            "labels": {"machineconfiguration.openshift.io/role": role},
        },
        "spec": {"config": config},
    })
}
