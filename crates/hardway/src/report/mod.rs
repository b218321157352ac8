//! Errors as a person reads them: code, what, evidence, cause, fix. And the exit code that goes with each.

mod code;
mod exit;
mod paint;

pub(crate) use code::{Code, ROWS};
pub(crate) use exit::Exit;
pub(crate) use paint::{ERROR, FAINT, FIX, GOOD, WARNING};

use std::fmt::Write as _;
use std::path::Path;

use hardway_base::error_sentence;
use serde_json::{Value, json};

/// Whoever names a file on the command line answers for it, before anything else is done.
pub(crate) fn is_there(path: &Path) -> Result<(), Report> {
    match path.exists() {
        true => Ok(()),
        false => {
            Err(Report::new(Code::Usage, format!("{} does not exist", path.display())).fix("check the path"))
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
            "what": self.what,
            "evidence": self.evidence.iter().map(|seen| plain(&advised(seen, &advice))).collect::<Vec<_>>(),
            "fix": self.fix.as_deref().map(&advice),
            "more": format!("hardway explain {}", self.code),
        }})
    }

    /// As printed, with the advice in it as a person can type it.
    pub(crate) fn render(&self, advice: impl Fn(&str) -> String) -> String {
        let mut text = String::new();
        for evidence in &self.evidence {
            let _ = writeln!(text, "{}\n", advised(evidence, &advice).trim_end());
        }
        let _ = writeln!(text, "{} {}", ERROR.of(&format!("error[{}]:", self.code)), self.what);
        if let Some(fix) = &self.fix {
            let _ = writeln!(text, "  {} {}", FIX.of("fix:"), advice(fix));
        }
        let _ = writeln!(text, "  more: hardway explain {}", self.code);
        text
    }
}

/// Evidence quotes what people wrote; only what stands there to be done is ours.
fn advised(evidence: &str, advice: impl Fn(&str) -> String) -> String {
    let line = |line: &str| match line.split_once("fix:") {
        Some((before, fix)) if plain(before).trim().is_empty() => format!("{before}fix:{}", advice(fix)),
        _ => line.to_owned(),
    };
    evidence.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Without colours.
pub(crate) fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}
