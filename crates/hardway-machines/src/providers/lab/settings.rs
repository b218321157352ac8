//! `machines.lab` of the inventory.

use hardway_assets::Cluster;
use hardway_assets::violation::Violation;
use serde_json::Value;

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
        let settings = &cluster.inventory.machines.settings;
        let mut violations = Vec::new();
        for key in settings.as_object().into_iter().flatten().map(|(key, _)| key).filter(|key| *key != "name")
        {
            let detail = "the lab has no such setting";
            violations.push(
                Violation::invalid(format!("machines.lab.{key}"), key, detail).fix("only name can be set"),
            );
        }
        let name = match settings.get("name") {
            None => cluster.config.metadata.name.clone(),
            Some(Value::String(name)) => name.clone(),
            Some(other) => other.to_string(),
        };
        if !is_name(&name) {
            let detail = "must be small letters, digits and dashes, at most 32: interfaces and files are named after it";
            let fix = "set machines.lab.name to a short name";
            violations.push(Violation::invalid("machines.lab.name", &name, detail).fix(fix));
        }
        for (i, host) in cluster.inventory.hosts.iter().enumerate() {
            if host.mac.is_none() {
                let detail = "the machine's card needs an address of its own";
                violations.push(Violation::required(format!("hosts[{i}].mac"), detail));
            }
            if host.ip.first().is_none_or(std::net::IpAddr::is_ipv6) {
                let detail = "the lab's segment speaks IPv4 first";
                violations.push(
                    Violation::required(format!("hosts[{i}].ip"), detail).fix("give an IPv4 address first"),
                );
            }
        }
        if violations.is_empty() { Ok(Self { name }) } else { Err(violations) }
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
