//! `hardway verify`: what can be typed.

use clap::Args;

use super::{ClusterArgs, Format};

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
