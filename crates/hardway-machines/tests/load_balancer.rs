//! A real HAProxy with the generated configuration, in a network of its own, before servers that answer like API
//! servers.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use hardway_assets::host_services::{BalancedPort, Haproxy, InstallStage, haproxy};
use hardway_assets::{Cluster, Phase};
use hardway_machines::load_balancer::{
    BalancedServer, LoadBalancerError, ServerState, changes, servers, table, take_out,
};
use hardway_testing::{Running, inside, self_signed_leaf, until};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned};

const PATIENCE: Duration = Duration::from_secs(120);
const VIP: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 10));

/// All hosts on loopback.
fn cluster() -> Cluster {
    let mut cluster = hardway_assets::example::cluster();
    cluster.inventory.network.api_vip = vec![VIP];
    cluster.inventory.network.ingress_vip = vec![IpAddr::from([127, 0, 0, 11])];
    for host in &mut cluster.inventory.hosts {
        if let IpAddr::V4(ip) = host.ip[0] {
            host.ip = vec![IpAddr::from([127, 0, 0, ip.octets()[3]])];
        }
    }
    cluster
}

/// HAProxy, its members, and whom to trust.
struct Site {
    _haproxy: Running,
    socket: PathBuf,
    client: Arc<ClientConfig>,
    /// What each answers to /readyz.
    ready: Vec<(String, Arc<AtomicU16>)>,
    _folder: tempfile::TempDir,
}

impl Site {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (certificate, key) = certificate(folder.path());
        let cluster = cluster();
        let mut ready = Vec::new();
        for host in &cluster.inventory.hosts {
            let status = Arc::new(AtomicU16::new(200));
            serve(&host.name, (host.ip[0], 6443).into(), &certificate, &key, status.clone());
            ready.push((host.name.clone(), status));
        }
        let socket = folder.path().join("admin.sock");
        let files = Haproxy {
            socket: socket.display().to_string(),
            pid_file: folder.path().join("pid").display().to_string(),
            binds_early: false,
        };
        let path = folder.path().join("haproxy.cfg");
        fs_err::write(&path, haproxy(&BalancedPort::all(&cluster, InstallStage::Bootstrapping), &files))
            .unwrap();
        let mut command = Command::new("haproxy");
        command.arg("-db").arg("-f").arg(&path);
        let haproxy = Running::start(command);
        let mut roots = RootCertStore::empty();
        roots.add(certificate).unwrap();
        let client = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let site = Self { _haproxy: haproxy, socket, client: Arc::new(client), ready, _folder: folder };
        until("HAProxy answers", || servers(&site.socket).is_ok());
        site
    }

    /// What a host answers from now on.
    fn answers(&self, host: &str, status: u16) {
        self.ready.iter().find(|(name, _)| name == host).unwrap().1.store(status, Ordering::Relaxed);
    }

    fn server(&self, service: &str, host: &str) -> BalancedServer {
        let all = servers(&self.socket).unwrap();
        all.into_iter().find(|server| server.service == service && server.name == host).unwrap()
    }

    fn is_well(&self, host: &str) -> bool {
        self.server("api", host).is_well
    }

    /// A connection through HAProxy, and who is at its other end.
    fn connect(&self) -> Option<(Connection, String)> {
        let name = "localhost".try_into().unwrap();
        let client = ClientConnection::new(self.client.clone(), name).unwrap();
        let socket = TcpStream::connect((VIP, 6443)).ok()?;
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut connection = StreamOwned::new(client, socket);
        let who = ask(&mut connection)?;
        Some((connection, who))
    }

    /// Who answers a few new connections.
    fn who_answers(&self) -> BTreeSet<String> {
        (0..12).filter_map(|_| self.connect()).map(|(_, who)| who).collect()
    }
}

type Connection = StreamOwned<ClientConnection, TcpStream>;

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}

/// Another request on the same connection; none when it has ended.
fn ask(connection: &mut Connection) -> Option<String> {
    connection.write_all(b"GET /who HTTP/1.1\r\nHost: api\r\n\r\n").ok()?;
    let mut answer = vec![0; 1000];
    let length = connection.read(&mut answer).ok().filter(|length| *length > 0)?;
    let answer = String::from_utf8(answer[..length].to_vec()).unwrap();
    answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned())
}

/// Self-signed.
fn certificate(folder: &Path) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
    let (certificate, key) = self_signed_leaf(folder, "tls", "DNS:localhost");
    (CertificateDer::from_pem_file(certificate).unwrap(), PrivateKeyDer::from_pem_file(key).unwrap())
}

