//! What a release version promises: one named question for everything that differs between 4.18 and 5.x.
//!
//! Generators ask these questions and never compare versions themselves. The version at which each answer changes was
//! read off the release branches of the repository named in its comment.

use std::fmt;
use std::str::FromStr;

/// The answers for one release version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionContract {
    major: u64,
    minor: u64,
    text: String,
}

/// A release version that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// The text is not a semantic version.
    #[error("{0:?} is not a release version: expected one such as 4.18.3 or 4.19.0-rc.1")]
    NotSemantic(String),
    /// Older than the oldest release these assets fit.
    #[error("release {0} is too old: 4.18 is the oldest one supported")]
    TooOld(String),
}

/// The oldest release whose operators accept what is generated here.
const OLDEST: (u64, u64) = (4, 18);

impl VersionContract {
    /// Reads a version such as `4.18.3` or `5.0.0-ec.1`. A release candidate answers as the release it leads to.
    pub fn new(version: &str) -> Result<Self, VersionError> {
        let [major, minor, _patch] =
            core_numbers(version).ok_or_else(|| VersionError::NotSemantic(version.to_owned()))?;
        Ok(Self { major, minor, text: version.to_owned() })
    }

    /// Fails for releases older than 4.18.
    pub fn supports(&self) -> Result<(), VersionError> {
        if self.since(OLDEST.0, OLDEST.1) { Ok(()) } else { Err(VersionError::TooOld(self.text.clone())) }
    }

    /// Such as 4; releases compare their `release.openshift.io/major-version` annotations with it.
    pub fn major(&self) -> u64 {
        self.major
    }

    /// `ClusterVersion.spec.channel`: `stable-4.18`. OKD has one channel for all of 4
    /// (installer `data/manifests/bootkube/cvo-overrides.yaml.template`).
    pub fn update_channel(&self) -> String {
        if self.is_okd() {
            return format!("stable-scos-{}", self.major);
        }
        format!("stable-{}.{}", self.major, self.minor)
    }

    /// True for OKD: its versions say so (`4.18.0-okd-scos.3`), its node image is `stream-coreos`.
    pub fn is_okd(&self) -> bool {
        self.text.split_once('-').is_some_and(|(_, pre)| pre.split(['-', '.']).any(|word| word == "okd"))
    }

