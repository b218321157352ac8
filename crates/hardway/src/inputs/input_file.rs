//! One of the files a person writes.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use hardway_assets::input_tables::{HOSTED_INVENTORY, INSTALL_CONFIG, INVENTORY};
use hardway_assets::schema::{Field, Table};
use hardway_assets::violation::Violation;
use hardway_assets::yaml::LineIndex;

use super::Workdir;
use super::redact::Redacted;
use crate::report::{Code, FIX, Report};

/// `install-config.yaml`, `inventory.yaml` or `hosted-inventory.yaml`.
#[derive(Clone, Debug)]
pub(crate) struct InputFile {
    /// As a person would type it from where they are.
    pub(crate) path: String,
    /// The content. It may hold the pull secret: shown only through [`Self::snippet`].
    pub(crate) text: Text,
    table: &'static Table,
    redacted: Arc<OnceLock<Redacted>>,
    lines: Arc<OnceLock<LineIndex>>,
}

/// Text that `Debug` does not show.
#[derive(Clone)]
pub(crate) struct Text(pub(crate) String);

impl InputFile {
    /// Both files, or which of them are not there.
    pub(crate) fn both(workdir: &Workdir) -> Result<(Self, Self), Report> {
        let config = Self::read(workdir, &INSTALL_CONFIG)?;
        let inventory = Self::read(workdir, &INVENTORY)?;
        let missing: Vec<String> = [(&config, &INSTALL_CONFIG), (&inventory, &INVENTORY)]
            .into_iter()
            .filter(|(file, _)| file.is_none())
            .map(|(_, table)| workdir.shown(table.file))
            .collect();
        let do_not = if missing.len() == 1 { "does not" } else { "do not" };
        let fix = match (&config, &inventory) {
            (Some(_), None) => "run `hardway init` to write a sample; install-config.yaml is not changed",
            (None, Some(_)) => {
                "restore it (openshift-install deletes the file after using it), or run `hardway init` to write a sample"
            }
            _ if workdir.path(HOSTED_INVENTORY.file).exists() => {
                "this folder has hosted-inventory.yaml, machines of hosted clusters: `hardway hosted` works with them"
            }
            _ => "run `hardway init` to write samples of both files",
        };
        config.zip(inventory).ok_or_else(|| {
            Report::new(Code::ConfigMissing, format!("{} {do_not} exist", missing.join(" and "))).fix(fix)
        })
    }

    /// The file of that table, if the folder has it.
    pub(super) fn read(workdir: &Workdir, table: &'static Table) -> Result<Option<Self>, Report> {
        let path = workdir.shown(table.file);
        let bad = |what: String| {
            let code =
                if table.file == INSTALL_CONFIG.file { Code::ConfigInvalid } else { Code::InventoryInvalid };
            Report::new(code, what)
        };
        // A folder, or somebody else's: the file is wrong, whatever is in it.
        let bytes = workdir.bytes(table.file).map_err(|report| bad(report.what))?;
        let Some(bytes) = bytes else { return Ok(None) };
        match String::from_utf8(bytes) {
            Ok(text) => {
                let (redacted, lines) = (Arc::default(), Arc::default());
                Ok(Some(Self { path, text: Text(text), table, redacted, lines }))
            }
            Err(error) => {
                let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
                Err(bad(format!("{path}:{line}: not UTF-8 text")))
            }
        }
    }

    /// An error, drawn into its place in the file.
    pub(crate) fn error(&self, violation: &Violation) -> String {
        self.snippet(Level::ERROR, violation)
    }

    /// Something odd but allowed, drawn into its place in the file.
    pub(crate) fn warning(&self, violation: &Violation) -> String {
        self.snippet(Level::WARNING, violation)
    }

    /// What is wrong, without secrets.
    pub(crate) fn message(&self, violation: &Violation) -> String {
        self.redacted().message(&violation.to_string())
    }

    /// Where it begins, both from one.
    pub(crate) fn line_and_column(&self, violation: &Violation) -> (usize, usize) {
        self.lines().line_and_column(&self.text.0, self.place(violation).start)
    }

    fn snippet(&self, level: Level<'static>, violation: &Violation) -> String {
        let title = self.message(violation);
        let place = self.place(violation);
        let (lines, first) = self.around(&place);
        let place = place.start - lines.start..place.end - lines.start;
        let source = Snippet::source(&self.redacted().text[lines]).line_start(first).path(&self.path);
        let group =
            level.primary_title(&title).element(source.annotation(AnnotationKind::Primary.span(place)));
        let fix = match &violation.fix {
            Some(fix) => format!("\n  {} {fix}", FIX.of("fix:")),
            None => self
                .field(violation)
                .map(|field| format!("\n  more: hardway explain {field}"))
                .unwrap_or_default(),
        };
        let drawn = Renderer::styled().render(&[group]);
        // Where a comment stood.
        drawn.lines().map(str::trim_end).collect::<Vec<_>>().join("\n") + &fix
    }

    /// The lines around a place, and the number of the first: a large file is not gone through for each mistake in it.
    fn around(&self, place: &Range<usize>) -> (Range<usize>, usize) {
        const LINES: usize = 3;
        let lines = self.lines();
        let first = lines.line(place.start).saturating_sub(LINES);
        let start = lines.start(first).unwrap_or_default();
        let last = lines.line(place.end) + LINES;
        let end = lines.start(last + 1).unwrap_or(self.text.0.len());
        (start..end, first + 1)
    }

    fn lines(&self) -> &LineIndex {
        self.lines.get_or_init(|| LineIndex::of(&self.text.0))
    }

    fn redacted(&self) -> &Redacted {
        self.redacted.get_or_init(|| Redacted::of(&self.text.0, self.table))
    }

    /// The field it is about, as `hardway explain` knows it: without indices. None where there is no such field.
    fn field(&self, violation: &Violation) -> Option<String> {
        let without_index = |step: &str| step.split('[').next().unwrap_or_default().to_owned();
        let steps: Vec<String> = violation.path.split('.').map(without_index).collect();
        let mut fields = self.table.fields;
        for step in &steps {
            fields = Field::find(fields, step)?.children();
        }
        Some(steps.join("."))
    }

    /// A span of several lines is cut to its first: the title says the rest.
    fn place(&self, violation: &Violation) -> Range<usize> {
        let text = &self.text.0;
        let span = violation.span.map_or(0..0, |span| span.start..span.end);
        let start = span.start.min(text.len());
        let end = span.end.min(text.len()).max(start);
        let first_line = text[start..end].find('\n').map_or(end, |newline| start + newline);
        start..first_line
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_does_not_show_the_text() {
        let file = InputFile {
            path: "x".to_owned(),
            text: Text("pullSecret: hush".to_owned()),
            table: &INVENTORY,
            redacted: Arc::default(),
            lines: Arc::default(),
        };
        let debug = format!("{file:?}");
        assert!(debug.contains("16 bytes") && !debug.contains("hush"), "{debug}");
    }
}
