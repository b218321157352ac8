//! Every generated file against `scenarios/<name>/expected/`.
//!
//! `ha/expected` holds the whole tree; the other scenarios hold what differs from it, and `ABSENT` lists what they lack.
//! Private keys are masked. Ignition configs are shown as a list of their files and units. To take new goldens:
//! `HARDWAY_GOLDEN=write cargo test -p hardway-assets --test it golden::`, then read the diff and say why in the commit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_assets::ignition::host_keyfile;
use hardway_assets::install_media::{BootFiles, boot_index, boot_script};
use hardway_assets::inventory::Role;
use hardway_base::hex;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::common::{self, Made, SCENARIOS, made};

#[test]
fn trees_are_as_expected() {
    let whole = readable(&made("ha"));
    let mut wrong = Vec::new();
    for scenario in SCENARIOS {
        let now =
            if scenario == "ha" { whole.clone() } else { difference(&readable(&made(scenario)), &whole) };
        let dir =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios").join(scenario).join("expected");
        if std::env::var("HARDWAY_GOLDEN").is_ok_and(|v| v == "write") {
            write(&dir, &now);
        }
        let expected = read(&dir);
        let paths: std::collections::BTreeSet<&String> = now.keys().chain(expected.keys()).collect();
        for path in paths {
            if now.get(path) != expected.get(path) {
                wrong.push(format!("{scenario}/expected/{path}"));
            }
        }
    }
    assert!(wrong.is_empty(), "these files are not as expected:\n{}", wrong.join("\n"));
}

#[test]
fn two_runs_give_the_same_bytes() {
    for scenario in SCENARIOS {
        assert_eq!(made(scenario).tree, made(scenario).tree, "{scenario}");
    }
}

/// What a person can review: text as it is, ignition configs as lists, private keys masked.
fn readable(made: &Made) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for (path, bytes) in made.tree.iter() {
        let text = if path.ends_with(".ign") {
            listing(&serde_json::from_slice(bytes).unwrap())
        } else {
            masked(made, std::str::from_utf8(bytes).unwrap())
        };
        files.insert(path.to_owned(), text);
    }
    files.extend(media(made));
    files
}

/// What the install media of a master carry.
fn media(made: &Made) -> Vec<(String, String)> {
    let host = made.cluster.inventory.with_role(Role::Master).next().unwrap();
    let at = |name: &str| format!("http://boot.example.com/{name}");
    let files = BootFiles { kernel: at("vmlinuz"), initramfs: at("initrd.img"), rootfs: at("rootfs.img") };
    let script = boot_script(&made.cluster, host, &files, &at("ignition/host.ign"));
    let (name, keyfile) = host_keyfile(&made.cluster, host);
    vec![
        ("media/live-config.ign".to_owned(), listing(&common::live_config(b"{}"))),
        (format!("media/{name}"), keyfile),
        ("pxe/boot.ipxe".to_owned(), boot_index("http://boot.example.com")),
        ("pxe/host.ipxe".to_owned(), script),
    ]
}

fn masked(made: &Made, text: &str) -> String {
    let mut text = text.to_owned();
    for (name, secret) in made.secrets.files().filter(|(name, _)| name.ends_with(".key")) {
        let pem = secret.expose_text();
        text = text.replace(&STANDARD.encode(pem), &format!("<secrets/{name}>"));
        let indented = pem.trim_end().replace('\n', "\n    ");
        text = text
            .replace(&indented, &format!("<secrets/{name}>"))
            .replace(pem.trim_end(), &format!("<secrets/{name}>"));
    }
    text
}

fn listing(config: &Value) -> String {
    let mut text = format!("version {}\n", config["ignition"]["version"].as_str().unwrap());
    for merge in config["ignition"]["config"]["merge"].as_array().into_iter().flatten() {
        text += &format!("merge {}\n", merge["source"].as_str().unwrap());
    }
    for user in config["passwd"]["users"].as_array().into_iter().flatten() {
        text += &format!(
            "user {} {} keys\n",
            user["name"].as_str().unwrap(),
            user["sshAuthorizedKeys"].as_array().unwrap().len()
        );
    }
    for file in config["storage"]["files"].as_array().into_iter().flatten() {
        let contents = if file["append"].is_array() { &file["append"][0] } else { &file["contents"] };
        let source = contents["source"].as_str().unwrap();
        let sum: String = hex::encode(&Sha256::digest(source)[..6]);
        let how = if file["append"].is_array() { " append" } else { "" };
        let packed = contents["compression"].as_str().map(|c| format!(" {c}")).unwrap_or_default();
        text += &format!(
            "file {} {:04o} {sum}{how}{packed}\n",
            file["path"].as_str().unwrap(),
            file["mode"].as_u64().unwrap()
        );
    }
    for unit in config["systemd"]["units"].as_array().into_iter().flatten() {
        let dropins: Vec<&str> =
            unit["dropins"].as_array().into_iter().flatten().map(|d| d["name"].as_str().unwrap()).collect();
        text += &format!(
            "unit {} enabled={} {}{}\n",
            unit["name"].as_str().unwrap(),
            unit["enabled"],
            if unit["contents"].is_string() { "contents" } else { "no contents" },
            if dropins.is_empty() { String::new() } else { format!(" dropins {}", dropins.join(",")) }
        );
    }
    text
}

fn difference(this: &BTreeMap<String, String>, whole: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, String> = this
        .iter()
        .filter(|(path, text)| whole.get(*path) != Some(text))
        .map(|(p, t)| (p.clone(), t.clone()))
        .collect();
    let absent: String =
        whole.keys().filter(|path| !this.contains_key(*path)).map(|path| format!("{path}\n")).collect();
    files.insert("ABSENT".to_owned(), absent);
    files
}

fn write(dir: &Path, files: &BTreeMap<String, String>) {
    let _ = std::fs::remove_dir_all(dir);
    for (path, text) in files {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn read(dir: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut folders: Vec<PathBuf> = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
                files.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    files
}
