//! How a pool stands: its gates now, from the management cluster.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Secret;
use serde::Serialize;

use crate::config_watch::ConfigWatch;
use crate::error::HostedError;
use crate::gates::{Gate, GateFacts, gates, secret_of};
use crate::management::Management;
use crate::names;
use crate::objects::NodePool;
use crate::token::{Moment, TokenSecret};

/// How a pool stands.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolStatus {
    /// Its name.
    pub name: String,
    /// How many workers are wanted.
    pub replicas: i32,
    /// The config its machines boot with.
    pub config_hash: Option<String>,
    /// `InPlace` or `Replace`.
    pub upgrade_type: String,
    /// All gates, in order.
    pub gates: Vec<Gate>,
    /// About its token.
    pub token: Option<TokenStatus>,
}

/// About a token, without it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenStatus {
    /// The Secret.
    pub secret: String,
    /// When it was drawn.
    pub drawn: Option<Timestamp>,
    /// A copy made now opens the config at least until then.
    pub copy_good_until: Option<Timestamp>,
    /// Whether its config is kept in the Secret.
    pub has_payload: bool,
    /// Whether a worker has fetched it.
    pub is_reached: bool,
    /// What HyperShift says about the config.
    pub reason: Option<String>,
    /// In its words.
    pub message: Option<String>,
}

/// Looks at a pool.
///
/// # Errors
/// When the API server does not say.
pub async fn pool_status(
    management: &Management,
    pool: &NodePool,
    config: &mut ConfigWatch,
    rest: SignedDuration,
    now: Timestamp,
) -> Result<PoolStatus, HostedError> {
    let cluster = management.hosted_cluster().await?;
    let name = pool.metadata.name.clone().unwrap_or_default();
    let (mut user_data, mut token) = (None, None);
    if let Some(hash) = pool.config_hash() {
        user_data = own(management.secret(&names::user_data_secret(&name, hash)).await?, pool);
        token = own(management.secret(&names::token_secret(&name, hash)).await?, pool);
    }
    let made =
        user_data.as_ref().and_then(|secret| secret.metadata.creation_timestamp.as_ref()).map(|time| time.0);
    config.see(pool.config_hash(), made, now);
    let facts =
        GateFacts { cluster: cluster.as_ref(), pool, user_data: user_data.as_ref(), config, rest, now };
    Ok(PoolStatus {
        replicas: pool.spec.replicas.unwrap_or_default(),
        config_hash: pool.config_hash().map(str::to_owned),
        upgrade_type: pool.spec.management.upgrade_type.clone(),
        gates: gates(&facts),
        token: token.as_ref().and_then(TokenSecret::read).map(TokenStatus::from),
        name,
    })
}

/// Only when its annotation says that it is this pool's.
fn own(secret: Option<Secret>, pool: &NodePool) -> Option<Secret> {
    secret.filter(|secret| {
        secret_of([secret], pool, secret.metadata.name.as_deref().unwrap_or_default()).is_some()
    })
}

impl From<TokenSecret> for TokenStatus {
    fn from(token: TokenSecret) -> Self {
        let drawn = match token.generated {
            Moment::At(time) => Some(time),
            Moment::Absent | Moment::Unreadable => None,
        };
        Self {
            drawn,
            copy_good_until: token.copy_is_good_until(),
            has_payload: token.payload.is_some(),
            is_reached: token.is_reached,
            secret: token.name,
            reason: token.reason,
            message: token.message,
        }
    }
}
