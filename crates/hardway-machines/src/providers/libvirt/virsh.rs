//! Calls of virsh, including those that act only if something is there.

use hardway_base::shell_word;

use super::uri::LibvirtUri;
use crate::actions::{ActionCheck, Program};

/// How virsh is called.
pub(super) struct Virsh {
    uri: String,
}

impl Virsh {
    pub(super) fn new(uri: &LibvirtUri) -> Self {
        Self { uri: uri.text.clone() }
    }

    /// One call.
    pub(super) fn call<A: Into<String>>(
        &self,
        verb: &str,
        arguments: impl IntoIterator<Item = A>,
    ) -> Program {
        Program::new("virsh", ["-c", &self.uri, verb]).with(arguments)
    }

    /// Whether a name is in the first column of a list.
    pub(super) fn lists(&self, list: &str, what: &str) -> ActionCheck {
        let (program, script) = (self.words(list), first_column(what));
        ActionCheck::Succeeds(Program::new("sh", ["-ec", &format!("found=$({program}); {script}")]))
    }

    /// Whether a name is missing from the first column of a list; false if there is no list.
    pub(super) fn lacks(&self, list: &str, what: &str) -> ActionCheck {
        let (program, script) = (self.words(list), first_column(what));
        ActionCheck::Succeeds(Program::new("sh", ["-ec", &format!("found=$({program}); ! {script}")]))
    }

    /// Only if a name is in the first column of a list. It is fine if it is gone already, but a list that libvirt does not give is a
    /// failure, not an empty list.
    pub(super) fn if_listed(&self, list: &str, what: &str, then: &[Program]) -> Program {
        self.on_listed(list, what, "if", then)
    }

    /// Only if it is not.
    pub(super) fn unless_listed(&self, list: &str, what: &str, then: &[Program]) -> Program {
        self.on_listed(list, what, "if !", then)
    }

    fn on_listed(&self, list: &str, what: &str, word: &str, then: &[Program]) -> Program {
        let (program, script) = (self.words(list), first_column(what));
        let then = then.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        Program::new("sh", ["-ec", &format!("found=$({program}); {word} {script}; then {then}; fi")])
    }

    /// A verb with arguments that hold no space.
    fn words(&self, line: &str) -> Program {
        Program::new("virsh", ["-c", &self.uri]).with(line.split_whitespace())
    }
}

fn first_column(what: &str) -> String {
    format!(
        "printf '%s\\n' \"$found\" | awk -v what={} '$1 == what {{f = 1}} END {{exit !f}}'",
        shell_word(what)
    )
}
