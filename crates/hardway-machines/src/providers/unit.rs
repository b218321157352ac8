//! systemd units that hardway writes: in place, enabled, running, and gone again.

use hardway_base::{hex, shell_word};
use sha2::{Digest as _, Sha256};

use super::place::Place;
use crate::actions::{Action, ActionCheck, Program, Step};

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
    pub(super) works: ActionCheck,
    /// The systemctl verb that makes it read new files.
    pub(super) start: &'u str,
}

impl Unit<'_> {
    /// As an action. Files are written before it is started and go after it is stopped.
    pub(super) fn action(self, place: &Place) -> Action {
        let path = format!("/etc/systemd/system/{}", self.name);
        let systemctl = |line: &str| Step::Run(place.run(Program::words(&format!("systemctl {line}"))));
        let mut files = self.files;
        files.push((path.clone(), self.text));
        let mut holds: Vec<ActionCheck> =
            files.iter().map(|(path, content)| place.is_file(path, 0o644, content)).collect();
        holds.push(ActionCheck::Succeeds(
            place.run(Program::words(&format!("systemctl is-enabled --quiet {}", self.name))),
        ));
        holds.push(self.works);
        let mut does: Vec<Step> =
            files.iter().map(|(path, content)| place.write(path, 0o644, content)).collect();
        does.push(systemctl("daemon-reload"));
        does.push(systemctl(&format!("enable {}", self.name)));
        does.push(systemctl(&format!("{} {}", self.start, self.name)));
        let stop = format!("if [ -e {path} ]; then systemctl disable --now {}; fi", self.name);
        let mut undo = vec![Step::Run(place.shell(&stop))];
        undo.extend(files.iter().rev().map(|(path, _)| place.remove(path)));
        undo.push(systemctl("daemon-reload"));
        Action { id: self.id.to_owned(), why: self.why, holds: ActionCheck::All(holds), does, undo }
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

/// A unit that runs a few commands whenever the interface appears, and takes them back when it goes.
pub(super) fn with_interface(what: &str, interface: &str, starts: &[String], stops: &[String]) -> String {
    let device = device(interface);
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

/// A program that runs on, as the text of a unit.
pub(super) struct Daemon<'d> {
    pub(super) title: String,
    /// Units that are started before it, if they are to be started at all.
    pub(super) after: &'d str,
    /// systemd.service(5), `Type=`.
    pub(super) kind: &'d str,
    /// Says whether its files are good, before it reads them.
    pub(super) check: String,
    pub(super) start: String,
    /// Run once it has read its files.
    pub(super) read: String,
    /// The signal that makes it read them again; none: it is restarted.
    pub(super) reload: Option<&'d str>,
    /// Its folder below /run.
    pub(super) run_folder: String,
}

impl Daemon<'_> {
    pub(super) fn text(&self) -> String {
        let Self { title, after, kind, check, start, read, reload, run_folder } = self;
        let reload = reload.map_or_else(String::new, |signal| {
            format!(
                "ExecReload={check}\nExecReload=/bin/kill {signal} $MAINPID\nExecReload=/bin/sh -c '{read}'\n"
            )
        });
        format!(
            "# Made by hardway.\n[Unit]\nDescription={title}\n\
             After=network-online.target{after}\nWants=network-online.target\n\n\
             [Service]\nType={kind}\nExecStartPre={check}\nExecStart={start}\n\
             ExecStartPost=/bin/sh -c '{read}'\n{reload}\
             RuntimeDirectory={run_folder}\nKillMode=mixed\nRestart=always\nRestartSec=2\n\n\
             [Install]\nWantedBy=multi-user.target\n"
        )
    }
}

/// What a program has read, written down right after it did, and how to see that later.
pub(super) struct Loaded {
    pub(super) file: String,
}

impl Loaded {
    /// The command that writes it down.
    pub(super) fn write(&self, path: &str) -> String {
        format!("sha256sum < {} > {}", shell_word(path), shell_word(&self.file))
    }

    /// It has read this very text.
    pub(super) fn is(&self, place: &Place, text: &str) -> ActionCheck {
        let line = format!("{}  -", hex::encode(Sha256::digest(text)));
        ActionCheck::Prints { program: place.run(Program::new("cat", [&self.file])), line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_escaped_as_systemd_does() {
        assert_eq!(device("virbr-ocp4"), "sys-subsystem-net-devices-virbr\\x2docp4.device");
    }
}
