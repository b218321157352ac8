//! `hardway release`: what can be typed.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
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
    /// Write a release with all its images, boot images and hardway itself to one file, for a site without internet access
    Bundle(BundleArgs),
    /// Write a release's files to a folder for --release-dir, or extract a single file or program
    Extract(ExtractArgs),
    /// Show version, digest, component versions and images
    Info(InfoArgs),
    /// List or download the boot images of a release
    Media(MediaArgs),
    /// Copy a release with all its images to another registry, or to a folder to carry there
    Mirror(MirrorArgs),
    /// Serve bundles as a registry over TLS, for the nodes of a site without internet access
    Serve(ReleaseServeArgs),
}

/// How to get at a release, and whether it is what it says.
#[derive(Debug, Args)]
pub(crate) struct AccessArgs {
    #[command(flatten)]
    pub(crate) registry: RegistryArgs,
    #[command(flatten)]
    pub(crate) signature: SignatureArgs,
    /// Architecture to use from a multi-arch release [default: the install-config's, or amd64]
    #[arg(long)]
    pub(crate) arch: Option<String>,
}

/// Who must have signed a release.
#[derive(Clone, Debug, Args)]
pub(crate) struct SignatureArgs {
    /// Public keys, one of which must have signed the release: a gpg keyring or ASCII-armored
    #[arg(long, value_name = "FILE", env = "HARDWAY_KEYRING")]
    pub(crate) keyring: Option<PathBuf>,
    /// Where to find signatures: a URL or a folder with sha256=<hex>/signature-<n> [default: OpenShift's public stores]
    #[arg(long, value_name = "URL|DIR", requires = "keyring")]
    pub(crate) signature_store: Vec<String>,
    /// A file with the release's signature
    #[arg(long, value_name = "FILE", requires = "keyring")]
    pub(crate) signature: Vec<PathBuf>,
    /// Accept the release without verifying its signature
    #[arg(long)]
    pub(crate) insecure_skip_signature: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// Such as quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64
    pub(crate) pull_spec: String,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// Output format
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
    /// Target folder; for all files it must be empty or new
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
    /// Omit manifests that the version operator would not apply to the cluster of the install-config
    #[arg(long, conflicts_with_all = ["file", "command"])]
    pub(crate) included: bool,
    /// Use this file instead of install-config.yaml in the folder
    #[arg(long, value_name = "FILE", requires = "included")]
    pub(crate) install_config: Option<PathBuf>,
    /// Extract only this file, such as image-references: printed, or written with --to
    #[arg(long, value_name = "NAME", conflicts_with = "command")]
    pub(crate) file: Vec<String>,
    /// Extract only this program, such as oc or openshift-install; to the current folder unless --to is given
    #[arg(long, value_name = "NAME")]
    pub(crate) command: Option<String>,
    /// Output format of the list of written files
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).args(["to", "verify"])))]
pub(crate) struct BundleArgs {
    /// Release pull spec [default: the inventory's]
    pub(crate) pull_spec: Option<String>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// Write the bundle to this file; what an interrupted run left in FILE.partial is used
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// Leave out what this bundle has, which the other side then needs too; can be repeated
    #[arg(long, value_name = "FILE", requires = "to")]
    pub(crate) differential: Vec<PathBuf>,
    /// Boot images to include, such as iso or pxe, or none; can be repeated [default: iso if the inventory's machines are
    /// installed from media]
    #[arg(long, value_name = "FORMAT", requires = "to")]
    pub(crate) media: Vec<String>,
    /// CoreOS stream of the boot images, such as rhel-10, if the release has several
    #[arg(long, requires = "to")]
    pub(crate) stream: Option<String>,
    /// Try this base URL first for boot images, by file name
    #[arg(long, value_name = "URL", requires = "to")]
    pub(crate) media_mirror: Vec<String>,
    /// Program to include, for a site with another architecture [default: this one]
    #[arg(long, value_name = "FILE", requires = "to")]
    pub(crate) program: Option<PathBuf>,
    /// Read these bundles completely, compare every part with its digest, and list what they hold
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "pull_spec")]
    pub(crate) verify: Vec<PathBuf>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct ReleaseServeArgs {
    /// Bundles written by `hardway release bundle`: one, or a differential one and those it was made after
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Address and port to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 5000))]
    pub(crate) listen: SocketAddr,
    /// Name or address by which nodes reach this host; the first is used in the printed imageDigestSources; can be repeated
    /// [default: the address of --listen, or this host's name]
    #[arg(long, value_name = "HOST")]
    pub(crate) name: Vec<String>,
    /// PEM certificate to serve with, followed by its chain [default: registry/tls.crt in the folder, made if it is missing]
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) certificate: Option<PathBuf>,
    /// PEM key of --certificate
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub(crate) key: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) signature: SignatureArgs,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("source").required(true).args(["pull_spec", "from_dir", "from"])))]
#[command(group(ArgGroup::new("destination").required(true).args(["to", "to_dir"])))]
pub(crate) struct MirrorArgs {
    /// Such as quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64
    pub(crate) pull_spec: Option<String>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// Repository to push all images to
    #[arg(long, value_name = "REGISTRY/REPO")]
    pub(crate) to: Option<String>,
    /// Write to this folder, as an OCI image layout
    #[arg(long, value_name = "DIR")]
    pub(crate) to_dir: Option<PathBuf>,
    /// Read the release from a folder written with --to-dir
    #[arg(long, value_name = "DIR", conflicts_with = "to_dir")]
    pub(crate) from_dir: Option<PathBuf>,
    /// Read the release from bundles written by `hardway release bundle`: one, or a differential one and those it was made
    /// after
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "to_dir")]
    pub(crate) from: Vec<PathBuf>,
    /// Output format; text is imageDigestSources to paste into install-config.yaml
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct MediaArgs {
    /// Release pull spec [default: the inventory's]
    pub(crate) pull_spec: Option<String>,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// Read the release from a folder
    #[arg(long, value_name = "DIR", conflicts_with = "pull_spec")]
    pub(crate) release_dir: Option<PathBuf>,
    /// Image format: iso, pxe, raw.gz, 4k.raw.gz, qcow2.gz, gcp, aws/REGION, … [default: list all]
    #[arg(long)]
    pub(crate) format: Option<String>,
    /// CoreOS stream, such as rhel-10, if the release has several
    #[arg(long)]
    pub(crate) stream: Option<String>,
    /// Download to this folder; `hardway media` looks in media/ of the cluster's folder
    #[arg(long, value_name = "DIR", requires = "format")]
    pub(crate) to: Option<PathBuf>,
    /// Try this base URL first, by file name
    #[arg(long, value_name = "URL", requires = "to")]
    pub(crate) mirror: Vec<String>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct RegistryArgs {
    /// Docker config JSON with registry credentials, instead of the install-config's pull secret and this host's logins
    #[arg(long, value_name = "FILE")]
    pub(crate) pull_secret: Option<PathBuf>,
    /// PEM certificates to trust in addition to the system's
    #[arg(long, value_name = "FILE")]
    pub(crate) trust_bundle: Option<PathBuf>,
    /// Use plain HTTP for the named registry, or for all registries of this command line
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(crate) plain_http: Vec<String>,
}
