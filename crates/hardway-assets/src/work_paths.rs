//! Where things are in a working folder: one table for everything that writes, reads, serves or shows them. Other files that assets
//! make are named by the asset.

/// Kubeconfig of the administrator.
pub const KUBECONFIG: &str = "auth/kubeconfig";
/// The first user's password.
pub const KUBEADMIN_PASSWORD: &str = "auth/kubeadmin-password";
/// Who signs what the routers serve; there once the cluster is.
pub const ROUTER_CA: &str = "auth/router-ca.crt";
/// Configs of hosts.
pub const IGNITION: &str = "ignition";
/// Pointers to those.
pub const POINTERS: &str = "ignition/pointers";
/// Kubeconfigs that single hosts ask for certificates with.
pub const HOST_KUBECONFIGS: &str = "kubeconfigs/hosts";
/// Logs, one file each.
pub const LOGS: &str = "logs";
/// What `create cluster` printed.
pub const INSTALL_LOG: &str = "logs/install.log";
/// What the approver decided.
pub const APPROVAL_LOG: &str = "logs/approvals.jsonl";
/// Which objects the version operator leaves alone.
pub const CVO_OVERRIDES: &str = "manifests/cvo-overrides.yaml";
/// Folders whose files the bootstrap host creates in the cluster, in the order of `bootkube.sh`.
pub const MANIFEST_FOLDERS: [&str; 3] = ["manifests", "openshift", "operator-seeds"];
/// What machines are installed from.
pub const MEDIA: &str = "media";
/// What machines boot from over the network.
pub const PXE: &str = "pxe";
/// Scripts that bring single hosts back.
pub const RECOVERY: &str = "recovery";
/// The release, as far as it is kept.
pub const RELEASE: &str = "release";
/// Which release that is.
pub const RELEASE_IMAGE: &str = "release/release-image";
/// What the release says of itself.
pub const RELEASE_METADATA: &str = "release/release-metadata";
/// The checksums of what is kept.
pub const RELEASE_SUMS: &str = "release/sha256sums";
/// Node configs, rendered from the release.
pub const RENDERED: &str = "release/rendered";
/// Whatever was drawn.
pub const SECRETS: &str = "secrets";
/// Who the cluster is: its names, and the generations of its hosts.
pub const IDENTITY: &str = "secrets/identity.json";

/// The config of a host.
pub fn host_config(host: &str) -> String {
    format!("{IGNITION}/{host}.ign")
}

/// The config of a host that boots from the network.
pub fn pxe_config(host: &str) -> String {
    format!("{PXE}/{}", host_config(host))
}

/// What a host is installed from.
pub fn iso(host: &str) -> String {
    format!("{MEDIA}/{host}.iso")
}

/// A private key, by its name in the catalogue.
pub fn key(name: &str) -> String {
    format!("{SECRETS}/{name}.key")
}

/// What brings a host back.
pub fn recovery_script(host: &str) -> String {
    format!("{RECOVERY}/{host}.sh")
}
