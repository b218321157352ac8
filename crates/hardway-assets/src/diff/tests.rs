//! Whole comparisons of small working directories made by hand.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_base::pem;
use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::{Difference, compare, report};
use crate::Tree;
use crate::inventory::KeyAlgorithm;
use crate::pki::{Subject, Template, Usage, issue};
use crate::secrets::{PrivateKey, Random};

/// `PLACE: OURS | THEIRS`, with `-` for nothing.
fn said(ours: &Tree, theirs: &Tree) -> Vec<String> {
    let line = |d: Difference| {
        let side = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        format!("{}: {} | {}", d.place, side(d.ours), side(d.theirs))
    };
    compare(ours, theirs).into_iter().map(line).collect()
}

fn tree(files: &[(&str, &str)]) -> Tree {
    let mut tree = Tree::default();
    for (path, text) in files {
        tree.insert(*path, text.as_bytes());
    }
    tree
}

fn data_url(text: &str) -> String {
    format!("data:text/plain;charset=utf-8;base64,{}", STANDARD.encode(text))
}

fn ignition(files: &[(&str, &str)]) -> String {
    let files: Vec<Json> = files
        .iter()
        .map(|(path, text)| json!({"path": path, "mode": 0o600, "contents": {"source": data_url(text)}}))
        .collect();
    json!({"ignition": {"version": "3.2.0"}, "storage": {"files": files}}).to_string()
}

/// A new key pair and a certificate that signs itself.
fn pair(name: &str, days: i64) -> (String, String) {
    let key = PrivateKey::generate(KeyAlgorithm::EcdsaP256, &Random::default()).unwrap();
    let start: Timestamp = "2026-11-15T00:00:00Z".parse().unwrap();
    let subject = Subject::signer(name, "openshift").to_der();
    let template = Template {
        subject: subject.clone(),
        issuer: subject,
        not_before: start,
        not_after: start + jiff::SignedDuration::from_hours(days * 24),
        usage: Usage::Signer,
        with_key_usage: true,
        sans: Vec::new(),
        authority_key_id: None,
    };
    let certificate = pem::encode("CERTIFICATE", &issue(&template, &key, &key).unwrap());
    (certificate, String::from_utf8(key.to_pem().expose().to_vec()).unwrap())
}

fn certificate(name: &str, days: i64) -> String {
    pair(name, days).0
}

#[test]
fn the_same_meaning_in_other_words_is_no_difference() {
    let ours = tree(&[
        (
            "manifests/a.yaml",
            "apiVersion: config.openshift.io/v1\nkind: DNS\nmetadata: {name: cluster, creationTimestamp: null}\nspec: {baseDomain: x}\nstatus: {}\n",
        ),
        (
            "manifests/b.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  install-config: |\n    publish: External\n    pullSecret: ''\n",
        ),
        ("metadata.json", r#"{"clusterName":"a","infraID":"a-12345","clusterID":"b6d2","featureSet":""}"#),
    ]);
    let theirs = tree(&[
        (
            "manifests/a.yaml",
            r#"{"kind":"DNS","apiVersion":"config.openshift.io/v1","metadata":{"name":"cluster"},"spec":{"baseDomain":"x"}}"#,
        ),
        (
            "manifests/b.yaml",
            "kind: ConfigMap\napiVersion: v1\nmetadata: {name: c}\ndata: {install-config: '{\"publish\":\"External\"}'}\n",
        ),
        ("metadata.json", "{\"infraID\":\"a-zzzzz\",\n\"clusterID\":\"cc44\",\"clusterName\":\"a\"}"),
    ]);
    assert_eq!(said(&ours, &theirs), [""; 0]);
}

#[test]
fn objects_are_found_by_name_and_shown_field_by_field() {
    let ours = tree(&[(
        "manifests/x.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cluster-config-v1, namespace: kube-system}\ndata:\n  install-config: |\n    publish: Internal\n---\napiVersion: operator.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\n",
    )]);
    let theirs = tree(&[
        (
            "manifests/y.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cluster-config-v1, namespace: kube-system}\ndata:\n  install-config: |\n    publish: External\n",
        ),
        (
            "openshift/z.yaml",
            "apiVersion: config.openshift.io/v1\nkind: Network\nmetadata: {name: cluster}\n",
        ),
    ]);
    assert_eq!(
        said(&ours, &theirs),
        [
            "openshift/: - | 1 file",
            "ConfigMap kube-system/cluster-config-v1: data.install-config: publish: Internal | External",
            "ConfigMap kube-system/cluster-config-v1: file: manifests/x.yaml | manifests/y.yaml",
            "Network cluster: - | present",
            "Network.operator.openshift.io cluster: present | -",
        ]
    );
}

#[test]
fn objects_eaten_by_the_installer_are_found_in_its_ignition() {
    let dns = |domain: &str| {
        format!(
            "apiVersion: config.openshift.io/v1\nkind: DNS\nmetadata: {{name: cluster}}\nspec: {{baseDomain: {domain}}}\n"
        )
    };
    let ours = tree(&[("manifests/a.yml", &dns("x"))]);
    let theirs = tree(&[("bootstrap.ign", &ignition(&[("/opt/openshift/manifests/a.yml", &dns("y"))]))]);
    let found = said(&ours, &theirs);
    assert!(found.contains(&"DNS cluster: spec.baseDomain: x | y".to_owned()), "{found:?}");
    assert!(found.contains(&"Ignition configs: - | present".to_owned()), "{found:?}");
}

#[test]
fn certificates_are_compared_by_what_they_say() {
    let config = |text: &str| ignition(&[("/opt/openshift/tls/root-ca.crt", text)]);
    let one = |text: &str| tree(&[("bootstrap.ign", &config(text))]);
    assert_eq!(said(&one(&certificate("a", 10)), &one(&certificate("a", 10))), [""; 0]);
    assert_eq!(
        said(&one(&certificate("a", 10)), &one(&certificate("b", 11))),
        [
            "certificate root-ca: subject: CN=a,OU=openshift | CN=b,OU=openshift",
            "certificate root-ca: issuer: CN=a,OU=openshift | CN=b,OU=openshift",
            "certificate root-ca: validity: 10 days | 11 days",
        ]
    );
}

#[test]
fn bundles_are_compared_member_by_member() {
    let one = |names: &[&str]| {
        let text: String = names.iter().map(|name| certificate(name, 10)).collect();
        tree(&[("bootstrap.ign", &ignition(&[("/opt/openshift/tls/x-ca-bundle.crt", &text)]))])
    };
    assert_eq!(said(&one(&["a", "b"]), &one(&["b", "a"])), [""; 0]);
    assert_eq!(
        said(&one(&["a", "b"]), &one(&["b", "c"])),
        ["bundle x-ca-bundle: CN=a,OU=openshift | -", "bundle x-ca-bundle: - | CN=c,OU=openshift"]
    );
}

#[test]
fn the_users_own_certificates_must_be_the_very_same() {
    let one = |text: &str| {
        let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "user-ca-bundle"}, "data": {"ca-bundle.crt": text}});
        tree(&[("manifests/a.yaml", &config.to_string())])
    };
    let (a, b) = (certificate("a", 10), certificate("a", 10));
    assert_eq!(said(&one(&a), &one(&a)), [""; 0]);
    assert_eq!(said(&one(&a), &one(&b)).len(), 1);
}

