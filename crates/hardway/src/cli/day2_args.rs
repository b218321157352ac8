//! `hardway day2`: what can be typed.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use hardway_assets::day_two::DayTwoStep;

use super::{ClusterArgs, Format, RemovalArgs};

#[derive(Debug, Args)]
pub(crate) struct Day2Args {
    #[command(subcommand)]
    pub(crate) verb: Day2Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Day2Verb {
    /// List the steps: what each does, what it needs, the way back, and whether it is applied
    List {
        /// Output format
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
    /// Show what a step would change in the cluster, and which nodes that would restart; change nothing
    ///
    /// The API server is asked to pretend (server-side dry run). Directories and single sign-ons are asked whether they answer.
    Plan {
        #[command(flatten)]
        look: Day2LookArgs,
    },
    /// Carry out a step, and write its manifests to day2/STEP for a Git repository
    ///
    /// Running it again changes nothing more. What was there before is kept in day2/STEP/before, for `hardway day2 undo`.
    Apply(Day2ApplyArgs),
    /// Check from outside whether a step does what it is for; exits with 1 if not
    Check {
        #[command(flatten)]
        look: Day2LookArgs,
    },
    /// Take a step back: delete what it created, and restore what it changed
    Undo {
        /// The step
        #[arg(value_parser = step())]
        step: DayTwoStep,
        #[command(flatten)]
        removal: RemovalArgs,
        #[command(flatten)]
        cluster: ClusterArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Day2LookArgs {
    /// The step
    #[arg(value_parser = step())]
    pub(crate) step: DayTwoStep,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Day2ApplyArgs {
    /// The step
    #[arg(value_parser = step())]
    pub(crate) step: DayTwoStep,
    /// Overwrite fields that somebody else has set
    #[arg(long)]
    pub(crate) take_over: bool,
    /// Agree to nodes being rebooted one after the other, or to a step that cannot be undone
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// File with a token of the administrator, for kubeadmin-gone; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

fn step() -> impl TypedValueParser<Value = DayTwoStep> {
    let names = PossibleValuesParser::new(DayTwoStep::ALL.map(DayTwoStep::name));
    names.map(|name| DayTwoStep::named(&name).unwrap_or(DayTwoStep::Identity))
}
