//! Every certificate with the programs that will check it: OpenSSL, rustls-webpki, and real TLS handshakes for each pair
//! of server and client that meets in a cluster, and for some that must not.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use hardway_assets::pki::{self, San, Usage, catalogue};
use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject as _};
use rustls::server::WebPkiClientVerifier;
use rustls::time_provider::TimeProvider;
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};

use crate::common::{self, Made, made, made_with_ecdsa};

/// An hour after the scenarios' certificates begin.
fn then() -> u64 {
    u64::try_from(common::identity().created.as_second()).unwrap() + 3600
}

#[test]
fn openssl_accepts_every_chain() {
    [made("ha"), made_with_ecdsa("ha")].iter().for_each(accepts_every_chain);
}

fn accepts_every_chain(made: &Made) {
    let dir = tempfile::tempdir().unwrap();
    for (path, bytes) in made.tree.iter().filter(|(path, _)| path.starts_with("pki/")) {
        std::fs::write(dir.path().join(path.trim_start_matches("pki/")), bytes).unwrap();
    }
    for row in catalogue::certificates(&made.cluster) {
        let anchor = row.signer.unwrap_or(&row.name);
        let purposes: &[&str] = match row.usage {
            Usage::Client => &["sslclient"],
            Usage::Server => &["sslserver"],
            Usage::ServerAndClient => &["sslclient", "sslserver"],
            Usage::Signer => &["any"],
        };
        for purpose in purposes {
            let ok = verify(dir.path(), anchor, &row.name, purpose);
            assert!(ok, "{} does not verify as {purpose} against {anchor}", row.name);
        }
        let other = if anchor == "etcd-signer" { "root-ca" } else { "etcd-signer" };
        assert!(!verify(dir.path(), other, &row.name, "any"), "{} verifies against {other}", row.name);
        if row.usage == Usage::Client {
            assert!(
                !verify(dir.path(), anchor, &row.name, "sslserver"),
                "{} could pose as a server",
                row.name
            );
        }
    }
}

fn verify(dir: &std::path::Path, anchor: &str, leaf: &str, purpose: &str) -> bool {
    Command::new("openssl")
        .args([
            "verify",
            "-x509_strict",
            "-check_ss_sig",
            "-attime",
            &then().to_string(),
            "-purpose",
            purpose,
            "-CAfile",
        ])
        .arg(dir.join(format!("{anchor}.crt")))
        .arg(dir.join(format!("{leaf}.crt")))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap()
        .success()
}

