//! Errors as a person reads them: code, what, evidence, cause, fix. And the exit code that goes with each.

use std::fmt::Write as _;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use hardway_assets::violation::Violation;

/// Anything not named below.
pub(crate) const EXIT_ERROR: u8 = 1;
/// Wrong command line, or a failed preflight.
pub(crate) const EXIT_USAGE: u8 = 2;
/// install-config.yaml or inventory.yaml.
pub(crate) const EXIT_CONFIG: u8 = 3;

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

    /// One more thing that was seen.
    pub(crate) fn evidence(mut self, evidence: impl Into<String>) -> Self {
        self.evidence.push(evidence.into());
        self
    }

    /// From any error and its causes.
    pub(crate) fn from_error(code: &'static str, error: &dyn std::error::Error) -> Self {
        let mut what = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let _ = write!(what, ": {cause}");
            source = cause.source();
        }
        Self::new(code, what)
    }

    /// The violations of a file, each with the place it stands at.
    pub(crate) fn violations(mut self, file: &str, text: &str, violations: &[Violation]) -> Self {
        self.evidence.extend(violations.iter().map(|violation| snippet(file, text, violation)));
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

/// A violation, drawn into its source text when it has a place there.
pub(crate) fn snippet(file: &str, text: &str, violation: &Violation) -> String {
    let title = violation.to_string();
    let Some(span) = violation.span else {
        return format!("{title}\n --> {file}") + &fix_line(violation);
    };
    let lines = place(text, span.start..span.end);
    let hidden = hide(text, violation);
    let group = Level::ERROR
        .primary_title(&title)
        .element(Snippet::source(hidden.as_str()).path(file).annotation(AnnotationKind::Primary.span(lines)));
    Renderer::styled().render(&[group]) + &fix_line(violation)
}

fn fix_line(violation: &Violation) -> String {
    violation.fix.as_ref().map(|fix| format!("\n  fix: {fix}")).unwrap_or_default()
}

/// A span of several lines is cut to its first: the title says the rest.
fn place(text: &str, span: Range<usize>) -> Range<usize> {
    let start = span.start.min(text.len());
    let end = span.end.min(text.len()).max(start);
    let first_line = text[start..end].find('\n').map_or(end, |newline| start + newline);
    start..first_line
}

/// Where the value may not be shown, its line must not be either: all but the key is blotted out, length kept so that
/// places still fit.
fn hide(text: &str, violation: &Violation) -> String {
    let mut hidden = String::with_capacity(text.len());
    let mut secret = false;
    for line in text.split_inclusive('\n') {
        let indented = line.starts_with([' ', '\t', '-']) || line.trim().is_empty();
        if !indented {
            secret = line.starts_with("pullSecret");
        }
        if secret || violation.value.as_deref() == Some("<redacted>") && holds(text, line, violation) {
            let keep = if indented { 0 } else { line.find(':').map_or(0, |colon| colon + 1) };
            hidden.extend(
                line.char_indices().map(|(i, c)| if i < keep || c.is_whitespace() { c } else { blot(c) }),
            );
        } else {
            hidden.push_str(line);
        }
    }
    hidden
}

/// Same number of bytes.
fn blot(c: char) -> char {
    match c.len_utf8() {
        1 => '*',
        2 => '·',
        3 => '…',
        _ => '𝄀',
    }
}

/// Whether a line holds the place of the violation.
fn holds(text: &str, line: &str, violation: &Violation) -> bool {
    let start = line.as_ptr() as usize - text.as_ptr() as usize;
    violation.span.is_some_and(|span| span.start < start + line.len() && span.end > start)
}
