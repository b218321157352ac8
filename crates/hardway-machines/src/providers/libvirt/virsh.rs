//! virsh calls, and "only if it is there".

use hardway_base::shell_word;

use super::uri::LibvirtUri;
use crate::actions::{Check, Program};

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

    /// Whether something stands in the first column of a list.
    pub(super) fn lists(&self, list: &str, what: &str) -> Check {
        let (program, script) = (self.words(list), first_column(what));
        Check::Succeeds(Program::new("sh", ["-ec", &format!("found=$({program}); {script}")]))
    }

    /// Whether nothing of that name stands in the first column of a list that can be had.
    pub(super) fn lacks(&self, list: &str, what: &str) -> Check {
        let (program, script) = (self.words(list), first_column(what));
        Check::Succeeds(Program::new("sh", ["-ec", &format!("found=$({program}); ! {script}")]))
    }

    /// Only if something stands in the first column of a list; what is gone already is fine. A list that cannot be had
    /// is a failure, not an empty one.
    pub(super) fn if_listed(&self, list: &str, what: &str, then: &[Program]) -> Program {
        self.on_listed(list, what, "if", then)
    }

    /// Only if it does not stand there.
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
