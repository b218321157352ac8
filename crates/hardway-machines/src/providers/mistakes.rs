//! What is wrong with the settings of whoever makes the machines.

use hardway_assets::Cluster;
use hardway_assets::violation::Violation;

use super::descriptor;
use super::fields::SettingsFindings;

/// Everything that is wrong with `machines.*` of the inventory, and with what this provider needs of the hosts.
pub fn mistakes(cluster: &Cluster) -> Vec<Violation> {
    let findings = SettingsFindings::default();
    (descriptor(cluster.inventory.machines.provider).read)(cluster, &findings);
    findings.or(()).err().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hardway_assets::example;
    use hardway_assets::input_tables::INVENTORY;
    use hardway_assets::inventory::Provider;
    use hardway_assets::schema::Presence;
    use serde_json::{Value, json};

    use super::*;

    /// Settings in which nothing is left out that others hang on.
    fn whole() -> Vec<(Provider, &'static str, Value)> {
        let bmc =
            json!({"bmc": {"address": "redfish://10.0.0.5", "user": "admin", "passwordFile": "secrets/bmc"}});
        let settings = |provider| match provider {
            Provider::BareMetal => {
                json!({"hosts": {"master-0": bmc}, "balancers": {"lb-0": {"ip": "192.168.126.5", "interface": "eno1"}}})
            }
            Provider::Gce => json!({"imageFile": "a.tar.gz"}),
            _ => json!({}),
        };
        Provider::ALL.iter().map(|provider| (*provider, provider.name(), settings(*provider))).collect()
    }

    fn generic(path: &str) -> String {
        path.replace("master-0", "<host>").replace("lb-0", "<balancer>")
    }

    fn asked(provider: Provider, settings: Value) -> BTreeSet<String> {
        let mut cluster = example::cluster();
        cluster.inventory.machines.provider = provider;
        cluster.inventory.machines.settings = settings;
        let findings = SettingsFindings::default();
        (descriptor(provider).read)(&cluster, &findings);
        findings.asked().into_iter().map(|path| generic(&path)).collect()
    }

    /// The table is what the schema, `hardway explain` and the first look at the file go by.
    #[test]
    fn providers_read_the_fields_of_the_table_and_no_others() {
        for (provider, name, settings) in whole() {
            let mut asked = asked(provider, settings);
            if provider == Provider::Gce {
                asked.extend(self::asked(provider, json!({"image": "a"})));
            }
            let below = format!("machines.{name}.");
            let rows: BTreeSet<String> = INVENTORY
                .paths()
                .into_iter()
                .map(|(path, _)| path)
                .filter(|path| path.starts_with(&below) && !path.ends_with('>'))
                .collect();
            assert_eq!(asked, rows, "{name}");
        }
    }

    #[test]
    fn what_the_table_calls_required_is_asked_for() {
        for (provider, name, mut settings) in whole() {
            if let Some(bmc) = settings.pointer_mut("/hosts/master-0/bmc") {
                *bmc = json!({"auth": "basic"});
            }
            if let Some(balancer) = settings.pointer_mut("/balancers/lb-0") {
                *balancer = json!({"ssh": "root@192.168.126.5"});
            }
            let mut cluster = example::cluster();
            cluster.inventory.machines = hardway_assets::inventory::Machines { provider, settings };
            let told: BTreeSet<String> =
                mistakes(&cluster).into_iter().map(|violation| generic(&violation.path)).collect();
            let below = format!("machines.{name}.");
            for (path, field) in INVENTORY.paths() {
                let is_required = field.presence == Presence::RequiredByRule && path.starts_with(&below);
                assert!(!is_required || told.contains(&path), "{path} is not in {told:?}");
            }
        }
    }
}
