//! Everything that is printed. Standard output carries data only; what a person should know goes to standard error.

use std::cell::RefCell;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::{Color, ErrorFormat, Format, Log, LogLevel, sieved};
use crate::report::{Code, Report, WARNING, plain};

/// What the command line says about printing.
pub(crate) struct OutputOptions {
    pub(crate) level: LogLevel,
    pub(crate) color: Color,
    pub(crate) errors: ErrorFormat,
    /// The folder that this command was given.
    pub(crate) dir: PathBuf,
    /// Puts the folder into the commands of a text.
    pub(crate) advise: fn(&str, &Path) -> String,
}

/// Shows a sentence about something that is under way. Called from any thread.
pub(crate) type TextCallback = Arc<dyn Fn(&str) + Send + Sync>;

/// The printer.
pub(crate) struct Output {
    level: LogLevel,
    color: anstream::ColorChoice,
    errors: ErrorFormat,
    /// What advice names as the folder.
    dir: PathBuf,
    advise: fn(&str, &Path) -> String,
    /// Where people's lines go, if not to standard error.
    log: Option<Log>,
    /// Who shows how far things are, where a view has the terminal.
    progress: Option<TextCallback>,
    /// The first error of writing data. Reported at the end: half a result must not look like a whole one.
    failed: RefCell<Option<std::io::Error>>,
}

impl Output {
    /// As the flags say; `NO_COLOR` and a missing terminal are honoured by `auto`.
    pub(crate) fn new(options: OutputOptions) -> Self {
        let OutputOptions { level, color, errors, dir, advise } = options;
        let color = match color {
            Color::Always => anstream::ColorChoice::Always,
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Never => anstream::ColorChoice::Never,
        };
        Self { level, color, errors, dir, advise, log: None, progress: None, failed: RefCell::new(None) }
    }

    /// Says nothing but data: for what was said once already.
    pub(crate) fn silent() -> Self {
        Self::without_folder(LogLevel::Error, None)
    }

    /// Says everything, into a log.
    pub(crate) fn into_log(log: Log) -> Self {
        Self::without_folder(LogLevel::Debug, Some(log))
    }

    /// The same, and somebody shows how far things are.
    pub(crate) fn with_progress(self, progress: TextCallback) -> Self {
        Self { progress: Some(progress), ..self }
    }

    pub(crate) fn progress(&self) -> Option<TextCallback> {
        self.progress.clone()
    }

    /// Whether people's lines go into a log: then the terminal is somebody else's.
    pub(crate) fn is_logged(&self) -> bool {
        self.log.is_some()
    }

    /// Advice stays as it is written.
    fn without_folder(level: LogLevel, log: Option<Log>) -> Self {
        let color = anstream::ColorChoice::Never;
        let advise = |text: &str, _: &Path| text.to_owned();
        let errors = ErrorFormat::Text;
        let (dir, failed) = (PathBuf::from("."), RefCell::new(None));
        Self { level, color, errors, dir, advise, log, progress: None, failed }
    }

    /// Data: for a program as it is, for a person without anything that does something to the terminal.
    pub(crate) fn data(&self, text: &str) {
        if std::io::stdout().is_terminal() {
            self.bytes(sieved(text).as_bytes());
        } else {
            self.bytes(text.as_bytes());
        }
    }

    /// Data for a person, in colours where they are seen.
    pub(crate) fn painted(&self, text: &str) {
        let mut stdout = anstream::AutoStream::new(std::io::stdout(), self.color);
        if let Err(error) = stdout.write_all(sieved(text).as_bytes()).and_then(|()| stdout.flush()) {
            self.failed.borrow_mut().get_or_insert(error);
        }
    }

    /// Data as it is.
    pub(crate) fn bytes(&self, bytes: &[u8]) {
        let mut stdout = std::io::stdout();
        if let Err(error) = stdout.write_all(bytes).and_then(|()| stdout.flush()) {
            self.failed.borrow_mut().get_or_insert(error);
        }
    }

    /// Why data could not be written, if so. A closed pipe (`| head`) is the reader's choice, not an error.
    pub(crate) fn failure(&self) -> Option<Report> {
        let failed = self.failed.borrow();
        let error = failed.as_ref().filter(|error| error.kind() != std::io::ErrorKind::BrokenPipe)?;
        Some(Report::new(Code::WorkdirUnusable, format!("writing to standard output: {error}")))
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
        self.line(LogLevel::Warn, &format!("{} ", WARNING.of("warning:")), text);
    }

    /// Warns from another thread.
    pub(crate) fn warn_callback(&self) -> TextCallback {
        let (level, color) = (self.level, self.color);
        Arc::new(move |text| {
            if level >= LogLevel::Warn {
                let mut stderr = anstream::AutoStream::new(std::io::stderr(), color);
                let _ = writeln!(stderr, "{} {}", WARNING.of("warning:"), sieved(text));
            }
        })
    }

    /// A warning that says so itself.
    pub(crate) fn finding(&self, text: &str) {
        self.line(LogLevel::Warn, "", text);
    }

    /// Something only for the curious.
    pub(crate) fn debug(&self, text: &str) {
        self.line(LogLevel::Debug, "debug: ", text);
    }

    /// Whether things of this level are said.
    pub(crate) fn says(&self, level: LogLevel) -> bool {
        level <= self.level
    }

    /// Advice, with the folder in it that this command was given.
    pub(crate) fn advice(&self, text: &str) -> String {
        (self.advise)(text, &self.dir)
    }

    /// An error, complete.
    pub(crate) fn report(&self, report: &Report) {
        let mut text = report.render(|text| self.advice(text));
        if self.errors == ErrorFormat::Json {
            text += &format!("{}\n", report.value(|text| self.advice(text)));
        }
        let mut stderr = anstream::AutoStream::new(std::io::stderr(), self.color);
        let _ = write!(stderr, "{}", sieved(&text));
    }

    /// What is part of a question: said however little shall be said.
    pub(crate) fn always(&self, text: &str) {
        self.line(LogLevel::Error, "", text);
    }

    fn line(&self, level: LogLevel, prefix: &str, text: &str) {
        if let Some(log) = &self.log {
            log.line(&sieved(&plain(&format!("{prefix}{text}"))));
        } else if self.says(level) {
            let text = self.advice(text);
            let mut stderr = anstream::AutoStream::new(std::io::stderr(), self.color);
            let _ = writeln!(stderr, "{prefix}{}", sieved(&text));
        }
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output").field("level", &self.level).field("dir", &self.dir).finish_non_exhaustive()
    }
}
