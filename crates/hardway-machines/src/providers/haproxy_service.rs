//! HAProxy on the virtual addresses of a host: as a systemd unit, or as a process of its own where there is no systemd.

use hardway_assets::host_services::Haproxy;
use hardway_base::shell_word;

use super::place::Place;
use super::unit::{Daemon, Loaded, Unit};
use crate::actions::{Action, ActionCheck, Program, Step};

/// What its action is for.
pub(super) const WHY: &str = "the API and the routers answer on the virtual addresses, from healthy machines";

/// One HAProxy.
pub(super) struct HaproxyService<'s> {
    pub(super) place: Place,
    /// Its action.
    pub(super) id: String,
    /// What its unit and its folders are named after.
    pub(super) name: &'s str,
    /// Of the cluster.
    pub(super) domain: String,
    /// Units that are started before it, each with a space before it.
    pub(super) after: &'s str,
    /// Its configuration.
    pub(super) text: String,
}

impl HaproxyService<'_> {
    /// What its configuration has to say of its own files.
    pub(super) fn files(name: &str) -> Haproxy {
        Haproxy { socket: socket(name), pid_file: pid_file(name), binds_early: false }
    }

    /// Comes back with the host.
    pub(super) fn by_systemd(&self) -> Action {
        let path = self.path();
        let daemon = Daemon {
            title: format!("Load balancer of {}", self.domain),
            after: self.after,
            kind: "notify",
            check: format!("/usr/sbin/haproxy -c -q -f {path}"),
            start: format!("/usr/sbin/haproxy -Ws -f {path}"),
            read: self.loaded().write(&path),
            reload: Some("-USR2"),
            run_folder: format!("hardway/{}", self.name),
        };
        let name = unit_name(self.name);
        let is_active = self.place.run(Program::words(&format!("systemctl is-active --quiet {name}")));
        let unit = Unit {
            id: &self.id,
            why: WHY.to_owned(),
            works: ActionCheck::All(vec![
                ActionCheck::Succeeds(is_active),
                self.loaded().is(&self.place, &self.text),
            ]),
            name,
            text: daemon.text(),
            files: vec![(path, self.text.clone())],
            start: "reload-or-restart",
        };
        let mut action = unit.action(&self.place);
        action.undo.push(tidy(&self.place, self.name));
        action
    }

    /// A process of its own, which ends with the host. A new one takes the sockets over; the old one ends when its last
    /// connection does.
    pub(super) fn by_itself(&self) -> Action {
        let (place, path) = (&self.place, self.path());
        let (pid, folder) = (shell_word(&pid_file(self.name)), shell_word(&run_folder(self.name)));
        let is_on = format!(
            "[ -e {pid} ] && tr '\\0' ' ' < /proc/$(head -n 1 {pid})/cmdline 2>/dev/null | grep -q '^haproxy '"
        );
        let start = format!(
            "install -d -m 0711 {folder}; old=; if {is_on}; then old=\"-sf $(cat {pid})\"; fi; \
             haproxy -D -f {} $old; {}",
            shell_word(&path),
            self.loaded().write(&path),
        );
        let stop = format!("if {is_on}; then kill $(cat {pid}); fi; {}", self.remove_run_folder());
        Action {
            id: self.id.clone(),
            why: WHY.to_owned(),
            holds: ActionCheck::All(vec![
                place.is_file(&path, 0o644, &self.text),
                ActionCheck::Succeeds(place.shell(&is_on)),
                self.loaded().is(place, &self.text),
            ]),
            does: vec![
                place.write(&path, 0o644, &self.text),
                Step::Run(place.run(Program::new("haproxy", ["-c", "-q", "-f", &path]))),
                Step::Run(place.shell(&start)),
            ],
            undo: vec![
                Step::Run(place.shell(&stop)),
                place.remove(&path),
                Step::Run(self.remove_own_folder()),
            ],
        }
    }

    /// SELinux does not expect HAProxy on ports 6443 and 22623.
    pub(super) fn selinux(&self, id: String) -> Action {
        let set = |value: &str| {
            self.place.run(Program::words(&format!("setsebool -P haproxy_connect_any {value}")))
        };
        let program = self.place.run(Program::words("getsebool haproxy_connect_any"));
        let holds = ActionCheck::Prints { program, line: "haproxy_connect_any --> on".to_owned() };
        let why = "SELinux allows HAProxy to use the API's ports";
        Action::programs(id, why, holds, [set("on")], [set("off")])
    }

    /// Where its configuration lies.
    pub(super) fn path(&self) -> String {
        format!("{}/haproxy.cfg", own_folder(self.name))
    }

    /// Which configuration it has read.
    pub(super) fn loaded(&self) -> Loaded {
        Loaded { file: format!("{}/loaded", run_folder(self.name)) }
    }

    /// And the folder that all clusters of this host share, after the last.
    pub(super) fn remove_run_folder(&self) -> String {
        format!("rm -rf {}; {}", shell_word(&run_folder(self.name)), remove_if_empty("/run/hardway"))
    }

    pub(super) fn remove_own_folder(&self) -> Program {
        let folder = shell_word(&own_folder(self.name));
        self.place
            .shell(&format!("if [ -d {folder} ]; then rmdir -p --ignore-fail-on-non-empty {folder}; fi"))
    }
}

/// Its unit.
pub(super) fn unit_name(name: &str) -> String {
    format!("hardway-{name}-haproxy.service")
}

/// Files of a cluster on a host that serves it.
pub(super) fn own_folder(name: &str) -> String {
    format!("/etc/hardway/{name}")
}

/// What goes with the host's next start.
pub(super) fn run_folder(name: &str) -> String {
    format!("/run/hardway/{name}")
}

/// Its administration socket.
pub(super) fn socket(name: &str) -> String {
    format!("{}/haproxy.sock", run_folder(name))
}

/// Where its process id is.
pub(super) fn pid_file(name: &str) -> String {
    format!("{}/haproxy.pid", run_folder(name))
}

/// Takes the folders of a cluster away, after the last of its services.
pub(super) fn tidy(place: &Place, name: &str) -> Step {
    let folder = shell_word(&own_folder(name));
    Step::Run(place.shell(&format!(
        "if [ -d {folder} ]; then rmdir -p --ignore-fail-on-non-empty {folder}; fi; {}",
        remove_if_empty("/run/hardway")
    )))
}

/// A command.
pub(super) fn remove_if_empty(folder: &str) -> String {
    let folder = shell_word(folder);
    format!("if [ -d {folder} ]; then rmdir --ignore-fail-on-non-empty {folder}; fi")
}
