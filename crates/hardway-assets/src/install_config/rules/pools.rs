//! The machine pools: names, counts, architectures, hyperthreading, and nothing of another platform.

use super::super::InstallConfig;
use super::super::draft::{Draft, Pool};
use super::Rules;
use super::platform::NAMES;
use crate::input_tables::INSTALL_CONFIG;
use crate::schema::Findings;
use crate::violation::{FieldErrorKind, Violation};

pub(super) fn check(draft: &Draft<'_>, rules: &Rules, findings: &mut Findings<'_>) {
    let masters = &draft.control_plane;
    if masters.replicas == 0 {
        let detail = "number of control plane replicas must be positive";
        findings.error(Violation::invalid("controlPlane.replicas", 0, detail));
    }
    pool(masters, findings);
    two_masters(draft, rules, findings);
    for (i, compute) in draft.compute.iter().enumerate() {
        let path = format!("{}.name", compute.path);
        match compute.name.as_str() {
            "worker" => {}
            "edge" => findings.error(Violation::unsupported(&path, "edge", &["worker"])),
            other => findings.error(Violation::unsupported(&path, other, &["worker", "edge"])),
        }
        if draft.compute[..i].iter().any(|earlier| earlier.name == compute.name) {
            findings.error(Violation::duplicate(&path, &compute.name));
        }
        if compute.architecture != masters.architecture {
            let detail = "heteregeneous multi-arch is not supported; compute pool architecture must match control plane";
            let path = format!("{}.architecture", compute.path);
            findings.error(Violation::invalid(path, &compute.architecture, detail));
        }
        pool(compute, findings);
    }
}

/// Whether a release payload of one architecture has images for these machines. `multi` has them all;
/// an empty or unknown name is not judged.
pub fn architecture(config: &InstallConfig, release_architecture: &str) -> Vec<Violation> {
    if ["", "multi", "unknown"].contains(&release_architecture) {
        return Vec::new();
    }
    let pools = std::iter::once(("controlPlane".to_owned(), "controlPlane", &config.control_plane))
        .chain(config.compute.iter().enumerate().map(|(i, pool)| (format!("compute[{i}]"), "compute", pool)));
    pools
        .filter(|(.., pool)| pool.architecture != release_architecture)
        .map(|(path, word, pool)| {
            let detail = format!(
                "cannot create {} {word} node from a single architecture {release_architecture} release payload",
                pool.architecture
            );
            Violation::invalid(format!("{path}.architecture"), &pool.architecture, detail)
        })
        .collect()
}

/// What a single node that installs itself needs (installer `pkg/asset/ignition/bootstrap/bootstrap_in_place.go`). Looked
/// at when that target is asked for, not when the file is read.
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

fn pool(pool: &Pool, findings: &mut Findings<'_>) {
    let path = |name: &str| format!("{}.{name}", pool.path);
    if pool.replicas < 0 {
        let detail = "number of replicas must not be negative";
        findings.error(Violation::invalid(path("replicas"), pool.replicas, detail));
    }
    for (name, value) in [("hyperthreading", &pool.hyperthreading), ("architecture", &pool.architecture)] {
        let allowed = INSTALL_CONFIG.allowed(&format!("controlPlane.{name}"));
        if !allowed.contains(&value.as_str()) {
            findings.error(Violation::unsupported(path(name), value, allowed));
        }
    }
    for platform in &pool.platforms {
        let path = path(&format!("platform.{platform}"));
        // Its content is not shown: other platforms keep passwords there.
        findings.error(if !NAMES.contains(&platform.as_str()) || platform == "none" {
            Violation::new(path, FieldErrorKind::Unknown, None, "not a platform that has machine pools")
        } else {
            let detail =
                format!("cannot specify {platform:?} for machine pool when cluster is using \"none\"");
            Violation::new(path, FieldErrorKind::Invalid, None, detail)
        });
    }
}

/// Two masters hold no majority when one is lost. From 4.19 they need fencing, which hardway does not set up.
fn two_masters(draft: &Draft<'_>, rules: &Rules, findings: &mut Findings<'_>) {
    let otherwise_safe = draft.has("controlPlane.fencing") || draft.has("arbiter");
    if draft.control_plane.replicas != 2 || otherwise_safe {
        return;
    }
    if rules.two_masters_need_fencing {
        let detail = "there should be exactly two fencing credentials to support the two node cluster, instead 0 \
                      credentials were found";
        findings.error(
            Violation::forbidden("controlPlane.fencing.credentials", detail).fix("use 1 or 3 masters"),
        );
    } else {
        let detail = "with two masters, losing either stops the cluster: etcd needs both for a majority";
        findings.warn(Violation::invalid("controlPlane.replicas", 2, detail).fix("use 1 or 3 masters"));
    }
}
