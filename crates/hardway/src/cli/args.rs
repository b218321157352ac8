//! What can be typed. Same verbs, flags and file names as openshift-install where it has them.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use hardway_assets::inventory::Provider;

use super::{
    ApproveArgs, BmcArgs, CheckArgs, CreateArgs, CsrArgs, DestroyArgs, DiagnoseArgs, GatherArgs, HostedArgs,
    InfraArgs, InstallMediaArgs, LabArgs, NodeArgs, PlanArgs, RecoverArgs, ReleaseArgs, RunArgs, ServeArgs,
    ValidateArgs, VerifyArgs, WaitForArgs,
};
use crate::terminal::{Color, ErrorFormat, Format, LogLevel};

/// Installs OpenShift and OKD on machines you own, and explains every byte it writes.
#[derive(Debug, Parser)]
#[command(name = "hardway", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
    /// As `-o` says: errors are told in the form of the data too.
    #[arg(skip)]
    pub(crate) errors: ErrorFormat,
}

/// Flags of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// Folder that holds everything of one cluster
    #[arg(
        long,
        global = true,
        env = "HARDWAY_DIR",
        hide_env_values = true,
        default_value = ".",
        value_name = "DIR"
    )]
    pub(crate) dir: PathBuf,
    /// Colours on standard error; `auto` leaves them out where NO_COLOR is set
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
    /// How much to say on standard error
    #[arg(long, global = true, value_enum, default_value_t = LogLevel::Info)]
    log_level: LogLevel,
    /// Say nothing but warnings and errors: the same as --log-level warn
    #[arg(short, long, global = true, conflicts_with_all = ["verbose", "log_level"])]
    quiet: bool,
    /// Say more: the same as --log-level debug
    #[arg(short, long, global = true, conflicts_with = "log_level")]
    verbose: bool,
}

