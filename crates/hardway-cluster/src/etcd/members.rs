//! Asking etcd who is in it.
//!
//! etcd's own word comes first before its last copy on another machine is switched off: the operator's condition says that
//! a removal was done once, the list says what is now. Where no member can be reached from here, its operator's list of
//! endpoints stands in (`MemberList::Inferred`). The client certificate lies in the working
//! folder, signed by the signer that the etcd operator took over. etcd answers JSON over HTTPS on its client port
//! (etcd-io/etcd `api/etcdserverpb/gw`: POST /v3/cluster/member/list), so no gRPC client is needed.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hardway_base::Secret;
use hardway_base::pem;
use kube::config::AuthInfo;
use kube::{Client, Config};
use serde::{Deserialize, Serialize};

use crate::kubeconfig::without_retries;

/// One member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Empty until it has started once.
    pub name: String,
    /// Has no vote yet.
    pub is_learner: bool,
    /// Answered for itself just now.
    pub is_healthy: bool,
    /// Where it takes requests.
    pub client_urls: Vec<String>,
}

/// How etcd is reached.
#[derive(Clone, Debug)]
pub struct EtcdAccess {
    /// Of the masters, in the order they are tried.
    pub addresses: Vec<IpAddr>,
    /// etcd's client port.
    pub port: u16,
    /// PEM of the signers to trust.
    pub trust: String,
    /// PEM of the client certificate.
    pub certificate: String,
    /// PEM of its key.
    pub key: Secret,
    /// For one answer.
    pub patience: Duration,
}

/// No etcd member told.
#[derive(Debug, thiserror::Error)]
pub enum MembersError {
    /// The certificates in the working folder cannot be used.
    #[error("the etcd client certificate cannot be used: {0}")]
    Certificate(String),
    /// Nobody answered; one sentence each.
    #[error("no etcd member answered: {}", .0.join("; "))]
    Nobody(Vec<String>),
    /// No master is known.
    #[error("no address of a master is known")]
    NoAddress,
    /// There is nothing to ask with.
    #[error("there is no etcd client certificate in the working folder")]
    NoCertificate,
    /// Whoever looks has not asked.
    #[error("it has not been asked yet")]
    NotAsked,
}

impl EtcdAccess {
    /// Of each member, in the order they are tried.
    pub(super) fn urls(&self) -> impl Iterator<Item = String> {
        self.addresses.iter().map(|address| format!("https://{}", SocketAddr::new(*address, self.port)))
    }
}

impl Member {
    /// Of whom nothing is known but that it is there.
    pub(super) fn unnamed() -> Self {
        Self { name: String::new(), is_learner: false, is_healthy: false, client_urls: Vec::new() }
    }

    /// For people.
    pub fn shown(&self) -> String {
        match self.name.as_str() {
            "" => format!("a member that has not started ({})", self.client_urls.join(", ")),
            name => name.to_owned(),
        }
    }
}

/// The members, each asked for its health. The first address that answers tells the list.
pub async fn ask_members(access: &EtcdAccess) -> Result<Vec<Member>, MembersError> {
    if access.addresses.is_empty() {
        return Err(MembersError::NoAddress);
    }
    let mut refusals = Vec::new();
    for url in access.urls() {
        match list(access, &url).await {
            Ok(listed) => return Ok(with_health(access, listed).await),
            Err(MembersError::Nobody(why)) => refusals.extend(why),
            Err(error) => return Err(error),
        }
    }
    Err(MembersError::Nobody(refusals))
}

#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    members: Vec<ListedMember>,
}

/// Proto3 JSON leaves out what is empty or false.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedMember {
    /// A number of 64 bits, as text: that is how JSON carries them here.
    #[serde(rename = "ID")]
    pub(super) id: String,
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    is_learner: bool,
    #[serde(default, rename = "clientURLs")]
    pub(super) client_urls: Vec<String>,
}

impl ListedMember {
    pub(super) async fn with_health(self, access: &EtcdAccess) -> Member {
        let mut is_healthy = false;
        for url in &self.client_urls {
            is_healthy = is_healthy || is_well(access, url).await;
        }
        let Self { name, is_learner, client_urls, .. } = self;
        Member { name, is_learner, is_healthy, client_urls }
    }
}

#[derive(Deserialize)]
struct Health {
    health: Option<String>,
}

pub(super) async fn list(access: &EtcdAccess, url: &str) -> Result<Vec<ListedMember>, MembersError> {
    // A linearizable read: it succeeds only with a quorum, so that a cut-off member cannot tell an old list.
    let request = http::Request::post("/v3/cluster/member/list").body(br#"{"linearizable": true}"#.to_vec());
    let text = ask(access, url, request).await?;
    let listed: Listed =
        serde_json::from_str(&text).map_err(|error| MembersError::Nobody(vec![format!("{url}: {error}")]))?;
    Ok(listed.members)
}

async fn with_health(access: &EtcdAccess, listed: Vec<ListedMember>) -> Vec<Member> {
    let mut members = Vec::new();
    for member in listed {
        members.push(member.with_health(access).await);
    }
    members
}

async fn is_well(access: &EtcdAccess, url: &str) -> bool {
    let answer = ask(access, url, http::Request::get("/health").body(Vec::new())).await;
    let health = answer.ok().and_then(|text| serde_json::from_str::<Health>(&text).ok());
    health.is_some_and(|health| health.health.as_deref() == Some("true"))
}

/// One request on a connection of its own; kube's client is an HTTPS client like any other.
pub(super) async fn ask(
    access: &EtcdAccess,
    url: &str,
    request: http::Result<http::Request<Vec<u8>>>,
) -> Result<String, MembersError> {
    let nobody = |error: &dyn std::fmt::Display| MembersError::Nobody(vec![format!("{url}: {error}")]);
    let request = request.map_err(|error| nobody(&error))?;
    let client = client(access, url)?;
    match tokio::time::timeout(access.patience, client.request_text(request)).await {
        Err(_) => Err(nobody(&format!("no answer within {} s", access.patience.as_secs()))),
        Ok(Err(error)) => Err(nobody(&crate::api_error::sentence(&error))),
        Ok(Ok(text)) => Ok(text),
    }
}

pub(super) fn client(access: &EtcdAccess, url: &str) -> Result<Client, MembersError> {
    let unusable = |error: &dyn std::fmt::Display| MembersError::Certificate(error.to_string());
    let uri: http::Uri = url.parse().map_err(|error| unusable(&error))?;
    let trust = pem::decode(&access.trust).map_err(|error| unusable(&error))?;
    let mut config = Config::new(uri);
    config.root_cert = Some(trust.into_iter().map(|block| block.der).collect());
    config.connect_timeout = Some(access.patience);
    config.auth_info = identity(&access.certificate, &access.key);
    // Without a leader etcd says 503: that is an answer.
    without_retries(&config).map_err(|error| unusable(&error))
}

/// kube takes both as base64 of PEM, as kubeconfigs have them.
fn identity(certificate: &str, key: &Secret) -> AuthInfo {
    use base64::Engine as _;
    let encode = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes);
    AuthInfo {
        client_certificate_data: Some(encode(certificate.as_bytes())),
        client_key_data: Some(encode(key.expose()).into()),
        ..AuthInfo::default()
    }
}
