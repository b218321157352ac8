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

/// How much of a machine's disk is in use, whether it is on or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskUsed {
    /// So much.
    pub bytes: u64,
}

/// The state that one of the printed lines names. One that is in neither list, such as paused or stopping, is neither on nor off.
pub(super) fn power_of(printed: &str, on: &[&str], off: &[&str]) -> Power {
    let says = |words: &[&str]| printed.lines().any(|line| words.contains(&line.trim()));
    if says(on) {
        Power::On
    } else if says(off) {
        Power::Off
    } else {
        Power::Unknown
    }
}

/// What was printed, as far as its first line.
pub(super) fn first_line(printed: &str) -> Option<String> {
    printed.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// All that was printed, on one line.
pub(super) fn one_line(printed: &str) -> Option<String> {
    let lines: Vec<&str> = printed.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    (!lines.is_empty()).then(|| lines.join(", "))
}

pub(super) fn yes_or_no(printed: &str) -> Option<bool> {
    match printed.trim() {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
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
    fn a_machine_that_is_neither_on_nor_off_is_called_neither() {
        let power = |printed| power_of(printed, &["running"], &["shut off", "crashed"]);
        assert_eq!(power("running\n\n"), Power::On);
        assert_eq!(power("shut off\n"), Power::Off);
        assert_eq!(
            (power("paused\n"), power("in shutdown\n"), power("")),
            (Power::Unknown, Power::Unknown, Power::Unknown)
        );
    }

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
