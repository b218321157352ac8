//! Objects of every step, and what is refused.

#![allow(clippy::disallowed_methods, reason = "OpenSSL makes the files, and certificates of today")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use hardway_base::Secret;
use hardway_testing::{NEW_KEY, self_signed, succeed};
use serde_json::{Value, json};

use super::{DayTwoInputs, DayTwoObject, DayTwoStep, files, objects};
use crate::Cluster;
use crate::example;

/// A cluster with every setting, and the files that they name.
struct Site {
    cluster: Cluster,
    files: BTreeMap<String, Secret>,
}

impl Site {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut cluster = example::cluster();
        cluster.inventory.day_two = serde_json::from_value(json!({
            "identity": {
                "admin": "alice",
                "htpasswd": {"users": [{"name": "alice", "passwordFile": "alice"}]},
                "ldap": {
                    "url": "ldaps://ldap.example.com/ou=people?mail", "bindDN": "cn=reader", "bindPasswordFile": "bind",
                    "caFile": "ca.crt",
                },
                "openID": {
                    "issuer": "https://sso.example.com", "clientID": "ocp", "clientSecretFile": "client", "caFile": "ca.crt",
                },
            },
            "certificates": {
                "api": {"certificateFile": "api.crt", "keyFile": "api.key"},
                "ingress": {"certificateFile": "apps.crt", "keyFile": "apps.key"},
            },
            "trust": {"bundleFile": "ca.crt"},
            "proxy": {"httpProxy": "http://proxy.example.com:3128", "noProxy": ".example.com"},
            "time": {"servers": ["ntp1.example.com", "10.0.0.1"]},
            "sshKeys": {"file": "keys"},
            "pullSecret": {"file": "pull"},
            "registry": {"sizeGiB": 100},
            "monitoring": {"sizeGiB": 50, "storageClass": "fast", "userWorkloads": true},
        }))
        .unwrap();
        let domain = cluster.domain();
        self_signed(folder.path(), "ca", "DNS:ca");
        leaf(folder.path(), "api", &format!("DNS:api.{domain}"));
        leaf(folder.path(), "apps", &format!("DNS:*.apps.{domain}"));
        let mut files: BTreeMap<String, Secret> = ["ca.crt", "api.crt", "api.key", "apps.crt", "apps.key"]
            .iter()
            .map(|name| ((*name).to_owned(), Secret::new(std::fs::read(folder.path().join(name)).unwrap())))
            .collect();
        let ssh = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3Ck7pBvDl8mQyUYnpCTyTp0VYbq2nCTfEbTDh6Hn2d alice\n";
        let pull = r#"{"auths": {"quay.io": {"auth": "dXNlcjpwYXNz"}}}"#;
        for (name, text) in [
            ("alice", "correct horse battery\n"),
            ("bind", "b"),
            ("client", "c"),
            ("keys", ssh),
            ("pull", pull),
        ] {
            files.insert(name.to_owned(), Secret::new(text));
        }
        Self { cluster, files }
    }

    fn put(mut self, name: &str, text: &str) -> Self {
        self.files.insert(name.to_owned(), Secret::new(text));
        self
    }

    fn made(&self, step: DayTwoStep) -> Result<Vec<DayTwoObject>, Vec<String>> {
        self.made_at(step, jiff::Timestamp::now())
    }

    fn made_at(&self, step: DayTwoStep, now: jiff::Timestamp) -> Result<Vec<DayTwoObject>, Vec<String>> {
        let inputs = DayTwoInputs { cluster: &self.cluster, files: &self.files, salt_key: b"key", now };
        objects(step, &inputs).map_err(|wrong| wrong.iter().map(ToString::to_string).collect())
    }
}

/// Signed by the folder's CA, which stands behind it in the file.
fn leaf(folder: &Path, name: &str, names: &str) {
    let mut openssl = Command::new("openssl");
    openssl
        .current_dir(folder)
        .args(["req", "-x509", "-days", "2", "-CA", "ca.crt", "-CAkey", "ca.key"])
        .args(NEW_KEY);
    openssl.args(["-subj", &format!("/CN={name}"), "-addext", &format!("subjectAltName={names}")]);
    openssl.args(["-addext", "basicConstraints=critical,CA:FALSE"]);
    let (certificate, key) = (format!("{name}.crt"), format!("{name}.key"));
    succeed(openssl.args(["-keyout", &key, "-out", &certificate]));
    let chain = ["ca.crt", &certificate].map(|file| std::fs::read_to_string(folder.join(file)).unwrap());
    std::fs::write(folder.join(certificate), format!("{}{}", chain[1], chain[0])).unwrap();
}

