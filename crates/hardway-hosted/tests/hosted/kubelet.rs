//! Machines: each fetches its config as its pointer says, asks for certificates as kubelets do, and registers a node. The first certificate
//! it asks for with the very kubeconfig that its pointer brings.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_testing::{node_request, own_kubeconfig, run};
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use k8s_openapi::api::core::v1::Node;
use kube::Client;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::core::Request;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

pub(crate) const BOOTSTRAPPER: &str =
    "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper";
const BOOTSTRAPPER_GROUPS: [&str; 2] =
    ["system:serviceaccounts", "system:serviceaccounts:openshift-machine-config-operator"];

/// All machines of a test.
pub(crate) struct Kubelets {
    client: Client,
    folder: PathBuf,
    watching: Option<JoinHandle<()>>,
    /// Machines that do not boot, by name.
    pub(crate) broken: Arc<Mutex<Vec<String>>>,
}

/// One machine.
struct Kubelet {
    client: Client,
    name: String,
    pointer: PathBuf,
    address: IpAddr,
    fetches: bool,
}

impl Kubelets {
    pub(crate) fn new(client: Client, folder: &Path) -> Self {
        Self { client, folder: folder.to_owned(), watching: None, broken: Arc::default() }
    }

    /// Machines come to life from now on.
    pub(crate) fn live(&mut self, fetches: bool, address: impl Fn(usize) -> IpAddr + Send + 'static) {
        let (client, folder, broken) =
            (self.client.clone(), self.folder.join("machines"), Arc::clone(&self.broken));
        self.watching = Some(tokio::spawn(async move {
            let mut running: BTreeMap<String, (u64, JoinHandle<()>)> = BTreeMap::new();
            loop {
                let mut seen = BTreeMap::new();
                for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                    use std::os::unix::fs::MetadataExt as _;
                    let name = entry.file_name().into_string().unwrap();
                    if let (false, Ok(metadata)) = (name.starts_with('.'), entry.metadata()) {
                        seen.insert(name, metadata.ino());
                    }
                }
                // A machine that was removed is off; one under the same name is another.
                running.retain(|name, (inode, task)| {
                    let is_on = seen.get(name) == Some(inode);
                    if !is_on {
                        task.abort();
                    }
                    is_on
                });
                for (name, inode) in seen {
                    if running.contains_key(&name) || broken.lock().unwrap().contains(&name) {
                        continue;
                    }
                    let number: usize = name.rsplit('-').next().unwrap().parse().unwrap();
                    let kubelet = Kubelet {
                        client: client.clone(),
                        pointer: folder.join(&name),
                        address: address(number),
                        name: name.clone(),
                        fetches,
                    };
                    running.insert(name, (inode, tokio::spawn(async move { kubelet.boot().await })));
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }));
    }
}

impl Drop for Kubelets {
    fn drop(&mut self) {
        if let Some(watching) = &self.watching {
            watching.abort();
        }
    }
}

impl Kubelet {
    async fn boot(self) {
        if self.fetches {
            self.fetch().await;
        }
        let pointer = std::fs::read(&self.pointer).unwrap();
        // Whoever was given none has what everybody has.
        match own_kubeconfig(&pointer) {
            Some(own) => {
                let own = client_of(&own).await;
                let pem = self.request(&[]).await;
                let name = own_request(&own, &pem).await.unwrap();
                self.answered(&own, &name).await;
            }
            None => {
                let name = ask_in_the_name_of(&self.client, &self.name).await;
                self.answered(&self.client, &name).await;
            }
        }
        self.register().await;
        let user = format!("system:node:{}", self.name);
        // Addresses of the loopback network are every host's: no certificate is for them.
        let address = (!self.address.is_loopback()).then(|| format!("IP:{}", self.address));
        let names: Vec<String> = [format!("DNS:{}", self.name)].into_iter().chain(address).collect();
        self.certificate("kubernetes.io/kubelet-serving", "server auth", &user, &["system:nodes"], &names)
            .await;
        self.report_ready().await;
    }

