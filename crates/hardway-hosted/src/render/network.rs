//! Ports and addresses of a hosted control plane.

use std::net::IpAddr;

use ipnet::IpNet;

/// The NodePorts of the four services, on every node of the management cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServicePorts {
    /// The API.
    pub api_server: u16,
    /// Logins.
    pub oauth_server: u16,
    /// The way from the control plane to its nodes.
    pub konnectivity: u16,
    /// First boots.
    pub ignition: u16,
}

/// Kubernetes keeps the first 86 NodePorts for those who ask for one by number (kubernetes `pkg/registry/core/service/portallocator`);
/// whoever does not care gets one above.
const STATIC_BAND: (u16, u16) = (30_000, 86);
const ALL: std::ops::RangeInclusive<u16> = 30_000..=32_767;

impl ServicePorts {
    /// Four in a row.
    pub fn from_base(base: u16) -> Self {
        let port = |n: u16| base.saturating_add(n);
        Self { api_server: port(0), oauth_server: port(1), konnectivity: port(2), ignition: port(3) }
    }

    /// Four in a row that follow from the cluster's name: the same in every run, and seldom those of another cluster.
    pub fn of_cluster(namespace: &str, name: &str) -> Self {
        let slots = u32::from(STATIC_BAND.1 / 4);
        let hash = u32::from_str_radix(&crate::hash::of_text(&format!("{namespace}/{name}")), 16)
            .unwrap_or_default();
        let slot = u16::try_from(hash % slots).unwrap_or_default();
        Self::from_base(STATIC_BAND.0 + 4 * slot)
    }

    /// Service and port.
    pub fn rows(self) -> [(&'static str, u16); 4] {
        [
            ("APIServer", self.api_server),
            ("OAuthServer", self.oauth_server),
            ("Konnectivity", self.konnectivity),
            ("Ignition", self.ignition),
        ]
    }

    /// What is wrong with them.
    pub(super) fn errors(self) -> Vec<String> {
        let rows = self.rows();
        let outside = rows.iter().filter(|(_, port)| !ALL.contains(port)).map(|(service, port)| {
            format!("port {port} of {service}: a NodePort must be from {} to {}", ALL.start(), ALL.end())
        });
        let twice = rows.iter().enumerate().flat_map(|(i, (service, port))| {
            let other = rows[..i].iter().find(|(_, earlier)| earlier == port);
            other.map(|(other, _)| format!("port {port} is used for both {other} and {service}"))
        });
        outside.chain(twice).collect()
    }
}

/// What HyperShift takes as the address of a NodePort: a name with a dot, or an address.
pub fn is_address(text: &str) -> bool {
    if text.parse::<IpAddr>().is_ok() || text == "localhost" {
        return true;
    }
    let labels: Vec<&str> = text.split('.').collect();
    let is_label = |label: &&str| {
        !label.is_empty()
            && !label.starts_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    let is_last = |label: &&str| label.len() >= 2 && label.bytes().all(|b| b.is_ascii_alphabetic());
    text.len() <= 253
        && labels.len() >= 2
        && labels.iter().all(is_label)
        && labels.last().is_some_and(is_last)
}

/// Networks that share an address.
pub(super) fn overlaps(networks: &[(&str, IpNet)]) -> Vec<String> {
    let pairs = networks.iter().enumerate().flat_map(|(i, a)| networks[..i].iter().map(move |b| (b, a)));
    pairs
        .filter(|((_, a), (_, b))| a.contains(&b.network()) || b.contains(&a.network()))
        .map(|((a, net_a), (b, net_b))| format!("{a} {net_a} and {b} {net_b} overlap"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_follow_from_the_name_and_are_static() {
        let ports = ServicePorts::of_cluster("clusters", "demo");
        assert_eq!(ports, ServicePorts::of_cluster("clusters", "demo"));
        for name in ["a", "b", "demo", "x-1"] {
            let ports = ServicePorts::of_cluster("clusters", name);
            assert!(ports.rows().iter().all(|(_, port)| (30_000..30_086).contains(port)), "{ports:?}");
            assert_eq!(ports.errors(), Vec::<String>::new());
        }
        assert_eq!(ServicePorts::from_base(32_766).errors().len(), 2);
        let same = ServicePorts { oauth_server: 30_001, ..ServicePorts::from_base(30_001) };
        assert_eq!(same.errors(), ["port 30001 is used for both APIServer and OAuthServer"]);
    }

    #[test]
    fn addresses_are_those_the_api_takes() {
        for good in ["10.0.0.5", "fd00::5", "api.example.com", "localhost"] {
            assert!(is_address(good), "{good}");
        }
        for bad in ["", "host", "a..b", "-a.example.com", "10.0.0.5:6443", "https://a.b", "a.b1"] {
            assert!(!is_address(bad), "{bad}");
        }
    }
}
