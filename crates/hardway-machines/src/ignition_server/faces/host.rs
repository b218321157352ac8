//! `/ignition/<host>`: a host of the inventory gets its own config for its own token.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};

use hardway_assets::ignition::TokenKey;
use http::StatusCode;
use http::header::ALLOW;
use jiff::{SignedDuration, Timestamp};

use crate::ignition_server::{Answer, ConfigDecision, ConfigRequest, PreparedConfig, Redemption};

/// What is known about each host of the inventory, by name.
pub type HostTable = BTreeMap<String, HostOffer>;

/// One host.
#[derive(Clone, Debug, Default)]
pub struct HostOffer {
    /// Its addresses in the inventory.
    pub addresses: Vec<IpAddr>,
    /// Its config; not there until it is made.
    pub config: Option<PreparedConfig>,
    /// Since when this very config is on offer.
    pub offered: Option<Timestamp>,
    /// When its node last joined the cluster.
    pub joined: Option<Timestamp>,
    /// When its part was last over without a node of it: bootstrapping was complete, or its machine was taken away.
    pub ended: Option<Timestamp>,
}

/// The face.
#[derive(Debug)]
pub struct HostFace {
    key: TokenKey,
    /// How long a config can be fetched after it was first offered.
    window: SignedDuration,
    /// Whether a host must ask from one of its own addresses.
    only_from_own_address: bool,
    table: RwLock<Arc<HostTable>>,
}

impl HostFace {
    /// For the hosts of a table.
    pub fn new(key: TokenKey, window: SignedDuration, only_from_own_address: bool, table: HostTable) -> Self {
        Self { key, window, only_from_own_address, table: RwLock::new(Arc::new(table)) }
    }

    /// Takes note of new configs and nodes that joined.
    pub fn replace(&self, table: HostTable) {
        *self.table.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(table);
    }

    /// The hosts as they are now.
    pub fn table(&self) -> Arc<HostTable> {
        self.table.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Nobody without a token of a host learns anything about it, so the token is checked first.
    pub fn decide(&self, asked: &ConfigRequest<'_>, host: &str, now: Timestamp) -> ConfigDecision {
        if !asked.is_read() {
            let answer =
                Answer::text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD").with(ALLOW, "GET, HEAD");
            return ConfigDecision::refuse_as(answer, format!("{} instead of GET", asked.method));
        }
        let (Some(token), Some(digest)) = (asked.bearer(), asked.digest()) else {
            return unauthorized("token or generation missing");
        };
        if !self.key.accepts(token, host, &digest) {
            return unauthorized(&format!("the token is not the one of {host} for generation {digest}"));
        }
        let table = self.table();
        let Some(state) = table.get(host) else {
            // Its token is good, so it was or will be there: a host that was just added must not die of it.
            let reason = format!("{host} is not in the inventory");
            return ConfigDecision::refuse_as(Answer::later(&reason), reason);
        };
        let Some(config) = &state.config else {
            let reason = format!("the config of {host} is not made yet");
            return ConfigDecision::refuse_as(Answer::later(&reason), reason);
        };
        if *config.digest() != digest {
            return ConfigDecision::refuse(
                StatusCode::CONFLICT,
                format!(
                    "this pointer is of generation {digest}, the config of {host} is of generation {}: boot the host \
                     from a pointer that was made with it",
                    config.digest()
                ),
            );
        }
        if let Some(reason) = self.over(state, host, now) {
            return ConfigDecision::refuse(StatusCode::GONE, reason);
        }
        if self.only_from_own_address && !state.addresses.contains(&asked.source) {
            let reason = format!(
                "{} is not an address of {host} in the inventory: somebody else is asking, or the inventory is wrong",
                asked.source
            );
            return ConfigDecision::refuse(StatusCode::FORBIDDEN, reason);
        }
        ConfigDecision::Serve {
            config: config.clone(),
            content_type: "application/vnd.coreos.ignition+json; version=3",
            redemption: Redemption::Host {
                host: host.to_owned(),
                digest: digest.to_string(),
                source: asked.source,
            },
        }
    }

    /// Why a token that was good is so no longer. A node that joined ends what was on offer before; a config that was
    /// made after that is for the machine's next life.
    fn over(&self, state: &HostOffer, host: &str, now: Timestamp) -> Option<String> {
        let offered = state.offered.unwrap_or(now);
        if let Some(joined) = state.joined.filter(|joined| *joined >= offered) {
            return Some(format!("{host} joined the cluster at {joined}: its token is no longer valid"));
        }
        if let Some(ended) = state.ended.filter(|ended| *ended >= offered) {
            return Some(format!(
                "the token of {host} ended at {ended}, when bootstrapping was complete or its machine was removed"
            ));
        }
        let window = self.window;
        let is_over = now.duration_since(offered) > window;
        is_over.then(|| {
            format!("{host} could fetch its config for {window:#} from {offered}; that time is over; serve with a longer \
             --window")
        })
    }
}

fn unauthorized(reason: &str) -> ConfigDecision {
    ConfigDecision::refuse_as(Answer::text(StatusCode::UNAUTHORIZED, "Unauthorized"), reason)
}

#[cfg(test)]
mod tests {
    use hardway_assets::ignition::ConfigDigest;
    use hardway_base::Secret;
    use http::{HeaderMap, HeaderValue, Method};

    use super::*;

    const START: &str = "2026-11-15T06:00:00Z";

