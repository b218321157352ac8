//! `machines.lab` of the inventory.

use hardway_assets::Cluster;
use hardway_assets::inventory::Provider;
use hardway_assets::violation::Violation;

use crate::providers::fields::{Fields, Findings};

/// What can be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabSettings {
    /// By which its machines, networks and files are found. Labs with different names run side by side.
    pub name: String,
}

impl LabSettings {
    /// Reads and checks; all mistakes at once.
    ///
    /// # Errors
    /// What is wrong with the inventory.
    pub fn read(cluster: &Cluster) -> Result<Self, Vec<Violation>> {
        let findings = Findings::default();
        let settings = Self::look(cluster, &findings);
        findings.or(settings)
    }

    pub(in crate::providers) fn look(cluster: &Cluster, findings: &Findings) -> Self {
        let settings = &cluster.inventory.machines.settings;
        let fields = Fields::of(Provider::Lab, settings, findings);
        let name = fields.text("name").unwrap_or(&cluster.config.metadata.name).to_owned();
        if !is_name(&name) {
            let detail = "must be small letters, digits and dashes, at most 32: interfaces and files are named after it";
            let fix = "set machines.lab.name to a short name";
            findings.add(Violation::invalid(fields.path("name"), &name, detail).fix(fix));
        }
        for (i, host) in cluster.inventory.hosts.iter().enumerate() {
            if host.mac.is_none() {
                let detail = "the machine's card needs an address of its own";
                let fix = "give each host one, such as mac: \"52:54:00:7e:00:65\"";
                findings.add(Violation::required(format!("hosts[{i}].mac"), detail).fix(fix));
            }
            if host.ip.first().is_none_or(std::net::IpAddr::is_ipv6) {
                let detail = "the lab's segment speaks IPv4 first";
                let violation = Violation::required(format!("hosts[{i}].ip"), detail);
                findings.add(violation.fix("give an IPv4 address first"));
            }
        }
        Self { name }
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
