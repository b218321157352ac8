//! What the etcd operator finds: the CA that signed the bootstrap member's certificates, those certificates, and where
//! the member is.
//!
//! The operator's render runs its own certificate controller once against a pretended node and writes what came out
//! (cluster-etcd-operator `pkg/cmd/render/certs.go`, `pkg/tlshelpers`, `pkg/operator/etcdcertsigner`). These are the
//! same objects, made from `pki/`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::{Map, Value, json};

use super::seed::{self, object};
use crate::Cluster;
use crate::graph::{Inputs, MakeError, Source};
use crate::object_file::{ObjectFile, base64};
use crate::rotation::{self, Kind, OWNER, labelled, private_key, tls_secret};

pub(super) fn seeds(cluster: &Cluster) -> Vec<ObjectFile> {
    let host = cluster.node_name(cluster.bootstrap_host());
    let mut seeds = vec![endpoints(), service(), all_bundles(), all_certs(&host)];
    seeds.extend([bundle("etcd-ca-bundle"), bundle("etcd-metrics-ca-bundle")]);
    for (name, kind) in CLUSTER_CERTIFICATES {
        seeds.push(certificate(format!("{NAMESPACE}-{name}"), (*name).to_owned(), *kind, Vec::new()));
    }
    for use_ in NODE_CERTIFICATES {
        let certificate_name = format!("etcd-{use_}-{host}");
        seeds.push(certificate(
            format!("{NAMESPACE}-etcd-{use_}"),
            certificate_name,
            Kind::Serving,
            host_sources(),
        ));
    }
    seeds
}

const NAMESPACE: &str = "openshift-etcd";

/// One of each in the cluster.
const CLUSTER_CERTIFICATES: &[(&str, Kind)] = &[
    ("etcd-signer", Kind::Signer),
    ("etcd-metric-signer", Kind::Signer),
    ("etcd-client", Kind::Client),
    ("etcd-metric-client", Kind::Client),
];

/// One of each on every node that runs etcd: here the bootstrap machine.
const NODE_CERTIFICATES: [&str; 3] = ["peer", "serving", "serving-metrics"];

fn certificate(file: String, name: String, kind: Kind, more_sources: Vec<Source>) -> ObjectFile {
    let sources = [rotation::sources(&name), more_sources].concat();
    let label = if kind == Kind::Signer { "signer" } else { "target" };
    seed::secret(file, sources, move |inputs| {
        Ok(labelled(tls_secret(inputs, (NAMESPACE, &name), &name, kind, "etcd")?, label))
    })
}

fn bundle(name: &'static str) -> ObjectFile {
    let path = format!("pki/{name}.crt");
    seed::public(format!("{NAMESPACE}-{name}"), vec![Source::file(&path)], move |inputs| {
        let mut object = object("ConfigMap", NAMESPACE, name);
        object["data"] = json!({"ca-bundle.crt": inputs.text(&path)?});
        object["metadata"]["annotations"] = json!({ OWNER: "etcd" });
        Ok(labelled(object, "ca-bundle"))
    })
}

/// Both bundles for the static pods. The operator compares their text with its own, and notes the revision they were
/// rolled out with: none yet.
fn all_bundles() -> ObjectFile {
    let bundles = [
        ("server-ca-bundle.crt", "pki/etcd-ca-bundle.crt"),
        ("metrics-ca-bundle.crt", "pki/etcd-metrics-ca-bundle.crt"),
    ];
    let sources = bundles.iter().map(|(_, path)| Source::file(*path)).collect();
    seed::public(format!("{NAMESPACE}-etcd-all-bundles"), sources, move |inputs| {
        let mut object = object("ConfigMap", NAMESPACE, "etcd-all-bundles");
        for (key, path) in bundles {
            object["data"][key] = inputs.text(path)?.into();
        }
        object["metadata"]["annotations"] =
            json!({ OWNER: "Etcd", "openshift.io/ceo-bundle-rollout-revision": "0" });
        Ok(object)
    })
}

/// The node certificates for the static pods, by file name.
fn all_certs(host: &str) -> ObjectFile {
    let names = NODE_CERTIFICATES.map(|use_| format!("etcd-{use_}-{host}"));
    let mut sources: Vec<Source> = names.iter().flat_map(|name| rotation::sources(name)).collect();
    sources.extend(host_sources());
    seed::secret(format!("{NAMESPACE}-etcd-all-certs"), sources, move |inputs| {
        let mut data = Map::new();
        for name in &names {
            data.insert(format!("{name}.crt"), base64(inputs.text(&format!("pki/{name}.crt"))?).into());
            data.insert(format!("{name}.key"), private_key(inputs, name)?);
        }
        let mut object = object("Secret", NAMESPACE, "etcd-all-certs");
        object["type"] = "Opaque".into();
        object["data"] = data.into();
        object["metadata"]["annotations"] = json!({ OWNER: "Etcd" });
        Ok(object)
    })
}

/// Where etcd is. A member that will go is an annotation; as data it would be taken for one that stays.
fn endpoints() -> ObjectFile {
    let sources = vec![
        Source::config("bootstrapInPlace"),
        Source::config("networking.serviceNetwork"),
        Source::inventory("hosts"),
    ];
    seed::public(format!("{NAMESPACE}-etcd-endpoints"), sources, endpoints_object)
}

fn endpoints_object(inputs: &Inputs<'_>) -> Result<Value, MakeError> {
    let ip = inputs.cluster.bootstrap_ip().to_string();
    let mut object = object("ConfigMap", NAMESPACE, "etcd-endpoints");
    if inputs.cluster.is_bootstrap_in_place() {
        object["data"] = json!({ STANDARD_NO_PAD.encode(&ip): ip });
    } else {
        object["metadata"]["annotations"] = json!({"alpha.installer.openshift.io/etcd-bootstrap": ip});
    }
    Ok(object)
}

fn service() -> ObjectFile {
    let mut object = object("Service", NAMESPACE, "etcd");
    object["metadata"]["labels"] = json!({"k8s-app": "etcd"});
    object["spec"] = json!({
        "selector": {"k8s-app": "etcd"},
        "ports": [
            {"name": "etcd", "port": 2379, "protocol": "TCP"},
            {"name": "etcd-metrics", "port": 9979, "protocol": "TCP"},
        ],
    });
    seed::fixed("openshift-etcd-svc", object)
}

/// What the bootstrap machine's name comes from.
fn host_sources() -> Vec<Source> {
    vec![
        Source::config("baseDomain"),
        Source::config("bootstrapInPlace"),
        Source::config("metadata.name"),
        Source::inventory("hosts"),
    ]
}
