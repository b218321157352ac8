//! `machines.lab` of the inventory.

use hardway_assets::Cluster;
use hardway_assets::inventory::Provider;
use hardway_assets::violation::Violation;

use crate::providers::fields::{Fields, SettingsFindings};

/// What can be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabSettings {
    /// By which its machines, networks and files are found. Labs with different names run side by side.
    pub name: String,
    /// Whether the release is put together with real operators.
    pub has_real_operators: bool,
}

impl LabSettings {
    /// Reads and checks; all mistakes at once.
    ///
    /// # Errors
    /// What is wrong with the inventory.
    pub fn read(cluster: &Cluster) -> Result<Self, Vec<Violation>> {
        let findings = SettingsFindings::default();
        let settings = Self::look(cluster, &findings);
        findings.or(settings)
    }

    pub(in crate::providers) fn look(cluster: &Cluster, findings: &SettingsFindings) -> Self {
        let settings = &cluster.inventory.machines.settings;
        let fields = Fields::of(Provider::Lab, settings, findings);
        let name = fields.text("name").unwrap_or(&cluster.config.metadata.name).to_owned();
        if !is_name(&name) {
            let detail = "must consist of at most 32 lower-case letters, digits and dashes: interfaces and files are named \
             after it";
            let fix = "set machines.lab.name to a short name";
            findings.add(Violation::invalid(fields.path("name"), &name, detail).fix(fix));
        }
        let has_real_operators = fields.word("operators") == REAL;
        mismatch(has_real_operators, &cluster.inventory.release.image)
            .into_iter()
            .for_each(|wrong| findings.add(wrong));
        for (i, host) in cluster.inventory.hosts.iter().enumerate() {
            if host.mac.is_none() {
                let detail = "the MAC address of the machine's NIC";
                let fix = "set one for each host, such as mac: \"52:54:00:7e:00:65\"";
                findings.add(Violation::required(format!("hosts[{i}].mac"), detail).fix(fix));
            }
            if host.ip.first().is_none_or(std::net::IpAddr::is_ipv6) {
                let detail = "the lab's network needs IPv4 first";
                let violation = Violation::required(format!("hosts[{i}].ip"), detail);
                findings.add(violation.fix("give an IPv4 address first"));
            }
        }
        Self { name, has_real_operators }
    }
}

/// The word of `machines.lab.operators`, and the tag of the release that `hardway lab release` puts together.
pub(super) const REAL: &str = "real";

/// What is wrong if the release is the other one of the lab's two: each has its own tag in the lab's registry.
fn mismatch(has_real_operators: bool, image: &str) -> Option<Violation> {
    let is_labs = |tag: &str| image.ends_with(&format!("/hardway-lab/release:{tag}"));
    match has_real_operators {
        true if is_labs("lab") => Some(
            Violation::invalid(
                "release.image",
                image,
                "this is the release of stand-ins, and machines.lab.operators is real",
            )
            .fix("put one together with `hardway lab release`, and name it here: …/hardway-lab/release:real"),
        ),
        false if is_labs(REAL) => Some(
            Violation::invalid(
                "release.image",
                image,
                "this release has real operators, and machines.lab.operators is stand-ins",
            )
            .fix("set machines.lab.operators to real"),
        ),
        _ => None,
    }
}

/// As `check_name` of `lab/common.sh`.
fn is_name(name: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=32).contains(&name.len())
        && name.chars().all(is_inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}
