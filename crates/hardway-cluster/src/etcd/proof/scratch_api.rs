//! A kube-apiserver on a restored etcd, for as long as this lives.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use hardway_base::{error_sentence, files, hex, pem};
use kube::config::AuthInfo;
use kube::{Client, Config};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::programs::{Scratch, last_words};
use super::scratch_etcd::ScratchEtcd;
use crate::kubeconfig::without_retries;

/// So long may it take until it answers.
const PATIENCE: Duration = Duration::from_secs(120);

/// Lists names and versions, and no content.
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// Nobody but the holder of a token that was drawn for it may ask it.
pub(super) struct ScratchApi {
    client: Client,
    _server: Scratch,
}

/// One object, as it is given.
pub(super) struct Object {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) revision: u64,
}

/// Everything that is given.
#[derive(Default)]
pub(super) struct Given {
    pub(super) objects: Vec<Object>,
    pub(super) unlisted: BTreeMap<String, String>,
}

/// Why it does not run.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// What it needs cannot be made.
    #[error("the files for kube-apiserver cannot be created")]
    Io(#[from] std::io::Error),
    /// It does not come up.
    #[error("kube-apiserver does not start on the restored etcd: {0}")]
    Silent(String),
    /// It does not say what it has.
    #[error("kube-apiserver does not list its kinds: {0}")]
    Discovery(String),
}

impl ScratchApi {
    pub(super) async fn start(
        program: &Path,
        etcd: &ScratchEtcd,
        prefix: &str,
        folder: &Path,
    ) -> Result<Self, ApiError> {
        let silent = |why: &str| ApiError::Silent(why.to_owned());
        let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new())
            .map_err(|_| silent("no key can be generated"))?;
        let public = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, key.as_ref())
            .ok()
            .and_then(|pair| AsDer::<PublicKeyX509Der<'_>>::as_der(pair.public_key()).ok())
            .ok_or_else(|| silent("no key can be generated"))?;
        let mut token = [0; 32];
        aws_lc_rs::rand::fill(&mut token).map_err(|_| silent("no token can be generated"))?;
        let token = hex::encode(token);
        let [accounts, verifier, tokens, egress, certificates, log] = [
            "accounts.key",
            "accounts.pub",
            "tokens.csv",
            "egress.json",
            "certificates",
            "kube-apiserver.log",
        ]
        .map(|name| folder.join(name));
        let write = |path: &Path, text: String| files::replace(path, 0o600, text.as_bytes());
        write(&accounts, pem::encode("PRIVATE KEY", key.as_ref()))?;
        write(&verifier, pem::encode("PUBLIC KEY", public.as_ref()))?;
        write(&tokens, format!("{token},proof,proof,system:masters\n"))?;
        write(&egress, to_nobody(folder).to_string())?;
        // It is let go before the server takes it; should somebody else get it first, the server ends and says so.
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let path = |path: &Path| path.display().to_string();
        let flags = [
            format!("--etcd-servers={}", etcd.url()),
            format!("--etcd-prefix={prefix}"),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={port}"),
            format!("--cert-dir={}", path(&certificates)),
            format!("--token-auth-file={}", path(&tokens)),
            "--anonymous-auth=false".to_owned(),
            "--authorization-mode=AlwaysAllow".to_owned(),
            "--service-account-issuer=https://proof.invalid".to_owned(),
            format!("--service-account-key-file={}", path(&verifier)),
            format!("--service-account-signing-key-file={}", path(&accounts)),
            format!("--egress-selector-config-file={}", path(&egress)),
            // It is to read, and to leave alone as much as can be.
            "--endpoint-reconciler-type=none".to_owned(),
            "--enable-priority-and-fairness=false".to_owned(),
            "--watch-cache=false".to_owned(),
        ];
        let server = Scratch::start(program, &flags, &log)?;
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(client) = client(port, &token, &certificates.join("apiserver.crt"))
                && client.request_text(get("/readyz")).await.is_ok()
            {
                return Ok(Self { client, _server: server });
            }
            if Instant::now() > until {
                return Err(ApiError::Silent(last_words(&log)));
            }
            sleep(Duration::from_millis(200)).await;
        }
    }

    /// Every object of every kind that it lists.
    pub(super) async fn objects(&self) -> Result<Given, ApiError> {
        let mut given = Given::default();
        for version in self.versions().await? {
            let kinds: Value = match self.client.request(get(&version)).await {
                Ok(kinds) => kinds,
                Err(error) => {
                    given.unlisted.insert(version, error_sentence(&error));
                    continue;
                }
            };
            for kind in kinds["resources"].as_array().into_iter().flatten() {
                let name = kind["name"].as_str().unwrap_or_default();
                let can_list =
                    kind["verbs"].as_array().is_some_and(|verbs| verbs.iter().any(|verb| verb == "list"));
                if !can_list || name.contains('/') {
                    continue;
                }
                let path = format!("{version}/{name}");
                if let Err(error) = self.list(&path, &mut given.objects).await {
                    given.unlisted.insert(path, error_sentence(&error));
                }
            }
        }
        Ok(given)
    }

    /// Paths of every version of every group that counts.
    async fn versions(&self) -> Result<Vec<String>, ApiError> {
        let groups: Value = self
            .client
            .request(get("/apis"))
            .await
            .map_err(|error| ApiError::Discovery(error_sentence(&error)))?;
        let preferred =
            |group: &Value| group["preferredVersion"]["groupVersion"].as_str().map(|v| format!("/apis/{v}"));
        let groups = groups["groups"].as_array().into_iter().flatten().filter_map(preferred);
        Ok(["/api/v1".to_owned()].into_iter().chain(groups).collect())
    }

    async fn list(&self, path: &str, objects: &mut Vec<Object>) -> kube::Result<()> {
        let mut next = String::new();
        loop {
            let uri = format!("{path}?limit=500&continue={next}");
            let mut request = get(&uri);
            request.headers_mut().insert(http::header::ACCEPT, http::HeaderValue::from_static(METADATA));
            let page: Page = self.client.request(request).await?;
            objects.extend(page.items.into_iter().map(|item| Object {
                namespace: item.metadata.namespace,
                name: item.metadata.name,
                revision: item.metadata.resource_version.parse().unwrap_or(0),
            }));
            match page.metadata.next {
                Some(more) if !more.is_empty() => next = more,
                _ => return Ok(()),
            }
        }
    }
}

