//! A stand-in for HyperShift's operators on platform None, for rehearsals without them: it writes what they write for a pool, keeps
//! its tokens, and removes what is over. In a cluster with HyperShift nobody runs it: exactly one may keep tokens.

mod objects;

use std::sync::Arc;

use hardway_assets::secrets::Random;
use hardway_base::Secret;
use hardway_base::hex;
use hardway_journal::Now;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use serde_json::json;

pub use objects::StandInConfig;

use crate::account_token::cluster_of;
use crate::error::{HostedError, unless_gone};
use crate::management::Management;
use crate::names;
use crate::objects::NodePool;
use crate::token::{KeeperStep, TokenSecret};

/// HyperShift gives machines that boot right now two hours with a config that is outdated.
const GRACE: SignedDuration = SignedDuration::from_hours(2);

/// The stand-in.
#[derive(Clone)]
pub struct StandIn {
    /// The management cluster.
    pub management: Management,
    /// The clock.
    pub now: Now,
}

impl StandIn {
    /// Publishes a config for a pool: both Secrets, and what says that they are there. The config before it is retired.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn publish(&self, config: &StandInConfig) -> Result<(), HostedError> {
        let pool = self.management.node_pool(&config.node_pool).await?;
        let known = self.management.secret(&names::token_secret(&config.node_pool, &config.hash())).await?;
        let known = known.as_ref().and_then(TokenSecret::read).and_then(|token| token.token);
        self.retire(&pool, &config.hash()).await?;
        let is_new = known.is_none();
        let token = known.unwrap_or_else(draw);
        if is_new {
            self.management.make(&[config.token_secret(&self.management, &token, (self.now)())]).await?;
        }
        self.management.make(&[config.user_data_secret(&self.management, &token)]).await?;
        // HyperShift makes it with the control plane. Nobody can log in with this one: workers bring their own.
        let name = names::admin_kubeconfig(&self.management.cluster);
        let cluster = cluster_of(&name, &self.management.admin_kubeconfig().await?)?;
        self.management.make(&[objects::bootstrap_kubeconfig(&self.management, &cluster)]).await?;
        let api = self.management.api::<NodePool>();
        let annotation = Patch::Merge(
            json!({"metadata": {"annotations": {names::CURRENT_CONFIG_VERSION: config.hash()}}}),
        );
        let what = || format!("NodePool {}", config.node_pool);
        api.patch(&config.node_pool, &PatchParams::default(), &annotation)
            .await
            .map_err(HostedError::api(what()))?;
        let status = Patch::Merge(objects::pool_status((self.now)()));
        api.patch_status(&config.node_pool, &PatchParams::default(), &status)
            .await
            .map(drop)
            .map_err(HostedError::api(what()))
    }

    /// Does what is due for the token Secrets of a pool. When it has to be done again, at the latest.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn keep(&self, config: &StandInConfig) -> Result<Option<Timestamp>, HostedError> {
        let pool = self.management.node_pool(&config.node_pool).await?;
        let mut next: Option<Timestamp> = None;
        for token in self.tokens(&pool).await? {
            match token.keeper_step((self.now)()) {
                KeeperStep::WaitUntil(at) => next = Some(next.map_or(at, |next| next.min(at))),
                KeeperStep::Unreadable => {}
                KeeperStep::Remove => self.delete(&token.name).await?,
                KeeperStep::Rotate => self.rotate(&token, config).await?,
            }
        }
        Ok(next)
    }

    /// The one before stays good, and the pointer carries the new one.
    async fn rotate(&self, token: &TokenSecret, config: &StandInConfig) -> Result<(), HostedError> {
        let drawn = draw();
        let patch = objects::rotation(&drawn, token.token.as_ref(), (self.now)());
        let api = self.management.control_plane_api::<v1::Secret>();
        let what = format!("Secret {}", token.name);
        api.patch(&token.name, &PatchParams::default(), &Patch::Merge(patch))
            .await
            .map_err(HostedError::api(what))?;
        match token.config_hash == config.hash() {
            true => self.management.make(&[config.user_data_secret(&self.management, &drawn)]).await,
            false => Ok(()),
        }
    }

    /// Pointers of other configs go at once, their tokens in two hours.
    async fn retire(&self, pool: &NodePool, current: &str) -> Result<(), HostedError> {
        let name = pool.metadata.name.clone().unwrap_or_default();
        for token in self.tokens(pool).await?.iter().filter(|token| token.config_hash != current) {
            self.delete(&names::user_data_secret(&name, &token.config_hash)).await?;
            if token.copy_is_good_until().is_some() && token.expires == crate::token::Moment::Absent {
                let expires = (self.now)() + GRACE;
                let patch = Patch::Merge(
                    json!({"metadata": {"annotations": {names::TOKEN_EXPIRES: expires.to_string()}}}),
                );
                let api = self.management.control_plane_api::<v1::Secret>();
                let what = format!("Secret {}", token.name);
                api.patch(&token.name, &PatchParams::default(), &patch)
                    .await
                    .map_err(HostedError::api(what))?;
            }
        }
        Ok(())
    }

    async fn tokens(&self, pool: &NodePool) -> Result<Vec<TokenSecret>, HostedError> {
        let api = self.management.control_plane_api::<v1::Secret>();
        let all = api
            .list(&ListParams::default())
            .await
            .map_err(HostedError::api("Secrets of the control plane"))?
            .items;
        let key = pool.key();
        Ok(all.iter().filter_map(TokenSecret::read).filter(|token| token.node_pool == key).collect())
    }

    async fn delete(&self, name: &str) -> Result<(), HostedError> {
        let api = self.management.control_plane_api::<v1::Secret>();
        unless_gone(api.delete(name, &DeleteParams::default()).await, format!("Secret {name}"))
    }
}

impl StandIn {
    /// With a clock of its own.
    pub fn new(management: Management, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { management, now: Arc::new(now) }
    }
}

/// A UUID of version 4, as text.
fn draw() -> Secret {
    let mut bytes = Random::default().bytes::<16>();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex::encode(bytes);
    Secret::new(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_uuids_of_version_4() {
        let (one, other) = (draw(), draw());
        assert_ne!(one, other);
        let text = one.expose_text();
        assert_eq!((text.len(), &text[14..15]), (36, "4"));
        assert!("89ab".contains(&text[19..20]) && text.matches('-').count() == 4, "of the right shape");
    }
}
