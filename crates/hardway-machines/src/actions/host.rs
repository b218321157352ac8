//! The only place that touches the host.

use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use fs_err as fs;
use hardway_base::files;

use super::{Check, Program, Step};

/// This host, as the user that runs hardway.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// What a program is started with, where hardway itself has left the host's network: words before its own.
    pub through: Vec<String>,
}

/// Why a step could not be done.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// A file or folder.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The program is not there, or may not be run.
    #[error("`{program}` could not be started")]
    NotStarted {
        /// What was to be run.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// The program ran and failed.
    #[error("`{program}` failed with {status}{}", said(stderr))]
    Failed {
        /// What was run.
        program: String,
        /// How it ended.
        status: String,
        /// What it printed.
        stderr: String,
    },
}

impl Host {
    /// Does one step.
    ///
    /// # Errors
    /// When it could not be done.
    pub fn perform(&self, step: &Step) -> Result<(), StepError> {
        match step {
            Step::MakeFolder { path } => fs::create_dir_all(path)?,
            Step::RemoveEmptyFolder { path } => match fs::remove_dir(path) {
                Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {}
                result => unless_absent(result)?,
            },
            Step::RemoveFolder { path } => unless_absent(fs::remove_dir_all(path))?,
            Step::RemoveFile { path } => unless_absent(fs::remove_file(path))?,
            Step::RestoreFile { path, from } => {
                let mode = fs::metadata(from)?.permissions().mode() & 0o7777;
                write(path, mode, &fs::read(from)?)?;
            }
            Step::Run(program) => drop(self.run(program)?),
            Step::WriteFile { path, mode, content } => write(path, *mode, content.as_bytes())?,
        }
        Ok(())
    }

    /// Runs a program and gives back what it printed.
    ///
    /// # Errors
    /// When it could not be started, or failed.
    pub fn run(&self, program: &Program) -> Result<String, StepError> {
        let output = self.start(program)?;
        if !output.status.success() {
            return Err(StepError::Failed {
                program: program.to_string(),
                status: output.status.to_string(),
                stderr: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            });
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Whether it holds now. A check that cannot be made does not hold: the action's own error says more.
    pub fn holds(&self, check: &Check) -> bool {
        match check {
            Check::All(checks) => !checks.is_empty() && checks.iter().all(|check| self.holds(check)),
            Check::FileIs { path, mode, content } => {
                let is_mode = |found: fs::File| {
                    found.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o7777 == *mode)
                };
                fs::File::open(path).is_ok_and(is_mode)
                    && fs::read(path).is_ok_and(|found| found == content.as_bytes())
            }
            Check::FolderExists { path } => path.is_dir(),
            Check::Prints { program, line } => self.prints(program, line).unwrap_or(false),
            Check::PrintsSomething(program) => {
                self.run(program).is_ok_and(|printed| !printed.trim().is_empty())
            }
            Check::Succeeds(program) => self.run(program).is_ok(),
        }
    }

    /// Whether a program prints this line; an error where it could not be asked.
    pub fn prints(&self, program: &Program, line: &str) -> Result<bool, StepError> {
        Ok(self.run(program)?.lines().any(|found| found.trim() == line))
    }

    fn start(&self, program: &Program) -> Result<Output, StepError> {
        let not_started = |source| StepError::NotStarted { program: program.to_string(), source };
        let mut words = self.through.iter().chain([&program.program]).chain(&program.arguments);
        let mut child = Command::new(words.next().unwrap_or(&program.program))
            .args(words)
            // People read these messages, and in a few places so do we: keep them in one language.
            .env("LC_ALL", "C")
            .stdin(if program.input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(not_started)?;
        if let (Some(input), Some(mut stdin)) = (&program.input, child.stdin.take()) {
            match stdin.write_all(input.as_bytes()) {
                // It did not want to read all of it; its exit status says whether that was right.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
                result => result.map_err(not_started)?,
            }
        }
        child.wait_with_output().map_err(not_started)
    }
}

/// By rename, so that nobody reads half a file.
fn write(path: &Path, mode: u32, content: &[u8]) -> io::Result<()> {
    let folder =
        path.parent().ok_or_else(|| io::Error::other(format!("{} has no folder", path.display())))?;
    fs::create_dir_all(folder)?;
    files::replace(path, mode, content)
}

fn unless_absent(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn said(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!(": {stderr}") }
}