#[test]
fn kubeconfigs_are_compared_by_what_a_client_sees() {
    let kubeconfig = |server: &str, word: &str| {
        let (ca, key) = pair("signer", 10);
        let document = json!({
            "clusters": [{"name": "c", "cluster": {"server": server, "certificate-authority-data": STANDARD.encode(&ca)}}],
            "users": [{"name": "u", "user": {"client-certificate-data": STANDARD.encode(&ca), "client-key-data": STANDARD.encode(&key), "token": word}}],
            "contexts": [{"name": "u", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "u",
        });
        tree(&[("auth/kubeconfig", &document.to_string())])
    };
    assert_eq!(said(&kubeconfig("https://a", "w"), &kubeconfig("https://a", "w")), [""; 0]);
    assert_eq!(
        said(&kubeconfig("https://a", "v"), &kubeconfig("https://b", "w")),
        [
            "auth/kubeconfig: cluster: server: https://a | https://b",
            "auth/kubeconfig: user token: (hidden) | (hidden)"
        ]
    );
}

#[test]
fn ignition_is_compared_by_files_units_and_users() {
    let ours = json!({
        "ignition": {"version": "3.2.0", "config": {"merge": [{"source": "https://a"}]}},
        "storage": {"files": [{"path": "/usr/local/bin/x.sh", "mode": 0o555, "contents": {"source": data_url("a\nb\n")}}]},
        "systemd": {"units": [{"name": "u", "enabled": true, "contents": "[Unit]"}]},
        "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["ssh-ed25519 AAAA"]}]},
    });
    let theirs = json!({
        "ignition": {"version": "3.2.0", "config": {"merge": [{"source": "https://b"}]}},
        "storage": {"files": [{"path": "/usr/local/bin/x.sh", "mode": 0o755, "contents": {"source": data_url("a\nb\nc\n")}}]},
        "systemd": {"units": [{"name": "u", "contents": "[Service]", "dropins": [{"name": "d", "contents": "x"}]}]},
        "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["ssh-ed25519 BBBB"]}]},
    });
    assert_eq!(
        said(&tree(&[("master.ign", &ours.to_string())]), &tree(&[("master.ign", &theirs.to_string())])),
        [
            "master.ign /usr/local/bin/x.sh: text of 2 lines | text of 3 lines",
            "master.ign /usr/local/bin/x.sh: mode: 0555 | 0755",
            "master.ign merge: https://a | https://b",
            "master.ign unit u: drop-in d: - | present",
            "master.ign unit u: enabled: true | -",
        ]
    );
}

#[test]
fn a_lost_key_of_the_user_is_no_matter_of_chance() {
    let side = |keys: &[&str]| {
        let config = json!({"ignition": {"version": "3.2.0"}, "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": keys}]}});
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"install-config": "sshKey: ssh-rsa A me"}});
        tree(&[("bootstrap.ign", &config.to_string()), ("manifests/c.yaml", &object.to_string())])
    };
    assert_eq!(said(&side(&["ssh-rsa A me", "ssh-rsa B"]), &side(&["ssh-rsa A me\n", "ssh-rsa C"])), [""; 0]);
    assert_eq!(
        said(&side(&["ecdsa B"]), &side(&["ssh-rsa A me", "ssh-rsa C"])),
        [
            "bootstrap.ign user core: generated keys: ecdsa | ssh-rsa",
            "bootstrap.ign user core: key ssh-rsa A me: - | present"
        ]
    );
}

