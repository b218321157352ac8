//! Where a controller is.

use std::fmt;

use hardway_base::Secret;

use super::Trust;

/// `redfish+https://10.0.0.5:8443/redfish/v1/Systems/1`: scheme, server, and the system where a controller has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BmcAddress {
    /// Whether the way there is encrypted.
    pub is_https: bool,
    /// A name or an address, without brackets.
    pub host: String,
    /// The port that is connected to.
    pub port: u16,
    /// The system's path, if one is named.
    pub system: Option<String>,
}

/// What is wrong with an address, as a sentence about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BmcAddressError {
    /// Brackets that do not hold an IPv6 address.
    #[error("has brackets around something that is not an IPv6 address")]
    Brackets,
    /// Nothing before the port or the path, or nothing that a host can be called.
    #[error("has no valid host")]
    Host,
    /// A name or a password before the host.
    #[error("must not contain a login: use the fields user and passwordFile")]
    Login,
    /// Something behind the host that is no port.
    #[error("has no valid port")]
    Port,
    /// A query, a fragment or white space.
    #[error("must end with the path of a system, without a query")]
    Query,
    /// Another way to speak to controllers.
    #[error(
        "is not Redfish: without Redfish, leave bmc out and boot the machine by hand or over the network"
    )]
    NotRedfish,
    /// No scheme at all.
    #[error("must be redfish+https://HOST[:PORT][/SYSTEM]")]
    NoScheme,
    /// A scheme that nobody knows.
    #[error("must begin with redfish+https:// or redfish+http://")]
    Scheme,
    /// A path that leads elsewhere.
    #[error("must name a system below /redfish/v1/Systems/, or have no path")]
    System,
    /// An opening bracket alone.
    #[error("has a [ without a ]")]
    Unclosed,
}

/// The schemes of OpenShift's installers (openshift-docs, BMC addressing). Without a word about it, they are encrypted.
const SCHEMES: [&str; 4] = ["redfish", "redfish-virtualmedia", "idrac-virtualmedia", "ilo5-virtualmedia"];
const ROOT: &str = "/redfish/v1";

impl BmcAddress {
    /// Reads an address.
    ///
    /// # Errors
    /// When it is not one of a Redfish controller.
    pub fn parse(text: &str) -> Result<Self, BmcAddressError> {
        let (scheme, rest) = text.split_once("://").ok_or(BmcAddressError::NoScheme)?;
        let (family, transport) = scheme.split_once('+').unwrap_or((scheme, "https"));
        if !SCHEMES.contains(&family) {
            return Err(match family {
                "ipmi" | "libvirt" => BmcAddressError::NotRedfish,
                _ => BmcAddressError::Scheme,
            });
        }
        let is_https = match transport {
            "https" => true,
            "http" => false,
            _ => return Err(BmcAddressError::Scheme),
        };
        let slash = rest.find('/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at(slash);
        if authority.contains('@') {
            return Err(BmcAddressError::Login);
        }
        if path.contains(['?', '#', ' ']) {
            return Err(BmcAddressError::Query);
        }
        let (host, port) = server(authority, is_https)?;
        let path = path.trim_end_matches('/');
        let system = (!path.is_empty() && path != ROOT).then(|| path.to_owned());
        if system.as_ref().is_some_and(|system| !system.starts_with("/redfish/v1/Systems/")) {
            return Err(BmcAddressError::System);
        }
        Ok(Self { is_https, host, port, system })
    }

    /// Whether both lead to one machine. Who names no system means the only one there is.
    pub fn is_same(&self, other: &Self) -> bool {
        let is_one_system = match (&self.system, &other.system) {
            (Some(system), Some(other)) => system == other,
            _ => true,
        };
        self.controller() == other.controller() && is_one_system
    }

    /// The controller alone, which may have several machines.
    pub(crate) fn controller(&self) -> (String, u16) {
        (self.host.to_ascii_lowercase(), self.port)
    }

    /// As the Host header has it.
    pub(super) fn authority(&self) -> String {
        let usual = if self.is_https { 443 } else { 80 };
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == usual { host } else { format!("{host}:{}", self.port) }
    }
}

fn server(authority: &str, is_https: bool) -> Result<(String, u16), BmcAddressError> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(inner) => {
            let (host, port) = inner.split_once(']').ok_or(BmcAddressError::Unclosed)?;
            host.parse::<std::net::Ipv6Addr>().map_err(|_| BmcAddressError::Brackets)?;
            (host, port)
        }
        None => authority.find(':').map_or((authority, ""), |colon| authority.split_at(colon)),
    };
    if host.is_empty() || !host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:_".contains(&b)) {
        return Err(BmcAddressError::Host);
    }
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => u16::from(is_https) * (443 - 80) + 80,
        Some(digits) => digits.parse().ok().filter(|port| *port != 0).ok_or(BmcAddressError::Port)?,
        None => return Err(BmcAddressError::Port),
    };
    Ok((host.to_owned(), port))
}

