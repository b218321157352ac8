//! From a working directory to rendered configs, with podman.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use fs_err::os::unix::fs::OpenOptionsExt as _;
use hardway_assets::release_payload::ReleasePayload;
use hardway_assets::{Cluster, File, Tree};
use hardway_base::redaction::HIDDEN;
use serde_json::Value;

use super::commands::{BadWorkspace, CommandLine, RenderCommands};
use super::fault::Faults;
use super::inputs::{ASSETS, RENDERED, render_inputs};
use super::known_failure::{KnownFailure, explain};
use super::podman::Podman;
use super::preconditions::check;
use super::rendered::{Rendered, RenderedDirError, read_rendered_dir};

/// How many lines of a failed command are shown.
const SHOWN: usize = 12;
/// How many of a command's last lines are kept: enough for a message above Go's stack traces.
const KEPT: usize = 200;
/// A line is cut here: the commands print whole objects in one.
const LINE: usize = 8192;

/// Why there are no rendered configs.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// Something is wrong with the inputs; podman was not called.
    #[error(transparent)]
    Faults(#[from] Faults),
    /// The commands cannot be put together.
    #[error(transparent)]
    Workspace(#[from] BadWorkspace),
    /// The workspace cannot be written, or podman not be started.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// There is no podman here.
    #[error("{}", no_podman(.0))]
    NoPodman(Box<RenderCommands>),
    /// A command failed.
    #[error("{}", failed(.0))]
    Failed(Box<FailedCommand>),
    /// The commands ran, but what they wrote does not fit together.
    #[error(transparent)]
    Output(#[from] RenderedDirError),
}

/// A command that did not end well.
#[derive(Debug)]
pub struct FailedCommand {
    /// The command.
    pub command: CommandLine,
    /// How it ended.
    pub status: String,
    /// What it said last.
    pub last_lines: Vec<String>,
    /// What that means, where it is known.
    pub explanation: Option<KnownFailure>,
}

/// Checks the inputs, writes them to the workspace, runs both commands and reads the result. `log` gets every line the
/// commands say, without secrets. An earlier result in the workspace is removed first.
pub fn run(
    tree: &Tree,
    release: &ReleasePayload,
    cluster: &Cluster,
    (workspace, podman): (&Path, &Podman),
    log: &mut dyn FnMut(&str),
) -> Result<Rendered, RenderError> {
    check(tree, release, cluster)?;
    let commands = RenderCommands::new(workspace, release, cluster, podman)?;
    write_inputs(workspace, &render_inputs(tree, release, cluster, podman))?;
    let redaction = Redaction::of(cluster);
    for line in &commands.lines {
        let mut log_line = |text: String| {
            let text = redaction.line(&text);
            log(&text);
            text
        };
        let outcome = match call(line, &mut log_line) {
            Ok(outcome) => outcome,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(RenderError::NoPodman(Box::new(commands)));
            }
            Err(error) => return Err(error.into()),
        };
        if !outcome.status.success() {
            let explanation = explain(outcome.last_lines.iter().map(String::as_str));
            let shown = last_words(outcome.last_lines.into_iter().collect(), explanation);
            return Err(RenderError::Failed(Box::new(FailedCommand {
                command: line.clone(),
                status: outcome.status.to_string(),
                last_lines: shown,
                explanation,
            })));
        }
    }
    Ok(read_rendered_dir(&commands.rendered_dir(), release, cluster)?)
}

/// Writes the files of [`render_inputs`] to a folder that only its owner may enter. What an earlier run left in the
/// folder of both commands is removed: the controller takes every file it finds there.
pub fn write_inputs(workspace: &Path, files: &[File]) -> io::Result<()> {
    fs_err::create_dir_all(workspace)?;
    fs_err::set_permissions(workspace, std::fs::Permissions::from_mode(0o700))?;
    match fs_err::remove_dir_all(workspace.join(ASSETS)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    for file in files {
        let path = workspace.join(&file.path);
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        let mut options = fs_err::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(file.mode);
        options.open(&path)?.write_all(&file.bytes)?;
    }
    // Made here so that it belongs to the caller, not to the container's root.
    fs_err::create_dir_all(workspace.join(ASSETS).join(RENDERED))
}

/// How a command ended.
struct CommandOutcome {
    /// Its status.
    status: ExitStatus,
    /// The last lines of both its streams.
    last_lines: VecDeque<String>,
}

/// Runs a command to its end. Lines go to `log` as they come, in the calling thread.
fn call(line: &CommandLine, log: &mut dyn FnMut(String) -> String) -> io::Result<CommandOutcome> {
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
    Ok(CommandOutcome { status: child.wait()?, last_lines })
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

/// Secrets to hide in what the commands say: the controller prints its whole configuration, proxy password included.
struct Redaction(Vec<String>);

impl Redaction {
    /// Logins of registries and proxies.
    fn of(cluster: &Cluster) -> Self {
        let config = &cluster.config;
        let mut words = Vec::new();
        if let Ok(secret) = serde_json::from_slice::<Value>(config.pull_secret.expose()) {
            let logins = secret["auths"].as_object().into_iter().flatten();
            words.extend(logins.filter_map(|(_, login)| login["auth"].as_str()).map(str::to_owned));
        }
        for proxy in config.proxy.iter().flat_map(|proxy| [&proxy.http_proxy, &proxy.https_proxy]) {
            let login =
                proxy.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@')).map(|(login, _)| login);
            words.extend(login.map(str::to_owned));
        }
        words.retain(|word| !word.is_empty());
        Self(words)
    }

    /// The line without them.
    fn line(&self, line: &str) -> String {
        self.0.iter().fold(line.to_owned(), |line, word| line.replace(word.as_str(), HIDDEN))
    }
}

/// The end of the output, from the line that is explained if there is one: Go adds stack traces after it.
fn last_words(mut lines: Vec<String>, explanation: Option<KnownFailure>) -> Vec<String> {
    let known = explanation.and_then(|known| lines.iter().rposition(|line| line.contains(known.mark)));
    match known {
        Some(at) => lines.truncate(at + 1),
        None => lines.retain(|line| !line.is_empty()),
    }
    lines.split_off(lines.len().saturating_sub(SHOWN))
}

fn failed(failed: &FailedCommand) -> String {
    let FailedCommand { command, status, last_lines, explanation } = failed;
    let mut text = format!("cannot {}: {} ended with {status}", command.title, command.program);
    for line in last_lines {
        text += &format!("\n  | {line}");
    }
    if let Some(known) = explanation {
        text += &format!("\ncause: {}\nfix: {}", known.cause, known.fix);
    }
    text + &format!("\nthe command was: {command}")
}

fn no_podman(commands: &RenderCommands) -> String {
    let program = &commands.lines[0].program;
    let (workspace, dir): (_, PathBuf) = (commands.workspace.display(), commands.rendered_dir());
    format!(
        "{program} is not installed here, and node configs are rendered in a container. Install it, or render elsewhere:\n\
         1. Copy {workspace} to a host with podman, to the same path. It contains your pull secret.\n\
         2. Run there:\n\n{commands}\n\
         3. Copy {} back and pass it, with the same --dir: hardway create ignition-configs --rendered-dir {}",
        dir.display(),
        dir.display(),
    )
}
