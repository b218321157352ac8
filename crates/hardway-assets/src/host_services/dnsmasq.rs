//! The names as a configuration of dnsmasq.

use std::fmt::Write as _;
use std::net::IpAddr;

use super::Names;

/// Where dnsmasq answers, and whom it asks about other names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dnsmasq {
    /// Addresses of this host on the machine network.
    pub listen: Vec<IpAddr>,
    /// Usually 53.
    pub port: u16,
    /// Where its process id is written.
    pub pid_file: String,
    /// Name servers for all other names; none: other names do not exist.
    pub upstream: Vec<IpAddr>,
}

/// The whole file.
pub fn dnsmasq(names: &Names, server: &Dnsmasq) -> String {
    let mut text =
        format!("# Made by hardway.\nport={}\npid-file={}\nbind-interfaces\n", server.port, server.pid_file);
    for address in &server.listen {
        let _ = writeln!(text, "listen-address={address}");
    }
    // Nothing of this host's own leaks in: neither its name servers nor its names.
    text.push_str("no-resolv\nno-hosts\n");
    for address in &server.upstream {
        let _ = writeln!(text, "server={address}");
    }
    if server.upstream.is_empty() {
        text.push_str(
            "# No name server for other names is given, so they do not exist here. A machine that asks nobody else cannot\n\
             # pull images from outside then; name one:\n# server=ADDRESS\n",
        );
    }
    let _ = writeln!(
        text,
        "\n# A name below this domain that is not listed does not exist.\nlocal=/{}/",
        names.domain
    );
    for name in &names.names {
        for address in &name.addresses {
            // The first record of an address answers for it: hosts come before api, api before api-int.
            let _ = writeln!(text, "host-record={},{address}", name.name);
        }
    }
    let wildcard = &names.wildcard.name;
    // Without the `local` line dnsmasq says of the family that has no address that the name does not exist, and
    // resolvers that ask for both families believe it.
    let _ = writeln!(text, "\n# Every route.\nlocal=/{wildcard}/");
    for address in &names.wildcard.addresses {
        let _ = writeln!(text, "address=/{wildcard}/{address}");
    }
    text
}
