//! What differs between releases, as named answers instead of version numbers all over the rules.

/// How to read install-config for one release on one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Major and minor version of the release.
    pub version: (u32, u32),
    /// Whether IPv6 may be the first family of a dual-stack cluster.
    pub ipv6_may_be_first: bool,
    /// Whether networks that overlap OVN-Kubernetes' own subnets are refused; before, they are only warned about.
    pub ovn_subnets_are_reserved: bool,
    /// Whether all IPv4 cluster networks need the same hostPrefix.
    pub one_host_prefix: bool,
    /// Whether two masters are refused unless they can fence each other.
    pub two_masters_need_fencing: bool,
    /// Whether every line of sshKey must be a key; before, one good line was enough.
    pub every_ssh_line_is_a_key: bool,
    /// Whether a mirror without credentials in the pull secret is warned about.
    pub mirrors_need_credentials: bool,
    /// Whether the release is OKD.
    pub okd: bool,
    /// Whether this host runs in FIPS mode, or nobody wants to know.
    pub host_fips: bool,
}

impl Rules {
    /// The rules of a release such as `4.18.3`. Text that is no version gets the rules of 4.18, the oldest known.
    pub fn for_version(version: &str) -> Self {
        let mut numbers = version.split('.').map(|part| part.parse::<u32>().ok());
        let parsed = match (numbers.next().flatten(), numbers.next().flatten()) {
            (Some(major), Some(minor)) => (major, minor),
            _ => (4, 18),
        };
        let from = |minor| parsed >= (4, minor);
        Self {
            version: parsed,
            ipv6_may_be_first: from(19),
            ovn_subnets_are_reserved: from(19),
            one_host_prefix: from(19),
            two_masters_need_fencing: from(19),
            every_ssh_line_is_a_key: from(20),
            mirrors_need_credentials: from(22),
            okd: version.contains("okd"),
            host_fips: false,
        }
    }

    /// The same on a host in FIPS mode.
    #[must_use]
    pub fn on_fips_host(mut self, host_fips: bool) -> Self {
        self.host_fips = host_fips;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_releases_ask_for_more() {
        let old = Rules::for_version("4.18.3");
        let new = Rules::for_version("4.19.0-rc.2");
        assert_eq!((old.version, new.version), ((4, 18), (4, 19)));
        assert!(
            !old.ovn_subnets_are_reserved && new.ovn_subnets_are_reserved && !new.every_ssh_line_is_a_key
        );
        assert!(Rules::for_version("5.0.0").mirrors_need_credentials);
        assert!(Rules::for_version("4.18.0-okd-scos.3").okd);
        assert_eq!(Rules::for_version("sample"), Rules::for_version("4.18"));
    }
}
