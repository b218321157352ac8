//! Everything that is printed. Standard output carries data only; what a person should know goes to standard error.

use std::io::Write as _;

use serde_json::Value;

use crate::cli::{Color, Format, Global, LogLevel};
use crate::report::Report;

/// The printer.
#[derive(Debug)]
pub(crate) struct Output {
    level: LogLevel,
    color: anstream::ColorChoice,
}

impl Output {
    /// As the flags say; `NO_COLOR` and a missing terminal are honoured by `auto`.
    pub(crate) fn new(global: &Global) -> Self {
        let color = match global.color {
            Color::Always => anstream::ColorChoice::Always,
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Never => anstream::ColorChoice::Never,
        };
        Self { level: global.log_level, color }
    }

    /// Data.
    pub(crate) fn data(&self, text: &str) {
        // A closed pipe (`| head`) is the reader's choice, not an error.
        let _ = anstream::AutoStream::new(std::io::stdout(), anstream::ColorChoice::Never)
            .write_all(text.as_bytes());
    }

    /// Data as JSON or YAML.
    pub(crate) fn value(&self, value: &Value, format: Format) {
        match format {
            Format::Yaml => self.data(&hardway_assets::yaml::write(value)),
            _ => self.data(&format!("{value:#}\n")),
        }
    }

    /// Something worth knowing.
    pub(crate) fn info(&self, text: &str) {
        self.line(LogLevel::Info, "", text);
    }

    /// Something worth a second look.
    pub(crate) fn warn(&self, text: &str) {
        self.line(LogLevel::Warn, "warning: ", text);
    }

    /// A warning that says so itself.
    pub(crate) fn finding(&self, text: &str) {
        self.line(LogLevel::Warn, "", text);
    }

    /// Something only for the curious.
    pub(crate) fn debug(&self, text: &str) {
        self.line(LogLevel::Debug, "debug: ", text);
    }

    /// An error, complete.
    pub(crate) fn report(&self, report: &Report) {
        let mut stderr = anstream::AutoStream::new(std::io::stderr(), self.color);
        let _ = write!(stderr, "{}", report.render());
    }

    fn line(&self, level: LogLevel, prefix: &str, text: &str) {
        if level <= self.level {
            let mut stderr = anstream::AutoStream::new(std::io::stderr(), self.color);
            let _ = writeln!(stderr, "{prefix}{text}");
        }
    }
}
