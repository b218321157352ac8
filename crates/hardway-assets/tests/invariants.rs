//! What must hold in every set of assets, whatever the config: the checks that need no cluster.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_assets::inventory::KeyAlgorithm;
use hardway_assets::kubeconfigs::KUBECONFIGS;
use hardway_assets::pki::{self, CertificateFacts, catalogue, inspect};
use hardway_assets::secrets::PrivateKey;
use hardway_assets::{ignition, yaml};
use serde_json::Value;

use crate::common::{self, Made, SCENARIOS, made};

fn in_every_scenario(check: impl Fn(&Made)) {
    SCENARIOS.iter().for_each(|scenario| check(&made(scenario)));
}

fn certificate(made: &Made, name: &str) -> CertificateFacts {
    inspect(made.text(&pki::path(name))).unwrap().remove(0)
}

fn seeds(made: &Made) -> BTreeMap<(String, String, String), Value> {
    let mut objects = BTreeMap::new();
    for folder in ["manifests", "openshift", "operator-seeds"] {
        for (path, bytes) in made.tree.folder(folder) {
            for node in yaml::read_all(std::str::from_utf8(bytes).unwrap()).unwrap() {
                let object = node.to_json();
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let key = (
                    text(&object["kind"]),
                    text(&object["metadata"]["namespace"]),
                    text(&object["metadata"]["name"]),
                );
                assert!(
                    objects.insert(key, object).is_none(),
                    "{path} holds an object that stands elsewhere too"
                );
            }
        }
    }
    objects
}

fn object<'o>(
    objects: &'o BTreeMap<(String, String, String), Value>,
    kind: &str,
    namespace: &str,
    name: &str,
) -> &'o Value {
    objects
        .get(&(kind.to_owned(), namespace.to_owned(), name.to_owned()))
        .unwrap_or_else(|| panic!("no {kind} {namespace}/{name}"))
}

fn data(object: &Value, key: &str) -> String {
    let text =
        object["data"][key].as_str().unwrap_or_else(|| panic!("no {key} in {}", object["metadata"]["name"]));
    match object["kind"].as_str() {
        Some("Secret") => String::from_utf8(STANDARD.decode(text).unwrap()).unwrap(),
        _ => text.to_owned(),
    }
}

/// Certificates of kubelets are approved by the policy. The controller manager would approve by itself for whoever is bound to the
/// roles it has for that, or may create such requests by another role (kubernetes `pkg/controller/certificates/approver`).
#[test]
fn nobody_is_let_in_past_the_policy() {
    in_every_scenario(|made| {
        for ((kind, _, name), object) in seeds(made) {
            let role = object["roleRef"]["name"].as_str().unwrap_or_default();
            assert!(!role.contains("certificatesigningrequests:"), "{kind} {name} binds {role}");
            for rule in object["rules"].as_array().into_iter().flatten() {
                let resources = rule["resources"].as_array().into_iter().flatten().filter_map(Value::as_str);
                let kinds = ["/approval", "/nodeclient", "/selfnodeclient"];
                let lets_in = |resource: &str| kinds.iter().any(|kind| resource.ends_with(kind));
                assert!(!resources.into_iter().any(lets_in), "{kind} {name} allows {rule}");
            }
        }
    });
}

#[test]
fn leaves_name_their_signers_key() {
    in_every_scenario(|made| {
        for row in catalogue::certificates(&made.cluster) {
            let facts = certificate(made, &row.name);
            if let Some(signer) = row.signer {
                let signer = certificate(made, signer);
                assert_eq!(facts.authority_key_id, signer.subject_key_id, "{}", row.name);
                assert_eq!(facts.issuer, signer.subject, "{}", row.name);
                assert_eq!(facts.not_before, signer.not_before, "{} begins with its signer", row.name);
                assert!(signer.is_ca && !facts.is_ca);
            } else {
                assert!(facts.is_ca, "{}", row.name);
                assert_eq!(facts.issuer, facts.subject);
            }
        }
    });
}