    /// The tag of the node's operating system image (MCO `cmd/machine-config-operator/bootstrap.go`).
    pub fn node_image_name(&self) -> &'static str {
        if self.is_okd() { "stream-coreos" } else { "rhel-coreos" }
    }

    /// The Ignition version inside rendered MachineConfigs (MCO `pkg/controller/common/constants.go`).
    pub fn ignition_version(&self) -> &'static str {
        if self.since(4, 19) { "3.5.0" } else { "3.4.0" }
    }

    /// From 4.23 private keys are PKCS#8 (`PRIVATE KEY`); before, PKCS#1 (`RSA PRIVATE KEY`)
    /// (installer `pkg/asset/tls/utils.go`).
    pub fn private_keys_are_pkcs8(&self) -> bool {
        self.since(4, 23)
    }

    /// From 4.19 the machine-config-operator rotates the CA of the machine-config-server, so Secret and ConfigMap
    /// `machine-config-server-ca` must be there (installer `data/manifests/bootkube`).
    pub fn ships_machine_config_server_ca(&self) -> bool {
        self.since(4, 19)
    }

    /// From 4.19 Secret `machine-config-server-tls` is of type `kubernetes.io/tls` with the annotations of certificate
    /// rotation; before, it is Opaque (installer `data/manifests/bootkube`).
    pub fn mcs_tls_secret_is_typed(&self) -> bool {
        self.since(4, 19)
    }

    /// From 4.19 the boot image may come without kubelet and `oc`: the bootstrap host pulls the node image and lays its
    /// `/usr` over its own (installer `node-image-*` units).
    pub fn boot_image_lacks_oc(&self) -> bool {
        self.since(4, 19)
    }

    /// From 4.21 etcd takes `--feature-gates=InitialCorruptCheck=true`; before,
    /// `--experimental-initial-corrupt-check=true` (cluster-etcd-operator `bindata/bootkube`).
    pub fn etcd_uses_feature_gate_flags(&self) -> bool {
        self.since(4, 21)
    }

    /// Up to 4.21 the kubelet is told the pause image by `--pod-infra-container-image`; later it is only in CRI-O's
    /// configuration (installer `kubelet.sh`, MCO `kubelet.service`).
    pub fn kubelet_takes_pause_image_flag(&self) -> bool {
        !self.since(4, 22)
    }

    /// In 4.18 a dual-stack cluster on platform none must list IPv4 first; later IPv6 may be first
    /// (installer `pkg/types/validation/installconfig.go`).
    pub fn dual_stack_needs_ipv4_first(&self) -> bool {
        !self.since(4, 19)
    }

    /// From 4.19 networks may not overlap OVN-Kubernetes' default join, transit and masquerade subnets; before, only a
    /// join subnet the user set is looked at (installer `pkg/types/validation/installconfig.go`).
    pub fn ovn_defaults_must_not_overlap(&self) -> bool {
        self.since(4, 19)
    }

    /// From 4.22 an unknown field of install-config is an error; before, a warning
    /// (installer `pkg/asset/installconfig/installconfigbase.go`).
    pub fn unknown_config_field_is_an_error(&self) -> bool {
        self.since(4, 22)
    }

    /// From 4.19 the bootstrap host gets the RoleBindingRestriction CRD from cluster-authentication-operator
    /// (bootkube's stage `auth-api-bootstrap`), not only from the API payload.
    pub fn needs_role_binding_restriction_crd(&self) -> bool {
        self.since(4, 19)
    }

    /// From 4.22 a node config carries the annotation `firstPivotConfig` (MCO `pkg/server`).
    pub fn annotates_first_pivot_config(&self) -> bool {
        self.since(4, 22)
    }

    /// From 4.21 each mirrored registry of registries.conf says whether its source is blocked
    /// (installer `pkg/asset/ignition/bootstrap/common.go`).
    pub fn registries_conf_has_blocked(&self) -> bool {
        self.since(4, 21)
    }

    /// From 4.21 rendering node configs needs `image-references` among its manifests and the image `docker-registry`
    /// in it (MCO `cmd/machine-config-operator/bootstrap.go`).
    pub fn node_render_reads_image_references(&self) -> bool {
        self.since(4, 21)
    }

    /// From 4.23 rendering node configs asks the registry about the node images, so it needs network and pull secret
    /// (MCO `pkg/osimagestream`).
    pub fn node_render_contacts_registry(&self) -> bool {
        self.since(4, 23)
    }

    /// From 4.22 a manifest may be bound to feature gates and major versions, not only to feature sets
    /// (cluster-version-operator, library-go `pkg/manifest`).
    pub fn filters_manifests_by_feature_gate(&self) -> bool {
        self.since(4, 22)
    }

    /// From 4.22 `OKD` is a feature set (openshift/api `config/v1/types_feature.go`).
    pub fn knows_okd_feature_set(&self) -> bool {
        self.since(4, 22)
    }

    /// From 4.23 there are capabilities `ClusterAPI` and `CompatibilityRequirements`
    /// (openshift/api `config/v1/types_cluster_version.go`).
    pub fn has_cluster_api_capabilities(&self) -> bool {
        self.since(4, 23)
    }

    fn since(&self, major: u64, minor: u64) -> bool {
        (self.major, self.minor) >= (major, minor)
    }
}

impl FromStr for VersionContract {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        Self::new(text)
    }
}

impl fmt::Display for VersionContract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Major, minor and patch of a semantic version; nothing when the text is not one.
fn core_numbers(version: &str) -> Option<[u64; 3]> {
    let (rest, build) = split_suffix(version, '+');
    let (core, pre) = split_suffix(rest, '-');
    let words = |suffix: Option<&str>, is_word: fn(&str) -> bool| {
        suffix.is_none_or(|suffix| suffix.split('.').all(|word| is_identifier(word) && is_word(word)))
    };
    if !words(pre, has_no_leading_zero) || !words(build, |_| true) {
        return None;
    }
    let mut numbers = core.split('.').map(number);
    let found = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(found)
}

fn split_suffix(text: &str, mark: char) -> (&str, Option<&str>) {
    text.split_once(mark).map_or((text, None), |(before, after)| (before, Some(after)))
}

fn number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && has_no_leading_zero(text);
    if plain { text.parse().ok() } else { None }
}

