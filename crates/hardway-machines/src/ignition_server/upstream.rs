//! A caching proxy in front of HyperShift's own ignition-server, for configs that are not kept in token Secrets.
//!
//! Tokens are known from the Secrets, as everywhere; what a Secret does not hold is fetched once from the server behind, with the Secret's own
//! token, and kept as long as the Secret is there. So nobody who has no good token reaches the server behind, a thousand machines
//! cost it one request, and it may restart meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::{AsyncReadExt as _, StreamExt as _};
use hardway_base::{error_sentence, pem};
use http::Request;
use k8s_openapi::api::core::v1::Secret;
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client, Config};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::PreparedConfig;
use super::hosted_tokens::{HostedTokens, LARGEST_PAYLOAD, Payload, TokenSecret};

/// The server behind.
#[derive(Clone)]
pub struct Upstream {
    client: Client,
}

/// Why there can be no such server.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamError {
    /// No host and port.
    #[error("{0:?} is not HOST:PORT")]
    Address(String),
    /// No certificate.
    #[error("the upstream server's CA file contains no PEM certificate")]
    Authority,
    /// See the source.
    #[error("cannot reach the upstream server")]
    Client(#[source] Box<kube::Error>),
}

/// The first and the longest pause between two tries.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

impl Upstream {
    /// By host and port, and who signed its certificate, in PEM: the hosted control plane's root-ca.
    ///
    /// # Errors
    /// When the address or the certificate cannot be used.
    pub fn new(address: &str, authority: &str) -> Result<Self, UpstreamError> {
        let url =
            format!("https://{address}").parse().map_err(|_| UpstreamError::Address(address.to_owned()))?;
        let mut config = Config::new(url);
        let blocks = pem::decode(authority)
            .ok()
            .filter(|blocks| !blocks.is_empty())
            .ok_or(UpstreamError::Authority)?;
        config.root_cert = Some(blocks.into_iter().map(|block| block.der).collect());
        config.connect_timeout = Some(Duration::from_secs(5));
        // Longer than its proxy waits.
        config.read_timeout = Some(Duration::from_secs(35));
        Ok(Self { client: Client::try_from(config).map_err(|error| UpstreamError::Client(Box::new(error)))? })
    }

    async fn fetch(&self, token: &hardway_base::Secret) -> Result<PreparedConfig, FetchError> {
        let bearer = format!("Bearer {}", STANDARD.encode(token.expose()));
        let request = Request::get("/ignition").header("authorization", bearer).body(Vec::new());
        let answer = self.client.request_stream(request?).await?;
        let mut bytes = Vec::new();
        answer.take(LARGEST_PAYLOAD + 1).read_to_end(&mut bytes).await?;
        if bytes.len() as u64 > LARGEST_PAYLOAD {
            return Err(FetchError::TooLarge);
        }
        let is_config = serde_json::from_slice::<serde_json::Value>(&bytes)
            .is_ok_and(|config| config["ignition"].is_object());
        if is_config { Ok(PreparedConfig::new(bytes)) } else { Err(FetchError::NotAConfig) }
    }
}

/// A Secret by its name and its uid: another one under the same name is another.
type Which = (String, Option<String>);
/// What a Secret lacked.
type Fetched = (Which, Result<PreparedConfig, FetchError>);

/// Why there is no config for it.
#[derive(Debug, thiserror::Error)]
enum FetchError {
    #[error("{}", error_sentence(.0))]
    Client(Box<kube::Error>),
    #[error("its answer is not a config")]
    NotAConfig,
    #[error("{0}")]
    Request(#[from] http::Error),
    #[error("{0}")]
    Read(#[from] std::io::Error),
    #[error("it answers {0}")]
    Status(u16),
    #[error("its answer is larger than {LARGEST_PAYLOAD} bytes")]
    TooLarge,
}

impl From<kube::Error> for FetchError {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => Self::Status(status.code),
            error => Self::Client(Box::new(error)),
        }
    }
}

