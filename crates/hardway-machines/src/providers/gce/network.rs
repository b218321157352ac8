//! Firewall rules and the way out.
//!
//! The rules are those of the installer's own templates (openshift/installer upi/gcp/03_firewall.py), with the load
//! balancer as one more machine.

use hardway_assets::inventory::Role;

use super::Gce;
use super::gcloud::Resource;
use crate::actions::{Action, ActionCheck, Program};

/// Where Google's own load balancers ask machines for their health from.
const GOOGLE_HEALTH_CHECKS: &str = "35.191.0.0/16,130.211.0.0/22,209.85.152.0/22,209.85.204.0/22";
const NODES: [&str; 3] = ["bootstrap", "master", "worker"];

/// One rule.
struct Rule {
    name: &'static str,
    why: &'static str,
    allow: &'static str,
    from: From,
    to: Vec<&'static str>,
}

/// Who comes in.
enum From {
    /// Machines of these kinds.
    Machines(Vec<&'static str>),
    /// These networks.
    Ranges(String),
}

impl Gce {
    /// All of it.
    pub(super) fn network(&self) -> Vec<Action> {
        let mut actions: Vec<Action> = self.rules().iter().map(|rule| self.rule(rule)).collect();
        if !self.settings.external_addresses {
            actions.extend(self.way_out());
        }
        actions
    }

    fn rules(&self) -> Vec<Rule> {
        let inside: Vec<String> =
            self.cluster.config.networking.machine_network.iter().map(|net| net.cidr.to_string()).collect();
        let inside = inside.join(",");
        if self.cluster.inventory.is_hosted() {
            return of_workers(inside);
        }
        let mut outside = self.settings.source_ranges.join(",");
        if outside.is_empty() {
            outside.clone_from(&inside);
        }
        let all = || {
            let mut all = NODES.to_vec();
            all.extend(self.has_balancer().then_some("balancer"));
            all
        };
        let has_workers = self.cluster.inventory.with_role(Role::Worker).next().is_some();
        let routers = if has_workers { "worker" } else { "master" };
        // In front: the load balancer, or the machines themselves where somebody else's stands before them.
        let front =
            |behind: &[&'static str]| if self.has_balancer() { vec!["balancer"] } else { behind.to_vec() };
        let mut rules = vec![
            Rule {
                name: "api",
                why: "users and nodes reach the API",
                allow: "tcp:6443",
                from: From::Ranges(both(&outside, &inside)),
                to: front(&["bootstrap", "master"]),
            },
            Rule {
                name: "ingress",
                why: "users reach the routes",
                allow: "tcp:80,tcp:443",
                from: From::Ranges(both(&outside, &inside)),
                to: front(&[routers]),
            },
            Rule {
                name: "ssh",
                why: "administrators reach the machines over ssh",
                allow: "tcp:22",
                from: From::Ranges(outside.clone()),
                to: all(),
            },
            Rule {
                name: "etcd",
                why: "etcd's members reach each other",
                allow: "tcp:2379-2380",
                from: From::Machines(vec!["bootstrap", "master"]),
                to: vec!["bootstrap", "master"],
            },
            Rule {
                name: "control-plane",
                why: "the control plane's parts, and configs for machines that join",
                allow: "tcp:6443,tcp:10257,tcp:10259,tcp:22623,tcp:22624",
                from: From::Machines(all()),
                to: vec!["bootstrap", "master"],
            },
            within_network(inside, all()),
            within_cluster(NODES.to_vec()),
        ];
        match self.has_balancer() {
            true => {
                rules.push(Rule {
                    name: "balancer",
                    why: "nodes reach the machine-config-server through the load balancer",
                    allow: "tcp:22623",
                    from: From::Machines(NODES.to_vec()),
                    to: vec!["balancer"],
                });
                rules.push(Rule {
                    name: "routers",
                    why: "the load balancer reaches the routers and their health checks",
                    allow: "tcp:80,tcp:443,tcp:1936",
                    from: From::Machines(vec!["balancer"]),
                    to: vec![routers],
                });
            }
            false => rules.push(Rule {
                name: "health-checks",
                why: "Google's load balancers send health checks",
                allow: "tcp:6080,tcp:6443,tcp:22624",
                from: From::Ranges(GOOGLE_HEALTH_CHECKS.to_owned()),
                to: vec!["bootstrap", "master"],
            }),
        }
        rules
    }

    fn rule(&self, rule: &Rule) -> Action {
        let tags = |kinds: &[&str]| kinds.iter().map(|kind| self.name(kind)).collect::<Vec<_>>().join(",");
        let from = match &rule.from {
            From::Machines(kinds) => format!("--source-tags={}", tags(kinds)),
            From::Ranges(ranges) => format!("--source-ranges={ranges}"),
        };
        let options = [
            format!("--network={}", self.settings.network),
            "--direction=INGRESS".to_owned(),
            format!("--allow={}", rule.allow),
            from,
            format!("--target-tags={}", tags(&rule.to)),
        ];
        let resource = Resource::global("compute firewall-rules", self.name(rule.name));
        self.resource(format!("network/firewall/{}", rule.name), rule.why, &resource, options)
    }

    /// A router with a NAT. Ports as the installer's templates have them for masters, which pull the most.
    fn way_out(&self) -> [Action; 2] {
        let (router, region) = (self.name("router"), self.settings.region());
        let resource = Resource::regional("compute routers", router.clone(), region);
        let network = [format!("--network={}", self.settings.network)];
        let why = "the Cloud Router for NAT";
        let made = self.resource("network/router", why, &resource, network);
        let nat = |verb: &str| -> Program {
            self.gcloud(&format!("compute routers nats {verb}")).with([
                self.name("nat"),
                format!("--router={router}"),
                format!("--region={region}"),
            ])
        };
        let options =
            ["--auto-allocate-nat-external-ips", "--nat-all-subnet-ip-ranges", "--min-ports-per-vm=7168"];
        let why = "machines without a public address pull images through Cloud NAT";
        // Goes with its router.
        let holds = ActionCheck::Succeeds(nat("describe").with(["--format=value(name)"]));
        [made, Action::programs("network/nat", why, holds, [nat("create").with(options)], [])]
    }
}

/// Workers of hosted clusters talk to each other; the API, etcd and the load balancers are not here.
fn of_workers(inside: String) -> Vec<Rule> {
    vec![within_network(inside, vec!["worker"]), within_cluster(vec!["worker"])]
}

fn within_network(inside: String, to: Vec<&'static str>) -> Rule {
    Rule {
        name: "internal-network",
        why: "machines can ping each other",
        allow: "icmp,tcp:22",
        from: From::Ranges(inside),
        to,
    }
}

fn within_cluster(nodes: Vec<&'static str>) -> Rule {
    Rule {
        name: "internal-cluster",
        why: "pods, services and kubelets across machines",
        allow: "udp:4789,udp:6081,udp:500,udp:4500,udp:9000-9999,udp:30000-32767,esp,tcp:9000-9999,tcp:10250,tcp:30000-32767",
        from: From::Machines(nodes.clone()),
        to: nodes,
    }
}

fn both(one: &str, other: &str) -> String {
    if one == other { one.to_owned() } else { format!("{one},{other}") }
}
