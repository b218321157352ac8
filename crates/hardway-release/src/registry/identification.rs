//! Saying who asks. All of it is done here and none by the client, which would send a password wherever a registry says.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_base::Secret;
use hardway_base::redaction::without_password;
use oci_client::RegistryOperation;
use oci_client::secrets::RegistryAuth;
use oci_client::token_cache::{RegistryToken, RegistryTokenType};
use reqwest::Url;

use super::realm::{anonymous, permitted};
use super::token_server::{Challenge, access_token};
use super::translation::Asked;
use super::{RegistryError, Repository, reference, transport};
use crate::credentials::Credential;

impl Repository {
    /// Finds out what the registry wants to know, and keeps what is sent with each request from now on.
    pub(super) async fn identify(&self, asked: Asked<'_>) -> Result<(), RegistryError> {
        let registry = self.place.registry();
        let answer =
            self.http.get(self.url("")).send().await.map_err(|error| transport(&registry, &error))?;
        let challenge = Challenge::of(&answer);
        match (challenge, &self.credential) {
            (Some(Challenge::Bearer { realm, service }), _) => {
                let realm = self.realm(&realm)?;
                for (operation, actions) in self.operations() {
                    let credential = self.credential.as_ref();
                    let token =
                        access_token(&self.careful, (&realm, &service), &asked, actions, credential).await?;
                    self.take_token(operation, &token, asked).await;
                }
                Ok(())
            }
            (_, Some(Credential::IdentityToken(_))) => {
                Err(asked.status(401, "it does not accept tokens, but the pull secret has one for it"))
            }
            (Some(Challenge::Basic), Some(Credential::Password { user, password })) => {
                self.take_password(user, password, asked).await;
                Ok(())
            }
            (Some(Challenge::Basic), None) | (None, _) => Ok(()),
        }
    }

    /// The token server. Whoever has no login asks any that is a stranger to this host, too: see [`anonymous`].
    fn realm(&self, realm: &str) -> Result<Url, RegistryError> {
        let registry = self.place.registry();
        let url = match &self.credential {
            Some(credential) => permitted(realm, &registry, credential, &self.connection),
            None => anonymous(realm, &registry, &self.connection),
        };
        url.map_err(|why| RegistryError::TokenServer { registry, realm: without_password(realm), why })
    }

    fn operations(&self) -> Vec<(RegistryOperation, &'static str)> {
        let mut operations = vec![(RegistryOperation::Pull, "pull")];
        if self.operation == RegistryOperation::Push {
            operations.push((RegistryOperation::Push, "pull,push"));
        }
        operations
    }

    async fn take_token(&self, operation: RegistryOperation, token: &Secret, asked: Asked<'_>) {
        if operation == RegistryOperation::Pull {
            let header = Secret::new(format!("Bearer {}", token.expose_text()));
            *self.authorization.write().await = Some(header);
        }
        let token = RegistryToken::AccessToken { access_token: token.expose_text().to_owned() };
        self.hand_to_client(operation, RegistryTokenType::Bearer(token), asked).await;
    }

    async fn take_password(&self, user: &str, password: &Secret, asked: Asked<'_>) {
        let login = Secret::new(STANDARD.encode(format!("{user}:{}", password.expose_text())));
        *self.authorization.write().await = Some(Secret::new(format!("Basic {}", login.expose_text())));
        for (operation, _) in self.operations() {
            let token = RegistryTokenType::Basic(user.to_owned(), password.expose_text().to_owned());
            self.hand_to_client(operation, token, asked).await;
        }
    }

    /// Uploads are the client's, and it uses what it is given.
    async fn hand_to_client(&self, operation: RegistryOperation, token: RegistryTokenType, asked: Asked<'_>) {
        let reference = reference(asked.image);
        self.client.store_auth_if_needed(reference.resolve_registry(), &RegistryAuth::Anonymous).await;
        self.client.tokens.insert(&reference, operation, token).await;
    }
}
