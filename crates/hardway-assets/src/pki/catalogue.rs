//! The table of all certificates, bundles and key pairs: one row each.
//!
//! Names, subjects, usages and lifetimes are those of installer 4.18 `pkg/asset/tls/*.go` and, for etcd, of
//! cluster-etcd-operator `pkg/tlshelpers` and `pkg/operator/etcdcertsigner`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub use super::bundle::{BUNDLES, Bundle};
use super::{San, Subject, Usage};
use crate::graph::Source;
use crate::inventory::{Host, KeyAlgorithm};
use crate::{Cluster, host_identity};

/// One certificate.
#[derive(Clone, Debug)]
pub struct CertificateSpec {
    /// File base: `pki/<name>.crt`, `secrets/<name>.key`.
    pub name: String,
    /// Whose it is.
    pub subject: Subject,
    /// Who signs it; `None` when it signs itself.
    pub signer: Option<&'static str>,
    /// What its key may do.
    pub usage: Usage,
    /// How long it lives.
    pub lifetime: Lifetime,
    /// What it is for.
    pub sans: Vec<San>,
    /// Whether the key usage extension is written.
    pub with_key_usage: bool,
    /// Whether one that signs itself names its own key as its authority's: the operators' signers do, the installer's
    /// do not.
    pub names_itself_as_authority: bool,
    /// Whether the signer's certificate follows in the same file.
    pub with_signer: bool,
    /// The inputs that subject and names come from.
    pub sources: Vec<Source>,
    /// Whose key it is about.
    pub holder: Holder,
}

/// Whose key a certificate is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// One of the cluster's, of the algorithm that was chosen for it.
    Cluster,
    /// A host of the inventory.
    Host,
    /// An operator, which signs with it once it runs. Always RSA: operators ask for `SHA256WithRSA` by name, and Go refuses
    /// that of any other key (library-go `pkg/crypto/crypto.go`, release-4.18 to master).
    Operator,
}

/// How long a certificate lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// So many years of 365 days.
    Years(i64),
    /// One day unless `pki.shortLivedHours` says otherwise: operators replace these soon after the install.
    ShortLived,
}

impl Lifetime {
    /// In hours.
    pub fn hours(self, cluster: &Cluster) -> i64 {
        match self {
            Self::Years(years) => years * 365 * 24,
            Self::ShortLived => i64::from(cluster.inventory.pki.short_lived_hours),
        }
    }
}

/// Key pairs without a certificate: service-account tokens are signed with them. Always RSA: token verifiers of
/// other vendors know nothing else, and the bound key's operator refuses others.
pub const KEY_PAIRS: &[&str] = &["service-account", "bound-service-account-signing-key"];

/// The key that `gather` reaches the bootstrap host with.
pub const SSH_KEY: &str = "bootstrap-ssh";

/// Who signs what machines ask with before they are nodes.
pub const HOST_SIGNER: &str = "kubelet-bootstrap-kubeconfig-signer";

/// The certificate of `hardway serve`.
pub const IGNITION_SERVER: &str = "ignition-server";

/// Every certificate of a cluster, signers first.
pub fn certificates(cluster: &Cluster) -> Vec<CertificateSpec> {
    [
        signers(cluster),
        apiserver_leaves(cluster),
        client_leaves(),
        host_leaves(cluster),
        etcd_leaves(cluster),
        host_identities(cluster),
    ]
    .concat()
}

/// Every private key that must exist, with its algorithm.
pub fn keys(cluster: &Cluster) -> Vec<(String, KeyAlgorithm)> {
    let chosen = cluster.inventory.pki.key_algorithm;
    // Hosts have keys as kubelets make them, whatever was chosen for the cluster: there may be hundreds.
    let algorithm = |row: &CertificateSpec| match row.holder {
        Holder::Cluster => chosen,
        Holder::Host => KeyAlgorithm::EcdsaP256,
        Holder::Operator => KeyAlgorithm::Rsa2048,
    };
    let mut keys: Vec<_> =
        certificates(cluster).into_iter().map(|row| (row.name.clone(), algorithm(&row))).collect();
    keys.extend(KEY_PAIRS.iter().map(|name| ((*name).to_owned(), KeyAlgorithm::Rsa2048)));
    keys.push((SSH_KEY.to_owned(), KeyAlgorithm::EcdsaP256));
    let hosts = cluster.inventory.hosts.iter().filter(|host| host.has_own_config());
    keys.extend(hosts.map(|host| (host_identity::ssh_host_key(&host.name), KeyAlgorithm::EcdsaP256)));
    keys
}