impl fmt::Display for BmcAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_https { "https" } else { "http" };
        write!(f, "redfish+{scheme}://{}", self.authority())?;
        f.write_str(self.system.as_deref().unwrap_or_default())
    }
}

/// Where a controller is, who logs in, and whom to trust. Printed without its password.
#[derive(Clone, Debug)]
pub struct Bmc {
    /// Where.
    pub address: BmcAddress,
    /// Who.
    pub user: String,
    /// With what.
    pub password: Secret,
    /// How.
    pub login: Login,
    /// Whose certificate is accepted.
    pub trust: Trust,
}

/// How the controller is shown who asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Login {
    /// With every request.
    #[default]
    Basic,
    /// Once, for a token that is given back at the end. Some controllers know nothing else.
    Session,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_other_installers_are_understood() {
        for (text, full) in [
            ("redfish://10.0.0.5", "redfish+https://10.0.0.5"),
            ("redfish+http://bmc.example.com:8000/redfish/v1/", "redfish+http://bmc.example.com:8000"),
            (
                "redfish-virtualmedia+https://[fd00::5]:8443/redfish/v1/Systems/1",
                "redfish+https://[fd00::5]:8443/redfish/v1/Systems/1",
            ),
            (
                "idrac-virtualmedia://10.0.0.5/redfish/v1/Systems/System.Embedded.1/",
                "redfish+https://10.0.0.5/redfish/v1/Systems/System.Embedded.1",
            ),
        ] {
            assert_eq!(BmcAddress::parse(text).unwrap().to_string(), full);
            assert_eq!(BmcAddress::parse(full).unwrap().to_string(), full);
        }
        assert_eq!(BmcAddress::parse("redfish+http://h").unwrap().port, 80);
        assert_eq!(BmcAddress::parse("redfish://h").unwrap().port, 443);
    }

    #[test]
    fn two_systems_of_a_controller_are_two_machines() {
        let is_same = |one: &str, other: &str| {
            let read = |text: &str| BmcAddress::parse(text).unwrap();
            read(one).is_same(&read(other))
        };
        assert!(is_same("redfish://bmc.example.com", "idrac-virtualmedia://BMC.example.com:443"));
        assert!(is_same("redfish://10.0.0.5", "redfish://10.0.0.5/redfish/v1/Systems/1"));
        assert!(!is_same(
            "redfish://10.0.0.5/redfish/v1/Systems/1",
            "redfish://10.0.0.5/redfish/v1/Systems/2"
        ));
        assert!(!is_same("redfish://10.0.0.5:8000", "redfish://10.0.0.5:8001"));
        assert!(!is_same("redfish://10.0.0.5", "redfish://10.0.0.6"));
    }

    #[test]
    fn others_are_refused_with_a_reason() {
        for (text, part) in [
            ("10.0.0.5", "must be redfish+https"),
            ("ipmi://10.0.0.5:623", "is not Redfish"),
            ("https://10.0.0.5", "must begin with"),
            ("redfish+tls://10.0.0.5", "must begin with"),
            ("redfish://root:calvin@10.0.0.5", "must not contain a login"),
            ("redfish://10.0.0.5/redfish/v1/Managers/1", "must name a system"),
            ("redfish://10.0.0.5/redfish/v1/Systems/1?x", "without a query"),
            ("redfish://10.0.0.5:0", "no valid port"),
            ("redfish://", "no valid host"),
            ("redfish://[10.0.0.5]", "not an IPv6"),
        ] {
            let error = BmcAddress::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
