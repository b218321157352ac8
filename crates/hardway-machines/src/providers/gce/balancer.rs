//! The load balancer: HAProxy on an instance of its own, or somebody else's.
//!
//! The instance takes its configuration from its own metadata, and takes it again whenever that changes (the metadata
//! server answers then). So nobody logs in there, and a change is one command.

use hardway_assets::host_services::{BalancedPort, Haproxy, haproxy};
use hardway_assets::inventory::Balancer;

use super::Gce;
use super::gcloud::Resource;
use crate::actions::{Action, ActionCheck, Step};
use crate::load_balancer;
use crate::providers::ActionScope;

/// What the instance runs at every start.
const STARTUP: &str = r#"#!/bin/bash
# Made by hardway. Keeps HAProxy at what the metadata of this instance says.
set -u
attribute=http://metadata.google.internal/computeMetadata/v1/instance/attributes/haproxy-cfg
until command -v haproxy >/dev/null; do
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq haproxy || sleep 10
done
wait=
while true; do
  if curl -sf -H 'Metadata-Flavor: Google' -o /etc/haproxy/hardway.new "$attribute$wait" &&
    haproxy -c -q -f /etc/haproxy/hardway.new; then
    if ! cmp -s /etc/haproxy/hardway.new /etc/haproxy/haproxy.cfg; then
      cp /etc/haproxy/hardway.new /etc/haproxy/haproxy.cfg
      systemctl reload-or-restart haproxy
    fi
    wait='?wait_for_change=true'
  else
    wait=
    sleep 5
  fi
done
"#;

impl Gce {
    /// Whether the load balancer is ours.
    pub(super) fn has_balancer(&self) -> bool {
        self.cluster.inventory.network.load_balancer == Balancer::Haproxy
    }

    /// All of it.
    pub(super) fn balancer(&self) -> Vec<Action> {
        if !self.has_balancer() {
            let table = load_balancer::table(&load_balancer::changes(&self.cluster));
            let why = "the load balancer's configuration, for its administrator";
            return vec![Action::file(
                ActionScope::Balancer.action("table"),
                why,
                self.file("load-balancer.txt"),
                table,
            )];
        }
        let script = self.file("balancer.sh");
        let (instance, zone) = (self.name("balancer"), &self.settings.zones[0]);
        let resource = Resource::zonal("compute instances", instance, zone);
        let addresses = self.balancer_addresses();
        let options = [
            "--machine-type=e2-small".to_owned(),
            "--image-family=debian-12".to_owned(),
            "--image-project=debian-cloud".to_owned(),
            addresses,
            format!("--tags={}", self.name("balancer")),
            format!("--labels={}", self.labels()),
            "--no-service-account".to_owned(),
            "--no-scopes".to_owned(),
            format!("--metadata-from-file=startup-script={}", script.display()),
        ];
        let why = "traffic for the API and the routes goes to healthy machines";
        let mut actions = vec![
            Action::file(
                ActionScope::Balancer.action("startup"),
                "the startup script of the load balancer's instance",
                script,
                STARTUP,
            ),
            self.resource(ActionScope::Balancer.action("instance"), why, &resource, options),
        ];
        actions.extend(self.configured());
        actions
    }

    /// The configuration, put where the instance sees it.
    fn configured(&self) -> [Action; 2] {
        // The files are those of the instance.
        let files = Haproxy {
            socket: "/run/haproxy/admin.sock".to_owned(),
            pid_file: "/run/haproxy.pid".to_owned(),
            binds_early: false,
        };
        let content = haproxy(&BalancedPort::all(&self.cluster, self.stage), &files);
        let (config, pushed) = (self.file("haproxy.cfg"), self.file("haproxy.pushed"));
        let resource = Resource::zonal("compute instances", self.name("balancer"), &self.settings.zones[0]);
        let push = self
            .verb("add-metadata", &resource)
            .with([format!("--metadata-from-file=haproxy-cfg={}", config.display())]);
        let push = Action {
            id: ActionScope::Balancer.action("pushed"),
            why: "the load balancer's instance has its configuration".to_owned(),
            holds: ActionCheck::All(vec![
                ActionCheck::FileIs { path: pushed.clone(), mode: 0o644, content: content.clone() },
                self.exists(&resource),
            ]),
            does: vec![
                Step::Run(push),
                Step::WriteFile { path: pushed, mode: 0o644, content: content.clone() },
            ],
            // Goes with its instance.
            undo: Vec::new(),
        };
        [
            Action::file(
                ActionScope::Balancer.action("config"),
                "the load balancer's configuration",
                config,
                content,
            ),
            push,
        ]
    }

    /// The API's address is the instance's own, and that of the routes a second one.
    fn balancer_addresses(&self) -> String {
        let network = &self.cluster.inventory.network;
        let (api, ingress) = (network.api_vip[0], network.ingress_vip[0]);
        let mut text =
            format!("--network-interface=subnet={},private-network-ip={api}", self.settings.subnet);
        if ingress != api {
            text += &format!(",aliases={ingress}/32");
        }
        if !self.settings.external_addresses {
            text += ",no-address";
        }
        text
    }
}
