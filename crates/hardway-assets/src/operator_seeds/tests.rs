//! What the operators would check, checked here.

use std::collections::{BTreeMap, BTreeSet};

use ::base64::Engine as _;
use ::base64::engine::general_purpose::STANDARD;
use hardway_base::pem;
use serde_json::{Value, json};

use super::*;
use crate::explain::{Catalogue, Explanation, Kind};
use crate::graph::{Inputs, MakeError, Source};
use crate::inventory::KeyAlgorithm;
use crate::pki::der;
use crate::release_payload::ReleasePayload;
use crate::secrets::SecretBundle;
use crate::{Tree, example, yaml};

const BUNDLES: [&str; 6] = [
    "admin-kubeconfig-ca-bundle",
    "etcd-ca-bundle",
    "etcd-metrics-ca-bundle",
    "kube-apiserver-complete-client-ca-bundle",
    "kubelet-bootstrap-kubeconfig-ca-bundle",
    "kubelet-client-ca-bundle",
];
const CERTIFICATES: [&str; 11] = [
    "aggregator-signer",
    "etcd-client",
    "etcd-metric-client",
    "etcd-metric-signer",
    "etcd-signer",
    "kube-apiserver-lb-signer",
    "kube-apiserver-localhost-signer",
    "kube-apiserver-service-network-signer",
    "kube-apiserver-to-kubelet-signer",
    "kube-control-plane-signer",
    "kubelet-signer",
];

/// Every file and key that the seeds read, told apart by content.
fn pki(cluster: &Cluster) -> (Tree, SecretBundle) {
    let host = cluster.node_name(cluster.bootstrap_host());
    let node = ["peer", "serving", "serving-metrics"].map(|use_| format!("etcd-{use_}-{host}"));
    let names: Vec<String> = CERTIFICATES.iter().map(|name| (*name).to_owned()).chain(node).collect();
    let mut tree = Tree::default();
    for name in &names {
        tree.insert(format!("pki/{name}.crt"), certificate(name));
    }
    for name in BUNDLES {
        tree.insert(format!("pki/{name}.crt"), format!("bundle {name}\n"));
    }
    let pairs = ["service-account", "bound-service-account-signing-key"];
    for name in pairs {
        tree.insert(format!("pki/{name}.pub"), format!("public {name}\n"));
    }
    let keys = names.iter().map(String::as_str).chain(pairs);
    let secrets = keys.map(|name| (format!("{name}.key"), format!("private {name}\n").into_bytes()));
    (tree, SecretBundle::from_files(secrets))
}

/// A certificate that says what the annotations need, signed by nobody.
fn certificate(name: &str) -> String {
    let text = |tag, text: &str| der::tagged(tag, text.as_bytes());
    let common_name = |cn: &str| {
        der::sequence(&[der::set(vec![der::sequence(&[der::oid(&[2, 5, 4, 3]), text(0x0c, cn)])])])
    };
    let names =
        der::sequence(&[text(0x82, "localhost"), der::tagged(0x87, &[10, 0, 0, 7]), text(0x82, "10.0.0.7")]);
    let extension = der::sequence(&[der::oid(&[2, 5, 29, 17]), der::octets(&names)]);
    let algorithm = KeyAlgorithm::EcdsaP256;
    let body = der::sequence(&[
        der::tagged(0xa0, &der::integer(&[2])),
        der::integer(&[1]),
        der::signature_algorithm(algorithm),
        common_name(&format!("issuer of {name}")),
        der::sequence(&[text(0x17, "261115000000Z"), text(0x17, "271115000000Z")]),
        common_name(name),
        der::public_key_info(algorithm, &[4; 65]),
        der::tagged(0xa3, &der::sequence(&[extension])),
    ]);
    pem::encode("CERTIFICATE", &der::sequence(&[body, der::signature_algorithm(algorithm), der::bits(&[0])]))
}

fn release() -> ReleasePayload {
    ReleasePayload {
        image: String::new(),
        version: "4.18.1".to_owned(),
        architecture: "amd64".to_owned(),
        is_sample: true,
        stand_ins: Vec::new(),
        real: String::new(),
        images: std::iter::empty::<(String, String)>().collect(),
        crds: Vec::new(),
        feature_gates: BTreeMap::new(),
        image_policies: Vec::new(),
        boot_images: None,
        rendered: BTreeMap::new(),
    }
}

/// Every seed as data, by file name, with its mode.
fn seeds(cluster: &Cluster) -> BTreeMap<String, (u32, Value)> {
    seeds_of("4.18.1", cluster)
}

