//! The token Secret of a pool's config: how old its token is, how long a copy of it can still be used, and what a keeper of
//! such Secrets does next.
//!
//! Facts: openshift/hypershift `hypershift-operator/controllers/nodepool/token.go`,
//! `ignition-server/controllers/tokensecret_controller.go`. A token is drawn anew after half its life; the one before stays good
//! until the next is drawn. So a copy lives at least for the rest of a whole life, as long as the keeper keeps time.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_base::Secret;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1;

use crate::names;

/// A token's whole life.
pub const LIFE: SignedDuration = SignedDuration::from_hours(11);
/// Drawn anew at this age.
pub const ROTATION: SignedDuration = SignedDuration::from_mins(330);

/// A token Secret as far as it matters here.
#[derive(Clone, Debug)]
pub struct TokenSecret {
    /// Its name.
    pub name: String,
    /// `<namespace>/<name>` of its pool.
    pub node_pool: String,
    /// Which config it is for.
    pub config_hash: String,
    /// The current token.
    pub token: Option<Secret>,
    /// The one before, still good.
    pub old_token: Option<Secret>,
    /// When the current one was drawn.
    pub generated: Moment,
    /// Set when the config is outdated.
    pub expires: Moment,
    /// Whether its nodes are upgraded in place: only then the config is kept in the Secret.
    pub is_in_place: bool,
    /// The config as it is kept: base64 of gzip.
    pub payload: Option<Vec<u8>>,
    /// `AsExpected`, `InvalidConfig`, `CloudConfigPending`; none before the first try.
    pub reason: Option<String>,
    /// What the ignition-server says about it.
    pub message: Option<String>,
    /// Of the config.
    pub release_version: Option<String>,
    /// A worker has fetched it.
    pub is_reached: bool,
}

/// A moment that somebody wrote down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Nobody did.
    Absent,
    /// Then.
    At(Timestamp),
    /// Something that is no time.
    Unreadable,
}

/// What a keeper of token Secrets does next with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeeperStep {
    /// Remove it: its time is over.
    Remove,
    /// Draw a new token.
    Rotate,
    /// Look again then.
    WaitUntil(Timestamp),
    /// A person has to look: when the token was drawn cannot be read.
    Unreadable,
}

impl TokenSecret {
    /// Reads a Secret; `None` when it is another kind of Secret.
    pub fn read(secret: &v1::Secret) -> Option<Self> {
        let annotations = secret.metadata.annotations.as_ref()?;
        annotations.get(names::IGNITION_CONFIG)?;
        let name = secret.metadata.name.clone()?;
        let node_pool = annotations.get(names::NODE_POOL).cloned().unwrap_or_default();
        let data = |key: &str| {
            let found = secret.data.as_ref().and_then(|data| data.get(key)).map(|bytes| bytes.0.clone());
            found.filter(|bytes| !bytes.is_empty())
        };
        let text = |key: &str| data(key).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let moment = |key: &str| annotations.get(key).map_or(Moment::Absent, |text| Moment::read(text));
        let pool = node_pool.split_once('/').map_or(node_pool.as_str(), |(_, pool)| pool);
        let config_hash = name.strip_prefix(&format!("token-{pool}-")).unwrap_or_default().to_owned();
        Some(Self {
            config_hash,
            token: data("token").map(Secret::new),
            old_token: data("old_token").map(Secret::new),
            generated: moment(names::TOKEN_GENERATED),
            expires: moment(names::TOKEN_EXPIRES),
            is_in_place: annotations.get(names::UPGRADE_TYPE).is_some_and(|kind| kind == "InPlace"),
            payload: data("payload"),
            reason: text("reason"),
            message: text("message"),
            release_version: text("release-version"),
            is_reached: annotations.get(names::IGNITION_REACHED).is_some_and(|value| value == "True"),
            node_pool,
            name,
        })
    }

    /// Until when a copy that is made now can surely be used; `None` when nobody can tell.
    pub fn copy_is_good_until(&self) -> Option<Timestamp> {
        let by_age = match self.generated {
            Moment::At(generated) => generated.checked_add(LIFE).ok(),
            Moment::Absent | Moment::Unreadable => None,
        }?;
        match self.expires {
            Moment::Absent => Some(by_age),
            Moment::At(expires) => Some(by_age.min(expires)),
            Moment::Unreadable => None,
        }
    }