impl Global {
    pub(crate) fn log_level(&self) -> LogLevel {
        match (self.quiet, self.verbose) {
            (true, _) => LogLevel::Warn,
            (_, true) => LogLevel::Debug,
            _ => self.log_level,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Approve the certificate requests of expected nodes, by policy
    Approve(ApproveArgs),
    /// Look at this host, names, load balancer and registry before anything is built
    ///
    /// Exit code 2 says that something is wrong.
    Check(Box<CheckArgs>),
    /// Boot machines through their management controllers, or say what a person has to do
    Bmc(BmcArgs),
    /// Print a completion script for a shell
    Completion(CompletionArgs),
    /// Install a cluster, or make the files that it boots from
    Create(Box<CreateArgs>),
    /// Explain certificate requests offline
    Csr(CsrArgs),
    /// Remove a cluster: its machines, and everything that was made on this host
    ///
    /// The folder's files stay.
    Destroy(DestroyArgs),
    /// Say what is broken first, and what to do
    ///
    /// Exit code 1 says that something is.
    Diagnose(Box<DiagnoseArgs>),
    /// Compare with another tool's output, by meaning
    ///
    /// Exit code 1 says that there are differences that nobody has explained.
    Diff(DiffArgs),
    /// Say what a file, certificate, flag, unit, field, error code or stage is, and why
    Explain(ExplainArgs),
    /// Collect logs, without secrets
    Gather(Box<GatherArgs>),
    /// Print the graph of assets
    Graph(GraphArgs),
    /// Run the workers of HyperShift hosted clusters of platform None
    Hosted(Box<HostedArgs>),
    /// Make a cluster's network, names, load balancer and machines, or take them back
    Infra(InfraArgs),
    /// Write a sample install-config.yaml and inventory.yaml
    Init(InitArgs),
    /// Work inside a lab: a shell on a machine, its logs, a command in its network
    Lab(LabArgs),
    /// Print a manual page: of the program, or of one of its commands
    Man(ManArgs),
    /// Add, remove or replace one machine of a cluster that runs
    Node(NodeArgs),
    /// Make and look into install media: live ISOs and network boot files
    Media(Box<InstallMediaArgs>),
    /// List, explain and run the phases of an install
    Phase(Box<PhaseArgs>),
    /// Print every side effect of `create cluster`, in order, before it happens
    Plan(Box<PlanArgs>),
    /// Bring a cluster back whose certificates have ended
    Recover(RecoverArgs),
    /// Look into a release, extract or mirror it, get its boot images
    Release(Box<ReleaseArgs>),
    /// Print the JSON schema of an input file, for editors
    Schema(SchemaArgs),
    /// Give machines their configs on their first boot, and say who fetched what
    Serve(Box<ServeArgs>),
    /// Say what is made, what is stale and why, and when certificates end
    Status(StatusArgs),
    /// List every mistake in install-config.yaml and inventory.yaml
    ///
    /// Asks nobody and makes nothing.
    Validate(ValidateArgs),
    /// Compare a running cluster with the inventory, from outside
    Verify(VerifyArgs),
    /// Print the version of this program
    Version(VersionArgs),
    /// Wait for the events of an install, as openshift-install does
    WaitFor(WaitForArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CompletionArgs {
    /// The shell that shall complete
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Such as `approve` or `csr simulate`
    #[arg(conflicts_with = "to")]
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands into this folder instead, as man reads them
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// Output folder of openshift-install, or another working folder
    #[arg(long, value_name = "DIR")]
    pub(crate) against: PathBuf,
    /// Form of what is printed on standard output
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// `etcd-signer`, `/etc/motd`, `--etcd-prefix`, `bootkube.service`, `networking.serviceNetwork`, `stage 7`, …
    #[arg(required = true)]
    pub(crate) what: Vec<String>,
    /// Form of what is printed on standard output
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    /// Form of what is printed on standard output
    #[arg(short, long, value_enum, default_value_t = GraphFormat::Dot)]
    pub(crate) output: GraphFormat,
    /// Read the release from a folder instead of the image named in the inventory
    #[arg(long, value_name = "DIR")]
    pub(crate) release_dir: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    Dot,
    Json,
    Mermaid,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Machine provider
    #[arg(long, value_parser = provider(), default_value = Provider::default().name())]
    pub(crate) provider: Provider,
    /// Release pull spec, or `sample` for the embedded made-up release [default: sample, or the release that the provider brings]
    #[arg(long)]
    pub(crate) release: Option<String>,
    /// Number of masters
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=9))]
    pub(crate) masters: u8,
    /// Number of workers
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) workers: u8,
}

#[derive(Debug, Args)]
pub(crate) struct PhaseArgs {
    #[command(subcommand)]
    pub(crate) verb: PhaseVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PhaseVerb {
    /// Print the page of the guide about a phase
    Explain {
        /// Such as make-pki
        name: String,
    },
    /// List the phases in order
    List {
        /// Form of what is printed on standard output
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
    /// Undo what keeps a phase from being done once more, and run it
    Redo {
        /// Such as await-bootstrap
        name: String,
        #[command(flatten)]
        run: RunArgs,
    },
    /// Run one phase, if what it is for does not hold already
    Run {
        /// Such as build-infra
        name: String,
        #[command(flatten)]
        run: RunArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The file
    pub(crate) file: SchemaFile,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaFile {
    InstallConfig,
    Inventory,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Form of what is printed on standard output
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
    /// Read the release from a folder instead of the image named in the inventory
    #[arg(long, value_name = "DIR")]
    pub(crate) release_dir: Option<PathBuf>,
    /// Show every file, not only what is stale or edited
    #[arg(long)]
    pub(crate) all: bool,
    /// Follow an install that is running, until it ends or Ctrl-C
    #[arg(long)]
    pub(crate) watch: bool,
    /// Exit with 1 if something is stale, missing or no longer needed: for scripts
    #[arg(long, conflicts_with = "watch")]
    pub(crate) exit_code: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VersionArgs {
    /// Form of what is printed on standard output
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// Those that there are, by name.
fn provider() -> impl TypedValueParser<Value = Provider> {
    let names = PossibleValuesParser::new(Provider::ALL.iter().map(|provider| provider.name()));
    names.map(|name| Provider::named(&name).unwrap_or_default())
}
