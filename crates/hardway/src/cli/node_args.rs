//! `hardway node`: what can be typed.

use clap::{Args, Subcommand};

use super::{Format, RemovalArgs, RunArgs};

#[derive(Debug, Args)]
pub(crate) struct NodeArgs {
    #[command(subcommand)]
    pub(crate) verb: NodeVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum NodeVerb {
    /// Install a machine that was added to the inventory, with the config that the running cluster gives, until it is a node
    Add {
        /// A host of the inventory
        name: String,
        #[command(flatten)]
        run: Box<RunArgs>,
    },
    /// Move a worker's pods away, delete its node, take its machine away; then it can leave the inventory
    Remove {
        /// A host of the inventory
        name: String,
        /// Lose pods that nobody starts again elsewhere
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        removal: RemovalArgs,
        #[command(flatten)]
        run: Box<RunArgs>,
    },
    /// Say how a machine is replaced by a new one of the same name; with --apply, do it
    Replace {
        /// A host of the inventory
        name: String,
        /// Do it
        #[arg(long)]
        apply: bool,
        /// Lose pods that nobody starts again elsewhere
        #[arg(long)]
        force: bool,
        /// Form of what is printed on standard output
        #[arg(short, long, value_enum, default_value_t = Format::Text, conflicts_with = "apply")]
        output: Format,
        #[command(flatten)]
        run: Box<RunArgs>,
    },
}