    /// Whether anybody is let in with it.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        match self.expires {
            Moment::Absent => false,
            Moment::At(expires) => expires <= now,
            // As in the other server.
            Moment::Unreadable => true,
        }
    }

    /// Whether this is one of its tokens.
    pub fn has_token(&self, token: &[u8]) -> bool {
        let is = |own: &Option<Secret>| own.as_ref().is_some_and(|own| same(own.expose(), token));
        !token.is_empty() && (is(&self.token) || is(&self.old_token))
    }

    /// What a bearer of the current token says.
    pub fn bearer(&self) -> Option<Secret> {
        let token = self.token.as_ref()?;
        Some(Secret::new(format!("Bearer {}", STANDARD.encode(token.expose()))))
    }

    /// What its keeper does next. In a cluster with HyperShift's own ignition-server that is the keeper, and nobody else.
    pub fn keeper_step(&self, now: Timestamp) -> KeeperStep {
        if self.is_expired(now) {
            return KeeperStep::Remove;
        }
        let at_expiry = match self.expires {
            Moment::At(expires) => Some(expires),
            Moment::Absent | Moment::Unreadable => None,
        };
        match self.generated {
            Moment::Unreadable => KeeperStep::Unreadable,
            Moment::Absent => KeeperStep::Rotate,
            Moment::At(generated) => match generated.checked_add(ROTATION) {
                Ok(next) if now < next => {
                    KeeperStep::WaitUntil(at_expiry.map_or(next, |expires| next.min(expires)))
                }
                Ok(_) => KeeperStep::Rotate,
                // Whoever wrote the annotation meant no time that anybody lives to see.
                Err(_) => KeeperStep::Unreadable,
            },
        }
    }
}

impl Moment {
    fn read(text: &str) -> Self {
        text.parse().map_or(Self::Unreadable, Self::At)
    }
}

/// In a time that says nothing about where they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secret(annotations: &serde_json::Value) -> TokenSecret {
        let mut all = json!({"hypershift.openshift.io/ignition-config": "true",
            "hypershift.openshift.io/nodePool": "clusters/a", "hypershift.openshift.io/node-pool-upgrade-type": "InPlace"});
        all.as_object_mut().unwrap().extend(annotations.as_object().unwrap().clone());
        let token = STANDARD.encode("550e8400-e29b-41d4-a716-446655440000");
        let object = json!({"metadata": {"name": "token-a-b2c3d4e5", "annotations": all},
            "data": {"token": token, "old_token": STANDARD.encode("before"), "release-version": STANDARD.encode("4.18.1")}});
        TokenSecret::read(&serde_json::from_value(object).unwrap()).unwrap()
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    const DRAWN: &str = "2026-11-15T06:00:00.123456789Z";

    #[test]
    fn a_secret_is_read() {
        let read = secret(&json!({"hypershift.openshift.io/last-token-generation-time": DRAWN}));
        assert_eq!((read.config_hash.as_str(), read.node_pool.as_str()), ("b2c3d4e5", "clusters/a"));
        assert!(read.is_in_place && !read.is_reached && read.payload.is_none());
        let bearer = read.bearer().unwrap();
        assert_eq!(bearer.expose_text(), "Bearer NTUwZTg0MDAtZTI5Yi00MWQ0LWE3MTYtNDQ2NjU1NDQwMDAw");
        assert!(read.has_token(b"before") && !read.has_token(b"befora") && !read.has_token(b""));
        assert!(!format!("{read:?}").contains("550e8400"), "a token is never shown");
    }

    #[test]
    fn tokens_are_kept_by_the_clock() {
        let drawn = secret(&json!({"hypershift.openshift.io/last-token-generation-time": DRAWN}));
        let next = at(DRAWN) + ROTATION;
        assert_eq!(next, at("2026-11-15T11:30:00.123456789Z"));
        assert_eq!(drawn.keeper_step(at("2026-11-15T11:30:00Z")), KeeperStep::WaitUntil(next));
        assert_eq!(drawn.keeper_step(next), KeeperStep::Rotate);
        assert_eq!(drawn.copy_is_good_until(), Some(at("2026-11-15T17:00:00.123456789Z")));
        let outdated = secret(&json!({
            "hypershift.openshift.io/last-token-generation-time": DRAWN,
            "hypershift.openshift.io/ignition-token-expiration-timestamp": "2026-11-15T08:00:00Z"}));
        assert_eq!(
            outdated.keeper_step(at("2026-11-15T07:00:00Z")),
            KeeperStep::WaitUntil(at("2026-11-15T08:00:00Z"))
        );
        assert_eq!(outdated.keeper_step(at("2026-11-15T08:00:00Z")), KeeperStep::Remove);
        assert_eq!(outdated.copy_is_good_until(), Some(at("2026-11-15T08:00:00Z")));
        assert_eq!(secret(&json!({})).keeper_step(next), KeeperStep::Rotate);
        let nonsense = json!({"hypershift.openshift.io/last-token-generation-time": "soon"});
        assert_eq!(secret(&nonsense).keeper_step(next), KeeperStep::Unreadable);
        let nonsense =
            secret(&json!({"hypershift.openshift.io/ignition-token-expiration-timestamp": "soon"}));
        assert_eq!((nonsense.keeper_step(next), nonsense.copy_is_good_until()), (KeeperStep::Remove, None));
    }
}
