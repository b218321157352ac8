//! The body of an answer, which may have no end.

use reqwest::Response;

use super::{RegistryError, transport};

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
