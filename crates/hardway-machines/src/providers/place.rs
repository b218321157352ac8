//! Where programs run and files lie: on this host or, over ssh, on another.

use std::net::IpAddr;
use std::path::PathBuf;

use serde::Serialize;

use crate::actions::{ActionCheck, Program, Step};
use hardway_base::{HostKeyCheck, SshCall, shell_word};

/// A host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// None: this one.
    ssh: Option<Ssh>,
}

/// Whom ssh asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ssh {
    /// `user@host` or `host`.
    pub(super) destination: String,
    /// Another than ssh's own.
    pub(super) port: Option<u16>,
    /// Another key than ssh's own.
    pub(super) key_file: Option<String>,
    /// Whether the host's key is taken as it comes.
    pub(super) takes_any_key: bool,
}

impl Place {
    /// There, over ssh; here without.
    pub(super) fn of(ssh: Option<&Ssh>) -> Self {
        Self { ssh: ssh.cloned() }
    }

    /// The program, run there.
    pub(super) fn run(&self, program: Program) -> Program {
        let Some(ssh) = &self.ssh else { return program };
        let Program { input, .. } = program.clone();
        let line = Program { input: None, ..program }.to_string();
        Program { input, ..ssh_call(ssh).with([&line]) }
    }

    /// A few lines of shell, run there. Ends at the first failure.
    pub(super) fn shell(&self, script: &str) -> Program {
        self.run(Program::new("sh", ["-ec", script]))
    }

    /// A file there, with everything in it.
    pub(super) fn write(&self, path: &str, mode: u32, content: &str) -> Step {
        match self.ssh {
            None => Step::WriteFile { path: PathBuf::from(path), mode, content: content.to_owned() },
            Some(_) => {
                let install =
                    Program::new("install", ["-D", "-m", &format!("{mode:04o}"), "/dev/stdin", path]);
                Step::Run(self.run(install).reading(content))
            }
        }
    }

    /// Whether that file is there.
    pub(super) fn is_file(&self, path: &str, mode: u32, content: &str) -> ActionCheck {
        match self.ssh {
            None => ActionCheck::FileIs { path: PathBuf::from(path), mode, content: content.to_owned() },
            Some(_) => {
                let path = shell_word(path);
                let script = format!("[ \"$(stat -c %a {path})\" = {mode:o} ]; cmp -s - {path}");
                ActionCheck::Succeeds(self.shell(&script).reading(content))
            }
        }
    }

    /// No such file there.
    pub(super) fn remove(&self, path: &str) -> Step {
        match self.ssh {
            None => Step::RemoveFile { path: PathBuf::from(path) },
            Some(_) => Step::Run(self.run(Program::new("rm", ["-f", path]))),
        }
    }

    /// How ssh is called, if it is.
    pub(super) fn ssh(&self) -> Option<Program> {
        self.ssh.as_ref().map(ssh_call)
    }
}

impl Ssh {
    /// `user@host` or `host`, if it is one. Both become words of a command: no program may take them for an option, and no shell for
    /// anything but a word.
    pub(super) fn to(user: Option<&str>, host: &str) -> Option<Self> {
        let is_good = user.is_none_or(is_name) && (is_name(host) || host.parse::<IpAddr>().is_ok());
        let destination = user.map(|user| format!("{user}@")).unwrap_or_default() + host;
        is_good.then_some(Self { destination, port: None, key_file: None, takes_any_key: false })
    }
}

fn is_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && text.chars().all(is_plain)
}

/// It is no host of the cluster: its key is the user's to know, in their own `known_hosts`.
fn ssh_call(ssh: &Ssh) -> Program {
    let host_key = if ssh.takes_any_key { HostKeyCheck::Anybody } else { HostKeyCheck::AsTheUser };
    let key = ssh.key_file.as_ref().map(PathBuf::from);
    let call = SshCall { port: ssh.port, key, ..SshCall::to(&ssh.destination, host_key) };
    let mut words = call.words();
    Program::new(words.remove(0), words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_ssh_a_program_is_one_word() {
        let to = Ssh::to(Some("root"), "big").unwrap();
        let ssh = Ssh { port: Some(2222), takes_any_key: true, ..to };
        let shown = Place::of(Some(&ssh)).run(Program::new("nft", ["list", "a b"])).to_string();
        assert_eq!(
            shown,
            "ssh -o BatchMode=yes -o ForwardAgent=no -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -p 2222 -- root@big 'nft list '\\''a b'\\'''"
        );
        assert_eq!(Place::of(None).run(Program::words("nft list")).to_string(), "nft list");
    }
}
