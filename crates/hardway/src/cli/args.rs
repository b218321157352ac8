//! What can be typed. Same verbs, flags and file names as openshift-install where it has them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use hardway_assets::inventory::Provider;

use super::{
    ApproveArgs, BmcArgs, CertsArgs, CheckArgs, CreateArgs, Day2Args, DestroyArgs, DiagnoseArgs, EtcdArgs,
    GatherArgs, HostedArgs, InfraArgs, InstallMediaArgs, LabArgs, NodeArgs, PageArgs, PlanArgs, PowerArgs,
    ReleaseArgs, RunArgs, ServeArgs, ValidateArgs, VerifyArgs, WaitForArgs,
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
    /// Folder of the cluster; paths in other flags are relative to the current folder
    #[arg(
        long,
        global = true,
        env = "HARDWAY_DIR",
        hide_env_values = true,
        default_value = ".",
        value_name = "DIR",
        value_parser = OsStringValueParser::new().map(folder)
    )]
    pub(crate) dir: PathBuf,
    /// Colours on standard error; `auto` respects NO_COLOR
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
    /// How much to print on standard error
    #[arg(long, global = true, value_enum, default_value_t = LogLevel::Info)]
    log_level: LogLevel,
    /// Print only warnings and errors; the same as --log-level warn
    #[arg(short, long, global = true, conflicts_with_all = ["verbose", "log_level"])]
    quiet: bool,
    /// Print more; the same as --log-level debug
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
    /// Approve certificate requests of expected nodes by policy, or evaluate them offline
    Approve(Box<ApproveArgs>),
    /// Check this host, DNS, load balancer and registry before an install
    ///
    /// Exits with 2 if a check failed.
    Check(Box<CheckArgs>),
    /// Boot machines through their management controllers, or show the manual steps
    Bmc(BmcArgs),
    /// List every certificate and when it expires; recover after they have expired
    ///
    /// Of the folder, of the cluster's Secrets and of the nodes' kubelets: who signs it, and who renews it.
    Certs(Box<CertsArgs>),
    /// Print a completion script for a shell
    ///
    /// The scripts for bash, zsh and fish also complete hosts, phases, checks and everything that can be explained.
    Completion(CompletionArgs),
    /// Install a cluster, or create the files that it boots from
    Create(Box<CreateArgs>),
    /// Give a cluster what it lacks after the install: users, certificates, proxy, …
    ///
    /// Settings are in inventory.yaml, below day2.
    Day2(Box<Day2Args>),
    /// Destroy a cluster: its machines, and everything made on this host
    ///
    /// The files in the folder are kept.
    Destroy(DestroyArgs),
    /// Find the first thing that is broken, and how to fix it
    ///
    /// Exits with 1 if something is broken.
    Diagnose(Box<DiagnoseArgs>),
    /// Compare the files with openshift-install's, by meaning
    ///
    /// Exits with 1 if there are unexplained differences.
    Diff(DiffArgs),
    /// Inspect etcd, back it up, prove backups, and restore etcd from one
    Etcd(EtcdArgs),
    /// Explain a file, certificate, flag, unit, field, error code or stage
    Explain(ExplainArgs),
    /// Collect logs, with secrets removed
    Gather(Box<GatherArgs>),
    /// Print the dependency graph of the generated files
    Graph(GraphArgs),
    /// Run workers for HyperShift hosted clusters with platform None
    Hosted(Box<HostedArgs>),
    /// Create or remove a cluster's network, DNS, load balancer and machines
    Infra(InfraArgs),
    /// Write a sample install-config.yaml and inventory.yaml
    Init(InitArgs),
    /// Work inside a lab: open a shell, read logs, run a command in its network
    Lab(LabArgs),
    /// Print the manual page of the program or of a command
    Man(ManArgs),
    /// Add, remove or replace a machine of a running cluster
    Node(NodeArgs),
    /// Make and inspect install media: live ISOs and network boot files
    Media(Box<InstallMediaArgs>),
    /// Show an install in the browser: live while it runs, moment by moment afterwards
    ///
    /// Reads the folder and changes nothing.
    Page(PageArgs),
    /// List, explain and run the phases of an install
    Phase(Box<PhaseArgs>),
    /// Print everything `create cluster` would do, in order
    Plan(Box<PlanArgs>),
    /// Switch a whole cluster off or on, in the right order
    Power(Box<PowerArgs>),
    /// Inspect, extract or mirror a release, and get its boot images
    Release(Box<ReleaseArgs>),
    /// Serve machines their configs on first boot, and log who fetched what
    Serve(Box<ServeArgs>),
    /// Show what is made, what is stale and why, and when certificates expire
    Status(StatusArgs),
    /// List every mistake in the input files and the manifests; print their schemas
    ///
    /// Works offline and writes nothing.
    Validate(ValidateArgs),
    /// Check a running cluster against the inventory, from outside
    Verify(VerifyArgs),
    /// Print the version of this program
    Version(VersionArgs),
    /// Wait for the events of an install, as openshift-install does
    WaitFor(WaitForArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CompletionArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
    /// The words after the program's name: prints candidates for the last one. For the scripts
    #[arg(last = true, hide = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Such as `approve` or `approve simulate`
    #[arg(conflicts_with = "to")]
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands into this folder instead, as man reads them
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// Output folder of openshift-install, or another cluster folder
    #[arg(long, value_name = "DIR")]
    pub(crate) against: PathBuf,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// `etcd-signer`, `/etc/motd`, `--etcd-prefix`, `bootkube.service`, `networking.serviceNetwork`, `stage 7`, …; `-` for the lines of
    /// standard input
    #[arg(required = true)]
    pub(crate) what: Vec<String>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    /// Output format
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
    /// Release pull spec, or `sample` for the built-in example release [default: sample, or the provider's own release]
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
        /// Output format
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
    /// Reset a phase that has failed or is done, and run it again
    Redo {
        /// Such as await-bootstrap
        name: String,
        #[command(flatten)]
        run: RunArgs,
    },
    /// Run one phase, unless it is already done
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
    HostedInventory,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
    /// Read the release from a folder instead of the image named in the inventory
    #[arg(long, value_name = "DIR")]
    pub(crate) release_dir: Option<PathBuf>,
    /// Show every asset with all reasons, and when each certificate expires; not only what is stale or edited
    #[arg(long)]
    pub(crate) all: bool,
    /// Show what follows from a file that you edited, added or deleted: assets, configs of hosts, rendered nodes
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "watch", "exit_code"])]
    pub(crate) why: Option<PathBuf>,
    /// Follow a running install until it ends
    #[arg(long)]
    pub(crate) watch: bool,
    /// Exit with 1 if something is stale, missing or no longer needed
    #[arg(long, conflicts_with = "watch")]
    pub(crate) exit_code: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VersionArgs {
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

/// One that begins with a hyphen is written so that no command takes it for a flag.
fn folder(typed: OsString) -> PathBuf {
    match typed.as_encoded_bytes().first() {
        Some(b'-') => Path::new(".").join(typed),
        _ => PathBuf::from(typed),
    }
}

/// Those that there are, by name.
fn provider() -> impl TypedValueParser<Value = Provider> {
    let names = PossibleValuesParser::new(Provider::ALL.iter().map(|provider| provider.name()));
    names.map(|name| Provider::named(&name).unwrap_or_default())
}
