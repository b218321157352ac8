//! What differs between releases, as named facts. Each names the installer branch it was read from.

/// A release's place in the line of releases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VersionContract {
    major: u32,
    minor: u32,
    is_okd: bool,
}

impl VersionContract {
    /// Reads `4.18.1`, `4.19.0-0.nightly-…`, `4.18.0-okd-scos.1`. `None` when there is no major and minor number.
    pub(super) fn of(version: &str) -> Option<Self> {
        let mut numbers = version.split('.');
        let major = numbers.next()?.parse().ok()?;
        let minor = numbers.next()?.parse().ok()?;
        Some(Self { major, minor, is_okd: version.contains("okd") })
    }

    /// The update channel: `stable-4.18` (installer `data/manifests/bootkube/cvo-overrides.yaml.template`).
    pub(super) fn channel(self) -> String {
        if self.is_okd {
            format!("stable-scos-{}", self.major)
        } else {
            format!("stable-{}.{}", self.major, self.minor)
        }
    }

    /// Where OKD looks for updates; OpenShift uses the address built into its version operator (same file).
    pub(super) fn update_service(self) -> Option<&'static str> {
        self.is_okd.then_some("https://amd64.origin.releases.ci.openshift.org/graph")
    }

    /// The machine-config-operator rotates the certificate that nodes boot by, and needs its CA for it (installer
    /// `machine-config-server-ca-secret.yaml.template`: absent in release-4.18, there from release-4.19).
    pub(super) fn rotates_machine_config_server_ca(self) -> bool {
        (self.major, self.minor) >= (4, 19)
    }

    /// Dual stack asks nodes for DHCP of both families (installer `machines/master.go`: up to release-4.19 not on
    /// platform none).
    pub(super) fn sets_dual_stack_kernel_arguments(self) -> bool {
        (self.major, self.minor) >= (4, 20)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_apart() {
        let of = |text| VersionContract::of(text).unwrap();
        assert!(!of("4.18.1").rotates_machine_config_server_ca());
        assert!(of("4.19.0-0.nightly-2025-01-01-000000").rotates_machine_config_server_ca());
        assert!(!of("4.19.9").sets_dual_stack_kernel_arguments());
        assert!(of("5.0.0").sets_dual_stack_kernel_arguments());
        assert_eq!(VersionContract::of("latest"), None);
        assert_eq!(VersionContract::of("4"), None);
    }

    #[test]
    fn okd_has_its_own_channel_and_update_service() {
        let okd = VersionContract::of("4.18.0-okd-scos.9").unwrap();
        assert_eq!(okd.channel(), "stable-scos-4");
        assert!(okd.update_service().is_some());
        let openshift = VersionContract::of("4.18.1").unwrap();
        assert_eq!((openshift.channel().as_str(), openshift.update_service()), ("stable-4.18", None));
    }
}
