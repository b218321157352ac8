//! HyperShift's token Secrets: which token opens which payload.
//!
//! Facts: openshift/hypershift `hypershift-operator/controllers/nodepool/token.go` and
//! `ignition-server/controllers/tokensecret_controller.go`. A payload lies in the Secret only where nodes are upgraded in
//! place; for the others there is nothing to serve from.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use sha2::{Digest as _, Sha256};

use super::PreparedConfig;

/// On a token Secret: marks it as one; only its presence counts.
pub const IGNITION_CONFIG: &str = "hypershift.openshift.io/ignition-config";
/// On a token Secret: set to `True` when a worker has fetched its config.
pub const IGNITION_REACHED: &str = "hypershift.openshift.io/ignition-reached";
/// On a token Secret whose config is outdated: until when it can be used.
pub const TOKEN_EXPIRES: &str = "hypershift.openshift.io/ignition-token-expiration-timestamp";
/// On both Secrets of a NodePool: `<namespace>/<name>`. The only right way to find them: the names of two pools can share a
/// prefix.
pub const NODE_POOL: &str = "hypershift.openshift.io/nodePool";
/// No config is near this; a payload that unpacks to more is no config.
pub(super) const LARGEST_PAYLOAD: u64 = 32 << 20;

/// A token Secret as far as it matters here.
#[derive(Clone, Debug)]
pub struct TokenSecret {
    /// Its name.
    pub name: String,
    /// `<namespace>/<name>`.
    pub node_pool: String,
    /// What it opens.
    pub payload: Payload,
    /// Whether it is already marked.
    pub is_reached: bool,
    expires: Expires,
    tokens: Vec<Digest>,
}

/// What a token opens.
#[derive(Clone, Debug)]
pub enum Payload {
    /// Not made yet, or not kept in the Secret.
    Absent,
    /// There, but no config.
    Invalid,
    /// A config.
    Ready(PreparedConfig),
}

#[derive(Clone, Copy, Debug)]
enum Expires {
    Never,
    At(Timestamp),
    /// A date that cannot be read counts as past, as in the other server.
    Long,
}

/// Tokens are kept as hashes: what is compared then says nothing about the token, however long it takes.
type Digest = [u8; 32];

impl TokenSecret {
    /// Reads a Secret; `None` when it is another kind of Secret.
    pub fn read(secret: &Secret) -> Option<Self> {
        let annotations = secret.metadata.annotations.as_ref()?;
        annotations.get(IGNITION_CONFIG)?;
        let data = |key: &str| secret.data.as_ref().and_then(|data| data.get(key)).map(|bytes| &bytes.0[..]);
        let tokens = ["token", "old_token"];
        Some(Self {
            name: secret.metadata.name.clone()?,
            node_pool: annotations.get(NODE_POOL).cloned().unwrap_or_default(),
            payload: data("payload").filter(|bytes| !bytes.is_empty()).map_or(Payload::Absent, payload),
            is_reached: annotations.get(IGNITION_REACHED).is_some_and(|value| value == "True"),
            expires: match annotations.get(TOKEN_EXPIRES) {
                None => Expires::Never,
                Some(text) => text.parse().map_or(Expires::Long, Expires::At),
            },
            tokens: tokens
                .into_iter()
                .filter_map(data)
                .filter(|token| !token.is_empty())
                .map(digest)
                .collect(),
        })
    }

    fn is_expired(&self, now: Timestamp) -> bool {
        match self.expires {
            Expires::Never => false,
            Expires::At(time) => time <= now,
            Expires::Long => true,
        }
    }
}

/// base64 of gzip of JSON, inside what the API already had in base64.
fn payload(bytes: &[u8]) -> Payload {
    let unpack = || {
        let packed = STANDARD.decode(bytes.trim_ascii()).ok()?;
        let mut config = Vec::new();
        let mut reader = flate2::read::GzDecoder::new(&packed[..]).take(LARGEST_PAYLOAD + 1);
        reader.read_to_end(&mut config).ok()?;
        let is_config = config.len() as u64 <= LARGEST_PAYLOAD
            && serde_json::from_slice::<serde_json::Value>(&config).is_ok_and(|value| value.is_object());
        is_config.then_some(config)
    };
    unpack().map_or(Payload::Invalid, |config| Payload::Ready(PreparedConfig::new(config)))
}

fn digest(token: &[u8]) -> Digest {
    Sha256::digest(token).into()
}

/// All token Secrets of a namespace, by token.
#[derive(Debug, Default)]
pub struct HostedTokens(RwLock<Index>);

#[derive(Debug, Default)]
struct Index {
    is_complete: bool,
    secrets: BTreeMap<String, Arc<TokenSecret>>,
    by_token: BTreeMap<Digest, Arc<TokenSecret>>,
}

impl HostedTokens {
    /// Takes a Secret as it is now in place of what it was.
    pub fn put(&self, secret: TokenSecret) {
        let mut index = self.write();
        index.forget(&secret.name);
        let secret = Arc::new(secret);
        for token in &secret.tokens {
            index.by_token.insert(*token, secret.clone());
        }
        index.secrets.insert(secret.name.clone(), secret);
    }

    /// Its tokens open nothing any more.
    pub fn remove(&self, name: &str) {
        self.write().forget(name);
    }

    /// Keeps these only; from now on what is not known does not exist.
    pub fn complete(&self, names: &[String]) {
        let mut index = self.write();
        let gone: Vec<String> = index.secrets.keys().filter(|name| !names.contains(name)).cloned().collect();
        gone.iter().for_each(|name| index.forget(name));
        index.is_complete = true;
    }

    /// Whether all Secrets have been seen once.
    pub fn is_complete(&self) -> bool {
        self.read().is_complete
    }

    /// How many Secrets there are.
    pub fn len(&self) -> usize {
        self.read().secrets.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The Secret of a token that is good now.
    pub fn find(&self, token: &[u8], now: Timestamp) -> Option<Arc<TokenSecret>> {
        let found = self.read().by_token.get(&digest(token)).cloned();
        found.filter(|secret| !token.is_empty() && !secret.is_expired(now))
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Index> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Index> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Index {
    fn forget(&mut self, name: &str) {
        self.secrets.remove(name);
        self.by_token.retain(|_, secret| secret.name != name);
    }
}