#[derive(Deserialize)]
struct Page {
    metadata: PageMetadata,
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct PageMetadata {
    #[serde(rename = "continue")]
    next: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    metadata: ItemMetadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct ItemMetadata {
    namespace: String,
    name: String,
    resource_version: String,
}

/// Webhooks and API servers that the backup names are somebody's, and may well be running: an API server on a copy must not ask them. Whatever
/// it would ask goes through a proxy that is not there (kubernetes `apiserver/pkg/server/egressselector`).
fn to_nobody(folder: &Path) -> Value {
    let nobody = folder.join("nobody.sock").display().to_string();
    let connection = json!({"proxyProtocol": "HTTPConnect", "transport": {"uds": {"udsName": nobody}}});
    let selections = ["cluster", "controlplane"].map(|name| json!({"name": name, "connection": connection}));
    json!({"apiVersion": "apiserver.k8s.io/v1beta1", "kind": "EgressSelectorConfiguration", "egressSelections": selections})
}

fn get(path: &str) -> http::Request<Vec<u8>> {
    let mut request = http::Request::new(Vec::new());
    *request.uri_mut() = path.parse().unwrap_or_default();
    request
}

/// None until it has written its certificate. Only whoever has that is asked.
fn client(port: u16, token: &str, certificate: &Path) -> Option<Client> {
    let text = fs_err::read_to_string(certificate).ok()?;
    let mut config = Config::new(format!("https://127.0.0.1:{port}").parse().ok()?);
    config.root_cert = Some(pem::decode(&text).ok()?.into_iter().map(|block| block.der).collect());
    config.auth_info = AuthInfo { token: Some(token.to_owned().into()), ..AuthInfo::default() };
    // What other API servers serve is out of reach for good: asking for it again for minutes brings nothing.
    without_retries(&config).ok()
}
