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
    /// Have the machine's next boot start from its virtual drive
    BootOnceCd(BmcHost),
    /// Have the machine's next boot start from the network
    BootOncePxe(BmcHost),
    /// Say what a person has to do with machines that have no controller; exit 9 while one was not seen
    ByHand {
        /// A host of the inventory [default: all that have no controller]
        #[arg(long, value_name = "NAME")]
        host: Option<String>,
    },
    /// Empty the machine's virtual drive
    Eject(BmcHost),
    /// Put the host's ISO into the machine's virtual drive
    Insert(BmcHost),
    /// Switch the machine off, at once
    PowerOff(BmcHost),
    /// Switch the machine on
    PowerOn(BmcHost),
    /// Whether the ignition server, or the cluster, has seen the machine; exit 9 if not
    Seen(BmcHost),
    /// Say what the machine's controller says: power, medium, what is booted next
    Status {
        #[command(flatten)]
        host: BmcHost,
        /// Form of what is printed on standard output
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
