//! Errors as a person reads them: code, what, evidence, cause, fix. And the exit code that goes with each.

mod code;
mod exit;

pub(crate) use code::{Code, ROWS};
pub(crate) use exit::Exit;

use std::fmt::Write as _;
use std::path::Path;

use hardway_base::error_sentence;
use serde_json::{Value, json};

/// Whoever names a file on the command line answers for it, before anything else is done.
pub(crate) fn is_there(path: &Path) -> Result<(), Report> {
    match path.exists() {
        true => Ok(()),
        false => {
            Err(Report::new(Code::Usage, format!("{} is not there", path.display())).fix("look at the path"))
        }
    }
}

/// An error on its way to the user.
#[derive(Debug)]
pub(crate) struct Report {
    /// `hardway explain CODE` says more.
    pub(crate) code: Code,
    /// The exit code of the program.
    pub(crate) exit: Exit,
    /// What happened, in a sentence.
    pub(crate) what: String,
    /// What was seen: snippets, messages, paths. One each.
    pub(crate) evidence: Vec<String>,
    /// What to do.
    pub(crate) fix: Option<String>,
}

impl Report {
    /// With the code's usual exit code, and nothing but the sentence.
    pub(crate) fn new(code: Code, what: impl Into<String>) -> Self {
        Self { code, exit: code.exit(), what: what.into(), evidence: Vec::new(), fix: None }
    }

    /// Another exit code of those that the code may have.
    pub(crate) fn exit(mut self, exit: Exit) -> Self {
        debug_assert!(self.code.exits().contains(&exit), "{}: {exit:?} is not in its row", self.code);
        self.exit = exit;
        self
    }

    /// Says what to do.
    pub(crate) fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// From any error and its causes.
    pub(crate) fn from_error(code: Code, error: &dyn std::error::Error) -> Self {
        Self::new(code, error_sentence(error))
    }

    /// What was seen.
    pub(crate) fn evidence(mut self, evidence: impl IntoIterator<Item = String>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    /// As a program reads it, with the advice in it as a person would get it.
    pub(crate) fn value(&self, advice: impl Fn(&str) -> String) -> Value {
        json!({"error": {
            "code": self.code.to_string(),
            "exit": self.exit.number(),
            "what": advice(&self.what),
            "evidence": self.evidence,
            "fix": self.fix.as_deref().map(advice),
            "more": format!("hardway explain {}", self.code),
        }})
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
