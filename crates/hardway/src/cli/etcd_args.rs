//! `hardway etcd`: what can be typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hardway_cluster::age::Recipient;

use super::{ClusterArgs, Format, RemovalArgs};

#[derive(Debug, Args)]
pub(crate) struct EtcdArgs {
    #[command(subcommand)]
    pub(crate) verb: EtcdVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EtcdVerb {
    /// Back up a healthy member and the static pods of its master, encrypted with a public key
    ///
    /// etcd holds every secret of the cluster. Making a backup takes only the public key (the recipient); keep the private key
    /// (the identity) somewhere else. The format is age's, and `age-keygen` generates a key pair.
    Backup(Box<EtcdBackupArgs>),
    /// Free the unused space in etcd's databases: one member at a time, the leader last
    ///
    /// Refused while a member is unhealthy, because a member does not answer while it is defragmented.
    Defrag {
        /// Show the order and how much space would be freed, and change nothing
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        look: EtcdLookArgs,
    },
    /// Prove a backup: restore it into a temporary etcd and API server, and compare every object
    ///
    /// Shows what the backup contains and how old it is. Needs etcd and etcdutl on this host, and kube-apiserver for the full proof.
    Prove(EtcdProveArgs),
    /// List etcd's members: ID, name, addresses, and whether each is healthy
    Members(EtcdLookArgs),
    /// Restore etcd from a backup when a majority of its members is lost; shows the plan, and asks first
    ///
    /// Refused while etcd works: if one master is lost, `hardway node replace` replaces it, and nothing else is lost. A run that is cut
    /// off continues when the same command is run again.
    Restore(Box<EtcdRestoreArgs>),
    /// Show the health of each member: version, size, leader, revision, problems; exits with 1 if one is unhealthy
    Status(EtcdLookArgs),
}

#[derive(Debug, Args)]
pub(crate) struct EtcdLookArgs {
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct EtcdBackupArgs {
    /// Public key to encrypt the backup with, such as age1…; can be repeated, and any one of the private keys opens it
    #[arg(long, value_name = "RECIPIENT", required = true)]
    pub(crate) recipient: Vec<Recipient>,
    /// Folder for the backup, in the cluster's folder unless it begins with /; created if it does not exist
    #[arg(long, value_name = "DIR", default_value = "backups")]
    pub(crate) to: PathBuf,
    /// Keep this many of the newest backups in that folder, and delete older ones [default: keep all]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) keep: Option<u16>,
    /// Leave out the master's static pods, which are fetched over ssh; a restore then needs them from another source
    #[arg(long)]
    pub(crate) without_static_pods: bool,
    /// Continue even if the API server cannot say whether another backup is running
    #[arg(long)]
    pub(crate) without_lease: bool,
    /// Back up nothing, and print a systemd service and timer for this schedule instead, such as daily or "*-*-* 02:30"
    #[arg(long, value_name = "CALENDAR")]
    pub(crate) schedule: Option<String>,
    #[command(flatten)]
    pub(crate) ssh: MasterLoginArgs,
    #[command(flatten)]
    pub(crate) look: EtcdLookArgs,
}

/// How masters are logged in to.
#[derive(Debug, Args)]
pub(crate) struct MasterLoginArgs {
    /// Private ssh key for the masters [default: those of your ssh agent and your own]
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// User on the masters
    #[arg(long, value_name = "NAME", default_value = "core")]
    pub(crate) ssh_user: String,
    /// Port of the masters' ssh servers
    #[arg(long, value_name = "PORT", default_value_t = 22)]
    pub(crate) ssh_port: u16,
}

#[derive(Debug, Args)]
pub(crate) struct EtcdRestoreArgs {
    /// The backup file
    pub(crate) file: PathBuf,
    /// Private key that opens it, as age-keygen writes it
    #[arg(long, value_name = "FILE")]
    pub(crate) identity: PathBuf,
    /// Master to restore on [default: one whose etcd still answers]
    #[arg(long, value_name = "HOST")]
    pub(crate) recovery_host: Option<String>,
    /// Folder with etcdutl [default: the one in $PATH]
    #[arg(long, value_name = "DIR")]
    pub(crate) programs: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) removal: RemovalArgs,
    #[command(flatten)]
    pub(crate) ssh: MasterLoginArgs,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EtcdProveArgs {
    /// The backup file
    pub(crate) file: PathBuf,
    /// Private key that opens it, as age-keygen writes it
    #[arg(long, value_name = "FILE")]
    pub(crate) identity: PathBuf,
    /// Folder with etcd, etcdutl and kube-apiserver [default: those in $PATH]
    #[arg(long, value_name = "DIR")]
    pub(crate) programs: Option<PathBuf>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}