/// The operators re-mint any secret whose annotations do not say what its certificate says.
#[test]
fn rotation_annotations_equal_the_certificates() {
    in_every_scenario(|made| {
        let mut seen = 0;
        for ((kind, _, name), object) in seeds(made) {
            let annotations = &object["metadata"]["annotations"];
            if kind != "Secret" || annotations["auth.openshift.io/certificate-not-after"].is_null() {
                continue;
            }
            seen += 1;
            let facts = inspect(&data(&object, "tls.crt")).unwrap().remove(0);
            let says =
                |key: &str| annotations[format!("auth.openshift.io/certificate-{key}")].as_str().unwrap();
            assert_eq!(says("not-before"), facts.not_before.to_string(), "{name}");
            assert_eq!(says("not-after"), facts.not_after.to_string(), "{name}");
            assert_eq!(says("issuer"), facts.issuer_common_name, "{name}");
            if !facts.sans.is_empty() {
                assert_eq!(says("hostnames"), facts.sans.join(","), "{name}");
            }
        }
        // Two etcd signers, two etcd clients, three etcd certificates of the host, six API server signers, one CSR signer.
        assert_eq!(seen, 14);
    });
}

/// library-go signs with `SHA256WithRSA`, which Go refuses of any key but RSA. What an operator is given to sign with is
/// told by the objects, not by our table.
#[test]
fn operators_can_sign_with_every_key_they_are_given() {
    let algorithm = |made: &Made, name: &str| made.secrets.key(name).unwrap().algorithm();
    for made in [made("ha"), common::made_with_ecdsa("ha")] {
        let mut seen = BTreeSet::new();
        for ((_, _, name), object) in seeds(&made).into_iter().filter(|((kind, ..), _)| kind == "Secret") {
            if object["data"]["tls.key"].is_null() || !inspect(&data(&object, "tls.crt")).unwrap()[0].is_ca {
                continue;
            }
            let key = PrivateKey::from_pem(&data(&object, "tls.key")).unwrap();
            assert_eq!(key.algorithm(), KeyAlgorithm::Rsa2048, "{name}");
            seen.insert(name);
        }
        assert_eq!(seen.len(), 9, "{seen:?}");
        // Given to the machine-config-operator by newer releases.
        assert_eq!(algorithm(&made, "root-ca"), KeyAlgorithm::Rsa2048);
    }
    // The rest is as it was asked for.
    let (default, ecdsa) = (made("ha"), common::made_with_ecdsa("ha"));
    for name in ["admin-kubeconfig-signer", "kubelet-bootstrap-kubeconfig-signer", "etcd-client"] {
        assert_eq!(algorithm(&default, name), KeyAlgorithm::Rsa2048, "{name}");
        assert_eq!(algorithm(&ecdsa, name), KeyAlgorithm::EcdsaP256, "{name}");
    }
}

#[test]
fn what_must_be_the_same_is_the_same() {
    in_every_scenario(|made| {
        let objects = seeds(made);
        let public = |text: &str| inspect(text).unwrap().remove(0).public_key_info;
        let etcd = public(made.text("pki/etcd-signer.crt"));
        for (kind, name, key) in
            [("Secret", "etcd-signer", "tls.crt"), ("ConfigMap", "etcd-ca-bundle", "ca-bundle.crt")]
        {
            assert_eq!(public(&data(object(&objects, kind, "openshift-etcd", name), key)), etcd, "{name}");
        }
        assert_eq!(
            public(&data(
                object(&objects, "ConfigMap", "openshift-etcd", "etcd-all-bundles"),
                "server-ca-bundle.crt"
            )),
            etcd
        );
        let kubelet = public(made.text("pki/kubelet-signer.crt"));
        let csr_signer =
            object(&objects, "Secret", "openshift-kube-controller-manager-operator", "csr-signer-signer");
        assert_eq!(public(&data(csr_signer, "tls.crt")), kubelet);
        let csr_ca = object(&objects, "ConfigMap", "openshift-config-managed", "csr-controller-ca");
        assert_eq!(public(&data(csr_ca, "ca-bundle.crt")), kubelet);
        let kcm = made.text("static-pods/kube-controller-manager-config.yaml");
        assert!(
            kcm.contains("/etc/kubernetes/secrets/kubelet-signer.crt")
                && kcm.contains("/etc/kubernetes/secrets/kubelet-signer.key")
        );
        // Service-account keys: the public half seeded, the private half seeded, and the file the API server verifies by.
        let tokens = object(&objects, "ConfigMap", "openshift-config-managed", "sa-token-signing-certs");
        assert_eq!(data(tokens, "service-account-001.pub"), made.text("pki/service-account.pub"));
        let private = object(&objects, "Secret", "openshift-config", "initial-service-account-private-key");
        assert_eq!(
            data(private, "service-account.key"),
            made.secrets.get("service-account.key").unwrap().expose_text()
        );
        let bound = object(
            &objects,
            "Secret",
            "openshift-kube-apiserver-operator",
            "next-bound-service-account-signing-key",
        );
        assert_eq!(
            data(bound, "service-account.pub"),
            made.text("pki/bound-service-account-signing-key.pub")
        );
        assert_eq!(
            data(bound, "service-account.key"),
            made.secrets.get("bound-service-account-signing-key.key").unwrap().expose_text()
        );
    });
}

