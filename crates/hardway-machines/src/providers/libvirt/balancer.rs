//! HAProxy on the virtual addresses.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::Libvirt;
use super::settings::HaproxyBy;
use super::unit::Unit;
use crate::actions::{Action, Check, Program, Step};
use crate::providers::LoadBalancer;
use hardway_assets::host_services::{BalancedPort, Haproxy, haproxy};
use hardway_assets::inventory::Balancer;
use hardway_base::hex;
use hardway_base::shell_word;
use sha2::{Digest as _, Sha256};

const ID: &str = "balancer/haproxy";
const WHY: &str = "The API and the routers answer on the virtual addresses, by whoever is well.";

impl Libvirt {
    pub(super) fn balancer(&self) -> Vec<Action> {
        if self.cluster.inventory.network.load_balancer != Balancer::Haproxy {
            return Vec::new();
        }
        let mut actions = Vec::new();
        if self.facts.has_selinux {
            actions.push(self.selinux());
        }
        actions.push(match (self.settings.haproxy, self.facts.has_systemd) {
            (HaproxyBy::Podman, _) => self.by_podman(),
            (HaproxyBy::Systemd, _) | (HaproxyBy::Auto, true) => self.by_systemd(),
            (HaproxyBy::Daemon, _) | (HaproxyBy::Auto, false) => self.by_itself(),
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

    /// Where it lies, and the text.
    fn configuration(&self) -> (String, String) {
        let files = Haproxy { socket: self.socket(), pid_file: self.pid_file() };
        (
            format!("{}/haproxy.cfg", self.own_folder()),
            haproxy(&BalancedPort::all(&self.cluster, self.stage), &files),
        )
    }

    /// Which configuration the running process has read, written down right after it did.
    fn loaded(&self, text: &str) -> Check {
        let line = format!("{}  -", hex::encode(Sha256::digest(text)));
        Check::Prints { program: self.hypervisor().run(Program::new("cat", [self.loaded_file()])), line }
    }

    fn write_loaded(&self, path: &str) -> String {
        format!("sha256sum < {} > {}", shell_word(path), shell_word(&self.loaded_file()))
    }

    fn by_systemd(&self) -> Action {
        let (path, text) = self.configuration();
        let network = &self.settings.network;
        let (check, loaded) = (format!("/usr/sbin/haproxy -c -q -f {path}"), self.write_loaded(&path));
        let unit = format!(
            "# Made by hardway.\n[Unit]\nDescription=Load balancer of {domain}\n\
             After=network-online.target libvirtd.service virtnetworkd.service\nWants=network-online.target\n\n\
             [Service]\nType=notify\nExecStartPre={check}\nExecStart=/usr/sbin/haproxy -Ws -f {path} -p {pid}\n\
             ExecStartPost=/bin/sh -c '{loaded}'\n\
             ExecReload={check}\nExecReload=/bin/kill -USR2 $MAINPID\nExecReload=/bin/sh -c '{loaded}'\n\
             RuntimeDirectory=hardway/{network}\nKillMode=mixed\nRestart=always\nRestartSec=2\n\n\
             [Install]\nWantedBy=multi-user.target\n",
            domain = self.cluster.domain(),
            pid = self.pid_file(),
        );
        let name = format!("hardway-{network}-haproxy.service");
        let is_active = self.hypervisor().run(Program::words(&format!("systemctl is-active --quiet {name}")));
        let unit = Unit {
            id: ID,
            why: WHY.to_owned(),
            works: Check::All(vec![Check::Succeeds(is_active), self.loaded(&text)]),
            name,
            text: unit,
            files: vec![(path, text)],
            start: "reload-or-restart",
        };
        unit.action(&self.hypervisor())
    }

    /// A process of its own, which ends with the host. A new one takes the sockets over; the old one ends when its last
    /// connection does.
    fn by_itself(&self) -> Action {
        let (hypervisor, (path, text)) = (self.hypervisor(), self.configuration());
        let (pid, folder) = (shell_word(&self.pid_file()), shell_word(&self.run_folder()));
        let is_on = format!(
            "[ -e {pid} ] && tr '\\0' ' ' < /proc/$(head -n 1 {pid})/cmdline 2>/dev/null | grep -q '^haproxy '"
        );
        let start = format!(
            "install -d -m 0711 {folder}; old=; if {is_on}; then old=\"-sf $(cat {pid})\"; fi; \
             haproxy -D -f {} -p {pid} $old; {}",
            shell_word(&path),
            self.write_loaded(&path),
        );
        let stop = format!("if {is_on}; then kill $(cat {pid}); fi; {}", self.remove_run_folder());
        Action {
            id: ID.to_owned(),
            why: WHY.to_owned(),
            holds: Check::All(vec![
                hypervisor.is_file(&path, 0o644, &text),
                Check::Succeeds(hypervisor.shell(&is_on)),
                self.loaded(&text),
            ]),
            does: vec![
                hypervisor.write(&path, 0o644, &text),
                Step::Run(hypervisor.run(Program::new("haproxy", ["-c", "-q", "-f", &path]))),
                Step::Run(hypervisor.shell(&start)),
            ],
            undo: vec![
                Step::Run(hypervisor.shell(&stop)),
                hypervisor.remove(&path),
                Step::Run(self.remove_own_folder()),
            ],
        }
    }

    fn by_podman(&self) -> Action {
        let (hypervisor, (path, text)) = (self.hypervisor(), self.configuration());
        let name = format!("hardway-{}-haproxy", self.settings.network);
        let (folder, own) = (self.run_folder(), self.own_folder());
        let image = self.settings.haproxy_image.as_deref().unwrap_or_default();
        let run = Program::words("podman run --detach --replace --network=host --user=0 --restart=always")
            .with(["--name", &name])
            .with(["--volume", &format!("{own}:{own}:ro"), "--volume", &format!("{folder}:{folder}")])
            .with([image, "haproxy", "-W", "-db", "-f", &path, "-p", &self.pid_file()]);
        let inspect = Program::words("podman inspect --format").with(["{{.State.Running}}", &name]);
        let start = format!(
            "if [ \"$({inspect} 2>/dev/null)\" = true ]; then podman kill --signal USR2 {name}; else {run}; fi; {}",
            self.write_loaded(&path),
        );
        let stop = format!("podman rm --force --ignore {name}; {}", self.remove_run_folder());
        Action {
            id: ID.to_owned(),
            why: WHY.to_owned(),
            holds: Check::All(vec![
                hypervisor.is_file(&path, 0o644, &text),
                Check::Prints { program: hypervisor.run(inspect), line: "true".to_owned() },
                self.loaded(&text),
            ]),
            does: vec![
                hypervisor.write(&path, 0o644, &text),
                Step::Run(hypervisor.run(Program::new("install", ["-d", "-m", "0711", &folder]))),
                Step::Run(hypervisor.shell(&start)),
            ],
            undo: vec![
                Step::Run(hypervisor.shell(&stop)),
                hypervisor.remove(&path),
                Step::Run(self.remove_own_folder()),
            ],
        }
    }

    /// SELinux does not expect HAProxy on ports 6443 and 22623.
    fn selinux(&self) -> Action {
        let set = |value: &str| {
            self.hypervisor().run(Program::words(&format!("setsebool -P haproxy_connect_any {value}")))
        };
        let program = self.hypervisor().run(Program::words("getsebool haproxy_connect_any"));
        let holds = Check::Prints { program, line: "haproxy_connect_any --> on".to_owned() };
        Action::programs(
            "balancer/selinux",
            "HAProxy may use the API's ports.",
            holds,
            [set("on")],
            [set("off")],
        )
    }

    /// The administration socket of a HAProxy on another host, here.
    fn tunnel(&self) -> Option<Action> {
        let ssh = self.hypervisor().ssh()?;
        let destination = ssh.arguments.last().cloned().unwrap_or_default();
        let options = Program { arguments: ssh.arguments[..ssh.arguments.len() - 1].to_vec(), ..ssh };
        let (local, control) = (self.tunnel_socket().display().to_string(), self.control_path());
        let control_of = |word: &str| options.clone().with(["-S", &control, "-O", word, &destination]);
        let open = options.clone().with([
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
            &destination,
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
            "balancer/tunnel",
            "Members are switched from here; if the connection breaks, `hardway infra up` brings it back.",
            Check::Succeeds(control_of("check")),
            [Program::new("install", ["-d", "-m", "0700", &folder]), open],
            [Program::new("sh", ["-ec", &close])],
        ))
    }

    fn run_folder(&self) -> String {
        format!("/run/hardway/{}", self.settings.network)
    }

    fn socket(&self) -> String {
        format!("{}/haproxy.sock", self.run_folder())
    }

    fn loaded_file(&self) -> String {
        format!("{}/loaded", self.run_folder())
    }

    fn pid_file(&self) -> String {
        format!("{}/haproxy.pid", self.run_folder())
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

    /// And the folder that all clusters of this host share, after the last.
    fn remove_run_folder(&self) -> String {
        let folder = shell_word(&self.run_folder());
        format!("rm -rf {folder}; {}", remove_if_empty("/run/hardway"))
    }

    fn remove_own_folder(&self) -> Program {
        let folder = shell_word(&self.own_folder());
        self.hypervisor()
            .shell(&format!("if [ -d {folder} ]; then rmdir -p --ignore-fail-on-non-empty {folder}; fi"))
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

fn remove_if_empty(folder: &str) -> String {
    let folder = shell_word(folder);
    format!("if [ -d {folder} ]; then rmdir --ignore-fail-on-non-empty {folder}; fi")
}
