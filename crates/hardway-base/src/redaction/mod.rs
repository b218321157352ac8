//! Hiding secrets in text that people, logs or bundles get to see.

mod redactor;
mod url_password;

pub use crate::secret::HIDDEN;
pub use redactor::Redactor;
pub use url_password::{without_password, without_passwords};