    fn face(only_from_own_address: bool) -> HostFace {
        let ready = HostOffer {
            addresses: vec!["10.0.0.5".parse().unwrap()],
            config: Some(PreparedConfig::new("{\"new\":1}")),
            offered: Some(START.parse().unwrap()),
            joined: None,
            ended: None,
        };
        let joined = HostOffer { joined: Some("2026-11-15T06:10:00Z".parse().unwrap()), ..ready.clone() };
        let retired = HostOffer { ended: Some("2026-11-15T06:20:00Z".parse().unwrap()), ..ready.clone() };
        let remade = HostOffer { ended: Some("2026-11-15T05:00:00Z".parse().unwrap()), ..ready.clone() };
        let again = HostOffer { joined: Some("2026-11-15T05:00:00Z".parse().unwrap()), ..ready.clone() };
        let table = BTreeMap::from([
            ("a".to_owned(), ready),
            ("joined".to_owned(), joined),
            ("again".to_owned(), again),
            ("retired".to_owned(), retired),
            ("remade".to_owned(), remade),
            ("unmade".to_owned(), HostOffer::default()),
        ]);
        HostFace::new(key(), SignedDuration::from_hours(24), only_from_own_address, table)
    }

    fn key() -> TokenKey {
        TokenKey::new(&Secret::new("k"))
    }

    struct Try<'a> {
        host: &'a str,
        token_of: &'a str,
        config: &'a str,
        now: &'a str,
        source: &'a str,
        method: Method,
    }

    const GOOD: Try<'static> = Try {
        host: "a",
        token_of: "a",
        config: "{\"new\":1}",
        now: "2026-11-15T06:30:00Z",
        source: "10.0.0.5",
        method: Method::GET,
    };

    fn status(face: &HostFace, t: &Try<'_>) -> (u16, String) {
        let digest = ConfigDigest::of(t.config.as_bytes());
        let token = key().token(t.token_of, &digest);
        let mut headers = HeaderMap::new();
        let value = HeaderValue::from_str(&format!("Bearer {}", token.expose_text())).unwrap();
        headers.insert("authorization", value);
        headers.insert("hardway-generation", HeaderValue::from_str(digest.as_str()).unwrap());
        let asked = ConfigRequest {
            method: &t.method,
            path: "/",
            headers: &headers,
            source: t.source.parse().unwrap(),
        };
        match face.decide(&asked, t.host, t.now.parse().unwrap()) {
            ConfigDecision::Refuse { answer, reason } => (answer.status.as_u16(), reason),
            ConfigDecision::Serve { redemption, .. } => (200, redemption.who().to_owned()),
        }
    }

    #[test]
    fn every_reason_has_its_status() {
        let face = face(false);
        let of = |t: Try<'_>| status(&face, &t).0;
        assert_eq!(of(GOOD), 200);
        assert_eq!(of(Try { method: Method::HEAD, ..GOOD }), 200);
        assert_eq!(of(Try { method: Method::POST, ..GOOD }), 405);
        assert_eq!(of(Try { token_of: "b", ..GOOD }), 401);
        assert_eq!(of(Try { host: "gone", ..GOOD }), 401);
        assert_eq!(of(Try { host: "gone", token_of: "gone", ..GOOD }), 503);
        assert_eq!(of(Try { host: "unmade", token_of: "unmade", ..GOOD }), 503);
        assert_eq!(of(Try { host: "joined", token_of: "joined", ..GOOD }), 410);
        assert_eq!(of(Try { host: "again", token_of: "again", ..GOOD }), 200);
        assert_eq!(of(Try { host: "retired", token_of: "retired", ..GOOD }), 410);
        assert_eq!(of(Try { host: "remade", token_of: "remade", ..GOOD }), 200);
        assert_eq!(of(Try { now: "2026-11-16T05:59:59Z", ..GOOD }), 200);
        assert_eq!(of(Try { now: "2026-11-16T06:00:01Z", ..GOOD }), 410);
        assert_eq!(of(Try { source: "10.0.0.6", ..GOOD }), 200);
    }

    #[test]
    fn another_generation_is_named_beside_ours() {
        let (code, reason) = status(&face(false), &Try { config: "{\"old\":1}", ..GOOD });
        assert_eq!(code, 409);
        for config in ["{\"old\":1}", "{\"new\":1}"] {
            assert!(reason.contains(ConfigDigest::of(config.as_bytes()).as_str()), "{reason}");
        }
    }

    #[test]
    fn a_host_can_be_held_to_its_address() {
        let face = face(true);
        assert_eq!(status(&face, &GOOD).0, 200);
        assert_eq!(status(&face, &Try { source: "10.0.0.6", ..GOOD }).0, 403);
    }

    #[test]
    fn without_a_token_nothing_is_told() {
        let headers = HeaderMap::new();
        for host in ["a", "unmade", "unknown"] {
            let asked = ConfigRequest {
                method: &Method::GET,
                path: "/",
                headers: &headers,
                source: "10.0.0.5".parse().unwrap(),
            };
            match face(false).decide(&asked, host, START.parse().unwrap()) {
                ConfigDecision::Refuse { answer, .. } => {
                    assert_eq!((answer.status.as_u16(), &answer.body[..]), (401, &b"Unauthorized\n"[..]))
                }
                ConfigDecision::Serve { .. } => panic!("{host}"),
            }
        }
    }
}
