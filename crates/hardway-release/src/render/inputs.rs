//! The folder that both commands work on.
//!
//! ```text
//! auth.json, registries.conf, trust-bundle.crt     for podman, to pull the operator's image
//! assets/                                          seen as /assets by both commands
//!   image-references  tls/  manifests/             what the operator reads
//!   operator/bootstrap/manifests/                  what the controller reads; the operator adds its part
//!   rendered/                                      what the controller writes
//! ```
//!
//! The operator writes its objects into the folder where the others already lie, so that nothing has to be copied
//! between the two commands.

use hardway_assets::release_payload::{ReleasePayload, image_references};
use hardway_assets::{Cluster, File, Tree};

use super::objects::{FOLDERS, is_manifest};
use super::podman::{Podman, host_files};

/// The folder mounted into both containers.
pub(super) const ASSETS: &str = "assets";
/// Below it, where the operator writes.
pub(super) const OPERATOR_OUT: &str = "operator";
/// Below that, where the controller reads: the operator chooses this name.
pub(super) const CONTROLLER_IN: &str = "operator/bootstrap/manifests";
/// Below `assets`, where the controller writes.
pub(super) const RENDERED: &str = "rendered";
/// What the operator writes into the controller's folder, besides one pool a role.
pub(super) const OPERATOR_FILES: [&str; 5] = [
    "machineconfigcontroller-controllerconfig.yaml",
    "machineconfigcontroller-pull-secret",
    "master.machineconfigpool.yaml",
    "worker.machineconfigpool.yaml",
    "arbiter.machineconfigpool.yaml",
];
/// CAs the operator is given: in the working directory, and where it finds them.
pub(super) const CERTIFICATES: [(&str, &str); 2] = [
    ("pki/root-ca.crt", "tls/root-ca.crt"),
    ("pki/kube-apiserver-complete-client-ca-bundle.crt", "tls/kube-apiserver-complete-client-ca-bundle.crt"),
];

/// Every file of the folder, by path below it. What is missing in the working directory is left out: [`super::check`]
/// tells of it.
pub fn render_inputs(tree: &Tree, release: &ReleasePayload, cluster: &Cluster, podman: &Podman) -> Vec<File> {
    let mut files = host_files(cluster, podman);
    for (from, to) in CERTIFICATES {
        if let Some(bytes) = tree.get(from) {
            files.push(asset(to, bytes));
        }
    }
    for (path, bytes) in tree.folder("manifests").filter(|(path, _)| is_manifest(path)) {
        files.push(asset(path, bytes));
    }
    for (path, bytes) in FOLDERS.iter().flat_map(|folder| tree.folder(folder)) {
        if is_manifest(path) {
            files.push(asset(&format!("{CONTROLLER_IN}/{}", base_name(path)), bytes));
        }
    }
    // Created in the cluster by the cluster-version-operator; from 4.21 by default.
    for policy in release.image_policies_of(&cluster.config) {
        files.push(asset(&format!("{CONTROLLER_IN}/{}", policy.file_name), policy.text.as_bytes()));
    }
    // Read by the operator in every version, by the controller from 4.21 and passed over by it before.
    let references = format!("{:#}\n", image_references(release)).into_bytes();
    files.push(asset("image-references", &references));
    files.push(asset(&format!("{CONTROLLER_IN}/image-references"), &references));
    files
}

/// The part of a path after the last `/`.
pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// All are for the owner alone: pull secret and kubeadmin password are among them.
fn asset(path: &str, bytes: &[u8]) -> File {
    File::secret(format!("{ASSETS}/{path}"), bytes)
}
