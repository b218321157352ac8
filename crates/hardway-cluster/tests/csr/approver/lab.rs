//! A cluster with an approver, and machines that ask.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use hardway_cluster::approver::{Approver, ApproverError, News, Summary};
use hardway_cluster::csr_policy::{CLIENT_SIGNER, PolicySettings, SERVING_SIGNER};
use hardway_cluster::declared::{Declared, DeclaredNode, HostIdentity};
use hardway_cluster::kubeconfig::connect;
use hardway_cluster::leader_election::Standing;
use hardway_journal::{Entry, FILE_NAME, Fact, Journal, Record};
use hardway_testing::{ControlPlane, until_found};
use jiff::Timestamp;
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, PostParams};
use kube::{Client, core::Request};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::csr::support::key::TestKey;
use crate::csr::support::pkcs10::{Pkcs10Draft, dns, ip};
use crate::csr::support::request::{BOOTSTRAPPER, BOOTSTRAPPER_GROUPS, HOST_GROUPS};

/// A control plane and the working folder of its cluster.
pub(crate) struct Lab {
    pub(crate) plane: Mutex<ControlPlane>,
    pub(crate) client: Client,
    pub(crate) folder: TempDir,
    pub(crate) declared: Declared,
}

/// An approver that runs.
pub(crate) struct Running {
    stop: Option<oneshot::Sender<()>>,
    pub(crate) task: JoinHandle<Result<Summary, ApproverError>>,
    /// What it told, in words.
    pub(crate) told: Arc<Mutex<Vec<String>>>,
}

impl Lab {
    /// With nodes n-0, n-1, … declared, at 10.20.x.y, each with an identity of its own, and a controller manager that signs.
    pub(crate) async fn start(nodes: usize) -> Self {
        let plane = tokio::task::spawn_blocking(|| {
            let mut plane = ControlPlane::start();
            plane.start_controller_manager();
            plane
        });
        let plane = plane.await.unwrap();
        let client = connect(Some(&plane.kubeconfig())).await.unwrap();
        let nodes = (0..nodes).map(|n| DeclaredNode {
            name: name(n),
            host: name(n),
            role: None,
            addresses: vec![address(n).parse().unwrap()],
            identity: Some(HostIdentity { user: user(n, 1), since: None, in_place: false }),
        });
        let declared = Declared {
            domain: "lab.example.com".into(),
            nodes: nodes.collect(),
            service_networks: vec!["10.0.0.0/24".parse().unwrap()],
            ..Declared::default()
        };
        Self { plane: Mutex::new(plane), client, folder: tempfile::tempdir().unwrap(), declared }
    }

    /// An approver of that name, with an administrator's rights.
    pub(crate) fn approver(&self, identity: &str) -> (Approver, Arc<Mutex<Vec<String>>>) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let listener = Arc::clone(&told);
        let approver = Approver {
            client: self.client.clone(),
            folder: self.folder.path().to_owned(),
            fetches: None,
            declared: self.declared.clone(),
            settings: PolicySettings::default(),
            identity: identity.to_owned(),
            standing: Standing::Principal,
            dry_run: false,
            now: Arc::new(Timestamp::now),
            tell: Arc::new(move |news: News<'_>| listener.lock().unwrap().push(in_words(news))),
        };
        (approver, told)
    }

    /// The same, running.
    pub(crate) fn run(&self, identity: &str) -> Running {
        let (approver, told) = self.approver(identity);
        Running::start(approver, told)
    }

    /// All of them boot from a stock pointer.
    pub(crate) fn boot_from_stock_pointers(&mut self) {
        self.declared.nodes.iter_mut().for_each(|node| node.identity = None);
    }

    /// A first client request for a node, as its host makes it.
    pub(crate) async fn ask_client(&self, n: usize, key: &TestKey) -> String {
        self.ask_client_as(n, key, &user(n, 1), &HOST_GROUPS).await
    }

    /// The same by anybody: with the identity that machines from a stock pointer share.
    pub(crate) async fn ask_shared(&self, n: usize, key: &TestKey) -> String {
        self.ask_client_as(n, key, BOOTSTRAPPER, &BOOTSTRAPPER_GROUPS).await
    }

    /// The same by whomever.
    pub(crate) async fn ask_client_as(&self, n: usize, key: &TestKey, user: &str, groups: &[&str]) -> String {
        let pem = Pkcs10Draft::of_node(&name(n), Vec::new()).to_pem(key, key);
        self.ask(&pem, CLIENT_SIGNER, "client auth", user, groups).await
    }

    /// A serving request of a node, made as that node.
    pub(crate) async fn ask_serving(&self, n: usize, key: &TestKey) -> String {
        self.ask_serving_as(n, key, &[dns(&name(n)), ip(&address(n))]).await
    }

    /// A serving request of a node for whatever names.
    pub(crate) async fn ask_serving_as(&self, n: usize, key: &TestKey, names: &[Vec<u8>]) -> String {
        let pem = Pkcs10Draft::of_node(&name(n), names.to_vec()).to_pem(key, key);
        let user = format!("system:node:{}", name(n));
        self.ask(&pem, SERVING_SIGNER, "server auth", &user, &["system:nodes", "system:authenticated"]).await
    }

    /// A host's request for its node, under a name of its own choice.
    pub(crate) async fn ask_client_called(&self, n: usize, key: &TestKey, called: &str) -> String {
        let pem = Pkcs10Draft::of_node(&name(n), Vec::new()).to_pem(key, key);
        let metadata = json!({"name": called});
        self.create(metadata, &pem, CLIENT_SIGNER, "client auth", &user(n, 1), &HOST_GROUPS).await
    }