#[test]
fn bundles_hold_the_issuers_of_what_they_are_to_check() {
    in_every_scenario(|made| {
        let subjects = |bundle: &str| -> BTreeSet<Vec<u8>> {
            inspect(made.text(&pki::path(bundle)))
                .unwrap()
                .into_iter()
                .map(|facts| facts.subject_key_id.unwrap())
                .collect()
        };
        let clients = subjects("kube-apiserver-complete-client-ca-bundle");
        let servers = subjects("kube-apiserver-complete-server-ca-bundle");
        assert_eq!((clients.len(), servers.len()), (5, 3), "one certificate of each signer");
        for row in KUBECONFIGS {
            let config = yaml::read(made.text(row.path)).unwrap().to_json();
            let pem =
                |value: &Value| String::from_utf8(STANDARD.decode(value.as_str().unwrap()).unwrap()).unwrap();
            let client =
                inspect(&pem(&config["users"][0]["user"]["client-certificate-data"])).unwrap().remove(0);
            assert!(clients.contains(client.authority_key_id.as_ref().unwrap()), "{}", row.path);
            let trusted =
                inspect(&pem(&config["clusters"][0]["cluster"]["certificate-authority-data"])).unwrap();
            assert!(
                trusted.iter().all(|facts| servers.contains(facts.subject_key_id.as_ref().unwrap())),
                "{}",
                row.path
            );
        }
        for name in ["localhost", "service-network", "lb", "internal-lb"] {
            let facts = certificate(made, &format!("kube-apiserver-{name}-server"));
            assert!(servers.contains(facts.authority_key_id.as_ref().unwrap()), "{name}");
        }
    });
}

#[test]
fn server_names_are_exactly_the_expected() {
    let made = made("ha");
    let sans = |name: &str| certificate(&made, name).sans;
    assert_eq!(sans("kube-apiserver-localhost-server"), ["127.0.0.1", "::1", "localhost"]);
    assert_eq!(sans("kube-apiserver-lb-server"), ["api.ocp4.example.com"]);
    assert_eq!(sans("kube-apiserver-internal-lb-server"), ["api-int.ocp4.example.com"]);
    assert_eq!(sans("machine-config-server"), ["api-int.ocp4.example.com"]);
    assert_eq!(
        sans("kube-apiserver-service-network-server"),
        [
            "172.30.0.1",
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
            "kubernetes.default.svc.cluster.local",
            "openshift",
            "openshift.default",
            "openshift.default.svc",
            "openshift.default.svc.cluster.local"
        ]
    );
    for kind in ["peer", "serving", "serving-metrics"] {
        assert_eq!(
            sans(&format!("etcd-{kind}-bootstrap.ocp4.example.com")),
            [
                "127.0.0.1",
                "192.168.126.100",
                "::1",
                "etcd.kube-system.svc",
                "etcd.kube-system.svc.cluster.local",
                "etcd.openshift-etcd.svc",
                "etcd.openshift-etcd.svc.cluster.local",
                "localhost"
            ]
        );
    }
    assert_eq!(
        certificate(&common::made("ipv6"), "kube-apiserver-service-network-server").sans[0],
        "fd02::1"
    );
}

