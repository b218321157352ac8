//! What a single node that installs itself needs (installer
//! `pkg/asset/ignition/bootstrap/bootstrap_in_place.go`).

use super::super::InstallConfig;
use crate::violation::Violation;

/// Looked at when the single-node target is asked for, not when the file is read.
pub fn single_node(config: &InstallConfig) -> Vec<Violation> {
    let mut found = Vec::new();
    let replicas = config.control_plane.replicas;
    if replicas != 1 {
        let detail = "bootstrap in place requires a single ControlPlane replica";
        found.push(Violation::invalid("controlPlane.replicas", replicas, detail));
    }
    match &config.bootstrap_in_place {
        None => found.push(Violation::required(
            "bootstrapInPlace",
            "bootstrapInPlace is required when creating a single node bootstrap-in-place ignition",
        )),
        Some(place) if place.installation_disk.is_empty() => found.push(Violation::required(
            "bootstrapInPlace.installationDisk",
            "installationDisk must be set the target disk drive for the installation",
        )),
        Some(_) => {}
    }
    found
}
