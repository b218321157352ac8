//! Reading from a registry. The client could, but reads bodies of any size into memory.

use oci_client::errors::{OciDistributionError, OciEnvelope};
use reqwest::{RequestBuilder, Response, StatusCode};

use super::translation::Asked;
use super::{RegistryError, Repository, asked_wait, transport};

/// Docker Hub answers elsewhere than under the name that its images have.
const DOCKER_HUB: (&str, &str) = ("docker.io", "registry-1.docker.io");

impl Repository {
    /// A GET below the repository, as whoever the pull secret says. What is no success is an error.
    pub(super) async fn get(
        &self,
        asked: Asked<'_>,
        path: &str,
        with: impl Fn(RequestBuilder) -> RequestBuilder,
    ) -> Result<Response, RegistryError> {
        let had_token = self.is_identified.initialized();
        self.is_identified.get_or_try_init(|| self.identify(asked)).await?;
        let url = self.url(&format!("{}/{path}", self.place.repository));
        let mut answer = self.send(with(self.http.get(&url))).await?;
        if answer.status() == StatusCode::UNAUTHORIZED && had_token {
            self.identify(asked).await?;
            answer = self.send(with(self.http.get(&url))).await?;
        }
        if answer.status().is_success() { Ok(answer) } else { Err(self.refusal(asked, answer).await) }
    }

    /// Below `/v2/`.
    pub(super) fn url(&self, path: &str) -> String {
        let registry = self.place.registry();
        let host = if registry == DOCKER_HUB.0 { DOCKER_HUB.1 } else { &registry };
        format!("{}://{host}/v2/{path}", self.connection.scheme(&registry))
    }

    pub(super) async fn send(&self, mut request: RequestBuilder) -> Result<Response, RegistryError> {
        if let Some(authorization) = &*self.authorization.read().await {
            request = request.header("authorization", authorization.expose_text());
        }
        request.send().await.map_err(|error| transport(&self.place.registry(), &error))
    }

    /// What a registry says instead, in the words of its own envelope where it has one.
    async fn refusal(&self, asked: Asked<'_>, answer: Response) -> RegistryError {
        let (status, wait, url) = (answer.status().as_u16(), asked_wait(&answer), answer.url().to_string());
        // Debian's registry says how much it would send, and does not.
        if status == StatusCode::RANGE_NOT_SATISFIABLE.as_u16() {
            return asked.status(status, "");
        }
        let what = || format!("the answer {status} of {}", self.place.registry());
        let said = match body(answer, SMALL, &self.place.registry(), what).await {
            Ok(said) => said,
            Err(error @ RegistryError::TooLarge { .. }) => return error,
            Err(_) => Vec::new(),
        };
        let error = match serde_json::from_slice::<OciEnvelope>(&said) {
            _ if status == 401 => OciDistributionError::UnauthorizedError { url },
            Ok(envelope) if status < 500 => OciDistributionError::RegistryError { envelope, url },
            _ => {
                let message = String::from_utf8_lossy(&said).into_owned();
                OciDistributionError::ServerError { code: status, url, message }
            }
        };
        asked.error(error).waiting(wait)
    }
}

/// What token servers give, and what errors say (1 MiB, as containers/image `internal/iolimits` has it).
pub(crate) const SMALL: u64 = 1 << 20;

/// All of a body, or an error where it is larger than it may be.
pub(crate) async fn body(
    mut answer: Response,
    most: u64,
    registry: &str,
    what: impl Fn() -> String,
) -> Result<Vec<u8>, RegistryError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| transport(registry, &error))? {
        if (bytes.len() + chunk.len()) as u64 > most {
            return Err(RegistryError::TooLarge { what: what(), most });
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}
