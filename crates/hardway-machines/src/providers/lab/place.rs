//! How everything of a lab is called, and where it lies. The same as in `lab/common.sh`.

use std::path::PathBuf;

use crate::actions::{Check, Program};

/// One lab on this computer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its name.
    pub lab: String,
    /// The folder `lab/` of hardway's sources.
    pub files: PathBuf,
}

/// Where labs keep what does not outlive a reboot.
const STATE: &str = "/run/hardway-lab";

impl Place {
    /// The network namespace of the segment.
    pub fn namespace(&self) -> String {
        format!("hardway-{}", self.lab)
    }

    /// A machine or a service: its container, and a machine's namespace.
    pub fn container(&self, name: &str) -> String {
        format!("hardway-{}-{name}", self.lab)
    }

    /// The file by which the segment's namespace can be entered.
    pub fn namespace_file(&self) -> PathBuf {
        PathBuf::from("/run/netns").join(self.namespace())
    }

    /// A file of the lab.
    pub fn state(&self, name: &str) -> PathBuf {
        PathBuf::from(STATE).join(&self.lab).join(name)
    }

    /// One of the lab's scripts.
    pub fn script(&self, name: &str) -> Program {
        Program::new(self.files.join(name).display().to_string(), Vec::<String>::new())
    }

    /// A program that runs in the lab's network and knows its names, as somebody on the segment would.
    pub fn inside(&self, program: &Program) -> Program {
        let script = "mount --bind \"$1\" /etc/resolv.conf; shift; exec \"$@\"";
        Program::new("nsenter", [format!("--net={}", self.namespace_file().display())])
            .with("unshare --mount --propagation=slave sh -ec".split(' '))
            .with([script.to_owned(), "sh".to_owned(), self.state("resolv.conf").display().to_string()])
            .with([program.program.clone()])
            .with(program.arguments.iter().cloned())
    }

    pub(super) fn is_running(&self, name: &str) -> Check {
        Check::Prints {
            program: Program::words("podman container inspect --format={{.State.Status}}")
                .with([self.container(name)]),
            line: "running".to_owned(),
        }
    }
}