fn seeds_of(version: &str, cluster: &Cluster) -> BTreeMap<String, (u32, Value)> {
    let release = ReleasePayload { version: version.to_owned(), ..release() };
    let (tree, secrets) = pki(cluster);
    let inputs = Inputs { cluster, release: &release, secrets: &secrets, tree: &tree };
    assets(cluster)
        .iter()
        .map(|asset| {
            let output = asset.outputs().remove(0);
            let text = String::from_utf8(asset.make(&inputs).unwrap().remove(0)).unwrap();
            let name = output.path.strip_prefix("operator-seeds/").unwrap().to_owned();
            (name, (output.mode, yaml::read(&text).unwrap().to_json()))
        })
        .collect()
}

fn decoded(value: &Value) -> String {
    String::from_utf8(STANDARD.decode(value.as_str().unwrap()).unwrap()).unwrap()
}

fn key(object: &Value) -> (String, String, String) {
    let metadata = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    (object["kind"].as_str().unwrap().to_owned(), metadata("namespace"), metadata("name"))
}

#[test]
fn every_object_is_there_once() {
    let seeds = seeds(&example::cluster());
    let keys: BTreeSet<_> = seeds.values().map(|(_, object)| key(object)).collect();
    assert_eq!(keys.len(), seeds.len());
    let count = |kind: &str| keys.iter().filter(|(k, _, _)| k == kind).count();
    assert_eq!(count("Namespace"), 12);
    assert_eq!(count("SecurityContextConstraints"), 11);
    assert_eq!(count("ClusterRole"), 1 + 3 + 12);
    assert_eq!(count("ClusterRoleBinding"), 1 + 3 + 2 + 1);
    assert_eq!(count("Secret"), 8 + 7 + 2);
    assert_eq!(count("ConfigMap"), 4 + 4 + 1);
    assert_eq!(count("Service"), 1);
    assert_eq!((count("Image"), count("Node")), (1, 1));
}

#[test]
fn in_order_of_names_every_namespace_comes_before_its_content() {
    let mut made = BTreeSet::new();
    for (file, (_, object)) in seeds(&example::cluster()) {
        let (kind, namespace, name) = key(&object);
        assert!(namespace.is_empty() || made.contains(&namespace), "{file} comes before {namespace}");
        if kind == "Namespace" {
            made.insert(name);
        }
    }
}

#[test]
fn private_keys_are_in_private_files_only() {
    for (name, (mode, object)) in seeds(&example::cluster()) {
        assert_eq!(mode == 0o600, object["kind"] == "Secret", "{name}");
    }
}

#[test]
fn etcd_certificates_carry_what_the_operator_compares() {
    let seeds = seeds(&example::cluster());
    let object = |name: &str| &seeds[name].1;
    let signer = object("openshift-etcd-etcd-signer.yaml");
    let expected = json!({
        "auth.openshift.io/certificate-issuer": "issuer of etcd-signer",
        "auth.openshift.io/certificate-not-after": "2027-11-15T00:00:00Z",
        "auth.openshift.io/certificate-not-before": "2026-11-15T00:00:00Z",
        "openshift.io/description": "Generated by cluster-etcd-operator for etcd and is used to sign peer, server and \
            client certificates. This certificate is valid for 1825 days and starts refreshing after 1533 days.",
        "openshift.io/owning-component": "etcd",
    });
    assert_eq!(signer["metadata"]["annotations"], expected);
    assert_eq!(signer["metadata"]["labels"], json!({"auth.openshift.io/managed-certificate-type": "signer"}));
    assert_eq!(signer["type"], "kubernetes.io/tls");
    let peer = object("openshift-etcd-etcd-peer.yaml");
    let name = "etcd-peer-bootstrap.ocp4.example.com";
    assert_eq!(peer["metadata"]["name"], name);
    let hosts = &peer["metadata"]["annotations"]["auth.openshift.io/certificate-hostnames"];
    assert_eq!(hosts, "10.0.0.7,localhost");
    assert_eq!(decoded(&peer["data"]["tls.key"]), format!("private {name}\n"));
    assert_eq!(peer["metadata"]["labels"], json!({"auth.openshift.io/managed-certificate-type": "target"}));
    let description = &peer["metadata"]["annotations"]["openshift.io/description"];
    assert_eq!(
        description,
        "Peer (client and server) certificate for node bootstrap.ocp4.example.com, generated by cluster-etcd-operator for \
         etcd. This certificate is valid for 1095 days and starts refreshing after 803 days."
    );
    let client = object("openshift-etcd-etcd-client.yaml");
    assert!(client["metadata"]["annotations"]["auth.openshift.io/certificate-hostnames"].is_null());
    let all = object("openshift-etcd-etcd-all-certs.yaml")["data"].as_object().unwrap();
    assert_eq!(all.len(), 6);
    assert_eq!(all[&format!("{name}.crt")], peer["data"]["tls.crt"]);
}

