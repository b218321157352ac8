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
    /// Install a machine that was added to the inventory, and wait until it is a node
    Add {
        /// A host of the inventory
        name: String,
        #[command(flatten)]
        run: Box<RunArgs>,
    },
    /// Drain a node, delete it and remove its machine; a master's etcd member leaves first
    ///
    /// Three masters stay three: a fourth or fifth one can be removed.
    Remove {
        /// A host of the inventory
        name: String,
        /// Delete pods that nothing would restart elsewhere
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        removal: RemovalArgs,
        #[command(flatten)]
        run: Box<RunArgs>,
    },
    /// Show how to replace a machine by a new one of the same name; with --apply, do it
    Replace {
        /// A host of the inventory
        name: String,
        /// Carry out the plan
        #[arg(long)]
        apply: bool,
        /// Delete pods that nothing would restart elsewhere
        #[arg(long)]
        force: bool,
        /// Output format
        #[arg(short, long, value_enum, default_value_t = Format::Text, conflicts_with = "apply")]
        output: Format,
        #[command(flatten)]
        run: Box<RunArgs>,
    },
}
