//! Names, load balancer and registry: real programs, each in a container of the node image.

use std::path::Path;

use hardway_assets::host_services::{BalancedPort, Dnsmasq, Haproxy, Names, dnsmasq, haproxy};
use hardway_base::hex;
use sha2::{Digest as _, Sha256};

use super::{Lab, REGISTRY_PORT};
use crate::actions::{Action, ActionCheck, Program, Step};
use crate::providers::ActionScope;

/// One service.
struct Service {
    name: &'static str,
    /// Makes the names of its actions.
    action: fn(&str) -> String,
    why: &'static str,
    /// Its configuration file, which it sees below /lab.
    file: &'static str,
    content: String,
    command: &'static str,
    /// How it reloads its configuration without dropping connections; without one, it is restarted.
    reload: Option<&'static str>,
}

impl Lab {
    /// All services, each with its configuration.
    pub(super) fn services(&self) -> Vec<Action> {
        let services = [
            Service {
                name: "dns",
                action: |what| ActionScope::Names.action(what),
                why: "DNS records for api, api-int, *.apps and every machine, and reverse records",
                file: "dnsmasq.conf",
                content: self.names(),
                command: "dnsmasq --keep-in-foreground --conf-file=/lab/dnsmasq.conf",
                reload: None,
            },
            Service {
                name: "balancer",
                action: |what| ActionScope::Balancer.action(what),
                why: "traffic for the API and the routes goes to healthy machines",
                file: "haproxy.cfg",
                content: self.balancer(),
                command: "haproxy -W -db -f /lab/haproxy.cfg",
                reload: Some("SIGUSR2"),
            },
            Service {
                name: "registry",
                action: |what| format!("registry/{what}"),
                why: "machines pull the release from here",
                file: "registry.yml",
                content: self.registry_configuration(),
                command: "docker-registry serve /lab/registry.yml",
                reload: None,
            },
        ];
        services.iter().flat_map(|service| self.service(service)).collect()
    }

    fn service(&self, service: &Service) -> [Action; 2] {
        let Service { name, action, why, file, content, command, reload } = service;
        let container = self.site.container(name);
        let started = self.site.state(&format!("{name}.started"));
        let mark = Step::WriteFile { path: started.clone(), mode: 0o644, content: hash(content) };
        let mut program = self.site.script("network/service.sh").with([self.site.lab.as_str(), name]);
        program = program.with(reload.iter().flat_map(|signal| ["--reload", signal]));
        program = program.with(self.podman_arguments());
        program = program.with(["--image", NODE_IMAGE]).with(command.split(' '));
        let run = Action {
            id: action("service"),
            why: (*why).to_owned(),
            holds: ActionCheck::All(vec![file_is(&started, &hash(content)), self.site.is_running(name)]),
            does: vec![Step::Run(program), mark],
            undo: vec![Step::Run(Program::words("podman rm --force --ignore --time=2").with([container]))],
        };
        let why = format!("the configuration of the lab's {name}");
        [Action::file(action("config"), why, self.site.state(file), content.clone()), run]
    }

    fn names(&self) -> String {
        let server = Dnsmasq {
            listen: vec![self.gateway()],
            interface: None,
            port: 53,
            pid_file: "/run/dnsmasq.pid".to_owned(),
            upstream: Vec::new(),
        };
        dnsmasq(&Names::of(&self.cluster), &server)
    }

    fn balancer(&self) -> String {
        let files = Haproxy {
            socket: "/lab/haproxy.sock".to_owned(),
            pid_file: "/run/haproxy.pid".to_owned(),
            binds_early: false,
        };
        haproxy(&BalancedPort::all(&self.cluster, self.stage), &files)
    }

    /// Read-only, so that all labs can share the storage.
    fn registry_configuration(&self) -> String {
        format!(
            "version: 0.1\nlog:\n  level: warn\n  accesslog:\n    disabled: true\nstorage:\n  filesystem:\n    \
             rootdirectory: /registry\n  maintenance:\n    readonly:\n      enabled: true\nhttp:\n  addr: {}:{REGISTRY_PORT}\n",
            self.gateway()
        )
    }
}

/// The image that `lab/build.sh` makes; it holds these programs too.
pub(super) const NODE_IMAGE: &str = "localhost/hardway-lab-node:latest";

fn file_is(path: &Path, content: &str) -> ActionCheck {
    ActionCheck::FileIs { path: path.to_owned(), mode: 0o644, content: content.to_owned() }
}

fn hash(content: &str) -> String {
    hex::encode(Sha256::digest(content))
}
