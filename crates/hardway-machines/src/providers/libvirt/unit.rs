//! systemd units that hardway writes: in place, enabled, running, and gone again.

use super::hypervisor::Hypervisor;
use crate::actions::{Action, Check, Program, Step};

/// A unit, and what else must be so for it to be at work.
pub(super) struct Unit<'u> {
    pub(super) id: &'u str,
    pub(super) why: String,
    /// With its suffix.
    pub(super) name: String,
    pub(super) text: String,
    /// What it reads, each with its content.
    pub(super) files: Vec<(String, String)>,
    /// Seen from outside: it does what it should, with these very files.
    pub(super) works: Check,
    /// The systemctl verb that makes it read new files.
    pub(super) start: &'u str,
}

impl Unit<'_> {
    /// As an action. Files are written before it is started and go after it is stopped.
    pub(super) fn action(self, hypervisor: &Hypervisor) -> Action {
        let path = format!("/etc/systemd/system/{}", self.name);
        let systemctl = |line: &str| Step::Run(hypervisor.run(Program::words(&format!("systemctl {line}"))));
        let mut files = self.files;
        files.push((path.clone(), self.text));
        let mut holds: Vec<Check> =
            files.iter().map(|(path, content)| hypervisor.is_file(path, 0o644, content)).collect();
        holds.push(Check::Succeeds(
            hypervisor.run(Program::words(&format!("systemctl is-enabled --quiet {}", self.name))),
        ));
        holds.push(self.works);
        let mut does: Vec<Step> =
            files.iter().map(|(path, content)| hypervisor.write(path, 0o644, content)).collect();
        does.push(systemctl("daemon-reload"));
        does.push(systemctl(&format!("enable {}", self.name)));
        does.push(systemctl(&format!("{} {}", self.start, self.name)));
        let stop = format!("if [ -e {path} ]; then systemctl disable --now {}; fi", self.name);
        let mut undo = vec![Step::Run(hypervisor.shell(&stop))];
        undo.extend(files.iter().rev().map(|(path, _)| hypervisor.remove(path)));
        undo.push(systemctl("daemon-reload"));
        Action { id: self.id.to_owned(), why: self.why, holds: Check::All(holds), does, undo }
    }
}

/// How systemd calls an interface as a device (systemd.unit(5), "string escaping for inclusion in unit names").
pub(super) fn device(interface: &str) -> String {
    let escaped: String = interface
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "_.:".contains(c) {
                c.to_string()
            } else {
                format!("\\x{:02x}", c as u32)
            }
        })
        .collect();
    format!("sys-subsystem-net-devices-{escaped}.device")
}

/// A unit that runs a few commands whenever the bridge appears, and takes them back when it goes.
pub(super) fn with_bridge(what: &str, bridge: &str, starts: &[String], stops: &[String]) -> String {
    let device = device(bridge);
    let lines = |key: &str, commands: &[String]| {
        commands.iter().map(|command| format!("{key}={command}\n")).collect::<String>()
    };
    format!(
        "# Made by hardway.\n[Unit]\nDescription={what}\nBindsTo={device}\nAfter={device}\n\n\
         [Service]\nType=oneshot\nRemainAfterExit=yes\n{}{}\n[Install]\nWantedBy={device}\n",
        lines("ExecStart", starts),
        lines("ExecStop", stops),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_escaped_as_systemd_does() {
        assert_eq!(device("virbr-ocp4"), "sys-subsystem-net-devices-virbr\\x2docp4.device");
    }
}
