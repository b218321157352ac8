//! `hardway create`: what can be typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{InitArgs, RegistryArgs, RunArgs, SignatureArgs};

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    #[command(subcommand)]
    pub(crate) target: Target,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Target {
    /// Install a whole cluster; goes on from wherever an earlier run ended
    Cluster(Box<RunArgs>),
    /// bootstrap.ign, the pointer configs, and one complete config for every node
    IgnitionConfigs(MakeArgs),
    /// A sample install-config.yaml and inventory.yaml, as `hardway init`
    InstallConfig(InitArgs),
    /// Everything up to the cluster manifests, for a look or an edit before the rest
    Manifests(MakeArgs),
    /// bootstrap-in-place-for-live-iso.ign for a single node that installs itself
    SingleNodeIgnitionConfig(MakeArgs),
}

#[derive(Clone, Debug, Args)]
pub(crate) struct MakeArgs {
    #[command(flatten)]
    pub(crate) release: FetchArgs,
    #[command(flatten)]
    pub(crate) render: RenderArgs,
    /// Say what would be made and why, with every command that would run, and write nothing here
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Phase fetch-release.
#[derive(Clone, Debug, Args)]
pub(crate) struct FetchArgs {
    /// Read the release from a folder instead of the image named in the inventory
    #[arg(long, value_name = "DIR")]
    pub(crate) release_dir: Option<PathBuf>,
    /// Ask the registry anew what release.image is, although that was settled before
    #[arg(long, conflicts_with = "release_dir")]
    pub(crate) refetch_release: bool,
    #[command(flatten)]
    pub(crate) registry: RegistryArgs,
    #[command(flatten)]
    pub(crate) signature: SignatureArgs,
}

/// Phase render-nodes.
#[derive(Clone, Debug, Args)]
pub(crate) struct RenderArgs {
    /// Take the node configs that were rendered elsewhere, with the commands that `hardway create ignition-configs --dry-run` prints
    #[arg(long, value_name = "DIR")]
    pub(crate) rendered_dir: Option<PathBuf>,
    /// An option for `podman run`, such as --podman-option=--runtime=runc; may be given several times
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub(crate) podman_option: Vec<String>,
}
