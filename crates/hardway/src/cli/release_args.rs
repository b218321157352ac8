//! `hardway release`: what can be typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Format, RegistryArgs};

#[derive(Debug, Args)]
pub(crate) struct ReleaseArgs {
    #[command(subcommand)]
    pub(crate) verb: ReleaseVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReleaseVerb {
    /// Write a release's files to a folder that --release-dir reads, or print one of them
    Extract {
        #[command(flatten)]
        source: ReleaseSource,
        /// A folder that is empty or not there yet
        #[arg(long, value_name = "DIR")]
        to: Option<PathBuf>,
        /// Print this file, such as image-references
        #[arg(long, value_name = "NAME")]
        file: Option<String>,
    },
    /// Tell version, digest, component versions and images
    Info {
        #[command(flatten)]
        source: ReleaseSource,
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
}

/// Where a release is, and how to reach it.
#[derive(Debug, Args)]
pub(crate) struct ReleaseSource {
    /// Such as quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64
    pub(crate) pull_spec: String,
    #[command(flatten)]
    pub(crate) registry: RegistryArgs,
    /// Architecture to take from a release of several; else that of the install-config, or amd64
    #[arg(long)]
    pub(crate) arch: Option<String>,
}
