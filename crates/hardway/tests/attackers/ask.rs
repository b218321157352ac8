//! What somebody wants: a certificate, a config, an object of the cluster, a file of this computer.

use std::sync::LazyLock;

use base64::Engine as _;
use hardway_cluster::csr_policy::{CLIENT_SIGNER, SERVING_SIGNER};
use serde_json::{Value, json};

use super::cluster::{BAIT, COMPROMISED, HOST, HOSTED, hosted_header, node_name, token_secret};
use crate::certificate_requests::corpus::CASES;
use crate::certificate_requests::key::{GOOD, TestKey};
use crate::certificate_requests::pkcs10::{Pkcs10Draft, dns, ip};

/// One thing that is asked for.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    /// From the API server: a CertificateSigningRequest, which still lacks its name.
    Certificate(Value),
    /// From the ignition server: a path, and headers.
    Config(String, Vec<(String, String)>),
    /// From the API server: method, path and body.
    Object(&'static str, String, String),
    /// From the disk of the computer that hardway runs on.
    File(std::path::PathBuf),
}

/// Numbers that look random, and are the same in every run with the same seed.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// One of so many. (SplitMix64.)
    pub(crate) fn one_of(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % count as u64) as usize
    }
}

/// A request for a certificate; each is worth something to whoever gets it.
pub(crate) fn certificate(dice: &mut Dice) -> Ask {
    let of = |host: &str| Pkcs10Draft::of_node(&node_name(host), Vec::new());
    let serving = |host: &str, names: &[Vec<u8>]| Pkcs10Draft::of_node(&node_name(host), names.to_vec());
    let own = [dns(&node_name(HOST)), ip("192.168.126.110")];
    Ask::Certificate(match dice.one_of(12) {
        // To be the host that is about to join, which is what most want.
        0..=2 => client(&of(HOST), dice),
        // A host that is expected and not there, one that is, and one that nobody knows.
        3 => client(&of("master-1"), dice),
        4 => client(&of("worker-9"), dice),
        // To be asked in place of a host, or of the API.
        5 => server(&serving(HOST, &own), dice),
        6 => server(&serving(HOST, &[dns("api-int.ocp4.example.com"), ip("192.168.126.10")]), dice),
        // And whatever else may be wrong with a request, in the policy's own corpus.
        _ => hostile(dice),
    })
}

/// What the corpus has of the asker and of the world around is passed over here: both are real.
fn hostile(dice: &mut Dice) -> Value {
    let (_, base, spoil, _) = CASES[dice.one_of(CASES.len())];
    let mut draft = base();
    spoil(&mut draft);
    let key = &GOOD[dice.one_of(GOOD.len())].1;
    let asked = draft.examined(key).request;
    object(&asked.pem, &asked.signer, &asked.usages, asked.expiration_seconds)
}

/// The same for the host that joined in quiet.
pub(crate) fn certificate_of_joined(dice: &mut Dice) -> Ask {
    Ask::Certificate(client(&Pkcs10Draft::of_node(&node_name(COMPROMISED), Vec::new()), dice))
}

/// To serve as oneself, under names of others: only for whoever is that node.
pub(crate) fn names_of_others(dice: &mut Dice) -> Ask {
    let mut names = vec![dns(&node_name(COMPROMISED)), ip("192.168.126.111")];
    names.push(match dice.one_of(5) {
        0 => dns(&node_name(HOST)),
        1 => ip("192.168.126.110"),
        2 => dns("api.ocp4.example.com"),
        3 => dns("*.apps.ocp4.example.com"),
        _ => ip("172.30.0.1"),
    });
    Ask::Certificate(server(&Pkcs10Draft::of_node(&node_name(COMPROMISED), names), dice))
}

/// To be there under another's name without any certificate: its Node object.
pub(crate) fn node_of_another() -> Ask {
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node_name("master-1")}});
    Ask::Object("POST", "/api/v1/nodes".to_owned(), node.to_string())
}

/// What machines boot with, as the cluster keeps it.
pub(crate) fn user_data() -> Ask {
    let path = "/api/v1/namespaces/openshift-machine-api/secrets/worker-user-data-managed";
    Ask::Object("GET", path.to_owned(), String::new())
}

/// A hosted worker's config, with the token of a Secret that is not of its control plane.
pub(crate) fn hosted_config(token: &str) -> Ask {
    Ask::Config("/ignition".to_owned(), vec![hosted_header(token)])
}

