//! `hardway release`: what can be typed.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use super::Format;

#[derive(Debug, Args)]
pub(crate) struct ReleaseArgs {
    #[command(subcommand)]
    pub(crate) verb: ReleaseVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReleaseVerb {
    /// Write a release's files to a folder that --release-dir reads, or some of them, or a program
    Extract(ExtractArgs),
    /// Tell version, digest, component versions and images
    Info(InfoArgs),
    /// Say where the boot images of a release are, or download them
    Media(MediaArgs),
    /// Copy a release and all its images to another registry, or to a folder that is carried there
    Mirror(MirrorArgs),
}

/// How to get at a release, and whether it is what it says.
#[derive(Debug, Args)]
pub(crate) struct AccessArgs {
    #[command(flatten)]
    pub(crate) registry: RegistryArgs,
    #[command(flatten)]
    pub(crate) signature: SignatureArgs,
    /// Architecture to take from a release of several; else that of the install-config, or amd64
    #[arg(long)]
    pub(crate) arch: Option<String>,
}

/// Who must have signed a release.
#[derive(Clone, Debug, Args)]
pub(crate) struct SignatureArgs {
    /// Public keys, one of which must have signed the release; a gpg keyring or ASCII-armored
    #[arg(long, value_name = "FILE", env = "HARDWAY_KEYRING")]
    pub(crate) keyring: Option<PathBuf>,
    /// Where signatures are: a URL or a folder with sha256=<hex>/signature-<n>; else the public stores of OpenShift
    #[arg(long, value_name = "URL|DIR", requires = "keyring")]
    pub(crate) signature_store: Vec<String>,
    /// A file with the release's signature
    #[arg(long, value_name = "FILE", requires = "keyring")]
    pub(crate) signature: Vec<PathBuf>,
    /// Take the release although nobody says who made it
    #[arg(long)]
    pub(crate) insecure_skip_signature: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// Such as quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64
    pub(crate) pull_spec: String,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// Form of what is printed on standard output
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).multiple(true).args(["to", "file", "command"])))]
pub(crate) struct ExtractArgs {
    /// Such as quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64
    pub(crate) pull_spec: String,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// A folder; for all files one that is empty or not there yet
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
    /// Leave out manifests that the version operator would not apply to the cluster of the install-config
    #[arg(long, conflicts_with_all = ["file", "command"])]
    pub(crate) included: bool,
    /// In place of the install-config.yaml of the working folder
    #[arg(long, value_name = "FILE", requires = "included")]
    pub(crate) install_config: Option<PathBuf>,
    /// This file alone, such as image-references: printed, or written with --to
    #[arg(long, value_name = "NAME", conflicts_with = "command")]
    pub(crate) file: Vec<String>,
    /// This program of the release alone, such as oc or openshift-install; to the current folder without --to
    #[arg(long, value_name = "NAME")]
    pub(crate) command: Option<String>,
    /// What to tell on standard output about files written
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("source").required(true).args(["pull_spec", "from_dir"])))]
#[command(group(ArgGroup::new("destination").required(true).args(["to", "to_dir"])))]
pub(crate) struct MirrorArgs {
    /// Such as quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64
    pub(crate) pull_spec: Option<String>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// The repository that all images go to
    #[arg(long, value_name = "REGISTRY/REPO")]
    pub(crate) to: Option<String>,
    /// A folder to carry: an OCI image layout
    #[arg(long, value_name = "DIR")]
    pub(crate) to_dir: Option<PathBuf>,
    /// Take the release from a folder that --to-dir made
    #[arg(long, value_name = "DIR", conflicts_with = "to_dir")]
    pub(crate) from_dir: Option<PathBuf>,
    /// Text is the imageDigestSources to paste into install-config.yaml
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct MediaArgs {
    /// A release; else the one that the inventory of the working folder names
    pub(crate) pull_spec: Option<String>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// Read the release from a folder
    #[arg(long, value_name = "DIR", conflicts_with = "pull_spec")]
    pub(crate) release_dir: Option<PathBuf>,
    /// iso, pxe, raw.gz, 4k.raw.gz, qcow2.gz, gcp, aws/REGION, …; all names without it
    #[arg(long)]
    pub(crate) format: Option<String>,
    /// One of several streams, such as rhel-10
    #[arg(long)]
    pub(crate) stream: Option<String>,
    /// Download to this folder
    #[arg(long, value_name = "DIR", requires = "format")]
    pub(crate) to: Option<PathBuf>,
    /// Look for the files below this URL first, by their names
    #[arg(long, value_name = "URL", requires = "to")]
    pub(crate) mirror: Vec<String>,
    /// Form of what is printed on standard output
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RegistryArgs {
    /// Docker config JSON with the credentials of registries, in place of the install-config's pull secret and of
    /// this host's own logins
    #[arg(long, value_name = "FILE")]
    pub(crate) pull_secret: Option<PathBuf>,
    /// PEM certificates to trust beside the system's
    #[arg(long, value_name = "FILE")]
    pub(crate) trust_bundle: Option<PathBuf>,
    /// Ask a registry without TLS: the one named, or all of this command line
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) plain_http: Vec<String>,
}
