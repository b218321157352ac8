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

    /// The contract of the oldest release, for text that is no version.
    pub fn oldest() -> Self {
        let (major, minor) = OLDEST;
        Self { major, minor, text: format!("{major}.{minor}.0") }
    }

    /// Fails for releases older than 4.18.
    pub fn supports(&self) -> Result<(), VersionError> {
        if self.since(OLDEST.0, OLDEST.1) { Ok(()) } else { Err(VersionError::TooOld(self.text.clone())) }
    }

    /// Such as 4; releases compare their `release.openshift.io/major-version` annotations with it.
    pub fn major(&self) -> u64 {
        self.major
    }

    /// Such as 18; fields of install-config are told apart by the release that brought them.
    pub fn minor(&self) -> u64 {
        self.minor
    }

    /// The minor version of the Kubernetes that it brings: 31 of 1.31 in 4.18. Every minor release has taken the next one, but for 5.0, which
    /// has that of 4.23 (openshift/kubernetes `openshift-hack/images/hyperkube`).
    pub fn kubernetes_minor(&self) -> u32 {
        let first = if self.major < 5 { 13 } else { 36 };
        u32::try_from(self.minor).unwrap_or(u32::MAX).saturating_add(first)
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

    /// From 4.21 etcd is version 3.6: what was `--experimental-initial-corrupt-check` is a feature gate, and variables
    /// lost the word EXPERIMENTAL (cluster-etcd-operator `bindata/bootkube`, `pkg/etcdenvvar`).
    pub fn etcd_uses_feature_gate_flags(&self) -> bool {
        self.since(4, 21)
    }

    /// From 4.23 etcd answers plain HTTPS requests, such as `/health`, on port 2381 and only gRPC on 2379
    /// (cluster-etcd-operator `bindata/bootkube`).
    pub fn etcd_serves_http_apart(&self) -> bool {
        self.since(4, 23)
    }

    /// Until 4.19 the configuration of the API server names the plug-ins that watch over role bindings; from 4.20 its operator adds them where
    /// OpenShift's own identities are used (cluster-kube-apiserver-operator `bindata/assets/config/defaultconfig.yaml`,
    /// `pkg/operator/configobservation/apiserver`).
    pub fn names_role_binding_plugins(&self) -> bool {
        !self.since(4, 20)
    }

    /// From 4.22 the API server of a dual-stack cluster listens on both families; before, on IPv4 (cluster-kube-apiserver-operator
    /// `pkg/cmd/render`).
    pub fn listens_on_both_families(&self) -> bool {
        self.since(4, 22)
    }

    /// Until 4.21 user kube-apiserver may ask kubelets, too (cluster-kube-apiserver-operator `bindata/bootkube/manifests`).
    pub fn has_plain_api_server_user(&self) -> bool {
        !self.since(4, 22)
    }

    /// From 4.20 pods may mount images: SCCs allow it (cluster-kube-apiserver-operator `bindata/bootkube/scc-manifests`).
    pub fn has_image_volumes(&self) -> bool {
        self.since(4, 20)
    }

    /// From 4.19 the controller manager warns of pods with different SELinux labels on one volume
    /// (cluster-kube-controller-manager-operator `bindata/assets/config/defaultconfig.yaml`).
    pub fn warns_of_selinux_labels(&self) -> bool {
        self.since(4, 19)
    }

    /// Until 4.20 the controller manager is told that clouds are somebody else's business; from 4.21 it knows
    /// (cluster-kube-controller-manager-operator `bindata/assets/config/defaultconfig.yaml`).
    pub fn tells_of_external_clouds(&self) -> bool {
        !self.since(4, 21)
    }

    /// From 4.19 IPv6 may be the first family of a dual-stack cluster on platform none; in 4.18 it is IPv4
    /// (installer `pkg/types/validation/installconfig.go`).
    pub fn ipv6_may_be_first(&self) -> bool {
        self.since(4, 19)
    }

    /// From 4.19 networks may not overlap OVN-Kubernetes' default join, transit and masquerade subnets; before, only a
    /// join subnet the user set is looked at (installer `pkg/types/validation/installconfig.go`).
    pub fn ovn_subnets_are_reserved(&self) -> bool {
        self.since(4, 19)
    }

    /// From 4.19 all IPv4 cluster networks need the same hostPrefix (installer
    /// `pkg/types/validation/installconfig.go`).
    pub fn wants_one_host_prefix(&self) -> bool {
        self.since(4, 19)
    }

    /// From 4.19 two masters must be able to fence each other (installer `pkg/types/validation/installconfig.go`).
    pub fn two_masters_need_fencing(&self) -> bool {
        self.since(4, 19)
    }

    /// From 4.20 every line of sshKey must be a key; before, one good line was enough (installer `pkg/validate`).
    pub fn every_ssh_line_is_a_key(&self) -> bool {
        self.since(4, 20)
    }

    /// From 4.20 dual stack makes nodes ask for addresses of both families; before, not on platform none (installer
    /// `pkg/asset/machines/machineconfig/ipv6.go`).
    pub fn dual_stack_asks_for_both_families(&self) -> bool {
        self.since(4, 20)
    }

    /// From 4.22 a mirror without credentials in the pull secret is warned about (installer
    /// `pkg/asset/installconfig`).
    pub fn mirrors_need_credentials(&self) -> bool {
        self.since(4, 22)
    }

    /// From 4.22 feature set OKD has a refusal of its own on OpenShift; before, it is a value like any unknown one
    /// (installer `pkg/types/validation/installconfig.go`).
    pub fn knows_okd_feature_set(&self) -> bool {
        self.since(4, 22)
    }

    /// From 4.22 osImageStream may only be a stream there is (installer `pkg/types/validation/installconfig.go`).
    pub fn checks_os_image_stream(&self) -> bool {
        self.since(4, 22)
    }

    /// From 4.22 gate DualReplica is on in the default feature set (openshift/api `features/features.go`).
    pub fn dual_replica_is_default(&self) -> bool {
        self.since(4, 22)
    }

    /// From 4.23 gate OSStreams is on in the default feature set (openshift/api `features/features.go`).
    pub fn os_streams_is_default(&self) -> bool {
        self.since(4, 23)
    }

    /// The osImageStream of a cluster that names none: from 5.0 that of RHEL 10 (installer `pkg/rhcos/stream.go`).
    pub fn default_os_image_stream(&self) -> &'static str {
        match self.is_okd() {
            true => "centos-10",
            false if self.since(5, 0) => "rhel-10",
            false => "rhel-9",
        }
    }

    /// From 4.23 the default stream is filled in where install-config names none (installer `pkg/types/defaults`).
    pub fn fills_in_os_image_stream(&self) -> bool {
        self.since(4, 23)
    }

    /// From 4.22 an OSImageStream is written where gate OSStreams is on; OKD's from 4.23 (installer
    /// `pkg/asset/manifests/osimagestream.go`).
    pub fn writes_os_image_stream(&self) -> bool {
        self.since(4, 23) || self.since(4, 22) && !self.is_okd()
    }

    /// From 4.23 a PKI is written where gate ConfigurablePKI is on (installer `pkg/asset/manifests/pki.go`).
    pub fn writes_pki_config(&self) -> bool {
        self.since(4, 23)
    }

    /// The API that OSImageStream belongs to.
    pub fn os_image_stream_api(&self) -> &'static str {
        if self.since(4, 23) {
            "machineconfiguration.openshift.io/v1"
        } else {
            "machineconfiguration.openshift.io/v1alpha1"
        }
    }

    /// The tag of the operating system image that the bootstrap host takes kubelet and runtime from: that of the default
    /// stream (installer `pkg/rhcos/stream.go`, MCO `install/image-references`).
    pub fn bootstrap_image_name(&self) -> &'static str {
        match self.default_os_image_stream() {
            "rhel-10" => "rhel-coreos-10",
            _ => self.node_image_name(),
        }
    }

    /// From 4.19 the machine-config-server writes Ignition spec 3.5 for clients that can read it
    /// (MCO `pkg/controller/common/helpers.go`).
    pub fn serves_ignition_3_5(&self) -> bool {
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

    /// From 4.21 rendering node configs asks the registry about the node images where gate OSStreams is on
    /// (MCO `pkg/controller/bootstrap/bootstrap.go`).
    pub fn node_render_looks_for_streams(&self) -> bool {
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
mod tests;
