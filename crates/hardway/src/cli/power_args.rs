//! `hardway power`: what can be typed.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use hardway_cluster::age::Recipient;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::RunArgs;

#[derive(Debug, Args)]
pub(crate) struct PowerArgs {
    #[command(subcommand)]
    pub(crate) verb: PowerVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PowerVerb {
    /// Switch the whole cluster off in the right order, after a backup
    ///
    /// Says first which certificate will expire meanwhile, and whether the cluster comes back by itself.
    Off(OffArgs),
    /// Switch the cluster on again, and let its nodes back in
    On(OnArgs),
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("backup").required(true).args(["recipient", "without_backup"])))]
pub(crate) struct OffArgs {
    /// Day of its return, such as 2027-01-07: says what will have expired by then, and whether it comes back by itself
    #[arg(long, value_name = "DATE", value_parser = day)]
    pub(crate) until: Option<Timestamp>,
    /// Public key to encrypt a backup of etcd with, such as age1…; can be repeated
    #[arg(long, value_name = "RECIPIENT")]
    pub(crate) recipient: Vec<Recipient>,
    /// Folder for the backup, in the cluster's folder unless it begins with /
    #[arg(long, value_name = "DIR", default_value = "backups")]
    pub(crate) to: PathBuf,
    /// Switch off without a backup of etcd
    #[arg(long)]
    pub(crate) without_backup: bool,
    /// How many seconds each worker may take to get rid of its pods
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) drain_timeout: u32,
    /// Print what would be done, and do nothing
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Do not ask for confirmation; required where there is no terminal to ask on
    #[arg(short, long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) patience: PatienceArgs,
    #[command(flatten)]
    pub(crate) run: Box<RunArgs>,
}

#[derive(Debug, Args)]
pub(crate) struct OnArgs {
    /// Print what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not run `hardway verify` at the end
    #[arg(long)]
    pub(crate) without_verify: bool,
    #[command(flatten)]
    pub(crate) patience: PatienceArgs,
    #[command(flatten)]
    pub(crate) run: Box<RunArgs>,
}

#[derive(Debug, Args)]
pub(crate) struct PatienceArgs {
    /// How many seconds machines may take to go off or to come on, and the API to answer
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    pub(crate) timeout: u32,
}

/// A day, or a moment.
fn day(text: &str) -> Result<Timestamp, String> {
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(moment);
    }
    let day: Date = text.parse().map_err(|_| "a day such as 2027-01-07 is expected".to_owned())?;
    day.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp()).map_err(|error| error.to_string())
}
