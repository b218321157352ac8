//! How registries are reached: flags of every command that asks one.

use std::path::PathBuf;

use clap::Args;

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RegistryArgs {
    /// Docker config JSON with the credentials of registries, in place of the install-config's pull secret and of
    /// this host's own logins
    #[arg(long, value_name = "FILE")]
    pub(crate) pull_secret: Option<PathBuf>,
    /// PEM certificates to trust beside the system's
    #[arg(long, value_name = "FILE")]
    pub(crate) trust_bundle: Option<PathBuf>,
    /// Ask a registry without TLS: the one named, or all of this command line
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) plain_http: Vec<String>,
}