/// Listens, whatever it answers to /readyz; to anything else it says its name, as often as it is asked.
fn serve(
    name: &str,
    address: std::net::SocketAddr,
    certificate: &CertificateDer<'static>,
    key: &PrivateKeyDer<'static>,
    ready: Arc<AtomicU16>,
) {
    let config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key.clone_key())
        .unwrap();
    let (config, listener, name) =
        (Arc::new(config), TcpListener::bind(address).unwrap(), Arc::new(name.to_owned()));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (config, name, ready) = (config.clone(), name.clone(), ready.clone());
            std::thread::spawn(move || {
                let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
                let mut asked = vec![0; 1000];
                while let Ok(length) = stream.read(&mut asked)
                    && length > 0
                {
                    let is_check = asked.starts_with(b"GET /readyz");
                    let status = if is_check { ready.load(Ordering::Relaxed) } else { 200 };
                    let answer =
                        format!("HTTP/1.1 {status} It\r\nContent-Length: {}\r\n\r\n{name}", name.len());
                    if stream.write_all(answer.as_bytes()).is_err() {
                        break;
                    }
                }
            });
        }
    });
}

const MASTERS: [&str; 3] = ["master-0", "master-1", "master-2"];

fn named(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_server_that_listens_and_is_not_ready_leaves_the_pool() {
    if !inside() {
        return;
    }
    let site = Site::start();
    until("all are well", || MASTERS.iter().all(|host| site.is_well(host)));
    assert_eq!(site.who_answers(), named(&MASTERS), "the bootstrap host only answers when no master does");
    site.answers("master-1", 500);
    until("master-1 is out", || !site.is_well("master-1"));
    assert_eq!(site.server("api", "master-1").state, ServerState::Ready, "nobody told it to leave");
    assert_eq!(site.who_answers(), named(&["master-0", "master-2"]));
    site.answers("master-1", 200);
    until("master-1 is back", || site.is_well("master-1"));
    assert_eq!(site.who_answers(), named(&MASTERS));
}

#[test]
fn the_bootstrap_host_leaves_and_nobody_at_a_master_notices() {
    if !inside() {
        return;
    }
    let site = Site::start();
    MASTERS.iter().for_each(|host| site.answers(host, 500));
    until("no master is well", || MASTERS.iter().all(|host| !site.is_well(host)));
    until("the bootstrap host is well", || site.is_well("bootstrap"));
    let (mut at_bootstrap, who) = site.connect().unwrap();
    assert_eq!(who, "bootstrap");
    MASTERS.iter().for_each(|host| site.answers(host, 200));
    until("all masters are well", || MASTERS.iter().all(|host| site.is_well(host)));
    let mut at_masters: Vec<(Connection, String)> = (0..9).map(|_| site.connect().unwrap()).collect();
    assert_eq!(ask(&mut at_bootstrap).as_deref(), Some("bootstrap"), "nobody is thrown out before the time");

    take_out(&site.socket, "bootstrap").unwrap();
    for service in ["api", "machine-config-server"] {
        let server = site.server(service, "bootstrap");
        assert_eq!((server.state, server.is_well), (ServerState::Maintenance, false), "{service}");
    }
    for (connection, who) in &mut at_masters {
        assert_eq!(ask(connection).as_ref(), Some(&*who), "a connection to a master was dropped");
    }
    assert_eq!(ask(&mut at_bootstrap), None, "its clients turn to the masters");
    assert_eq!(site.who_answers(), named(&MASTERS));

    take_out(&site.socket, "bootstrap").unwrap();
    take_out(&site.socket, "nobody").unwrap();
    assert_eq!(site.who_answers(), named(&MASTERS));
    let unreachable = take_out(Path::new("/nowhere/admin.sock"), "bootstrap").unwrap_err();
    assert!(matches!(unreachable, LoadBalancerError::Unreachable { .. }), "{unreachable}");
}

#[test]
fn somebody_elses_load_balancer_is_told_in_a_table() {
    let changes = changes(&hardway_assets::example::cluster());
    let text = table(&changes);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), 1 + 4 + 2, "{text}");
    assert!(
        text.contains("https GET :6443/readyz = 200") && text.contains("only 192.168.126.0/24"),
        "{text}"
    );
    let later: Vec<_> = changes.iter().filter(|change| change.before == Phase::RemoveBootstrap).collect();
    assert_eq!(later.iter().map(|change| change.port).collect::<Vec<_>>(), [6443, 22623]);
    assert!(later.iter().all(|change| change.members.iter().all(|member| !member.contains("bootstrap"))));
    assert!(changes[0].members[0].starts_with("bootstrap=192.168.126.100"), "{:?}", changes[0].members);
}
