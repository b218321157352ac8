//! What every step of day two makes, judged by the release's CRDs.

use std::collections::{BTreeMap, BTreeSet};

use hardway_assets::day_two::{DayTwoInputs, DayTwoStep, objects};
use hardway_assets::{example, yaml};
use hardway_base::Secret;
use hardway_manifests::{Judgement, Kinds};
use hardway_testing::{real_data, self_signed};
use serde_json::json;

/// Kinds whose CRDs are not among those that lie beside the repository.
const UNCHECKED: [&str; 2] = ["Config", "IngressController"];

#[test]
fn objects_of_day_two_are_what_the_api_server_takes() {
    let Some(crds) = real_data("crds-4.18") else { return };
    let mut kinds = Kinds::of_kubernetes(31).with_ignition("3.4.0");
    for file in fs_err::read_dir(crds).unwrap() {
        let text = fs_err::read_to_string(file.unwrap().path()).unwrap();
        kinds.add(&yaml::read(&text).unwrap().to_json());
    }
    let mut cluster = example::cluster();
    cluster.inventory.day_two = serde_json::from_value(json!({
        "identity": {
            "admin": "alice",
            "htpasswd": {"users": [{"name": "alice", "passwordFile": "password"}]},
            "ldap": {"url": "ldaps://ldap.example.com/ou=people?uid", "bindDN": "cn=reader", "bindPasswordFile": "password", "caFile": "ca"},
            "openID": {"issuer": "https://sso.example.com", "clientID": "ocp", "clientSecretFile": "password", "caFile": "ca"},
        },
        "trust": {"bundleFile": "ca"},
        "proxy": {"httpProxy": "http://proxy.example.com:3128", "httpsProxy": "http://proxy.example.com:3128", "noProxy": ".example.com"},
        "time": {"servers": ["ntp1.example.com"]},
        "sshKeys": {"file": "keys"},
        "pullSecret": {"file": "pull"},
        "registry": {"sizeGiB": 100, "storageClass": "slow"},
        "monitoring": {"sizeGiB": 50, "userWorkloads": true},
    }))
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (ca, _) = self_signed(folder.path(), "ca", "DNS:ca");
    let ssh = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3Ck7pBvDl8mQyUYnpCTyTp0VYbq2nCTfEbTDh6Hn2d alice\n";
    let files: BTreeMap<String, Secret> = [
        ("ca", fs_err::read(ca).unwrap()),
        ("keys", ssh.into()),
        ("password", "correct horse battery staple".into()),
        ("pull", br#"{"auths": {"quay.io": {"auth": "dXNlcjpwYXNz"}}}"#.to_vec()),
    ]
    .into_iter()
    .map(|(name, bytes): (&str, Vec<u8>)| (name.to_owned(), Secret::new(bytes)))
    .collect();
    let now = jiff::Timestamp::now();
    let inputs = DayTwoInputs { cluster: &cluster, files: &files, salt_key: b"key", now };
    let mut unchecked = BTreeSet::new();
    let mut judged = 0;
    for step in DayTwoStep::ALL {
        for object in objects(step, &inputs).unwrap() {
            match kinds.judge(&object.value) {
                Judgement::Judged(verdict) => {
                    judged += 1;
                    assert!(verdict.mistakes.is_empty(), "{object:?}: {:?}", verdict.mistakes);
                }
                Judgement::Unchecked(_) => {
                    unchecked.insert(object.value["kind"].as_str().unwrap().to_owned());
                }
            }
        }
    }
    assert!(judged > 15, "{judged}");
    assert!(unchecked.iter().all(|kind| UNCHECKED.contains(&kind.as_str())), "{unchecked:?}");
}
