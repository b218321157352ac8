//! `hardway serve`: what can be typed.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::SignedDuration;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Address and port to listen on; may be given more than once [default: all addresses, port of ignitionServer.url]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Vec<SocketAddr>,
    /// Whom to serve; may be given more than once
    #[arg(long, value_enum, default_values_t = [Face::Host])]
    pub(crate) face: Vec<Face>,
    /// PEM certificate to serve with, its chain behind it [default: pki/ignition-server.crt]
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) certificate: Option<PathBuf>,
    /// PEM key of --certificate
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub(crate) key: Option<PathBuf>,
    /// Serve without encryption; only for pointers that carry a hash, and where nobody listens
    #[arg(long, conflicts_with = "certificate")]
    pub(crate) plain_http: bool,
    /// Also serve the folder that `hardway media pxe` wrote, over plain HTTP, to machines that boot from the network
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) boot: Option<SocketAddr>,
    /// With --boot: the folder [default: pxe]
    #[arg(long, value_name = "DIR", requires = "boot")]
    pub(crate) boot_folder: Option<PathBuf>,
    /// With --boot: install this host again, though its installer was here before; may be given more than once
    #[arg(long, value_name = "HOST", requires = "boot")]
    pub(crate) reinstall: Vec<String>,
    /// How long a config can be fetched after it was first offered, such as 24h or 3d
    #[arg(long, default_value = "24h", value_parser = duration)]
    pub(crate) window: SignedDuration,
    /// Serve a host its config wherever it asks from, not only from its addresses in the inventory: for hosts behind NAT.
    /// Written into the journal
    #[arg(long)]
    pub(crate) from_any_address: bool,
    /// The default, for command lines from before it was
    #[arg(long, hide = true, conflicts_with = "from_any_address")]
    pub(crate) only_from_own_address: bool,
    /// Connections at one time
    #[arg(long, default_value_t = 2048, value_parser = clap::value_parser!(u32).range(1..=100_000), value_name = "N")]
    pub(crate) max_connections: u32,
    /// With --face hosted: namespace of the hosted control plane [default: the kubeconfig's or the pod's]
    #[arg(long)]
    pub(crate) namespace: Option<String>,
    /// With --face hosted: how to reach the management cluster [default: $KUBECONFIG, or the pod's service account]
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// With --face hosted: fetch configs that token Secrets do not hold from HyperShift's own server, once, and keep them
    #[arg(long, value_name = "HOST:PORT", requires = "upstream_ca")]
    pub(crate) upstream: Option<String>,
    /// With --upstream: file with who signed its certificate; in HyperShift: ca.crt of ConfigMap root-ca
    #[arg(long, value_name = "FILE", requires = "upstream")]
    pub(crate) upstream_ca: Option<PathBuf>,
    /// Read the release from a folder instead of the image named in the inventory
    #[arg(long, value_name = "DIR")]
    pub(crate) release_dir: Option<PathBuf>,
    /// What to print: a table on a terminal and a line for each event elsewhere, or a line of JSON for each event
    #[arg(short, long, value_enum, default_value_t = ServeFormat::Text)]
    pub(crate) output: ServeFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Face {
    /// Hosts of the inventory, each its own config for its own token
    Host,
    /// Stock pointers, as the machine-config-server serves them: whoever asks
    Pool,
    /// Workers of a hosted cluster, as HyperShift's ignition-server serves them
    Hosted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServeFormat {
    Text,
    Json,
}

fn duration(text: &str) -> Result<SignedDuration, String> {
    // A day is 24 hours here: nobody counts a token's life in daylight saving.
    let duration = match text.strip_suffix('d').map(str::parse::<u16>) {
        Some(Ok(days)) => Some(SignedDuration::from_hours(24 * i64::from(days))),
        _ => text.parse().ok(),
    };
    duration.filter(SignedDuration::is_positive).ok_or_else(|| "write it like 90m, 24h or 3d".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        assert_eq!(duration("3d"), Ok(SignedDuration::from_hours(72)));
        assert_eq!(duration("90m"), Ok(SignedDuration::from_mins(90)));
        for text in ["", "-1h", "0h", "24", "d", "1.5d", "soon"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
