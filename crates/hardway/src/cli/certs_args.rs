//! `hardway certs`: what can be typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::SignedDuration;

use super::{ClusterArgs, Format, RecoverCertsArgs, arg_values};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct CertsArgs {
    #[command(subcommand)]
    pub(crate) what: Option<CertsWhat>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    /// Only those that expire within this time, such as 30d; expired ones are always shown
    #[arg(long, value_name = "TIME", value_parser = arg_values::token_life)]
    pub(crate) within: Option<SignedDuration>,
    /// Also write a calendar (iCalendar) with an entry for each expiry, and a reminder a week before it
    #[arg(long, value_name = "FILE")]
    pub(crate) calendar: Option<PathBuf>,
    /// Exit with 1 if a certificate has expired, expires within the time of --within, or could not be read
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// What can be done about them.
#[derive(Debug, Subcommand)]
pub(crate) enum CertsWhat {
    /// Let nodes rejoin a cluster that was off until their certificates expired; exits with 9 if some do not
    Recover(RecoverCertsArgs),
}
