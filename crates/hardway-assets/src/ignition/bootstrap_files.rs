//! What runs on the bootstrap host: scripts and units, as static text from `templates/`.
//!
//! Nothing in them is filled in. Whatever differs between clusters they read from `/opt/openshift/bootstrap.env`, whose
//! keys are [`ENVIRONMENT`] and are explained in `templates/bootstrap/README.md`.
//!
//! Names, modes and orderings: openshift/installer data/data/bootstrap and pkg/asset/ignition/bootstrap/common.go.

/// A file for the host, complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostFile {
    /// Absolute path on the host.
    pub path: &'static str,
    /// Permissions.
    pub mode: u32,
    /// Contents.
    pub text: &'static str,
}

/// A systemd unit, or only drop-ins or the enabling of one that the OS brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Name with its suffix.
    pub name: &'static str,
    /// `None`: left to what depends on it.
    pub enabled: Option<bool>,
    /// `None`: the OS has the unit.
    pub text: Option<&'static str>,
    /// File name and contents of each drop-in.
    pub dropins: &'static [(&'static str, &'static str)],
}

/// The keys of `/opt/openshift/bootstrap.env`; the scripts expect all of them.
pub const ENVIRONMENT: &[&str] = &[
    "RELEASE_IMAGE",
    "RELEASE_VERSION",
    "API_URL",
    "API_INT_URL",
    "HIGHLY_AVAILABLE",
    "IN_PLACE",
    "INSTALL_DISK",
    "NODE_IP",
    "IPV6_PRIMARY",
    "SERVE_MACHINE_CONFIGS",
    "IMAGE_POD",
    "IMAGE_CLI",
    "IMAGE_MACHINE_CONFIG_OPERATOR",
    "IMAGE_NODE_OS",
];

/// The stages that bootkube.service records, in their order. Some are skipped: `machine-config-render` unless machine
/// configs are served, `wait-for-ha` with one master, everything between `create-manifests` and [`IN_PLACE_STAGES`]
/// except `bootstrap-success` and `teardown` in place.
pub const STAGES: &[&str] = &[
    "openshift-manifests",
    "etcd-bootstrap",
    "machine-config-render",
    "resolve-api-url",
    "resolve-api-int-url",
    "wait-for-etcd",
    "secrets",
    "control-plane-pods",
    "wait-for-api",
    "create-crds",
    "create-manifests",
    "required-pods",
    "wait-for-ha",
    "bootstrap-success",
    "teardown",
    "cvo-overrides",
    "stop-machine-config-server",
    "wait-for-ceo",
    "check-api-url",
    "check-api-int-url",
];

/// What follows `teardown` in place.
pub const IN_PLACE_STAGES: &[&str] = &["stop-etcd", "log-bundle", "master-ignition"];

/// SELinux lets services run scripts from /usr/local/bin only, and openshift-install gives everything in a `bin` folder
/// this mode.
macro_rules! script {
    ($folder:literal, $name:literal) => {
        HostFile {
            path: concat!("/usr/local/bin/", $name),
            mode: 0o555,
            text: include_str!(concat!("../../templates/", $folder, "/usr/local/bin/", $name)),
        }
    };
}

macro_rules! unit {
    ($folder:literal, $name:literal, $enabled:expr) => {
        Unit {
            name: $name,
            enabled: $enabled,
            text: Some(include_str!(concat!("../../templates/", $folder, "/systemd/", $name))),
            dropins: &[],
        }
    };
}

/// The scripts of every bootstrap host.
pub fn scripts() -> Vec<HostFile> {
    SCRIPTS.to_vec()
}

/// What is added when the bootstrap host becomes the cluster's only node.
pub fn in_place_scripts() -> Vec<HostFile> {
    IN_PLACE_SCRIPTS.to_vec()
}

/// The units of every bootstrap host. `release-image-pivot.service` and its script are not among them: empty on
/// OpenShift, and on OKD the node-image units bring what a boot image lacks.
pub fn units() -> Vec<Unit> {
    UNITS.to_vec()
}