#[test]
fn openssl_reads_the_two_groups_of_the_node_bootstrapper() {
    let made = made("ha");
    let mut child = Command::new("openssl")
        .args(["x509", "-noout", "-subject", "-nameopt", "RFC2253"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(
        &mut child.stdin.take().unwrap(),
        made.text("pki/kubelet-client.crt").as_bytes(),
    )
    .unwrap();
    let subject = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    for part in [
        "CN=system:serviceaccount:openshift-machine-config-operator:node-bootstrapper",
        "O=system:serviceaccounts:openshift-machine-config-operator",
        "O=system:serviceaccounts",
    ] {
        assert!(subject.contains(part), "{subject}");
    }
}

const KAS_CLIENTS: &str = "kube-apiserver-complete-client-ca-bundle";
const KAS_SERVERS: &str = "kube-apiserver-complete-server-ca-bundle";

/// (server, name it is called by, CA its clients trust, CA it trusts, clients it accepts, clients it refuses)
type Meeting = (&'static str, String, &'static str, &'static str, Vec<&'static str>, Vec<&'static str>);

fn meetings(made: &Made) -> Vec<Meeting> {
    let cluster = &made.cluster;
    let accepted = vec![
        "admin-kubeconfig-client",
        "kubelet-client",
        "kube-apiserver-to-kubelet-client",
        "kube-control-plane-kube-controller-manager-client",
        "kube-control-plane-kube-scheduler-client",
        "kube-controller-manager-client",
        "kube-scheduler-client",
    ];
    let refused = vec!["etcd-client", "etcd-metric-client", "aggregator-client", "apiserver-proxy"];
    let kas =
        |server, name: String| (server, name, KAS_SERVERS, KAS_CLIENTS, accepted.clone(), refused.clone());
    let etcd = |server, ca, clients, refused| (server, "localhost".to_owned(), ca, ca, clients, refused);
    vec![
        kas("kube-apiserver-localhost-server", "localhost".to_owned()),
        kas("kube-apiserver-localhost-server", "127.0.0.1".to_owned()),
        kas("kube-apiserver-lb-server", cluster.api_host()),
        kas("kube-apiserver-internal-lb-server", cluster.api_int_host()),
        kas("kube-apiserver-service-network-server", "kubernetes.default.svc".to_owned()),
        kas("kube-apiserver-service-network-server", "172.30.0.1".to_owned()),
        // The aggregator's certificates are checked against their own CA.
        (
            "kube-apiserver-localhost-server",
            "localhost".to_owned(),
            "kube-apiserver-localhost-ca-bundle",
            "aggregator-ca-bundle",
            vec!["aggregator-client"],
            vec!["apiserver-proxy", "admin-kubeconfig-client"],
        ),
        etcd(
            "etcd-serving-bootstrap.ocp4.example.com",
            "etcd-ca-bundle",
            vec!["etcd-client", "etcd-serving-bootstrap.ocp4.example.com"],
            vec!["etcd-metric-client", "admin-kubeconfig-client"],
        ),
        etcd(
            "etcd-peer-bootstrap.ocp4.example.com",
            "etcd-ca-bundle",
            vec!["etcd-peer-bootstrap.ocp4.example.com"],
            vec!["etcd-metric-client", "kubelet-client"],
        ),
        etcd(
            "etcd-serving-metrics-bootstrap.ocp4.example.com",
            "etcd-metrics-ca-bundle",
            vec!["etcd-metric-client"],
            vec!["etcd-client"],
        ),
        (
            "machine-config-server",
            cluster.api_int_host(),
            "root-ca",
            "root-ca",
            vec!["journal-gatewayd"],
            vec!["kubelet-client"],
        ),
    ]
}

#[test]
fn servers_and_clients_that_should_meet_do_and_others_do_not() {
    [made("ha"), made_with_ecdsa("ha")].iter().for_each(those_who_should_meet);
}

fn those_who_should_meet(made: &Made) {
    for (server, name, server_ca, client_ca, accepted, refused) in meetings(made) {
        for client in accepted {
            handshake(made, server, &name, server_ca, client_ca, client)
                .unwrap_or_else(|e| panic!("{client} → {server} as {name}: {e}"));
        }
        for client in refused {
            assert!(
                handshake(made, server, &name, server_ca, client_ca, client).is_err(),
                "{client} → {server} must fail"
            );
        }
        assert!(
            handshake(made, server, "elsewhere.example.com", server_ca, client_ca, "admin-kubeconfig-client")
                .is_err()
        );
        let wrong_ca =
            if server_ca == "etcd-metrics-ca-bundle" { "etcd-ca-bundle" } else { "etcd-metrics-ca-bundle" };
        assert!(
            handshake(made, server, &name, wrong_ca, client_ca, "admin-kubeconfig-client").is_err(),
            "{server} by a wrong CA"
        );
    }
}

#[test]
fn every_name_of_every_server_certificate_is_accepted_by_webpki() {
    let made = made("dual-stack");
    for row in catalogue::certificates(&made.cluster) {
        // Addresses also stand as DNS names in etcd's certificates; webpki, like Go, matches them as addresses only.
        let names: Vec<String> = row
            .sans
            .iter()
            .map(|san| match san {
                San::Dns(name) => name.clone(),
                San::Ip(ip) => ip.to_string(),
            })
            .collect();
        let (Some(signer), false) = (row.signer, names.is_empty()) else { continue };
        let verifier =
            WebPkiServerVerifier::builder_with_provider(roots(&made, signer), provider()).build().unwrap();
        let chain = certificates(&made, &row.name);
        for name in names {
            let server_name = ServerName::try_from(name.clone()).unwrap();
            let at = UnixTime::since_unix_epoch(Duration::from_secs(then()));
            rustls::client::danger::ServerCertVerifier::verify_server_cert(
                verifier.as_ref(),
                &chain[0],
                &chain[1..],
                &server_name,
                &[],
                at,
            )
            .unwrap_or_else(|e| panic!("{} as {name}: {e}", row.name));
        }
    }
}

#[derive(Debug)]
struct Then;

impl TimeProvider for Then {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_secs(then())))
    }
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}

fn certificates(made: &Made, name: &str) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(made.text(&pki::path(name)).as_bytes()).map(Result::unwrap).collect()
}

fn key(made: &Made, name: &str) -> PrivateKeyDer<'static> {
    PrivateKeyDer::from_pem_slice(made.secrets.get(&format!("{name}.key")).unwrap().expose()).unwrap()
}

fn roots(made: &Made, bundle: &str) -> Arc<RootCertStore> {
    let mut store = RootCertStore::empty();
    certificates(made, bundle).into_iter().for_each(|certificate| store.add(certificate).unwrap());
    Arc::new(store)
}

/// A whole handshake in memory: both ends check the other.
fn handshake(
    made: &Made,
    server: &str,
    name: &str,
    server_ca: &str,
    client_ca: &str,
    client: &str,
) -> Result<(), rustls::Error> {
    let checks_clients =
        WebPkiClientVerifier::builder_with_provider(roots(made, client_ca), provider()).build().unwrap();
    let server_config = ServerConfig::builder_with_details(provider(), Arc::new(Then))
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(checks_clients)
        .with_single_cert(certificates(made, server), key(made, server))?;
    let client_config = ClientConfig::builder_with_details(provider(), Arc::new(Then))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots(made, server_ca))
        .with_client_auth_cert(certificates(made, client), key(made, client))?;
    let mut server = ServerConnection::new(Arc::new(server_config))?;
    let mut client =
        ClientConnection::new(Arc::new(client_config), ServerName::try_from(name.to_owned()).unwrap())?;
    while client.is_handshaking() || server.is_handshaking() {
        let mut wire = Vec::new();
        client.write_tls(&mut wire).unwrap();
        server.read_tls(&mut wire.as_slice()).unwrap();
        server.process_new_packets()?;
        let mut wire = Vec::new();
        server.write_tls(&mut wire).unwrap();
        client.read_tls(&mut wire.as_slice()).unwrap();
        client.process_new_packets()?;
    }
    Ok(())
}