fn signers(cluster: &Cluster) -> Vec<CertificateSpec> {
    let signer =
        |name: &str, lifetime| row(name, Subject::signer(name, "openshift"), None, Usage::Signer, lifetime);
    let operators =
        |name: &str, lifetime| CertificateSpec { holder: Holder::Operator, ..signer(name, lifetime) };
    let created = cluster.identity.created.as_second();
    // The operator names its signers after the second they were made in.
    let etcd = |name: &str| {
        let subject = Subject::user(format!("openshift-etcd_{name}@{created}"), &[]);
        CertificateSpec {
            names_itself_as_authority: true,
            sources: vec![Source::Identity],
            holder: Holder::Operator,
            ..row(name, subject, None, Usage::Signer, Lifetime::Years(5))
        }
    };
    vec![
        // The machine-config-operator signs with it from 4.19 on.
        operators("root-ca", Lifetime::Years(10)),
        signer("admin-kubeconfig-signer", Lifetime::Years(10)),
        operators("kube-apiserver-lb-signer", Lifetime::Years(10)),
        operators("kube-apiserver-localhost-signer", Lifetime::Years(10)),
        operators("kube-apiserver-service-network-signer", Lifetime::Years(10)),
        operators("kube-apiserver-to-kubelet-signer", Lifetime::Years(1)),
        operators("kube-control-plane-signer", Lifetime::Years(1)),
        operators("aggregator-signer", Lifetime::ShortLived),
        CertificateSpec {
            subject: Subject::signer("aggregator", "bootkube"),
            ..signer("aggregator-ca", Lifetime::ShortLived)
        },
        operators("kubelet-signer", Lifetime::ShortLived),
        signer(HOST_SIGNER, Lifetime::Years(10)),
        etcd("etcd-signer"),
        etcd("etcd-metric-signer"),
    ]
}

/// What the bootstrap kube-apiserver shows, one certificate for each way of reaching it. None carries a host's
/// address: clients use names.
fn apiserver_leaves(cluster: &Cluster) -> Vec<CertificateSpec> {
    let leaf = |name: &str, signer, sans, sources| CertificateSpec {
        sans,
        with_signer: true,
        sources,
        ..row(
            name,
            Subject::user("system:kube-apiserver", &["kube-master"]),
            Some(signer),
            Usage::Server,
            Lifetime::ShortLived,
        )
    };
    let mut service_names: Vec<San> = ["kubernetes", "openshift"]
        .iter()
        .flat_map(|name| {
            ["", ".default", ".default.svc", ".default.svc.cluster.local"].map(|s| dns(format!("{name}{s}")))
        })
        .collect();
    service_names.push(San::Ip(cluster.kubernetes_service_ip()));
    vec![
        leaf("kube-apiserver-localhost-server", "kube-apiserver-localhost-signer", loopback(), vec![]),
        leaf(
            "kube-apiserver-service-network-server",
            "kube-apiserver-service-network-signer",
            service_names,
            vec![Source::config("networking.serviceNetwork")],
        ),
        leaf("kube-apiserver-lb-server", "kube-apiserver-lb-signer", vec![dns(cluster.api_host())], domain()),
        leaf(
            "kube-apiserver-internal-lb-server",
            "kube-apiserver-lb-signer",
            vec![dns(cluster.api_int_host())],
            domain(),
        ),
    ]
}

/// Who calls the kube-apiserver, and whom it calls.
fn client_leaves() -> Vec<CertificateSpec> {
    let client =
        |name: &str, subject, signer, lifetime| row(name, subject, Some(signer), Usage::Client, lifetime);
    let admin = || Subject::user("system:admin", &["system:masters"]);
    let proxy = || Subject::user("system:kube-apiserver-proxy", &["kube-master"]);
    let bootstrapper = Subject::user(
        "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper",
        &["system:serviceaccounts:openshift-machine-config-operator", "system:serviceaccounts"],
    );
    const CONTROL_PLANE: &str = "kube-control-plane-signer";
    vec![
        client(
            "kube-apiserver-to-kubelet-client",
            Subject::user("system:kube-apiserver", &["kube-master"]),
            "kube-apiserver-to-kubelet-signer",
            Lifetime::Years(1),
        ),
        client("aggregator-client", proxy(), "aggregator-signer", Lifetime::ShortLived),
        client("apiserver-proxy", proxy(), "aggregator-ca", Lifetime::ShortLived),
        client(
            "kube-control-plane-kube-controller-manager-client",
            admin(),
            CONTROL_PLANE,
            Lifetime::Years(1),
        ),
        client("kube-control-plane-kube-scheduler-client", admin(), CONTROL_PLANE, Lifetime::Years(1)),
        client(
            "kube-controller-manager-client",
            Subject::user("system:kube-controller-manager", &[]),
            CONTROL_PLANE,
            Lifetime::Years(1),
        ),
        client(
            "kube-scheduler-client",
            Subject::user("system:kube-scheduler", &[]),
            CONTROL_PLANE,
            Lifetime::Years(1),
        ),
        CertificateSpec {
            usage: Usage::ServerAndClient,
            ..client("admin-kubeconfig-client", admin(), "admin-kubeconfig-signer", Lifetime::Years(10))
        },
        client("kubelet-client", bootstrapper, HOST_SIGNER, Lifetime::Years(10)),
    ]
}

