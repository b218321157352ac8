//! `/ignition`: what HyperShift's ignition-server answers (openshift/hypershift `ignition-server/cmd/start.go`), from the
//! payloads it keeps in its token Secrets.

use std::sync::Arc;

use http::StatusCode;
use jiff::Timestamp;

use crate::ignition_server::hosted_tokens::{HostedTokens, Payload, TokenSecret};
use crate::ignition_server::{Answer, ConfigDecision, ConfigRequest, Redemption};

/// The face.
#[derive(Clone, Debug)]
pub struct HostedFace {
    tokens: Arc<HostedTokens>,
}

impl HostedFace {
    /// For the tokens that a watch keeps current.
    pub fn new(tokens: Arc<HostedTokens>) -> Self {
        Self { tokens }
    }

    /// The tokens.
    pub fn tokens(&self) -> &HostedTokens {
        &self.tokens
    }

    /// Any method will do; neither Accept nor the query is looked at.
    pub fn decide(&self, asked: &ConfigRequest<'_>, now: Timestamp) -> ConfigDecision {
        let unauthorized = |reason: &str| {
            ConfigDecision::refuse_as(Answer::text(StatusCode::UNAUTHORIZED, "Unauthorized"), reason)
        };
        if asked.bearer().is_none() {
            return unauthorized("no bearer token");
        }
        let Some(token) = asked.bearer_from_base64() else { return unauthorized("the token is not base64") };
        if !self.tokens.is_complete() {
            let reason = "the token Secrets are still being read";
            return ConfigDecision::refuse_as(Answer::later(reason), reason);
        }
        let unknown = |reason: &str| {
            let answer = Answer::text(StatusCode::NETWORK_AUTHENTICATION_REQUIRED, "Token not found");
            ConfigDecision::refuse_as(answer, reason)
        };
        let Some(secret) = self.tokens.find(&token, now) else { return unknown("no Secret has this token") };
        match &secret.payload {
            Payload::Absent => unknown(&format!("Secret {} has no payload yet", secret.name)),
            Payload::Invalid => {
                let answer = Answer::text(StatusCode::INTERNAL_SERVER_ERROR, "Invalid ignition payload");
                ConfigDecision::refuse_as(
                    answer,
                    format!("the payload of Secret {} is not a config", secret.name),
                )
            }
            Payload::Ready(config) => ConfigDecision::Serve {
                config: config.clone(),
                content_type: "application/json; charset=utf-8",
                redemption: Redemption::Hosted {
                    node_pool: secret.node_pool.clone(),
                    digest: config.digest().to_string(),
                    source: asked.source,
                    reached: reached(asked, &secret),
                },
            },
        }
    }
}

/// The Secret that is to be marked: the one the client names, by NodePool (what follows the first slash) and hash. Only
/// when it is the token's own: others are not for the client to mark.
fn reached(asked: &ConfigRequest<'_>, secret: &TokenSecret) -> Option<String> {
    let node_pool = asked.text("nodepool")?;
    let node_pool = node_pool.split_once('/').map_or(node_pool, |(_, name)| name);
    let named = format!("token-{node_pool}-{}", asked.text("targetconfigversionhash")?);
    (named == secret.name && !secret.is_reached).then_some(named)
}
