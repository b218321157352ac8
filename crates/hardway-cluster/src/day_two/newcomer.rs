//! Whether an administrator other than kubeadmin has really logged in: asked with a token of theirs, not with ours.

use hardway_base::Secret;
use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use kube::api::{Api, ApiResource, DynamicObject, PostParams};
use kube::config::AuthInfo;
use kube::core::GroupVersionKind;
use kube::{Client, Config};

use crate::api_error::{sentence, unless_absent};
use crate::kubeconfig::without_retries;

/// Why nobody has shown that they are the administrator.
#[derive(Debug, thiserror::Error)]
pub enum NewcomerError {
    /// The API server does not take the token, or does not answer.
    #[error("the token does not work: {}", sentence(.0))]
    Token(#[source] Box<kube::Error>),
    /// It is somebody else's.
    #[error("the token belongs to {found}, but day2.identity.admin is {wanted}")]
    SomebodyElse {
        /// Whose it is.
        found: String,
        /// Whose it should be.
        wanted: String,
    },
    /// The User has no identity of the providers.
    #[error("{user} has not logged in through {}", .providers.join(", "))]
    NeverLoggedIn {
        /// Who.
        user: String,
        /// Identity providers.
        providers: Vec<String>,
    },
    /// They may not do everything.
    #[error("{0} is not cluster-admin: not everything is allowed")]
    NotAdmin(String),
    /// The cluster does not answer us.
    #[error("users cannot be read: {}", sentence(.0))]
    Users(#[source] Box<kube::Error>),
}

/// Done when this token is this user's, the user has an identity of one of these providers, and may do everything.
///
/// # Errors
/// With whatever of that does not hold.
pub async fn verify(
    config: &Config,
    token: &Secret,
    user: &str,
    providers: &[&str],
) -> Result<(), NewcomerError> {
    let refused = |error: kube::Error| NewcomerError::Token(Box::new(error));
    let theirs = without_retries(&as_bearer(config, token)).map_err(refused)?;
    let reviews: Api<SelfSubjectReview> = Api::all(theirs.clone());
    let review =
        reviews.create(&PostParams::default(), &SelfSubjectReview::default()).await.map_err(refused)?;
    let found = review.status.and_then(|status| status.user_info).and_then(|info| info.username);
    let found = found.unwrap_or_default();
    if found != user {
        return Err(NewcomerError::SomebodyElse { found, wanted: user.to_owned() });
    }
    let ours = without_retries(config).map_err(|error| NewcomerError::Users(Box::new(error)))?;
    if !has_identity(&ours, user, providers).await? {
        let providers = providers.iter().map(|name| (*name).to_owned()).collect();
        return Err(NewcomerError::NeverLoggedIn { user: user.to_owned(), providers });
    }
    let everything = ResourceAttributes {
        group: Some("*".to_owned()),
        resource: Some("*".to_owned()),
        verb: Some("*".to_owned()),
        ..ResourceAttributes::default()
    };
    let question = SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(everything),
            ..SelfSubjectAccessReviewSpec::default()
        },
        ..SelfSubjectAccessReview::default()
    };
    let access: Api<SelfSubjectAccessReview> = Api::all(theirs);
    let answer = access.create(&PostParams::default(), &question).await.map_err(refused)?;
    match answer.status.is_some_and(|status| status.allowed) {
        true => Ok(()),
        false => Err(NewcomerError::NotAdmin(user.to_owned())),
    }
}

/// The same server, asked with nothing but the token.
fn as_bearer(config: &Config, token: &Secret) -> Config {
    let auth_info = AuthInfo { token: Some(token.expose_text().to_owned().into()), ..AuthInfo::default() };
    let mut config = config.clone();
    config.auth_info = auth_info;
    config
}

/// The OAuth server writes an identity at the first login: `htpasswd:alice`.
async fn has_identity(client: &Client, user: &str, providers: &[&str]) -> Result<bool, NewcomerError> {
    let kind =
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("user.openshift.io", "v1", "User"), "users");
    let users: Api<DynamicObject> = Api::all_with(client.clone(), &kind);
    let found = unless_absent(users.get_opt(user).await);
    let found = found.map_err(|error| NewcomerError::Users(Box::new(error)))?;
    let is_theirs = |identity: &str| {
        providers.iter().any(|name| identity.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')))
    };
    let identities = found.and_then(|user| user.data["identities"].as_array().cloned()).unwrap_or_default();
    Ok(identities.iter().filter_map(serde_json::Value::as_str).any(is_theirs))
}
