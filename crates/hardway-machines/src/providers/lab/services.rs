//! Names, load balancer and registry: real programs, each in a container of the node image.

use std::path::Path;

use hardway_assets::host_services::{BalancedPort, Dnsmasq, Haproxy, Names, dnsmasq, haproxy};
use hardway_base::hex;
use sha2::{Digest as _, Sha256};

use super::{Lab, REGISTRY_PORT};
use crate::actions::{Action, Check, Program, Step};

/// One service.
struct Service {
    name: &'static str,
    why: &'static str,
    /// Its configuration file, which it sees below /lab.
    file: &'static str,
    content: String,
    command: &'static str,
    /// How it takes up another configuration without letting go of its connections; else it is started anew.
    reload: Option<&'static str>,
}

impl Lab {
    /// Each with its configuration.
    pub(super) fn services(&self) -> Vec<Action> {
        let services = [
            Service {
                name: "dns",
                why: "api, api-int, *.apps and every machine have a name, and every address a name",
                file: "dnsmasq.conf",
                content: self.names(),
                command: "dnsmasq --keep-in-foreground --conf-file=/lab/dnsmasq.conf",
                reload: None,
            },
            Service {
                name: "balancer",
                why: "what asks for the API or a route gets a machine that is well",
                file: "haproxy.cfg",
                content: self.balancer(),
                command: "haproxy -W -db -f /lab/haproxy.cfg",
                reload: Some("SIGUSR2"),
            },
            Service {
                name: "registry",
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
        let Service { name, why, file, content, command, reload } = service;
        let container = self.place.container(name);
        let started = self.place.state(&format!("{name}.started"));
        let mark = Step::WriteFile { path: started.clone(), mode: 0o644, content: hash(content) };
        let mut program = self.place.script("network/service.sh").with([self.place.lab.as_str(), name]);
        program = program.with(reload.iter().flat_map(|signal| ["--reload", signal]));
        program = program.with(["--image", NODE_IMAGE]).with(command.split(' '));
        let run = Action {
            id: format!("{name}/service"),
            why: (*why).to_owned(),
            holds: Check::All(vec![file_is(&started, &hash(content)), self.place.is_running(name)]),
            does: vec![Step::Run(program), mark],
            undo: vec![Step::Run(Program::words("podman rm --force --ignore --time=2").with([container]))],
        };
        let why = format!("what the lab's {name} goes by");
        [Action::file(format!("{name}/config"), why, self.place.state(file), content.clone()), run]
    }

    fn names(&self) -> String {
        let server = Dnsmasq {
            listen: vec![self.gateway()],
            port: 53,
            pid_file: "/run/dnsmasq.pid".to_owned(),
            upstream: Vec::new(),
        };
        dnsmasq(&Names::of(&self.cluster), &server)
    }

    fn balancer(&self) -> String {
        let files =
            Haproxy { socket: "/lab/haproxy.sock".to_owned(), pid_file: "/run/haproxy.pid".to_owned() };
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

fn file_is(path: &Path, content: &str) -> Check {
    Check::FileIs { path: path.to_owned(), mode: 0o644, content: content.to_owned() }
}

fn hash(content: &str) -> String {
    hex::encode(Sha256::digest(content))
}
