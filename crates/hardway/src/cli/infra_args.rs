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
    /// Lines for a person
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
    /// Take back everything that was done to this host, last first
    Down(RemovalArgs),
    /// Print what `up` would make sure of, and how; changes nothing
    Plan {
        /// Form of what is printed on standard output
        #[arg(short, long, value_enum, default_value_t = PlanFormat::Text)]
        output: PlanFormat,
        /// The same as `-o script`
        #[arg(long, conflicts_with = "output")]
        script: bool,
    },
    /// Look at each thing: whether it holds, and whether it is ours
    Status {
        /// Form of what is printed on standard output
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
    /// Make network, names, load balancer and machines as the inventory says; machines stay off
    Up,
}