#[test]
fn ignition_configs_have_no_path_twice_and_all_their_data_decodes() {
    in_every_scenario(|made| {
        for (path, bytes) in made.tree.iter().filter(|(path, _)| path.ends_with(".ign")) {
            let config: Value = serde_json::from_slice(bytes).unwrap();
            assert_eq!(config["ignition"]["version"], ignition::VERSION, "{path}");
            let mut paths = BTreeSet::new();
            for file in config["storage"]["files"].as_array().into_iter().flatten() {
                assert!(
                    paths.insert(file["path"].as_str().unwrap().to_owned()),
                    "{path}: {} twice",
                    file["path"]
                );
                let contents = if file["append"].is_array() { &file["append"][0] } else { &file["contents"] };
                let source = contents["source"].as_str().unwrap();
                let (head, body) = source.strip_prefix("data:").unwrap().split_once(',').unwrap();
                assert!(
                    !head.ends_with("base64") || STANDARD.decode(body).is_ok(),
                    "{path}: {}",
                    file["path"]
                );
            }
        }
    });
}

#[test]
fn cluster_objects_agree_with_the_cluster() {
    in_every_scenario(|made| {
        let objects = seeds(made);
        let cluster = &made.cluster;
        let infrastructure = object(&objects, "Infrastructure", "", "cluster");
        assert_eq!(infrastructure["status"]["apiServerInternalURI"], cluster.api_int_url());
        assert_eq!(object(&objects, "DNS", "", "cluster")["spec"]["baseDomain"], cluster.domain());
        let gates = &object(&objects, "FeatureGate", "", "cluster")["status"]["featureGates"];
        assert_eq!(gates[0]["version"], made.release.version);
        let endpoints = object(&objects, "ConfigMap", "openshift-etcd", "etcd-endpoints");
        let bootstrap = &endpoints["metadata"]["annotations"]["alpha.installer.openshift.io/etcd-bootstrap"];
        if cluster.is_bootstrap_in_place() {
            assert!(bootstrap.is_null() && endpoints["data"].is_object());
        } else {
            assert_eq!(*bootstrap, cluster.bootstrap_ip().to_string());
            assert!(endpoints["data"].is_null());
        }
    });
}

/// Every object of manifests/ and openshift/ is unmanaged until the overrides are restored.
#[test]
fn overrides_cover_every_manifest() {
    in_every_scenario(|made| {
        let name = if made.cluster.is_bootstrap_in_place() {
            "bootstrap-in-place-for-live-iso.ign"
        } else {
            "bootstrap.ign"
        };
        let config: Value = serde_json::from_slice(made.tree.get(name).unwrap()).unwrap();
        let file = |path: &str| {
            let files = config["storage"]["files"].as_array().unwrap();
            let source = files.iter().find(|file| file["path"] == path).unwrap()["contents"]["source"]
                .as_str()
                .unwrap();
            String::from_utf8(STANDARD.decode(source.split_once(',').unwrap().1).unwrap()).unwrap()
        };
        let version = yaml::read(&file("/opt/openshift/manifests/cvo-overrides.yaml")).unwrap().to_json();
        let listed: BTreeSet<(String, String, String)> = version["spec"]["overrides"]
            .as_array()
            .unwrap()
            .iter()
            .map(|o| {
                assert_eq!(o["unmanaged"], true);
                let text = |key: &str| o[key].as_str().unwrap_or_default().to_owned();
                (text("kind"), text("namespace"), text("name"))
            })
            .collect();
        for folder in ["manifests", "openshift"] {
            for (path, bytes) in
                made.tree.folder(folder).filter(|(path, _)| !path.ends_with("cvo-overrides.yaml"))
            {
                for node in yaml::read_all(std::str::from_utf8(bytes).unwrap()).unwrap() {
                    let object = node.to_json();
                    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                    let key = (
                        text(&object["kind"]),
                        text(&object["metadata"]["namespace"]),
                        text(&object["metadata"]["name"]),
                    );
                    assert!(listed.contains(&key), "{path} is not overridden");
                }
            }
        }
        assert_eq!(
            file("/opt/openshift/original_cvo_overrides.patch").trim(),
            r#"{"spec":{"overrides":null}}"#
        );
    });
}
