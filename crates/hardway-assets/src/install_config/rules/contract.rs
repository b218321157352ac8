//! What differs between releases, as named answers instead of version numbers all over the rules. The answers are the
//! version contract's.

use crate::input_tables::INSTALL_CONFIG;
use crate::release_payload::VersionContract;

/// How to read install-config for one release on one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Major and minor version of the release. Only for what the schema says of fields: since when they are known.
    pub version: (u64, u64),
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
    /// Whether feature set OKD has a refusal of its own.
    pub knows_okd_feature_set: bool,
    /// Whether osImageStream must be a stream there is.
    pub checks_os_image_stream: bool,
    /// Whether gate DualReplica is on without being asked for.
    pub dual_replica_is_default: bool,
    /// Whether gate OSStreams is on without being asked for.
    pub os_streams_is_default: bool,
    /// The stream of a cluster that names none.
    pub default_os_image_stream: &'static str,
    /// Whether that is filled in.
    pub fills_in_os_image_stream: bool,
    /// Whether there are capabilities for the cluster API.
    pub has_cluster_api_capabilities: bool,
    /// Whether the release is OKD.
    pub okd: bool,
    /// The processor of machines whose pool names none: that of the release, as the openshift-install of each has it
    /// built in (installer `pkg/version`).
    pub default_architecture: &'static str,
    /// Whether this host runs in FIPS mode. Also true where the host is not checked.
    pub host_fips: bool,
}

impl Rules {
    /// The rules of a release such as `4.18.3` or `4.18`. Text that is no version gets those of the oldest known.
    pub fn for_version(version: &str) -> Self {
        let contract =
            VersionContract::new(version).or_else(|_| VersionContract::new(&format!("{version}.0")));
        Self::for_contract(&contract.unwrap_or_else(|_| VersionContract::oldest()))
    }

    fn for_contract(contract: &VersionContract) -> Self {
        Self {
            version: (contract.major(), contract.minor()),
            ipv6_may_be_first: contract.ipv6_may_be_first(),
            ovn_subnets_are_reserved: contract.ovn_subnets_are_reserved(),
            one_host_prefix: contract.wants_one_host_prefix(),
            two_masters_need_fencing: contract.two_masters_need_fencing(),
            every_ssh_line_is_a_key: contract.every_ssh_line_is_a_key(),
            mirrors_need_credentials: contract.mirrors_need_credentials(),
            knows_okd_feature_set: contract.knows_okd_feature_set(),
            checks_os_image_stream: contract.checks_os_image_stream(),
            dual_replica_is_default: contract.dual_replica_is_default(),
            os_streams_is_default: contract.os_streams_is_default(),
            default_os_image_stream: contract.default_os_image_stream(),
            fills_in_os_image_stream: contract.fills_in_os_image_stream(),
            has_cluster_api_capabilities: contract.has_cluster_api_capabilities(),
            okd: contract.is_okd(),
            default_architecture: "amd64",
            host_fips: false,
        }
    }

    /// The same for a release of one architecture, by Go's name of it. One with several changes nothing.
    #[must_use]
    pub fn of_architecture(mut self, name: &str) -> Self {
        let known = INSTALL_CONFIG.allowed("controlPlane.architecture");
        self.default_architecture =
            known.iter().find(|known| **known == name).copied().unwrap_or(self.default_architecture);
        self
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
        assert_eq!(Rules::for_version("4.22"), Rules::for_version("4.22.0"));
    }

    #[test]
    fn a_release_of_one_architecture_is_the_default() {
        let default = |name| Rules::for_version("4.18").of_architecture(name).default_architecture;
        assert_eq!(
            ["", "amd64", "arm64", "multi", "riscv64"].map(default),
            ["amd64", "amd64", "arm64", "amd64", "amd64"]
        );
    }
}