/// The units added in place.
pub fn in_place_units() -> Vec<Unit> {
    vec![unit!("bootstrap-in-place", "install-to-disk.service", Some(true))]
}

const SCRIPTS: [HostFile; 19] = [
    HostFile {
        path: "/etc/systemd/system-generators/node-image-overlay-generator",
        mode: 0o555,
        text: include_str!(
            "../../templates/bootstrap/etc/systemd/system-generators/node-image-overlay-generator"
        ),
    },
    script!("bootstrap", "bootkube.sh"),
    script!("bootstrap", "bootstrap-cluster-gather.sh"),
    script!("bootstrap", "bootstrap-common.sh"),
    script!("bootstrap", "bootstrap-service-record.sh"),
    script!("bootstrap", "bootstrap-verify-api-server-urls.sh"),
    script!("bootstrap", "create-manifests.sh"),
    script!("bootstrap", "crio-configure.sh"),
    script!("bootstrap", "installer-gather.sh"),
    script!("bootstrap", "installer-masters-gather.sh"),
    script!("bootstrap", "kubelet-pause-image.sh"),
    script!("bootstrap", "kubelet.sh"),
    script!("bootstrap", "node-image-overlay.sh"),
    script!("bootstrap", "node-image-pull.sh"),
    script!("bootstrap", "oc-or-container.sh"),
    script!("bootstrap", "release-image-download.sh"),
    script!("bootstrap", "release-image.sh"),
    script!("bootstrap", "report-progress.sh"),
    script!("bootstrap", "wait-for-ha-api.sh"),
];

/// The two files below /opt are parts of master.ign and never run from where they lie.
const IN_PLACE_SCRIPTS: [HostFile; 5] = [
    script!("bootstrap-in-place", "bootstrap-in-place.sh"),
    script!("bootstrap-in-place", "install-to-disk.sh"),
    script!("bootstrap-in-place", "make-master-ignition.sh"),
    HostFile {
        path: "/opt/openshift/bootstrap-in-place/bootkube.service",
        mode: 0o600,
        text: include_str!(
            "../../templates/bootstrap-in-place/opt/openshift/bootstrap-in-place/bootkube.service"
        ),
    },
    HostFile {
        path: "/opt/openshift/bootstrap-in-place/bootstrap-in-place-post-reboot.sh",
        mode: 0o600,
        text: include_str!(
            "../../templates/bootstrap-in-place/opt/openshift/bootstrap-in-place/bootstrap-in-place-post-reboot.sh"
        ),
    },
];

const UNITS: [Unit; 14] = [
    unit!("bootstrap", "bootkube.service", None),
    unit!("bootstrap", "chown-gatewayd-key.service", Some(true)),
    unit!("bootstrap", "crio-configure.service", None),
    unit!("bootstrap", "kubelet.service", Some(true)),
    unit!("bootstrap", "node-image-finish.service", None),
    unit!("bootstrap", "node-image-overlay.service", None),
    unit!("bootstrap", "node-image-overlay.target", None),
    unit!("bootstrap", "node-image-pull.service", None),
    unit!("bootstrap", "progress.service", Some(true)),
    unit!("bootstrap", "release-image.service", None),
    Unit {
        name: "systemd-journal-gatewayd.service",
        enabled: None,
        text: None,
        dropins: &[(
            "certs.conf",
            include_str!("../../templates/bootstrap/systemd/systemd-journal-gatewayd.service.d/certs.conf"),
        )],
    },
    Unit { name: "systemd-journal-gatewayd.socket", enabled: Some(true), text: None, dropins: &[] },
    unit!("bootstrap", "var-ostreecontainer.mount", None),
    Unit {
        name: "zincati.service",
        enabled: None,
        text: None,
        dropins: &[(
            "okd-machine-os-disabled.conf",
            include_str!("../../templates/bootstrap/systemd/zincati.service.d/okd-machine-os-disabled.conf"),
        )],
    },
];
