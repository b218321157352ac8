//! Runs a command line and hands on what it says, line by line.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use super::commands::CommandLine;

/// How many of the last lines are kept: enough for a message above Go's stack traces.
const KEPT: usize = 200;
/// A line is cut here: the commands print whole objects in one.
const LINE: usize = 8192;

/// How a command ended.
pub(super) struct Outcome {
    /// Its status.
    pub(super) status: ExitStatus,
    /// The last lines of both its streams.
    pub(super) last_lines: VecDeque<String>,
}

/// Runs it to its end. Lines go to `log` as they come, in the calling thread.
pub(super) fn run(line: &CommandLine, log: &mut dyn FnMut(String) -> String) -> io::Result<Outcome> {
    let mut child = Command::new(&line.program)
        .args(&line.arguments)
        .envs(line.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (sender, lines) = channel();
    if let Some(stdout) = child.stdout.take() {
        read_lines(stdout, sender.clone());
    }
    if let Some(stderr) = child.stderr.take() {
        read_lines(stderr, sender);
    }
    let mut last_lines = VecDeque::new();
    for line in lines {
        if last_lines.len() == KEPT {
            last_lines.pop_front();
        }
        last_lines.push_back(log(line));
    }
    Ok(Outcome { status: child.wait()?, last_lines })
}

/// A thread for each stream: a full pipe nobody reads would stop the command.
fn read_lines(stream: impl Read + Send + 'static, sender: Sender<String>) {
    thread::spawn(move || {
        let mut reader = BufReader::new(stream);
        let mut bytes = Vec::new();
        while reader.by_ref().take(LINE as u64).read_until(b'\n', &mut bytes).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
            if sender.send(text).is_err() {
                return;
            }
            bytes.clear();
        }
    });
}