/// What Ignition and people meet before and beside the control plane.
fn host_leaves(cluster: &Cluster) -> Vec<CertificateSpec> {
    let leaf = |name: &str, subject, usage| row(name, subject, Some("root-ca"), usage, Lifetime::Years(10));
    let mut leaves = vec![
        CertificateSpec {
            sans: vec![dns(cluster.api_int_host())],
            sources: domain(),
            with_key_usage: false,
            ..leaf("machine-config-server", Subject::user("system:machine-config-server", &[]), Usage::Server)
        },
        leaf(
            "journal-gatewayd",
            Subject::user("journal-gatewayd", &["OpenShift Bootstrap"]),
            Usage::ServerAndClient,
        ),
    ];
    // Not on the bootstrap host, but for the same reader: Ignition, which trusts root-ca.
    if let Some(url) = cluster.inventory.ignition_server.url.as_ref().filter(|url| url.is_https) {
        leaves.push(CertificateSpec {
            sans: vec![url.address().map_or_else(|| dns(&url.host), San::Ip)],
            sources: vec![Source::inventory("ignitionServer")],
            ..leaf(IGNITION_SERVER, Subject::user("system:ignition-server", &[]), Usage::Server)
        });
    }
    leaves
}

/// What the etcd operator's render would mint on the bootstrap host.
fn etcd_leaves(cluster: &Cluster) -> Vec<CertificateSpec> {
    let host = cluster.node_name(cluster.bootstrap_host());
    let sans = etcd_sans(cluster);
    let first = sans.iter().map(san_text).min().unwrap_or_default();
    let member = |name: String, signer| CertificateSpec {
        sans: sans.clone(),
        with_signer: true,
        sources: [domain(), vec![Source::inventory("hosts"), Source::config("networking.serviceNetwork")]]
            .concat(),
        ..row(
            &name,
            Subject::user(first.clone(), &[]),
            Some(signer),
            Usage::ServerAndClient,
            Lifetime::Years(3),
        )
    };
    let client = |name: &str, cn: &'static str, signer| {
        let subject = Subject::user(cn, &["system:etcd", cn]);
        row(name, subject, Some(signer), Usage::Client, Lifetime::Years(3))
    };
    vec![
        client("etcd-client", "etcd-client", "etcd-signer"),
        client("etcd-metric-client", "etcd-metric", "etcd-metric-signer"),
        member(format!("etcd-peer-{host}"), "etcd-signer"),
        member(format!("etcd-serving-{host}"), "etcd-signer"),
        member(format!("etcd-serving-metrics-{host}"), "etcd-metric-signer"),
    ]
}

/// What each host asks with for its first certificate as a node.
fn host_identities(cluster: &Cluster) -> Vec<CertificateSpec> {
    let identity = |host: &Host| {
        let user = host_identity::user(&host.name, cluster.identity.generation(&host.name));
        CertificateSpec {
            sources: vec![Source::Generation(host.name.clone())],
            holder: Holder::Host,
            ..row(
                &host_identity::certificate(&host.name),
                Subject::user(user, &[host_identity::GROUP]),
                Some(HOST_SIGNER),
                Usage::Client,
                Lifetime::ShortLived,
            )
        }
    };
    cluster.inventory.hosts.iter().filter(|host| host.has_identity()).map(identity).collect()
}

/// Addresses are listed twice, as addresses and as names: old etcd clients compared them as text.
fn etcd_sans(cluster: &Cluster) -> Vec<San> {
    let names = [
        "localhost",
        "etcd.kube-system.svc",
        "etcd.kube-system.svc.cluster.local",
        "etcd.openshift-etcd.svc",
        "etcd.openshift-etcd.svc.cluster.local",
    ];
    let mut addresses = vec![IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    addresses.extend(&cluster.bootstrap_host().ip);
    let mut sans: Vec<San> = names.iter().map(|name| dns(*name)).collect();
    sans.extend(addresses.iter().map(|ip| dns(ip.to_string())));
    sans.extend(addresses.into_iter().map(San::Ip));
    sans
}

fn row(
    name: &str,
    subject: Subject,
    signer: Option<&'static str>,
    usage: Usage,
    lifetime: Lifetime,
) -> CertificateSpec {
    CertificateSpec {
        name: name.to_owned(),
        subject,
        signer,
        usage,
        lifetime,
        sans: Vec::new(),
        with_key_usage: true,
        names_itself_as_authority: false,
        with_signer: false,
        sources: Vec::new(),
        holder: Holder::Cluster,
    }
}

fn dns(name: impl Into<String>) -> San {
    San::Dns(name.into())
}

fn loopback() -> Vec<San> {
    vec![dns("localhost"), San::Ip(IpAddr::V4(Ipv4Addr::LOCALHOST)), San::Ip(IpAddr::V6(Ipv6Addr::LOCALHOST))]
}

fn san_text(san: &San) -> String {
    match san {
        San::Dns(name) => name.clone(),
        San::Ip(ip) => ip.to_string(),
    }
}

fn domain() -> Vec<Source> {
    vec![Source::config("metadata.name"), Source::config("baseDomain")]
}