    /// Asks as whomever: the API server writes down who it was.
    pub(crate) async fn ask(
        &self,
        pem: &str,
        signer: &str,
        usage: &str,
        user: &str,
        groups: &[&str],
    ) -> String {
        self.create(json!({"generateName": "csr-"}), pem, signer, usage, user, groups).await
    }

    async fn create(
        &self,
        metadata: Value,
        pem: &str,
        signer: &str,
        usage: &str,
        user: &str,
        groups: &[&str],
    ) -> String {
        use base64::Engine as _;
        let request = base64::engine::general_purpose::STANDARD.encode(pem);
        let object = json!({
            "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
            "metadata": metadata,
            "spec": {"signerName": signer, "request": request, "usages": ["digital signature", usage]},
        });
        let create = Request::new("/apis/certificates.k8s.io/v1/certificatesigningrequests");
        let mut create = create.create(&PostParams::default(), object.to_string().into_bytes()).unwrap();
        create.headers_mut().insert("impersonate-user", user.parse().unwrap());
        for group in groups.iter().filter(|group| **group != "system:authenticated") {
            create.headers_mut().append("impersonate-group", group.parse().unwrap());
        }
        let made: CertificateSigningRequest = self.client.request(create).await.unwrap();
        made.metadata.name.unwrap()
    }

    /// A Node object, as its kubelet would register it.
    pub(crate) async fn register(&self, n: usize) {
        let node = json!({
            "metadata": {"name": name(n)},
            "status": {"addresses": [{"type": "InternalIP", "address": address(n)}, {"type": "Hostname", "address": name(n)}]},
        });
        let node: Node = serde_json::from_value(node).unwrap();
        Api::all(self.client.clone()).create(&PostParams::default(), &node).await.unwrap();
    }

    pub(crate) fn requests(&self) -> Api<CertificateSigningRequest> {
        Api::all(self.client.clone())
    }

    /// `Approved`, `Denied` or nothing, and why.
    pub(crate) async fn state(&self, request: &str) -> (String, String) {
        let object = self.requests().get(request).await.unwrap();
        let condition = object.status.and_then(|status| status.conditions).unwrap_or_default().pop();
        condition.map(|one| (one.type_, one.reason.unwrap_or_default())).unwrap_or_default()
    }

    /// Waits until a request is decided.
    pub(crate) async fn until_decided(&self, request: &str) -> (String, String) {
        until_found(&format!("a decision about {request}"), async || {
            let state = self.state(request).await;
            (!state.0.is_empty()).then_some(state)
        })
        .await
    }

    /// Waits until a request has its certificate.
    pub(crate) async fn until_issued(&self, request: &str) {
        until_found(&format!("the certificate of {request}"), async || {
            let object = self.requests().get(request).await.unwrap();
            object.status.and_then(|status| status.certificate).filter(|text| !text.0.is_empty()).map(|_| ())
        })
        .await;
    }

    pub(crate) fn journal(&self) -> Vec<Record> {
        hardway_journal::read(&self.folder.path().join(FILE_NAME)).unwrap()
    }

    /// The facts of one kind in the journal.
    pub(crate) fn facts<F: Fact>(&self) -> Vec<F> {
        self.journal().iter().filter_map(Record::fact::<F>).map(Result::unwrap).collect()
    }

    pub(crate) fn write<F: Fact>(&self, fact: &F) {
        let journal = Journal::open(&self.folder.path().join(FILE_NAME)).unwrap();
        journal.append(&[Entry::of(Timestamp::now(), fact)]).unwrap();
    }

    /// The lines of the approver's log.
    pub(crate) fn log(&self) -> Vec<Value> {
        let path: PathBuf = self.folder.path().join(hardway_assets::work_paths::APPROVAL_LOG);
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Running {
    pub(crate) fn start(approver: Approver, told: Arc<Mutex<Vec<String>>>) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            let stopped = async {
                let _ = stopped.await;
            };
            approver.watch(stopped).await
        });
        Self { stop: Some(stop), task, told }
    }

    /// Ends as on SIGTERM.
    pub(crate) async fn stop(mut self) -> Summary {
        drop(self.stop.take());
        self.task.await.unwrap().unwrap()
    }

    /// Ends as on SIGKILL: whatever it was about to do is not done, and the lease stays.
    pub(crate) async fn kill(self) {
        self.task.abort();
        let _ = self.task.await;
    }

    /// How many decisions it told.
    pub(crate) fn decided(&self) -> usize {
        let told = self.told.lock().unwrap();
        told.iter()
            .filter(|line| ["approve ", "deny ", "hold "].iter().any(|word| line.starts_with(word)))
            .count()
    }

    /// Waits until it told something.
    pub(crate) async fn until_told(&self, words: &str) {
        until_found(words, async || {
            self.told.lock().unwrap().iter().any(|line| line.contains(words)).then_some(())
        })
        .await;
    }
}

pub(crate) fn name(n: usize) -> String {
    format!("n-{n}.lab.example.com")
}

/// Who the host of a node is in a generation.
pub(crate) fn user(n: usize, generation: u32) -> String {
    format!("hardway:host:{}:{generation}", name(n))
}

pub(crate) fn address(n: usize) -> String {
    format!("10.20.{}.{}", n / 200, n % 200 + 1)
}

fn in_words(news: News<'_>) -> String {
    match news {
        News::Decided(outcome) => {
            format!("{} {}: {}", outcome.decided.verdict, outcome.decided.request, outcome.decided.reason)
        }
        News::Leading => "leading".to_owned(),
        News::Following(holder) => format!("following {holder}"),
        News::Joined(host) => format!("joined {host}"),
        News::Trouble(what) => format!("trouble: {what}"),
    }
}
