//! `hardway bmc`: what can be typed.

use clap::{Args, Subcommand};

use super::Format;

#[derive(Debug, Args)]
pub(crate) struct BmcArgs {
    #[command(subcommand)]
    pub(crate) verb: BmcVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BmcVerb {
    /// Boot the machine from its virtual drive next time
    BootOnceCd(BmcHost),
    /// Boot the machine from the network next time
    BootOncePxe(BmcHost),
    /// Show the manual steps for machines without a controller; exits with 9 until all were seen
    ByHand {
        /// A host of the inventory [default: all that have no controller]
        #[arg(long, value_name = "NAME")]
        host: Option<String>,
    },
    /// Eject the medium from the machine's virtual drive
    Eject(BmcHost),
    /// Insert the host's ISO into the machine's virtual drive
    Insert(BmcHost),
    /// Switch the machine off immediately
    PowerOff(BmcHost),
    /// Switch the machine on
    PowerOn(BmcHost),
    /// Check whether the ignition server or the cluster has seen the machine; exits with 9 if not
    Seen(BmcHost),
    /// Ask the machine's system to shut down, and do not wait for it
    ShutDown(BmcHost),
    /// Show the machine's power state, medium and next boot device
    Status {
        #[command(flatten)]
        host: BmcHost,
        /// Output format
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        output: Format,
    },
}

#[derive(Debug, Args)]
pub(crate) struct BmcHost {
    /// A host of the inventory
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) name: String,
}
