//! `hardway check`, `hardway validate` and `hardway verify`: what can be typed.

use clap::{Args, Subcommand, ValueEnum};

use super::{ClusterArgs, Format, RegistryArgs, SchemaArgs};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct CheckArgs {
    #[command(subcommand)]
    pub(crate) what: Option<CheckWhat>,
    /// Skip a check; `hardway check --list` lists them; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) skip_check: Vec<String>,
    /// Run only this check; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// List the checks without running them
    #[arg(long)]
    pub(crate) list: bool,
    /// Also show why checks do not apply
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) registry: RegistryArgs,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// What is checked instead of this host.
#[derive(Debug, Subcommand)]
pub(crate) enum CheckWhat {
    /// Look for every image as the cluster's nodes will: registries.conf, pull secret, trust, proxy, architecture, signatures
    ///
    /// Checks the images of the release that this cluster runs, and those that manifests name. Queries registries and writes nothing.
    Images(CheckImagesArgs),
    /// Check every manifest as the cluster's API server will: schemas, rules, references, MachineConfigs
    ///
    /// Works offline and writes nothing.
    Manifests(CheckManifestsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CheckImagesArgs {
    /// Look for every layer of every image, too
    #[arg(long)]
    pub(crate) deep: bool,
    #[command(flatten)]
    pub(crate) registry: RegistryArgs,
    /// Output format; text goes to standard error, all others to standard output
    #[arg(short, long, value_enum, default_value_t = FindingsFormat::Text)]
    pub(crate) output: FindingsFormat,
}

#[derive(Debug, Args)]
pub(crate) struct CheckManifestsArgs {
    /// Output format; text goes to standard error, with the lines of the files, all others to standard output
    #[arg(short, long, value_enum, default_value_t = FindingsFormat::Text)]
    pub(crate) output: FindingsFormat,
}

/// Form of findings, for people and for pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindingsFormat {
    Text,
    Json,
    Yaml,
    /// JUnit test report, with one case for each file
    Junit,
    /// SARIF, for annotations in code review
    Sarif,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Skip a check; `hardway verify --list` lists them; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) skip_check: Vec<String>,
    /// List the checks without running them
    #[arg(long)]
    pub(crate) list: bool,
    /// Image of the test pod; must have a shell [default: the release's `cli` image]
    #[arg(long, value_name = "PULLSPEC")]
    pub(crate) image: Option<String>,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ValidateArgs {
    #[command(subcommand)]
    pub(crate) what: Option<ValidateWhat>,
    /// Output format; text goes to standard error, with the lines of the files, all others to standard output
    #[arg(short, long, value_enum, default_value_t = FindingsFormat::Text)]
    pub(crate) output: FindingsFormat,
}

/// What files are held against.
#[derive(Debug, Subcommand)]
pub(crate) enum ValidateWhat {
    /// Print the JSON schema of an input file, for editors
    Schema(SchemaArgs),
}
