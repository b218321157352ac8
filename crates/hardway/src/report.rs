//! Errors as a person reads them: code, what, evidence, cause, fix. And the exit code that goes with each.

use std::fmt::Write as _;
use std::path::Path;

use hardway_base::error_sentence;

/// Anything not named below.
pub(crate) const EXIT_ERROR: u8 = 1;
/// Wrong command line, or a failed preflight.
pub(crate) const EXIT_USAGE: u8 = 2;
/// install-config.yaml or inventory.yaml.
pub(crate) const EXIT_CONFIG: u8 = 3;
/// Machines, networks, install media.
pub(crate) const EXIT_INFRASTRUCTURE: u8 = 4;
/// Bootstrapping did not complete.
pub(crate) const EXIT_BOOTSTRAP: u8 = 5;
/// The cluster did not initialize.
pub(crate) const EXIT_INSTALL: u8 = 6;
/// Operators did not come to rest.
pub(crate) const EXIT_STABILITY: u8 = 7;
/// A person ended it.
pub(crate) const EXIT_INTERRUPTED: u8 = 8;
/// Something waits for a person.
pub(crate) const EXIT_BLOCKED: u8 = 9;

/// Whoever names a file on the command line answers for it, before anything else is done.
pub(crate) fn is_there(path: &Path) -> Result<(), Report> {
    match path.exists() {
        true => Ok(()),
        false => Err(Report::new("usage", format!("{} is not there", path.display()))
            .exit(EXIT_USAGE)
            .fix("look at the path")),
    }
}

/// An error on its way to the user.
#[derive(Debug)]
pub(crate) struct Report {
    /// `hardway explain CODE` says more.
    pub(crate) code: &'static str,
    /// The exit code of the program.
    pub(crate) exit: u8,
    /// What happened, in a sentence.
    pub(crate) what: String,
    /// What was seen: snippets, messages, paths. One each.
    pub(crate) evidence: Vec<String>,
    /// What to do.
    pub(crate) fix: Option<String>,
}

impl Report {
    /// With exit code 1 and nothing but the sentence.
    pub(crate) fn new(code: &'static str, what: impl Into<String>) -> Self {
        Self { code, exit: EXIT_ERROR, what: what.into(), evidence: Vec::new(), fix: None }
    }

    /// Another exit code.
    pub(crate) fn exit(mut self, exit: u8) -> Self {
        self.exit = exit;
        self
    }

    /// Says what to do.
    pub(crate) fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// From any error and its causes.
    pub(crate) fn from_error(code: &'static str, error: &dyn std::error::Error) -> Self {
        Self::new(code, error_sentence(error))
    }

    /// What was seen.
    pub(crate) fn evidence(mut self, evidence: impl IntoIterator<Item = String>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    /// As printed.
    pub(crate) fn render(&self) -> String {
        let mut text = String::new();
        for evidence in &self.evidence {
            let _ = writeln!(text, "{}\n", evidence.trim_end());
        }
        let _ = writeln!(text, "error[{}]: {}", self.code, self.what);
        if let Some(fix) = &self.fix {
            let _ = writeln!(text, "  fix: {fix}");
        }
        let _ = writeln!(text, "  more: hardway explain {}", self.code);
        text
    }
}
