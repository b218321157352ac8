//! A server with all three faces, on a port of its own, for a cluster that is made in memory.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_assets::graph::{Graph, Inputs, Lock, World, plan};
use hardway_assets::ignition::{TokenKey, first_boot_config, host_pointer, pool_config};
use hardway_assets::inventory::{Role, ServerUrl};
use hardway_assets::release_payload::sample;
use hardway_assets::secrets::{SecretBundle, TOKEN_KEY};
use hardway_assets::{Cluster, Tree, example, pki};
use hardway_journal::Journal;
use hardway_machines::ignition_server::faces::{HostFace, HostOffer, HostTable, HostedFace, Pool, PoolFace};
use hardway_machines::ignition_server::hosted_tokens::{HostedTokens, TokenSecret};
use hardway_machines::ignition_server::{
    CertificateFiles, Certificates, ConfigEvent, Faces, Limits, Listen, PreparedConfig, Recorder, Router,
    Server,
};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Secret;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc;

use crate::client::Client;

/// A cluster and everything made for it, once for all tests.
pub(crate) struct Made {
    pub(crate) cluster: Cluster,
    pub(crate) secrets: SecretBundle,
    pub(crate) tree: Tree,
}

pub(crate) static MADE: LazyLock<Made> = LazyLock::new(|| {
    let mut cluster = example::cluster();
    // Real programs check dates against the real clock.
    cluster.identity.created = "2026-01-01T00:00:00Z".parse().unwrap();
    cluster.inventory.ignition_server.url = ServerUrl::parse("https://127.0.0.1").ok();
    let mut secrets = SecretBundle::default();
    secrets.set_identity(&cluster.identity);
    secrets.complete(&pki::catalogue::keys(&cluster)).unwrap();
    let release = sample();
    let graph = Graph::of(&cluster, &release, &Tree::default(), &Lock::default()).unwrap();
    let (empty, lock) = (Tree::default(), Lock::default());
    let inputs = Inputs { cluster: &cluster, release: &release, secrets: &secrets, tree: &empty };
    let plan =
        plan(&graph, &World { inputs, lock: &lock, generator: "test", expiring: &[], undone: &[] }, |_| true)
            .unwrap();
    let mut tree = Tree::default();
    plan.writes.iter().for_each(|file| tree.insert(&file.path, file.bytes.clone()));
    Made { cluster, secrets, tree }
});

impl Made {
    pub(crate) fn file(&self, path: &str) -> &[u8] {
        self.tree.get(path).unwrap_or_else(|| panic!("{path} was not made"))
    }

    pub(crate) fn ca(&self) -> &[u8] {
        self.file(&pki::path("root-ca"))
    }

    pub(crate) fn config(&self, host: &str) -> &[u8] {
        let host = self.cluster.inventory.hosts.iter().find(|each| each.name == host).unwrap();
        self.file(&first_boot_config(&self.cluster, host))
    }

    pub(crate) fn key(&self) -> TokenKey {
        TokenKey::new(self.secrets.get(TOKEN_KEY).unwrap())
    }

    fn table(&self) -> HostTable {
        let state = |name: &str| HostOffer {
            addresses: Vec::new(),
            config: Some(PreparedConfig::new(self.config(name).to_vec())),
            offered: Some(NOW.parse().unwrap()),
            joined: None,
            ended: None,
        };
        let hosts = self.cluster.inventory.hosts.iter();
        hosts.map(|host| (host.name.clone(), state(&host.name))).collect()
    }

    fn pools(&self) -> BTreeMap<String, Pool> {
        let release = sample();
        let (cluster, secrets, tree) = (&self.cluster, &self.secrets, &self.tree);
        let inputs = Inputs { cluster, release: &release, secrets, tree };
        let pool = |role: Role| Pool::new(&pool_config(&inputs, role).unwrap().unwrap(), 4);
        [Role::Master, Role::Worker].into_iter().map(|role| (role.name().to_owned(), pool(role))).collect()
    }
}

