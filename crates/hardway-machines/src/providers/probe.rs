//! A question about a machine, asked of whoever sees it from outside.

use std::time::Duration;

use super::Power;
use crate::actions::{Host, Program, StepError};

/// A program that only looks, and what its output means.
#[derive(Clone, Debug)]
pub struct Probe<T> {
    program: Program,
    read: fn(&str) -> Option<T>,
}

/// How much was written to a machine's disk since it was switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskWritten {
    /// So much.
    pub bytes: u64,
}

/// Whether a machine is on, by somebody who knows.
pub(super) fn on_if(is_on: bool) -> Power {
    if is_on { Power::On } else { Power::Off }
}

impl<T> Probe<T> {
    /// What to run, and how to read what it prints.
    pub fn new(program: Program, read: fn(&str) -> Option<T>) -> Self {
        Self { program, read }
    }

    /// The same, given up after `patience`: a silent management controller or hypervisor would otherwise hold us up for
    /// minutes.
    pub fn within(self, patience: Duration) -> Self {
        let Program { program, arguments, input } = self.program;
        let seconds = patience.as_secs().to_string();
        let program = Program { input, ..Program::new("timeout", [seconds, program]).with(arguments) };
        Self { program, ..self }
    }

    /// What is run.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What this output of the program means.
    pub fn read(&self, printed: &str) -> Option<T> {
        (self.read)(printed)
    }

    /// Asks. Nothing where the answer does not say.
    ///
    /// # Errors
    /// When nobody could be asked.
    pub fn ask(&self, host: &Host) -> Result<Option<T>, StepError> {
        host.run(&self.program).map(|printed| self.read(&printed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_and_silence_is_an_error() {
        let probe = |script: &str| {
            let read = |printed: &str| printed.trim().parse().ok().map(|bytes| DiskWritten { bytes });
            Probe::new(Program::new("sh", ["-c", script]), read).within(Duration::from_secs(1))
        };
        let host = Host::default();
        assert_eq!(probe("echo 7").ask(&host).unwrap(), Some(DiskWritten { bytes: 7 }));
        assert_eq!(probe("echo many").ask(&host).unwrap(), None);
        assert!(probe("exit 1").ask(&host).is_err());
        assert!(probe("exec sleep 30").ask(&host).is_err());
    }
}
