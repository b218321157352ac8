//! `hardway check`, `hardway validate` and `hardway verify`: what can be typed.

use clap::Args;

use super::{ClusterArgs, Format, RegistryArgs};

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Leave a check out; `hardway check --list` names them
    #[arg(long, value_name = "NAME")]
    pub(crate) skip_check: Vec<String>,
    /// Nothing but this check
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// List the checks and ask nothing
    #[arg(long)]
    pub(crate) list: bool,
    #[command(flatten)]
    pub(crate) registry: RegistryArgs,
    /// Form of what is printed on standard output
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Leave a check out; `hardway verify --list` names them
    #[arg(long, value_name = "NAME")]
    pub(crate) skip_check: Vec<String>,
    /// List the checks and ask nothing
    #[arg(long)]
    pub(crate) list: bool,
    /// Image of the test pod, with a shell; without it, the release's `cli` image
    #[arg(long, value_name = "PULLSPEC")]
    pub(crate) image: Option<String>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    /// Form of what is printed on standard output
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// Form of the findings: text goes to standard error, with the lines of the files; the others to standard output
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}