#[test]
fn every_step_makes_the_same_objects_twice_and_keeps_secrets_apart() {
    let site = Site::new();
    for step in DayTwoStep::ALL {
        let made = site.made(step).unwrap();
        assert_eq!(made, site.made(step).unwrap(), "{}", step.name());
        assert_eq!(made.is_empty(), step == DayTwoStep::KubeadminGone, "{}", step.name());
        for file in files(step, &made) {
            assert_eq!(file.mode == 0o600, file.path.contains("/secret/"), "{}", file.path);
            let text = String::from_utf8(file.bytes).unwrap();
            assert!(!text.contains("kind: Secret") || file.path.contains("/secret/"), "{}", file.path);
            assert!(!text.contains("correct horse"), "{}", file.path);
        }
        assert!(!format!("{made:?}").contains("data"), "{made:?}");
    }
}

#[test]
fn a_password_is_hashed_as_htpasswd_does_it() {
    let made = Site::new().made(DayTwoStep::Identity).unwrap();
    let text = |object: &DayTwoObject, key: &str| {
        use base64::Engine as _;
        let data = object.value["data"][key].as_str().unwrap().to_owned();
        String::from_utf8(base64::engine::general_purpose::STANDARD.decode(data).unwrap()).unwrap()
    };
    let named = |name: &str| made.iter().find(|object| object.name().ends_with(name)).unwrap();
    let line = text(named("day2-htpasswd"), "htpasswd");
    let hash = line.trim().strip_prefix("alice:").unwrap();
    assert!(hash.starts_with("$2y$10$") && bcrypt::verify("correct horse battery", hash).unwrap(), "{hash}");
    let providers: Vec<&Value> =
        named("OAuth cluster").value["spec"]["identityProviders"].as_array().unwrap().iter().collect();
    assert_eq!(
        providers.iter().map(|one| one["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["htpasswd", "ldap", "openid"]
    );
    assert_eq!(providers[1]["ldap"]["attributes"]["preferredUsername"], json!(["mail"]));
    assert_eq!(named("day2-cluster-admin").value["subjects"][0]["name"], "alice");
}

#[test]
fn a_certificate_is_refused_by_the_name_of_what_is_wrong() {
    let site = Site::new();
    let refused = |site: &Site| site.made(DayTwoStep::Certificates).unwrap_err().join("\n");
    let text = |site: &Site, name: &str| site.files[name].expose_text().to_owned();
    let (api, ca, other) = (text(&site, "api.crt"), text(&site, "ca.crt"), text(&site, "apps.crt"));
    let alone = api.split_inclusive("-----END CERTIFICATE-----\n").next().unwrap().to_owned();
    for (name, content, said) in [
        (
            "api.crt",
            other.as_str(),
            "day2.certificates.api.certificateFile: Invalid value: it is not for api.",
        ),
        ("api.crt", &ca, "is a CA's: the server's own comes first"),
        ("api.crt", "nothing", "api.crt holds no certificate in PEM"),
        ("api.crt", &format!("{alone}{alone}"), "the chain is broken"),
        ("api.key", &text(&site, "apps.key"), "api.key is not the key of the certificate in api.crt"),
        ("api.key", "nothing", "api.key holds no RSA or P-256 key"),
    ] {
        let found = refused(
            &Site::new().put("api.crt", &api).put("api.key", &text(&site, "api.key")).put(name, content),
        );
        assert!(found.contains(said), "{said}: {found}");
    }
    let late = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24 * 30);
    let found = site.made_at(DayTwoStep::Certificates, late).unwrap_err().join("\n");
    assert!(found.contains("has expired: its last second was"), "{found}");
}

#[test]
fn files_that_are_something_else_are_refused_without_being_shown() {
    for (step, name, content, said) in [
        (DayTwoStep::Identity, "alice", "short", "a password must have 12 to 72 bytes"),
        (
            DayTwoStep::Identity,
            "alice",
            "two lines\nof secrets",
            "alice must hold one line, and nothing else",
        ),
        (DayTwoStep::Trust, "ca.crt", "nothing", "ca.crt holds no certificate in PEM"),
        (DayTwoStep::Trust, "ca.crt", "-----BEGIN PRIVATE KEY-----", "ca.crt holds a private key"),
        (DayTwoStep::SshKeys, "keys", "ssh-ed25519 bm9uZQ==", "key 1 of keys is no public ssh key"),
        (DayTwoStep::SshKeys, "keys", "# none\n", "keys holds no key"),
        (DayTwoStep::PullSecret, "pull", "{}", "pull has no auths"),
        (DayTwoStep::PullSecret, "pull", r#"{"auths": {"q": {"auth": "x"}}}"#, "in base64 for q"),
    ] {
        let found = Site::new().put(name, content).made(step).unwrap_err().join("\n");
        assert!(found.contains(said), "{said}: {found}");
        assert!(!found.contains("secrets"), "{found}");
    }
}
