//! `hardway media`: what can be typed. Flags that `coreos-installer iso customize` has are called as there.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use super::Format;
use super::arg_values::listen_address;

#[derive(Debug, Args)]
pub(crate) struct InstallMediaArgs {
    #[command(subcommand)]
    pub(crate) verb: InstallMediaVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum InstallMediaVerb {
    /// Write the options that DHCP gives to machines that boot from the network; secret
    Dhcp(MediaDhcpArgs),
    /// Write a copy of a live ISO with files and kernel arguments of your own embedded
    Embed(EmbedArgs),
    /// Write a live ISO for each host that installs it unattended
    Iso(HostIsoArgs),
    /// List the user-data limits of clouds and hypervisors, and which hosts' configs fit
    Limits {
        /// Output format
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        output: Format,
        /// Read the release from a folder instead of the image named in the inventory
        #[arg(long, value_name = "DIR")]
        release_dir: Option<PathBuf>,
    },
    /// Write a folder for network boot: an iPXE script for each host, kernel, initramfs and root file system
    Pxe(PxeArgs),
    /// Write a copy of a live ISO with everything embedded removed
    Remove {
        /// The live ISO; it is not changed
        #[arg(value_name = "ISO")]
        image: PathBuf,
        /// The copy
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
    },
    /// Serve the hosts' ISOs to management controllers over plain HTTP, each at an unguessable path, until its host has joined
    Serve {
        /// Address and port to listen on; mediaUrl of the inventory must lead here
        #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:8080", value_parser = listen_address)]
        listen: SocketAddr,
        /// Read the release from a folder instead of the image named in the inventory
        #[arg(long, value_name = "DIR")]
        release_dir: Option<PathBuf>,
    },
    /// Show what is embedded in a live ISO
    Show {
        /// The live ISO
        #[arg(value_name = "ISO")]
        image: PathBuf,
        /// Print the embedded Ignition config, including its secrets
        #[arg(long, conflicts_with = "output")]
        ignition: bool,
        /// Output format
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
    /// Print the URLs of the media, for a controller's web page or for DHCP; the URLs are secrets
    Urls(MediaUrlsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct MediaDhcpArgs {
    /// The server that reads the file
    #[arg(long, value_enum)]
    pub(crate) format: DhcpFormat,
    /// The file; only its owner will be able to read it
    #[arg(long, value_name = "FILE")]
    pub(crate) to: PathBuf,
    /// Write nothing; succeed if the file is as it would be written
    #[arg(long)]
    pub(crate) check: bool,
    /// Read the release from a folder instead of the image named in the inventory
    #[arg(long, value_name = "DIR")]
    pub(crate) release_dir: Option<PathBuf>,
}

/// A DHCP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DhcpFormat {
    /// Lines of dnsmasq's configuration
    Dnsmasq,
    /// The value of client-classes of Kea's DHCPv4 server
    Kea,
}

#[derive(Debug, Args)]
pub(crate) struct MediaUrlsArgs {
    /// Where `hardway media serve` or `hardway serve --boot` is reached [default: mediaUrl of the inventory]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Read the release from a folder instead of the image named in the inventory
    #[arg(long, value_name = "DIR")]
    pub(crate) release_dir: Option<PathBuf>,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

#[derive(Debug, Args)]
pub(crate) struct EmbedArgs {
    /// The live ISO; it is not changed
    #[arg(value_name = "ISO")]
    pub(crate) image: PathBuf,
    /// The copy
    #[arg(long, value_name = "FILE")]
    pub(crate) to: PathBuf,
    /// Ignition config of the live system; replaces an embedded one
    #[arg(long, value_name = "FILE")]
    pub(crate) live_ignition: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
}

/// What is changed in the live system.
#[derive(Debug, Args)]
pub(crate) struct LiveArgs {
    /// NetworkManager keyfile; name ends in .nmconnection
    #[arg(long, value_name = "FILE")]
    pub(crate) network_keyfile: Vec<PathBuf>,
    /// Kernel argument to add to the live system's
    #[arg(long, value_name = "ARG")]
    pub(crate) live_karg_append: Vec<String>,
    /// Kernel argument to remove from the live system's
    #[arg(long, value_name = "ARG")]
    pub(crate) live_karg_delete: Vec<String>,
    /// Kernel argument of the live system to replace
    #[arg(long, value_name = "KEY=OLD=NEW")]
    pub(crate) live_karg_replace: Vec<String>,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("which").required(true).args(["host", "all"])))]
pub(crate) struct HostIsoArgs {
    /// A host of the inventory; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// Every host of the inventory
    #[arg(long)]
    pub(crate) all: bool,
    /// Folder for the ISOs, each called <host>.iso [default: media in the working folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
    /// Embed a pointer even where the complete config fits, so that the ignition server sees the machine
    #[arg(long)]
    pub(crate) pointer: bool,
    /// Install the host given with --host with this Ignition config instead of its own
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "pointer"])]
    pub(crate) config: Option<PathBuf>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) source: MediaSource,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
    /// Ignition config to merge into the live system's
    #[arg(long, value_name = "FILE")]
    pub(crate) live_ignition: Option<PathBuf>,
    /// Script to run before the disk is written
    #[arg(long, value_name = "FILE")]
    pub(crate) pre_install: Vec<PathBuf>,
    /// Script to run after the disk is written
    #[arg(long, value_name = "FILE")]
    pub(crate) post_install: Vec<PathBuf>,
    /// Kernel argument to add to the installed system's
    #[arg(long, value_name = "ARG")]
    pub(crate) dest_karg_append: Vec<String>,
    /// Kernel argument to remove from the installed system's
    #[arg(long, value_name = "ARG")]
    pub(crate) dest_karg_delete: Vec<String>,
}

/// What media are made from.
#[derive(Debug, Args)]
pub(crate) struct MediaSource {
    /// The live ISO as downloaded [default: the release's, from media in the cluster's folder or from the cache]
    #[arg(long, value_name = "FILE")]
    pub(crate) iso: Option<PathBuf>,
    /// Where hosts fetch a config that does not fit: URL/bootstrap.ign, URL/ignition/<host>.ign
    #[arg(long, value_name = "URL")]
    pub(crate) ignition_url: Option<String>,
    /// Read the release from a folder instead of the image named in the inventory
    #[arg(long, value_name = "DIR")]
    pub(crate) release_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PxeArgs {
    /// Where the folder will be served, such as http://192.168.126.1:8080
    #[arg(long, value_name = "URL")]
    pub(crate) url: String,
    /// A host of the inventory; can be repeated; files of other hosts are kept [default: every host]
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// Install the host given with --host with this Ignition config instead of its own
    #[arg(long, value_name = "FILE", requires = "host")]
    pub(crate) config: Option<PathBuf>,
    /// The folder [default: pxe in the working folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) source: MediaSource,
}