fn is_identifier(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn has_no_leading_zero(word: &str) -> bool {
    word.len() < 2 || !word.starts_with('0') || !word.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contract(version: &str) -> VersionContract {
        VersionContract::new(version).unwrap()
    }

    /// A question, and the first of the versions tried here that answers yes.
    type Row = (&'static str, fn(&VersionContract) -> bool, &'static str);

    const VERSIONS: [&str; 7] =
        ["4.18.3", "4.19.0-rc.1", "4.20.1", "4.21.0", "4.22.7", "4.23.0", "5.0.0-ec.2"];

    #[test]
    fn every_answer_turns_at_its_version() {
        let rows: [Row; 16] = [
            ("pkcs8", VersionContract::private_keys_are_pkcs8, "4.23.0"),
            ("mcs ca", VersionContract::ships_machine_config_server_ca, "4.19.0-rc.1"),
            ("mcs tls", VersionContract::mcs_tls_secret_is_typed, "4.19.0-rc.1"),
            ("no oc", VersionContract::boot_image_lacks_oc, "4.19.0-rc.1"),
            ("etcd gates", VersionContract::etcd_uses_feature_gate_flags, "4.21.0"),
            ("no pause flag", |v| !v.kubelet_takes_pause_image_flag(), "4.22.7"),
            ("ipv6 first", |v| !v.dual_stack_needs_ipv4_first(), "4.19.0-rc.1"),
            ("ovn overlap", VersionContract::ovn_defaults_must_not_overlap, "4.19.0-rc.1"),
            ("strict", VersionContract::unknown_config_field_is_an_error, "4.22.7"),
            ("first pivot", VersionContract::annotates_first_pivot_config, "4.22.7"),
            ("blocked", VersionContract::registries_conf_has_blocked, "4.21.0"),
            ("image-references", VersionContract::node_render_reads_image_references, "4.21.0"),
            ("registry", VersionContract::node_render_contacts_registry, "4.23.0"),
            ("gates", VersionContract::filters_manifests_by_feature_gate, "4.22.7"),
            ("okd set", VersionContract::knows_okd_feature_set, "4.22.7"),
            ("cluster api", VersionContract::has_cluster_api_capabilities, "4.23.0"),
        ];
        for (name, question, since) in rows {
            let first = VERSIONS.iter().position(|v| *v == since).unwrap();
            for (i, version) in VERSIONS.iter().enumerate() {
                assert_eq!(question(&contract(version)), i >= first, "{name} at {version}");
            }
        }
    }

    #[test]
    fn words_follow_the_version() {
        let channels = VERSIONS.map(|v| contract(v).update_channel());
        assert_eq!(channels[0], "stable-4.18");
        assert_eq!(channels[6], "stable-5.0");
        assert_eq!(contract("4.18.3").ignition_version(), "3.4.0");
        assert_eq!(contract("4.19.0").ignition_version(), "3.5.0");
        assert_eq!(contract("5.0.0").major(), 5);
        assert!(!contract("4.18.3").needs_role_binding_restriction_crd());
        assert!(contract("4.21.3").needs_role_binding_restriction_crd());
    }

    #[test]
    fn okd_is_known_by_its_version() {
        for version in ["4.18.0-okd-scos.3", "4.20.0-okd-scos.ec.1", "4.18.0-0.okd-scos-2025-01-28-060038"] {
            let okd = contract(version);
            assert_eq!(
                (okd.update_channel().as_str(), okd.node_image_name()),
                ("stable-scos-4", "stream-coreos")
            );
        }
        assert_eq!(contract("4.18.0-rc.1").node_image_name(), "rhel-coreos");
    }

    #[test]
    fn older_releases_are_refused() {
        assert_eq!(contract("4.17.30").supports(), Err(VersionError::TooOld("4.17.30".to_owned())));
        assert!(contract("3.11.0").supports().is_err());
        for version in VERSIONS {
            assert_eq!(contract(version).supports(), Ok(()));
        }
    }

    #[test]
    fn what_is_no_version_is_refused() {
        for text in [
            "",
            "4.18",
            "v4.18.1",
            "4.18.1.2",
            "4.018.1",
            "4.18.-1",
            "4.18.1-",
            "4.18.1-rc..1",
            "4.18.1-01",
            "4.18.x",
            "4.18.1 ",
            "99999999999999999999.1.1",
        ] {
            let error = VersionContract::new(text).unwrap_err();
            assert_eq!(error, VersionError::NotSemantic(text.to_owned()), "{text:?}");
        }
        assert!(VersionContract::new("4.18.0-0.nightly-2026-01-02-030405+build.007").is_ok());
    }
}