    /// As Ignition does: whatever is 5xx, or no answer at all, is tried again.
    async fn fetch(&self) {
        let pointer: Value = serde_json::from_slice(&std::fs::read(&self.pointer).unwrap()).unwrap();
        let hostname = pointer["storage"]["files"][0]["contents"]["source"].as_str().unwrap();
        assert_eq!(hostname, format!("data:,{}%0A", self.name));
        let merge = &pointer["ignition"]["config"]["merge"][0];
        let authority =
            pointer["ignition"]["security"]["tls"]["certificateAuthorities"][0]["source"].as_str().unwrap();
        let authority = STANDARD.decode(authority.split_once(";base64,").unwrap().1).unwrap();
        let file = self.pointer.with_file_name(format!(".ca-{}", self.name));
        std::fs::write(&file, authority).unwrap();
        loop {
            let mut curl = Command::new("curl");
            curl.args([
                "--silent",
                "--max-time",
                "10",
                "--output",
                "/dev/null",
                "--write-out",
                "%{http_code}",
                "--interface",
            ]);
            curl.arg(self.address.to_string()).arg("--cacert").arg(&file);
            for header in merge["httpHeaders"].as_array().unwrap() {
                curl.arg("--header").arg(format!(
                    "{}: {}",
                    header["name"].as_str().unwrap(),
                    header["value"].as_str().unwrap()
                ));
            }
            curl.arg(merge["source"].as_str().unwrap());
            let (_, code) = tokio::task::spawn_blocking(move || run(&mut curl)).await.unwrap();
            match code.as_str() {
                "200" => return,
                "000" => {}
                code => assert!(code.starts_with('5'), "{}: {code} ends the boot", self.name),
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Asks until it has one. A kubelet that was told no asks again with another key.
    async fn certificate(&self, signer: &str, usage: &str, user: &str, groups: &[&str], names: &[String]) {
        let pem = self.request(names).await;
        let name = asked(&self.client, &pem, (signer, usage), (user, groups)).await;
        self.answered(&self.client, &name).await;
    }

    async fn answered(&self, client: &Client, name: &str) {
        let api = Api::<CertificateSigningRequest>::all(client.clone());
        loop {
            let status = api.get(name).await.unwrap().status.unwrap_or_default();
            if status.certificate.is_some_and(|certificate| !certificate.0.is_empty()) {
                return;
            }
            let denied = status
                .conditions
                .unwrap_or_default()
                .into_iter()
                .find(|condition| condition.type_ == "Denied");
            assert!(denied.is_none(), "{}: {denied:?}", self.name);
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    }

    async fn request(&self, names: &[String]) -> String {
        let (name, names) = (self.name.clone(), names.join(","));
        tokio::task::spawn_blocking(move || node_request(&name, &names)).await.unwrap()
    }

    async fn register(&self) {
        let node = json!({
            "metadata": {"name": self.name, "labels": {"kubernetes.io/hostname": self.name, "node-role.kubernetes.io/worker": ""}},
            "status": {"addresses": [{"type": "InternalIP", "address": self.address}, {"type": "Hostname", "address": self.name}],
                "conditions": [{"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "CNI not initialized",
                    "lastTransitionTime": jiff::Timestamp::now().to_string()}]},
        });
        let node: Node = serde_json::from_value(node).unwrap();
        Api::all(self.client.clone()).create(&PostParams::default(), &node).await.unwrap();
    }

    async fn report_ready(&self) {
        set_ready(&self.client, &self.name, "True").await;
    }
}

/// Somebody with the identity that all workers share asks for the first certificate of a node. The request's name.
pub(crate) async fn ask_in_the_name_of(client: &Client, node: &str) -> String {
    let node = node.to_owned();
    let pem = tokio::task::spawn_blocking(move || node_request(&node, "")).await.unwrap();
    let what = ("kubernetes.io/kube-apiserver-client-kubelet", "client auth");
    asked(client, &pem, what, (BOOTSTRAPPER, &BOOTSTRAPPER_GROUPS)).await
}

/// Somebody with a kubeconfig that is a machine's own does, as whoever that makes them. The request's name, if it is taken.
pub(crate) async fn ask_with(kubeconfig: &str, node: &str) -> kube::Result<String> {
    let node = node.to_owned();
    let pem = tokio::task::spawn_blocking(move || node_request(&node, "")).await.unwrap();
    own_request(&client_of(kubeconfig).await, &pem).await
}

/// Whoever has this kubeconfig.
pub(crate) async fn client_of(kubeconfig: &str) -> Client {
    let config = kube::config::Kubeconfig::from_yaml(kubeconfig).unwrap();
    let config = kube::Config::from_custom_kubeconfig(config, &Default::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

async fn own_request(client: &Client, pem: &str) -> kube::Result<String> {
    let object = request_object(pem, ("kubernetes.io/kube-apiserver-client-kubelet", "client auth"));
    let object = serde_json::from_value(object).unwrap();
    let made =
        Api::<CertificateSigningRequest>::all(client.clone()).create(&PostParams::default(), &object).await?;
    Ok(made.metadata.name.unwrap())
}

fn request_object(pem: &str, (signer, usage): (&str, &str)) -> Value {
    json!({
        "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"generateName": "csr-"},
        "spec": {"signerName": signer, "request": STANDARD.encode(pem), "usages": ["digital signature", usage]},
    })
}

async fn asked(client: &Client, pem: &str, what: (&str, &str), (user, groups): (&str, &[&str])) -> String {
    let object = request_object(pem, what);
    let create = Request::new("/apis/certificates.k8s.io/v1/certificatesigningrequests");
    let mut create = create.create(&PostParams::default(), object.to_string().into_bytes()).unwrap();
    create.headers_mut().insert("impersonate-user", user.parse().unwrap());
    for group in groups {
        create.headers_mut().append("impersonate-group", group.parse().unwrap());
    }
    let made: CertificateSigningRequest = client.request(create).await.unwrap();
    made.metadata.name.unwrap()
}

/// What a kubelet says about itself.
pub(crate) async fn set_ready(client: &Client, name: &str, status: &str) {
    let now = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second()).unwrap();
    let patch = json!({"status": {"conditions": [{"type": "Ready", "status": status, "reason": "Kubelet", "message": "as the test says",
        "lastTransitionTime": now.to_string()}]}});
    let nodes: Api<Node> = Api::all(client.clone());
    nodes.patch_status(name, &PatchParams::default(), &Patch::Strategic(patch)).await.unwrap();
}