#[test]
fn etcd_bundles_are_the_same_text_everywhere() {
    let seeds = seeds(&example::cluster());
    let bundle = &seeds["openshift-etcd-etcd-ca-bundle.yaml"].1;
    let all = &seeds["openshift-etcd-etcd-all-bundles.yaml"].1;
    assert_eq!(bundle["data"]["ca-bundle.crt"], "bundle etcd-ca-bundle\n");
    assert_eq!(
        bundle["metadata"]["annotations"]["openshift.io/description"],
        "Generated by cluster-etcd-operator for etcd and is used to authenticate clients and peers of etcd."
    );
    assert_eq!(bundle["data"]["ca-bundle.crt"], all["data"]["server-ca-bundle.crt"]);
    assert_eq!(all["data"]["metrics-ca-bundle.crt"], "bundle etcd-metrics-ca-bundle\n");
    assert_eq!(all["metadata"]["annotations"]["openshift.io/ceo-bundle-rollout-revision"], "0");
}

#[test]
fn a_member_that_goes_is_an_annotation_and_one_that_stays_is_data() {
    let mut cluster = example::cluster();
    let endpoints = &seeds(&cluster)["openshift-etcd-etcd-endpoints.yaml"].1;
    let annotation = &endpoints["metadata"]["annotations"]["alpha.installer.openshift.io/etcd-bootstrap"];
    assert_eq!(annotation, "192.168.126.100");
    assert!(endpoints["data"].is_null());
    cluster.config.control_plane.replicas = 1;
    cluster.config.bootstrap_in_place =
        Some(crate::install_config::BootstrapInPlace { installation_disk: "/dev/sda".to_owned() });
    let endpoints = &seeds(&cluster)["openshift-etcd-etcd-endpoints.yaml"].1;
    assert!(endpoints["metadata"]["annotations"].is_null());
    assert_eq!(endpoints["data"], json!({"MTkyLjE2OC4xMjYuMTAx": "192.168.126.101"}));
}

#[test]
fn the_signers_of_the_control_plane_are_adopted() {
    let seeds = seeds(&example::cluster());
    for (file, certificate, owner) in [
        ("secret-aggregator-client-signer.yaml", "aggregator-signer", "kube-apiserver"),
        ("secret-loadbalancer-serving-signer.yaml", "kube-apiserver-lb-signer", "kube-apiserver"),
        ("secret-csr-signer-signer.yaml", "kubelet-signer", "kube-controller-manager"),
    ] {
        let object = &seeds[file].1;
        let annotations = &object["metadata"]["annotations"];
        assert_eq!(decoded(&object["data"]["tls.crt"]), self::certificate(certificate), "{file}");
        assert_eq!(decoded(&object["data"]["tls.key"]), format!("private {certificate}\n"));
        assert_eq!(annotations["auth.openshift.io/certificate-issuer"], format!("issuer of {certificate}"));
        assert_eq!(annotations["openshift.io/owning-component"], owner);
    }
    let tokens = &seeds["configmap-sa-token-signing-certs.yaml"].1;
    assert_eq!(tokens["data"], json!({"service-account-001.pub": "public service-account\n"}));
    let first = &seeds["secret-initial-kube-controller-manager-service-account-private-key.yaml"].1;
    assert_eq!(decoded(&first["data"]["service-account.key"]), "private service-account\n");
    let bound = &seeds["secret-bound-sa-token-signing-key.yaml"].1;
    assert_eq!(decoded(&bound["data"]["service-account.pub"]), "public bound-service-account-signing-key\n");
    let nodes = &seeds["kube-apiserver-serving-ca-configmap.yaml"].1;
    assert_eq!(nodes["metadata"]["name"], "initial-kube-apiserver-server-ca");
    assert_eq!(nodes["data"]["ca-bundle.crt"], "bundle kube-apiserver-complete-client-ca-bundle\n");
}

