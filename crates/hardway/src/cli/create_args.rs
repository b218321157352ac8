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
    /// Install a cluster; continues where an earlier run stopped
    Cluster(Box<CreateClusterArgs>),
    /// Create bootstrap.ign, the pointer configs, and a complete config for every node
    IgnitionConfigs(MakeArgs),
    /// Create a sample install-config.yaml and inventory.yaml; the same as `hardway init`
    InstallConfig(InitArgs),
    /// Create everything up to the manifests, to inspect or edit them first
    Manifests(MakeArgs),
    /// Create bootstrap-in-place-for-live-iso.ign for a single node that installs itself
    SingleNodeIgnitionConfig(MakeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CreateClusterArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Also show the install in the browser while it runs, as `hardway page` does
    #[arg(long)]
    pub(crate) page: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct MakeArgs {
    #[command(flatten)]
    pub(crate) release: FetchArgs,
    #[command(flatten)]
    pub(crate) render: RenderArgs,
    /// Show what would be made, why, and every command that would run; write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Generate new keys for those missing from secrets/. This makes a new cluster: machines installed before will not trust it
    #[arg(long)]
    pub(crate) redraw_secrets: bool,
    /// Bring back a generated file that was edited or deleted by hand; can be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) undo: Vec<PathBuf>,
}

/// Phase fetch-release.
#[derive(Clone, Debug, Args)]
pub(crate) struct FetchArgs {
    /// Read the release from a folder instead of the image named in the inventory
    #[arg(long, value_name = "DIR")]
    pub(crate) release_dir: Option<PathBuf>,
    /// Resolve release.image again, even if the release was fetched before
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
    /// Use node configs rendered elsewhere with the commands that `hardway create ignition-configs --dry-run` prints
    #[arg(long, value_name = "DIR")]
    pub(crate) rendered_dir: Option<PathBuf>,
    /// Extra option for `podman run`, such as --podman-option=--runtime=runc; can be repeated
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub(crate) podman_option: Vec<String>,
}
