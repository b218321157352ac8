//! HAProxy on the virtual addresses.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::Libvirt;
use super::settings::HaproxyBy;
use crate::actions::{Action, ActionCheck, Program, Step};
use crate::providers::haproxy_service::{HaproxyService, WHY, remove_if_empty, run_folder, socket};
use crate::providers::{ActionScope, LoadBalancer};
use hardway_assets::host_services::{BalancedPort, haproxy};
use hardway_assets::inventory::Balancer;
use hardway_base::shell_word;

impl Libvirt {
    pub(super) fn balancer(&self) -> Vec<Action> {
        if self.cluster.inventory.network.load_balancer != Balancer::Haproxy {
            return Vec::new();
        }
        let service = self.haproxy();
        let mut actions = Vec::new();
        if self.facts.has_selinux {
            actions.push(service.selinux(ActionScope::Balancer.action("selinux")));
        }
        actions.push(match (self.settings.haproxy, self.facts.has_systemd) {
            (HaproxyBy::Podman, _) => self.by_podman(&service),
            (HaproxyBy::Systemd, _) | (HaproxyBy::Auto, true) => service.by_systemd(),
            (HaproxyBy::Daemon, _) | (HaproxyBy::Auto, false) => service.by_itself(),
        });
        actions.extend(self.tunnel());
        actions
    }

    pub(super) fn balanced_by(&self) -> LoadBalancer {
        if self.cluster.inventory.network.load_balancer != Balancer::Haproxy {
            return LoadBalancer::External;
        }
        let admin_socket = match self.hypervisor().ssh() {
            None => PathBuf::from(self.socket()),
            Some(_) => self.tunnel_socket(),
        };
        LoadBalancer::Haproxy { admin_socket }
    }

    fn haproxy(&self) -> HaproxyService<'_> {
        let name = &self.settings.network;
        HaproxyService {
            place: self.hypervisor(),
            id: ActionScope::Balancer.action("haproxy"),
            name,
            domain: self.cluster.domain(),
            after: " libvirtd.service virtnetworkd.service",
            text: haproxy(&BalancedPort::all(&self.cluster, self.stage), &HaproxyService::files(name)),
        }
    }

    fn by_podman(&self, service: &HaproxyService<'_>) -> Action {
        let (hypervisor, path, text) = (self.hypervisor(), service.path(), &service.text);
        let name = format!("hardway-{}-haproxy", self.settings.network);
        let (folder, own) = (run_folder(&self.settings.network), self.own_folder());
        let image = self.settings.haproxy_image.as_deref().unwrap_or_default();
        let run = Program::words("podman run --detach --replace --network=host --user=0 --restart=always")
            .with(["--name", &name])
            .with(["--volume", &format!("{own}:{own}:ro"), "--volume", &format!("{folder}:{folder}")])
            .with([image, "haproxy", "-W", "-db", "-f", &path]);
        let inspect = Program::words("podman inspect --format").with(["{{.State.Running}}", &name]);
        let start = format!(
            "if [ \"$({inspect} 2>/dev/null)\" = true ]; then podman kill --signal USR2 {name}; else {run}; fi; {}",
            service.loaded().write(&path),
        );
        let stop = format!("podman rm --force --ignore {name}; {}", service.remove_run_folder());
        Action {
            id: ActionScope::Balancer.action("haproxy"),
            why: WHY.to_owned(),
            holds: ActionCheck::All(vec![
                hypervisor.is_file(&path, 0o644, text),
                ActionCheck::Prints { program: hypervisor.run(inspect), line: "true".to_owned() },
                service.loaded().is(&hypervisor, text),
            ]),
            does: vec![
                hypervisor.write(&path, 0o644, text),
                Step::Run(hypervisor.run(Program::new("install", ["-d", "-m", "0711", &folder]))),
                Step::Run(hypervisor.shell(&start)),
            ],
            undo: vec![
                Step::Run(hypervisor.shell(&stop)),
                hypervisor.remove(&path),
                Step::Run(service.remove_own_folder()),
            ],
        }
    }

    /// The administration socket of a HAProxy on another host, here.
    fn tunnel(&self) -> Option<Action> {
        let ssh = self.hypervisor().ssh()?;
        // Options come first: behind the destination they would be its command.
        let with = |options: &[&str]| {
            let options = options.iter().map(|option| (*option).to_owned());
            Program { arguments: options.chain(ssh.arguments.iter().cloned()).collect(), ..ssh.clone() }
        };
        let (local, control) = (self.tunnel_socket().display().to_string(), self.control_path());
        let control_of = |word: &str| with(&["-S", &control, "-O", word]);
        let open = with(&[
            "-f",
            "-N",
            "-M",
            "-S",
            &control,
            "-o",
            "StreamLocalBindUnlink=yes",
            "-o",
            "ExitOnForwardFailure=yes",
            "-L",
            &format!("{local}:{}", self.socket()),
        ]);
        let folder = self.own_run_folder().display().to_string();
        let close = format!(
            "if {} 2>/dev/null; then {}; fi; rm -rf {}; {}",
            control_of("check"),
            control_of("exit"),
            shell_word(&folder),
            remove_if_empty(&runtime_folder(&self.folder).display().to_string()),
        );
        Some(Action::programs(
            ActionScope::Balancer.action("tunnel"),
            "the connection to HAProxy's administration socket; if it breaks, `hardway infra up` restores it",
            ActionCheck::Succeeds(control_of("check")),
            [Program::new("install", ["-d", "-m", "0700", &folder]), open],
            [Program::new("sh", ["-ec", &close])],
        ))
    }

    fn socket(&self) -> String {
        socket(&self.settings.network)
    }

    fn tunnel_socket(&self) -> PathBuf {
        self.own_run_folder().join("haproxy.sock")
    }

    fn control_path(&self) -> String {
        self.own_run_folder().join("ssh").display().to_string()
    }

    /// On the host that hardway runs on, where nobody else can put anything in its place. Short: a socket's path has at most
    /// 107 bytes, and working folders lie deep.
    fn own_run_folder(&self) -> PathBuf {
        runtime_folder(&self.folder).join(&self.network_uuid()[..8])
    }
}

/// Root's is below /run; everybody else has a folder of their own there, or is content with the working folder.
fn runtime_folder(working_folder: &Path) -> PathBuf {
    let is_root = fs_err::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
    match (is_root, own) {
        (true, _) => PathBuf::from("/run/hardway"),
        (false, Some(folder)) => folder.join("hardway"),
        (false, None) => working_folder.join(".run"),
    }
}