/// To be more than the owner of a namespace: every right, the rights of somebody else, or Secrets where they count.
pub(crate) fn more_rights(namespace: &str, token: &str, dice: &mut Dice) -> Ask {
    let rights = "/apis/rbac.authorization.k8s.io/v1";
    let binding = |kind: &str| {
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"generateName": "more-"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "name": "owner", "namespace": namespace}]})
        .to_string()
    };
    let (method, path, body) = match dice.one_of(6) {
        0 => ("POST", format!("{rights}/clusterrolebindings"), binding("ClusterRoleBinding")),
        1 => ("POST", format!("{rights}/namespaces/{HOSTED}/rolebindings"), binding("RoleBinding")),
        2 => {
            ("POST", format!("/api/v1/namespaces/{HOSTED}/secrets"), token_secret(HOSTED, token).to_string())
        }
        3 => ("GET", format!("/api/v1/namespaces/{HOSTED}/secrets"), String::new()),
        4 => {
            let asked = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
            (
                "POST",
                "/api/v1/namespaces/kube-system/serviceaccounts/default/token".to_owned(),
                asked.to_string(),
            )
        }
        _ => return approval(),
    };
    Ask::Object(method, path, body)
}

/// To approve a request that is there, and that nobody decides about.
pub(crate) fn approval() -> Ask {
    let path = format!("/apis/certificates.k8s.io/v1/certificatesigningrequests/{BAIT}/approval");
    let approved = json!({"type": "Approved", "status": "True", "reason": "Mine", "message": "by myself"});
    Ask::Object("PATCH", path, json!({"status": {"conditions": [approved]}}).to_string())
}

/// A config with a token that is none.
pub(crate) fn config_without_token(dice: &mut Dice) -> Ask {
    let path = match dice.one_of(5) {
        0 => "/ignition".to_owned(),
        1 => "/config/worker".to_owned(),
        2 => "/config/master".to_owned(),
        _ => format!("/ignition/{}", [HOST, COMPROMISED, "master-0", "bootstrap"][dice.one_of(4)]),
    };
    let guess: String = (0..64).map(|_| char::from_digit(dice.one_of(16) as u32, 16).unwrap()).collect();
    let generation: String = guess.chars().take(12).collect();
    let headers = match dice.one_of(3) {
        0 => Vec::new(),
        _ => vec![
            ("Authorization".to_owned(), format!("Bearer {guess}")),
            ("Hardway-Generation".to_owned(), generation),
        ],
    };
    Ask::Config(path, headers)
}

/// A config with the headers of somebody's pointer: its own host's, or another's.
pub(crate) fn config_with(headers: &[(String, String)], dice: &mut Dice) -> Ask {
    let host = [HOST, HOST, COMPROMISED, "master-0"][dice.one_of(4)];
    Ask::Config(format!("/ignition/{host}"), headers.to_vec())
}

fn client(draft: &Pkcs10Draft, dice: &mut Dice) -> Value {
    request(draft, CLIENT_SIGNER, "client auth", dice)
}

fn server(draft: &Pkcs10Draft, dice: &mut Dice) -> Value {
    request(draft, SERVING_SIGNER, "server auth", dice)
}

/// With a key of its own, as each kubelet's is, or one of the other kinds that are allowed.
fn request(draft: &Pkcs10Draft, signer: &str, usage: &str, dice: &mut Dice) -> Value {
    static OTHERS: LazyLock<&[(&str, TestKey)]> = LazyLock::new(|| &GOOD[1..]);
    let pem = match dice.one_of(4) {
        0 => {
            let key = &OTHERS[dice.one_of(OTHERS.len())].1;
            draft.to_pem(key, key)
        }
        _ => {
            let key = TestKey::p256();
            draft.to_pem(&key, &key)
        }
    };
    object(pem.as_bytes(), signer, &["digital signature".to_owned(), usage.to_owned()], None)
}

pub(super) fn object(pem: &[u8], signer: &str, usages: &[String], seconds: Option<i32>) -> Value {
    let request = base64::engine::general_purpose::STANDARD.encode(pem);
    let spec =
        json!({"signerName": signer, "request": request, "usages": usages, "expirationSeconds": seconds});
    json!({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "spec": spec})
}