#[test]
fn user_data_inside_a_secret_is_read() {
    let secret = |address: &str| {
        let pointer = json!({"ignition": {"version": "3.2.0", "config": {"merge": [{"source": address}]}}});
        let object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"userData": STANDARD.encode(pointer.to_string())}});
        tree(&[("openshift/s.yaml", &object.to_string())])
    };
    assert_eq!(
        said(&secret("https://a"), &secret("https://b")),
        ["Secret s: data.userData: merge: https://a | https://b"]
    );
}

#[test]
fn no_secret_is_ever_shown() {
    let side = |word: &str| {
        let pull = format!(r#"{{"auths":{{"quay.io":{{"auth":"{word}","email":"{word}"}}}}}}"#);
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {
            "a": STANDARD.encode(word), ".dockerconfigjson": STANDARD.encode(&pull),
            "key": STANDARD.encode(pair(word, 1).1), "number": STANDARD.encode("{\"pin\": 1234}"),
        }});
        let list = json!({"apiVersion": "v1", "kind": "List", "metadata": {}, "items": [secret, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "t"}, "stringData": {"a": word}}]});
        let config = json!({"pullSecret": pull, "proxy": {"httpProxy": format!("http://me:{word}@proxy")}});
        let machine = ignition(&[
            ("/opt/openshift/operator-seeds/s.yaml", &secret.to_string()),
            ("/root/.docker/config.json", &pull),
            ("/etc/profile.d/proxy.sh", &format!("export HTTP_PROXY=http://me:{word}@proxy")),
        ]);
        tree(&[
            ("manifests/s.yaml", &secret.to_string()),
            ("manifests/l.yaml", &list.to_string()),
            ("install-config.yaml", &config.to_string()),
            ("bootstrap.ign", &machine),
            ("auth/kubeadmin-password", word),
        ])
    };
    let differences = compare(&side("hunter2"), &side("correcthorse"));
    assert!(differences.len() > 5, "{differences:?}");
    for shown in
        [report(&differences), serde_json::to_string(&differences).unwrap(), format!("{differences:?}")]
    {
        for word in ["hunter2", "correcthorse", "1234", "PRIVATE"] {
            assert!(!shown.contains(word), "{word} in {shown}");
        }
    }
}

#[test]
fn an_empty_directory_is_not_taken_for_an_early_one() {
    let full = tree(&[(
        "bootstrap.ign",
        &ignition(&[("/opt/openshift/manifests/a.yml", "kind: DNS\nmetadata: {name: a}\n")]),
    )]);
    let unexplained = |ours: &Tree, theirs: &Tree| -> Vec<String> {
        let found = compare(ours, theirs).into_iter();
        found.filter(|d| d.reason.is_none()).map(|d| d.place).collect()
    };
    assert_eq!(unexplained(&Tree::default(), &full), ["objects"]);
    assert_eq!(unexplained(&full, &Tree::default()), ["objects"]);
    assert_eq!(unexplained(&Tree::default(), &Tree::default()), [""; 0]);
}

#[test]
fn what_cannot_be_read_is_said() {
    let found = said(&tree(&[("manifests/a.yaml", "{")]), &tree(&[("master.ign", "no")]));
    assert!(found[0].starts_with("manifests/a.yaml: cannot be read: "), "{found:?}");
    assert!(
        found.contains(&"master.ign: - | cannot be read: not an Ignition config".to_owned()),
        "{found:?}"
    );
}

#[test]
fn quotes_around_values_of_the_proxy_mean_nothing() {
    let path = "bootstrap.ign";
    let with = |profile: &str, manager: &str, bundle: &str| {
        tree(&[(
            path,
            &ignition(&[
                ("/etc/profile.d/proxy.sh", profile),
                ("/etc/systemd/system.conf.d/10-default-env.conf", manager),
                ("/etc/pki/ca-trust/source/anchors/ca.crt", bundle),
            ]),
        )])
    };
    let ours = with("export A='b'\n", "[Manager]\nDefaultEnvironment=\"A=b\" \"C=d\"\n", "# mine\nx");
    let theirs = with(
        "export A=\"b\"\n",
        "[Manager]\nDefaultEnvironment=A=\"b\"\nDefaultEnvironment=C=\"d\"\n",
        "# mine\nx\n",
    );
    assert_eq!(said(&ours, &theirs), [""; 0]);
    let other = with("export A='c'\n", "[Manager]\nDefaultEnvironment=A=b C=e\n", "# mine\ny");
    assert_eq!(said(&ours, &other).len(), 3);
}
