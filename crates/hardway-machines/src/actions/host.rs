//! The only place where actions change the host.

use std::io::{self, BufRead as _, BufReader, ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{ChildStderr, Command, Output, Stdio};
use std::sync::Arc;

use fs_err as fs;
use hardway_base::files;

use super::{ActionCheck, Program, Step};

/// This host, as the user that runs hardway.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// What a program is started with, where hardway itself has left the host's network: words before its own.
    pub through: Vec<String>,
    /// Whoever is told what programs say while they run.
    heard: Option<Heard>,
}

/// Told each line of a program's standard error.
#[derive(Clone)]
struct Heard(Arc<dyn Fn(&str) + Send + Sync>);

impl std::fmt::Debug for Heard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Heard")
    }
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
    /// This host, whose programs are started with these words before their own.
    pub fn through(through: Vec<String>) -> Self {
        Self { through, heard: None }
    }

    /// The same, and what programs say on standard error is told line by line while they run.
    pub fn hearing(self, heard: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { heard: Some(Heard(Arc::new(heard))), ..self }
    }

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
    pub fn holds(&self, check: &ActionCheck) -> bool {
        match check {
            ActionCheck::All(checks) => !checks.is_empty() && checks.iter().all(|check| self.holds(check)),
            ActionCheck::FileIs { path, mode, content } => {
                let is_mode = |found: fs::File| {
                    found.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o7777 == *mode)
                };
                fs::File::open(path).is_ok_and(is_mode)
                    && fs::read(path).is_ok_and(|found| found == content.as_bytes())
            }
            ActionCheck::FolderExists { path } => path.is_dir(),
            ActionCheck::Prints { program, line } => self.prints(program, line).unwrap_or(false),
            ActionCheck::PrintsSomething(program) => {
                self.run(program).is_ok_and(|printed| !printed.trim().is_empty())
            }
            ActionCheck::Succeeds(program) => self.run(program).is_ok(),
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
        let Some(Heard(heard)) = self.heard.clone() else {
            return child.wait_with_output().map_err(not_started);
        };
        let stderr = child.stderr.take();
        let listener =
            std::thread::spawn(move || stderr.map(|stderr| listen(stderr, &*heard)).unwrap_or_default());
        let output = child.wait_with_output().map_err(not_started)?;
        // It ends when the program has closed its standard error, and whoever it left behind.
        Ok(Output { stderr: listener.join().unwrap_or_default(), ..output })
    }
}

/// All that was said, told line by line.
fn listen(stderr: ChildStderr, heard: &(dyn Fn(&str) + Send + Sync)) -> Vec<u8> {
    let (mut said, mut reader) = (Vec::new(), BufReader::new(stderr));
    loop {
        let begin = said.len();
        match reader.read_until(b'\n', &mut said) {
            Ok(0) | Err(_) => return said,
            Ok(_) => heard(String::from_utf8_lossy(&said[begin..]).trim_end()),
        }
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn what_a_program_says_is_heard_line_by_line_and_kept_for_its_error() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let host = Host::default().hearing({
            let heard = heard.clone();
            move |line| heard.lock().unwrap().push(line.to_owned())
        });
        let script = "echo 'step 1 of 2: a' >&2; echo out; echo b >&2; exit 3";
        let error = host.run(&Program::new("sh", ["-c", script])).unwrap_err();
        assert_eq!(*heard.lock().unwrap(), ["step 1 of 2: a", "b"]);
        assert!(error.to_string().ends_with("step 1 of 2: a\nb"), "{error}");
        assert_eq!(host.run(&Program::new("sh", ["-c", "echo out"])).unwrap(), "out\n");
    }

    /// The steps of the lab's images, as the scripts that build them name them.
    #[test]
    fn every_step_of_the_labs_images_has_its_number() {
        let script = r#"
            set -euo pipefail
            cd "$1"
            HARDWAY_STEPS= ; eval "$(sed -n "/^export HARDWAY_STEPS=/,/^HARDWAY_STEPS=/p" lab/build.sh)"
            . tools/common.sh
            for name in lab-node lab-manifests lab-push lab-node-base lab-crictl lab-kubernetes; do
              [[ $(step_number "$name") == step\ *\ of\ 17:\  ]] || { echo "$name has no number"; exit 1; }
            done
            for name in $(sed -n 's/.*build.sh" \(.*\))$/\1/p' lab/node/build.sh lab/release/images.sh); do
              [[ -n $(step_number "$name") ]] || { echo "$name has no number"; exit 1; }
            done
            for name in $(sed -n 's/^ *go_build .* //p' lab/release/images.sh); do
              [[ -n $(step_number "lab-$name") ]] || { echo "lab-$name has no number"; exit 1; }
            done"#;
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").display().to_string();
        let said = Host::default().run(&Program::new("bash", ["-c", script, "bash", repository.as_str()]));
        assert!(said.is_ok(), "{said:?}");
    }
}