#[test]
fn the_strictest_constraint_is_for_everyone_and_the_widest_is_not() {
    let seeds = seeds(&example::cluster());
    let scc = |name: &str| &seeds[&format!("0000_20_kube-apiserver-operator_00_scc-{name}.yaml")].1;
    let strict = scc("restricted-v2");
    assert_eq!(strict["requiredDropCapabilities"], json!(["ALL"]));
    assert_eq!(strict["allowPrivilegeEscalation"], false);
    assert_eq!(strict["allowHostNetwork"], false);
    assert_eq!(strict["seccompProfiles"], json!(["runtime/default"]));
    assert!(strict["metadata"]["annotations"]["release.openshift.io/create-only"].is_null());
    let wide = scc("privileged");
    assert_eq!(wide["volumes"], json!(["*"]));
    assert_eq!(wide["groups"], json!(["system:cluster-admins", "system:nodes", "system:masters"]));
    assert_eq!(wide["requiredDropCapabilities"], Value::Null);
    assert_eq!(scc("anyuid")["priority"], 10);
    let bindings = seeds.values().filter(|(_, object)| object["kind"] == "ClusterRoleBinding");
    let everyone: Vec<_> = bindings
        .filter(|(_, object)| object["subjects"][0]["name"] == "system:authenticated")
        .map(|(_, object)| &object["roleRef"]["name"])
        .collect();
    assert_eq!(everyone, [&json!("system:openshift:scc:restricted-v2")]);
}

/// The release leaves most SCCs alone that are there: what they lack at first they lack for good.
#[test]
fn constraints_and_bindings_are_those_of_their_release() {
    let said = |version| {
        let seeds = seeds_of(version, &example::cluster());
        let scc =
            |name: &str| &seeds[&format!("0000_20_kube-apiserver-operator_00_scc-{name}.yaml")].1["volumes"];
        let has_image = |name: &str| scc(name).as_array().unwrap().contains(&json!("image"));
        assert_eq!(scc("privileged"), &json!(["*"]));
        let subjects = &seeds["cluster-role-binding-kube-apiserver.yaml"].1["subjects"];
        (has_image("restricted"), has_image("hostnetwork-v2"), subjects.as_array().unwrap().len())
    };
    assert_eq!(said("4.19.9"), (false, false, 2));
    assert_eq!(said("4.20.0"), (true, true, 2));
    assert_eq!(said("4.22.0"), (true, true, 1));
}

#[test]
fn seeds_read_what_they_say_and_nothing_else() {
    let (cluster, release) = (example::cluster(), release());
    let (tree, secrets) = pki(&cluster);
    for asset in assets(&cluster) {
        let sources: BTreeSet<Source> = asset.sources().into_iter().collect();
        let mut own_tree = Tree::default();
        for (path, bytes) in tree.iter().filter(|(path, _)| sources.contains(&Source::file(*path))) {
            own_tree.insert(path, bytes);
        }
        let keys = secrets.files().filter(|(name, _)| sources.contains(&Source::Secret((*name).to_owned())));
        let own_secrets =
            SecretBundle::from_files(keys.map(|(name, s)| (name.to_owned(), s.expose().to_vec())));
        let inputs = Inputs { cluster: &cluster, release: &release, secrets: &own_secrets, tree: &own_tree };
        asset
            .make(&inputs)
            .unwrap_or_else(|error| panic!("{} does not say that it reads it: {error}", asset.id()));
    }
}

#[test]
fn a_file_that_is_no_certificate_is_named() {
    let (cluster, release) = (example::cluster(), release());
    let (mut tree, secrets) = pki(&cluster);
    tree.insert("pki/kubelet-signer.crt", "hello");
    let inputs = Inputs { cluster: &cluster, release: &release, secrets: &secrets, tree: &tree };
    let asset = assets(&cluster).into_iter().find(|asset| asset.id() == "seed-secret-csr-signer-signer");
    let error = asset.unwrap().make(&inputs).unwrap_err();
    assert!(matches!(&error, MakeError::BadFile { path, .. } if path == "pki/kubelet-signer.crt"), "{error}");
}

#[test]
fn every_seed_is_explained_and_nothing_else_is() {
    let catalogue = Catalogue::of_assets();
    let ours = |e: &&Explanation| e.kind == Kind::Manifest && e.name.starts_with("operator-seeds/");
    let explained: BTreeSet<String> = catalogue.iter().filter(ours).map(|e| e.name.to_owned()).collect();
    let made: BTreeSet<String> =
        seeds(&example::cluster()).keys().map(|name| format!("operator-seeds/{name}")).collect();
    assert_eq!(explained, made);
    for e in catalogue.iter().filter(ours) {
        for text in [e.what, e.why, e.readers, e.without, e.source] {
            assert!(!text.is_empty(), "{} is not explained in full", e.name);
        }
    }
}