/// Keeps tokens current as [`super::token_watch::watch`] does, and fetches what their Secrets lack.
pub async fn watch(
    client: Client,
    namespace: &str,
    tokens: Arc<HostedTokens>,
    upstream: Upstream,
    trouble: impl Fn(&str),
) {
    let api: Api<Secret> = Api::namespaced(client, namespace);
    let mut events = std::pin::pin!(watcher::watcher(api, watcher::Config::default()));
    let mut proxy = Proxy::new(tokens, upstream);
    let mut pause = FIRST_PAUSE;
    // An arm of its own: what was fetched is taken in while the API server is left alone.
    let mut pausing = std::pin::pin!(tokio::time::sleep(Duration::ZERO));
    let mut is_pausing = false;
    loop {
        tokio::select! {
            event = events.next(), if !is_pausing => match event {
                Some(Ok(event)) => {
                    proxy.apply(event);
                    pause = FIRST_PAUSE;
                }
                Some(Err(error)) => {
                    trouble(&error_sentence(&error));
                    pausing.as_mut().reset(Instant::now() + pause);
                    is_pausing = true;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                None => return,
            },
            () = pausing.as_mut(), if is_pausing => is_pausing = false,
            Some(Ok((which, fetched))) = proxy.fetching.join_next(), if !proxy.fetching.is_empty() => {
                if let Err(why) = &fetched {
                    trouble(&format!("the config of Secret {}: upstream server: {why}", which.0));
                }
                proxy.take_in(&which, fetched.ok());
            }
        }
    }
}

struct Proxy {
    tokens: Arc<HostedTokens>,
    upstream: Upstream,
    /// Secrets without a config of their own, by name: as they are, and what was fetched for them.
    kept: BTreeMap<String, Kept>,
    fetching: JoinSet<Fetched>,
    /// For whom: one at a time for each Secret, however often it changes.
    under_way: BTreeSet<Which>,
    names: Vec<String>,
}

struct Kept {
    uid: Option<String>,
    secret: TokenSecret,
    token: hardway_base::Secret,
    config: Option<PreparedConfig>,
    tries: u32,
}

impl Proxy {
    fn new(tokens: Arc<HostedTokens>, upstream: Upstream) -> Self {
        Self {
            tokens,
            upstream,
            kept: BTreeMap::new(),
            fetching: JoinSet::new(),
            under_way: BTreeSet::new(),
            names: Vec::new(),
        }
    }

    /// Between `Init` and `InitDone` the whole namespace is told again; what is not told is gone.
    fn apply(&mut self, event: Event<Secret>) {
        match event {
            Event::Init => self.names.clear(),
            Event::InitApply(secret) => {
                self.names.extend(secret.metadata.name.clone());
                self.put(&secret);
            }
            Event::InitDone => {
                let names = std::mem::take(&mut self.names);
                self.kept.retain(|name, _| names.contains(name));
                self.tokens.complete(&names);
            }
            Event::Apply(secret) => self.put(&secret),
            Event::Delete(secret) => {
                let name = secret.metadata.name.unwrap_or_default();
                self.kept.remove(&name);
                self.tokens.remove(&name);
            }
        }
    }

    fn put(&mut self, object: &Secret) {
        let name = object.metadata.name.clone().unwrap_or_default();
        let Some(mut secret) = TokenSecret::read(object) else {
            self.kept.remove(&name);
            return self.tokens.remove(&name);
        };
        let token =
            object.data.as_ref().and_then(|data| data.get("token")).filter(|token| !token.0.is_empty());
        let (Payload::Absent, Some(token)) = (&secret.payload, token) else {
            self.kept.remove(&name);
            return self.tokens.put(secret);
        };
        let uid = object.metadata.uid.clone();
        let known = self.kept.remove(&name).filter(|known| known.uid == uid);
        let (config, tries) = known.map_or((None, 0), |known| (known.config, known.tries));
        if let Some(config) = &config {
            secret.payload = Payload::Ready(config.clone());
        }
        self.tokens.put(secret.clone());
        let is_known = config.is_some();
        let kept = Kept { uid, secret, token: hardway_base::Secret::new(token.0.clone()), config, tries };
        self.kept.insert(name.clone(), kept);
        if !is_known {
            self.fetch(&name);
        }
    }

    /// What came is given out from now on; what did not is asked for again, later and later, as long as its Secret is there.
    fn take_in(&mut self, which: &Which, fetched: Option<PreparedConfig>) {
        self.under_way.remove(which);
        let (name, uid) = which;
        let lacking = self.kept.get_mut(name).filter(|kept| kept.uid == *uid && kept.config.is_none());
        let Some(kept) = lacking else { return };
        match fetched {
            Some(config) => {
                kept.secret.payload = Payload::Ready(config.clone());
                kept.config = Some(config);
                self.tokens.put(kept.secret.clone());
            }
            None => {
                kept.tries += 1;
                self.fetch(name);
            }
        }
    }

    fn fetch(&mut self, name: &str) {
        let Some(kept) = self.kept.get(name) else { return };
        let which = (name.to_owned(), kept.uid.clone());
        if !self.under_way.insert(which.clone()) {
            return;
        }
        let (upstream, token) = (self.upstream.clone(), kept.token.clone());
        let pause = if kept.tries == 0 {
            Duration::ZERO
        } else {
            Duration::from_millis(500 << kept.tries.min(6)).min(LONGEST_PAUSE)
        };
        self.fetching.spawn(async move {
            tokio::time::sleep(pause).await;
            let fetched = upstream.fetch(&token).await;
            (which, fetched)
        });
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;

    /// In front of a server that is not there.
    fn proxy() -> Proxy {
        let config = Config::new("http://127.0.0.1:9".parse().unwrap());
        Proxy::new(Arc::default(), Upstream { client: Client::try_from(config).unwrap() })
    }

    fn secret(uid: &str) -> Secret {
        serde_json::from_value(json!({
            "metadata": {"name": "token", "uid": uid, "annotations": {super::super::hosted_tokens::IGNITION_CONFIG: "true"}},
            "data": {"token": STANDARD.encode("t0ken")},
        }))
        .unwrap()
    }

    #[tokio::test]
    async fn a_config_that_has_no_end_is_none() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut [0; 4096]).await;
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 200 OK\r\n\r\n").await;
            while tokio::io::AsyncWriteExt::write_all(&mut stream, &[b' '; 1 << 16]).await.is_ok() {}
        });
        let config = Config::new(format!("http://{address}").parse().unwrap());
        let upstream = Upstream { client: Client::try_from(config).unwrap() };
        let fetched = upstream.fetch(&hardway_base::Secret::new("t0ken")).await;
        assert_eq!(fetched.unwrap_err().to_string(), "its answer is larger than 33554432 bytes");
    }

    fn which(uid: &str) -> Which {
        ("token".to_owned(), Some(uid.to_owned()))
    }

    fn opens(proxy: &Proxy) -> bool {
        let found = proxy.tokens.find(b"t0ken", Timestamp::UNIX_EPOCH);
        found.is_some_and(|secret| matches!(secret.payload, Payload::Ready(_)))
    }

    #[tokio::test]
    async fn a_secret_that_changes_often_is_fetched_for_once() {
        let mut proxy = proxy();
        for _ in 0..5 {
            proxy.apply(Event::Apply(secret("1")));
        }
        assert_eq!(proxy.fetching.len(), 1);
        let (which, fetched) = proxy.fetching.join_next().await.unwrap().unwrap();
        assert!(fetched.is_err());
        proxy.take_in(&which, None);
        proxy.apply(Event::Apply(secret("1")));
        assert_eq!(proxy.fetching.len(), 1, "the second try, and no other");
        assert_eq!(proxy.kept["token"].tries, 1);
    }

    #[tokio::test]
    async fn what_was_fetched_for_another_of_the_same_name_is_not_taken() {
        let mut proxy = proxy();
        proxy.apply(Event::Apply(secret("1")));
        proxy.apply(Event::Delete(secret("1")));
        proxy.apply(Event::Apply(secret("2")));
        assert_eq!(proxy.fetching.len(), 2);
        let config = PreparedConfig::new("{}");
        proxy.take_in(&which("1"), Some(config.clone()));
        assert!(!opens(&proxy));
        proxy.take_in(&which("1"), None);
        assert_eq!(proxy.fetching.len(), 2, "nor is it fetched again");
        proxy.take_in(&which("2"), Some(config));
        assert!(opens(&proxy));
    }
}
