//! What a person may say about a release and its registries.

use std::path::PathBuf;

/// Which release, and how it is had.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReleaseOptions {
    /// A folder that counts, whatever the inventory names.
    pub(crate) release_dir: Option<PathBuf>,
    /// The registry is asked anew, although the release was settled before.
    pub(crate) refetch: bool,
    pub(crate) registry: RegistryOptions,
    pub(crate) signature: SignatureOptions,
}

/// How registries are reached.
#[derive(Clone, Debug, Default)]
pub(crate) struct RegistryOptions {
    /// Credentials in place of the install-config's and of this host's.
    pub(crate) pull_secret: Option<PathBuf>,
    /// Certificates to trust beside the system's.
    pub(crate) trust_bundle: Option<PathBuf>,
    /// Registries that are asked without TLS; an empty name means all of this command line.
    pub(crate) plain_http: Vec<String>,
}

/// Who must have signed a release.
#[derive(Clone, Debug, Default)]
pub(crate) struct SignatureOptions {
    /// Without one nothing is checked.
    pub(crate) keyring: Option<PathBuf>,
    /// URLs or folders; the public ones where none are given.
    pub(crate) stores: Vec<String>,
    /// Signatures themselves.
    pub(crate) files: Vec<PathBuf>,
    /// Nobody has to have signed it.
    pub(crate) is_skipped: bool,
}
