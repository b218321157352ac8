//! Where programs run and files lie: on this host or, over ssh, on libvirt's.

use std::path::PathBuf;

use super::uri::{LibvirtUri, Ssh};
use crate::actions::{Check, Program, Step};
use hardway_base::{HostKeyCheck, SshCall, shell_word};

/// The host that libvirt runs on.
pub(super) struct Hypervisor {
    ssh: Option<Ssh>,
}

impl Hypervisor {
    pub(super) fn of(uri: &LibvirtUri) -> Self {
        Self { ssh: uri.ssh.clone() }
    }

    /// The program, run there.
    pub(super) fn run(&self, program: Program) -> Program {
        let Some(ssh) = &self.ssh else { return program };
        let Program { input, .. } = program.clone();
        let line = Program { input: None, ..program }.to_string();
        Program { input, ..ssh_call(ssh).with(["--", &line]) }
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
    pub(super) fn is_file(&self, path: &str, mode: u32, content: &str) -> Check {
        match self.ssh {
            None => Check::FileIs { path: PathBuf::from(path), mode, content: content.to_owned() },
            Some(_) => {
                let path = shell_word(path);
                let script = format!("[ \"$(stat -c %a {path})\" = {mode:o} ]; cmp -s - {path}");
                Check::Succeeds(self.shell(&script).reading(content))
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

/// The hypervisor is no host of the cluster: its key is the user's to know, as for virsh itself, in their own `known_hosts`.
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
        let uri = LibvirtUri::read("qemu+ssh://root@big:2222/system?no_verify=1").unwrap();
        let shown = Hypervisor::of(&uri).run(Program::new("nft", ["list", "a b"])).to_string();
        assert_eq!(
            shown,
            "ssh -o BatchMode=yes -o ForwardAgent=no -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -p 2222 root@big -- 'nft list '\\''a b'\\'''"
        );
        let here = Hypervisor::of(&LibvirtUri::read("qemu:///system").unwrap());
        assert_eq!(here.run(Program::words("nft list")).to_string(), "nft list");
    }
}
