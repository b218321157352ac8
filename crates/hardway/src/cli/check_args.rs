//! `hardway check`: what can be typed.

use clap::Args;

use super::{Format, RegistryArgs};

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
