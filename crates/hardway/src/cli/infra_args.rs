//! `hardway infra`: what can be typed.

use clap::{Args, Subcommand, ValueEnum};

use super::{Format, RemovalArgs};

#[derive(Debug, Args)]
pub(crate) struct InfraArgs {
    #[command(subcommand)]
    pub(crate) verb: InfraVerb,
}

/// How a plan is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// Text
    Text,
    /// JSON
    Json,
    /// YAML
    Yaml,
    /// A shell script that does the same by hand
    Script,
}

#[derive(Debug, Subcommand)]
pub(crate) enum InfraVerb {
    /// Undo everything that was done to this host, in reverse order
    Down(RemovalArgs),
    /// Print what `up` would create, and how; changes nothing
    Plan {
        /// Output format
        #[arg(short, long, value_enum, default_value_t = PlanFormat::Text)]
        output: PlanFormat,
        /// The same as `-o script`
        #[arg(long, conflicts_with = "output")]
        script: bool,
    },
    /// Show what exists, and whether hardway created it
    Status {
        /// Output format
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
    /// Create network, DNS, load balancer and machines as the inventory says; machines stay off
    Up,
}