pub(crate) const NOW: &str = "2026-11-15T06:00:00Z";
/// Of the example in the facts about HyperShift.
pub(crate) const TOKEN: &str = "550e8400-e29b-41d4-a716-446655440000";
pub(crate) const OLD_TOKEN: &str = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";

/// A running server.
pub(crate) struct Site {
    pub(crate) dir: TempDir,
    pub(crate) server: Server,
    pub(crate) hosts: Arc<HostFace>,
    pub(crate) tokens: Arc<HostedTokens>,
    pub(crate) certificates: Arc<Certificates>,
    pub(crate) events: mpsc::Receiver<ConfigEvent>,
    pub(crate) reached: mpsc::Receiver<String>,
}

impl Site {
    pub(crate) async fn start() -> Self {
        Self::with(Limits::default(), true).await
    }

    /// With other limits; with or without HyperShift's face, which changes what nobody's paths are answered with.
    pub(crate) async fn with(limits: Limits, is_hosted: bool) -> Self {
        let made = &*MADE;
        let dir = tempfile::tempdir().unwrap();
        let files = write_pair(made, &dir);
        let certificates = Certificates::load(vec![files]).unwrap();
        let window = SignedDuration::from_hours(24);
        let hosts = Arc::new(HostFace::new(made.key(), window, false, made.table()));
        let tokens = Arc::new(HostedTokens::default());
        tokens.put(TokenSecret::read(&token_secret("token-demo-a2b27c3f", made.config("worker-0"))).unwrap());
        tokens.complete(&["token-demo-a2b27c3f".to_owned()]);
        let faces = Faces {
            host: Some(hosts.clone()),
            pool: Some(Arc::new(PoolFace::new(made.pools()))),
            hosted: is_hosted.then(|| HostedFace::new(tokens.clone())),
        };
        let (events_sender, events) = mpsc::channel(1000);
        let (reached_sender, reached) = mpsc::channel(10);
        let journal = Journal::open(&dir.path().join("journal.jsonl")).unwrap();
        let clock = Arc::new(|| NOW.parse::<Timestamp>().unwrap());
        let router = Router::new(
            faces,
            Recorder::into_journal(Arc::new(journal)).unwrap(),
            events_sender,
            clock,
            &limits,
        );
        let router = Arc::new(router.telling(reached_sender));
        let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
        let server =
            Server::start(&[loopback], &Listen::Tls(certificates.clone()), limits, router).await.unwrap();
        Self { dir, server, hosts, tokens, certificates, events, reached }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.addresses()[0]
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.address(), MADE.ca())
    }

    pub(crate) fn url(&self) -> ServerUrl {
        ServerUrl { is_https: true, host: "127.0.0.1".to_owned(), port: self.address().port() }
    }

    pub(crate) fn pointer(&self, host: &str) -> Value {
        let made = &*MADE;
        let pointer = host_pointer(&self.url(), host, made.config(host), &made.key(), Some(made.ca()));
        serde_json::from_slice(&pointer).unwrap()
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.dir.path().join("journal.jsonl")
    }
}

/// The server's certificate and key, as files.
pub(crate) fn write_pair(made: &Made, dir: &TempDir) -> CertificateFiles {
    let (certificate, key) = (dir.path().join("tls.crt"), dir.path().join("tls.key"));
    std::fs::write(&certificate, made.file(&pki::path("ignition-server"))).unwrap();
    std::fs::write(&key, made.secrets.get("ignition-server.key").unwrap().expose()).unwrap();
    CertificateFiles { certificate, key, name: None }
}

/// As HyperShift writes it for nodes that are upgraded in place.
pub(crate) fn token_secret(name: &str, config: &[u8]) -> Secret {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(config).unwrap();
    let payload = STANDARD.encode(gzip.finish().unwrap());
    let base64 = |text: &str| STANDARD.encode(text);
    serde_json::from_value(json!({
        "metadata": {"name": name, "annotations": {
            "hypershift.openshift.io/ignition-config": "true",
            "hypershift.openshift.io/nodePool": "clusters/demo",
        }},
        "data": {"token": base64(TOKEN), "old_token": base64(OLD_TOKEN), "payload": base64(&payload)},
    }))
    .unwrap()
}
