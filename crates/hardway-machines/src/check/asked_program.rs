//! Programs of this host: whether they are there, and what they say.

use std::fmt;
use std::io::Read;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// For programs that only look at something.
pub(crate) const SHORT: Duration = Duration::from_secs(20);

/// Why a program gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// It is not on the path.
    Missing,
    /// It ran and failed.
    Failed {
        /// How it ended.
        status: String,
        /// The end of what it said.
        said: String,
    },
    /// It was stopped.
    TooSlow(Duration),
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("program not found"),
            Self::Failed { status, said } if said.is_empty() => f.write_str(status),
            Self::Failed { said, .. } => f.write_str(said),
            Self::TooSlow(limit) => write!(f, "no answer within {} s", limit.as_secs()),
        }
    }
}

/// Where a program is, by the path of this process.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| {
        file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    })
}

/// What a program prints. One that takes longer is stopped with all that it started.
pub(crate) fn ask_program(program: &str, arguments: &[&str], limit: Duration) -> Result<String, NoAnswer> {
    let failed = |error: &std::io::Error| NoAnswer::Failed { status: error.to_string(), said: String::new() };
    let mut child = Command::new(find_program(program).ok_or(NoAnswer::Missing)?)
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| failed(&error))?;
    let (stdout, stderr) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let Some(status) = wait(&mut child, limit).map_err(|error| failed(&error))? else {
        stop(&mut child);
        return Err(NoAnswer::TooSlow(limit));
    };
    let [stdout, stderr] = [stdout, stderr].map(|reader| reader.join().unwrap_or_default());
    match status.success() {
        true => Ok(String::from_utf8_lossy(&stdout).into_owned()),
        false => Err(NoAnswer::Failed { status: status.to_string(), said: last_words(&stderr) }),
    }
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read until a pipe broke is still worth having.
        let _ = pipe.map(|pipe| pipe.take(1 << 20).read_to_end(&mut bytes));
        bytes
    })
}

fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<std::process::ExitStatus>> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if began.elapsed() > limit {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

fn stop(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.wait();
}

/// The last lines, which mostly say what is wrong.
fn last_words(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(3)..].join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_answers_fails_is_missing_or_is_too_slow() {
        assert_eq!(ask_program("sh", &["-c", "echo hello"], SHORT), Ok("hello\n".to_owned()));
        let failed = ask_program("sh", &["-c", "echo one >&2; echo two >&2; exit 3"], SHORT).unwrap_err();
        assert_eq!(failed.to_string(), "one; two");
        assert!(matches!(&failed, NoAnswer::Failed { status, .. } if status.contains('3')), "{failed:?}");
        assert_eq!(ask_program("hardway-nobody", &[], SHORT), Err(NoAnswer::Missing));
        let limit = Duration::from_millis(50);
        let slow = ask_program("sh", &["-c", "sleep 600 & sleep 600"], limit);
        assert_eq!(slow, Err(NoAnswer::TooSlow(limit)));
    }
}
