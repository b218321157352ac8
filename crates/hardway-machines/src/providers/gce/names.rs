//! Names: a zone of Cloud DNS that only the network of the machines sees.

use std::net::IpAddr;

use hardway_assets::host_services::{Name, Names};

use super::Gce;
use super::gcloud::{Resource, shell};
use crate::actions::{Action, ActionCheck};
use crate::providers::ActionScope;

impl Gce {
    /// The zone, and a record for each name and family.
    pub(super) fn names(&self) -> Vec<Action> {
        let names = Names::of(&self.cluster);
        let zone = self.name("zone");
        let resource = Resource::global("dns managed-zones", zone.clone());
        let options = [
            format!("--dns-name={}.", names.domain),
            "--visibility=private".to_owned(),
            format!("--networks={}", self.settings.network),
            "--description=Made by hardway.".to_owned(),
            format!("--labels={}", self.labels()),
        ];
        let mut actions = vec![self.resource(
            ActionScope::Names.action("zone"),
            "the cluster's DNS zone",
            &resource,
            options,
        )];
        for name in &names.names {
            actions.extend(self.records(&zone, &name.name, name));
        }
        actions.extend(self.records(&zone, &format!("*.{}", names.wildcard.name), &names.wildcard));
        actions
    }

    fn records(&self, zone: &str, fqdn: &str, name: &Name) -> Vec<Action> {
        let of = |is_v6: bool| {
            let found: Vec<String> =
                name.addresses.iter().filter(|ip| ip.is_ipv6() == is_v6).map(IpAddr::to_string).collect();
            (!found.is_empty()).then(|| found.join(","))
        };
        let records = [("A", of(false)), ("AAAA", of(true))].into_iter();
        records.filter_map(|(kind, addresses)| Some(self.record(zone, fqdn, kind, &addresses?))).collect()
    }

    fn record(&self, zone: &str, fqdn: &str, kind: &str, addresses: &str) -> Action {
        let at = [format!("{fqdn}."), format!("--zone={zone}"), format!("--type={kind}")];
        let call = |verb: &str| self.gcloud(&format!("dns record-sets {verb}")).with(at.clone());
        let values = ["--ttl=60".to_owned(), format!("--rrdatas={addresses}")];
        let list = self.gcloud("dns record-sets list").with([
            format!("--zone={zone}"),
            format!("--name={fqdn}."),
            format!("--type={kind}"),
            "--format=value(name)".to_owned(),
        ]);
        let delete = call("delete");
        Action::programs(
            ActionScope::Names.action(&format!("record/{fqdn}/{kind}")),
            format!("{fqdn} is {addresses}"),
            ActionCheck::Prints {
                program: call("describe").with(["--format=value[delimiter=\",\"](rrdatas)"]),
                line: addresses.to_owned(),
            },
            [call("create").with(values)],
            [shell(format!("found=$({list}) && {{ test -z \"$found\" || {delete}; }}"))],
        )
    }
}
