//! Fetching a log bundle from the bootstrap host, and taking secrets out of it on the way.

mod journal;

use std::io::{self, PipeReader, Read, Write};
use std::process::Stdio;
use std::sync::Arc;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use crate::bootstrap_progress::Remote;
use crate::diagnosis::{BundleError, Limits, walk};
use hardway_base::redaction::Redactor;

pub use journal::from_journal;

/// What became of a bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Files in it.
    pub files: usize,
    /// Files of which something was taken out.
    pub redacted: usize,
    /// Files that are too large or no text, and were left out.
    pub left_out: Vec<String>,
}

/// There is no bundle.
#[derive(Debug, thiserror::Error)]
pub enum GatherError {
    /// What the host sent is no bundle.
    #[error("what the host sent cannot be used")]
    Bundle(#[from] BundleError),
    /// The program did not end well.
    #[error("{command} failed ({status}): {said}")]
    Failed {
        /// What was run.
        command: String,
        /// Its exit code, or the signal that ended it.
        status: String,
        /// The last lines it said.
        said: String,
    },
    /// A name that cannot be one of a host.
    #[error("{0:?} is no name and no address of a host")]
    Host(String),
    /// The journal gateway gave nothing.
    #[error("its journal cannot be read: {0}")]
    Journal(String),
    /// The program could not be started, or its output could not be read.
    #[error("{0} cannot be run")]
    Start(String, #[source] io::Error),
}

/// Runs the gathering script on the host that `remote` leads to, and copies its bundle, redacted, to `target`. Nothing stays
/// behind there. Dropped before its end, the program that leads there is killed.
pub async fn bootstrap(
    remote: &Remote,
    id: &str,
    masters: &[String],
    redactor: &Arc<Redactor>,
    target: impl Write + Send + 'static,
) -> Result<Gathered, GatherError> {
    let script = script(id, masters)?;
    let shown = remote.command.join(" ");
    let start = |error| GatherError::Start(shown.clone(), error);
    let (program, arguments) = remote.command.split_first().map_or(("", &[][..]), |(a, b)| (a.as_str(), b));
    let mut child = Command::new(program)
        .args(arguments)
        .envs(remote.environment.iter().map(|(key, value)| (key, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(start)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that ends before it has read everything says why itself.
        let _ = stdin.write_all(script.as_bytes()).await;
    }
    let stdout = child.stdout.take().ok_or_else(|| start(io::ErrorKind::BrokenPipe.into()))?;
    let stdout = PipeReader::from(stdout.into_owned_fd().map_err(start)?);
    let known = Arc::clone(redactor);
    let copying =
        tokio::task::spawn_blocking(move || copy_redacted(stdout, target, &known, Limits::default()));
    let mut said = Vec::new();
    let listening = async {
        if let Some(mut stderr) = child.stderr.take() {
            let _ = stderr.read_to_end(&mut said).await;
        }
    };
    let (copied, ()) = tokio::join!(copying, listening);
    let status = child.wait().await.map_err(start)?;
    if !status.success() {
        let said = String::from_utf8_lossy(&said);
        let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let said = redactor.redact(&lines[lines.len().saturating_sub(3)..].join(" | "));
        return Err(GatherError::Failed { command: shown, status: status.to_string(), said });
    }
    Ok(copied.map_err(|error| start(io::Error::other(error)))??)
}

/// Copies a bundle file by file. Compressed logs in it are opened; what is neither text nor that stays out.
pub fn copy_redacted(
    compressed: impl Read,
    target: impl Write,
    redactor: &Redactor,
    limits: Limits,
) -> Result<Gathered, BundleError> {
    let mut gathered = Gathered::default();
    let mut builder = tar::Builder::new(GzEncoder::new(target, Compression::default()));
    walk(compressed, limits, |path, reader| {
        match redacted(path, reader, redactor, limits)? {
            None => gathered.left_out.push(path.to_owned()),
            Some((bytes, is_changed)) => {
                gathered.files += 1;
                gathered.redacted += usize::from(is_changed);
                append(&mut builder, path, &bytes)?;
            }
        }
        Ok(())
    })?;
    builder.into_inner()?.finish()?.flush()?;
    if gathered.files == 0 { Err(BundleError::NotABundle) } else { Ok(gathered) }
}

fn append(builder: &mut tar::Builder<impl Write>, path: &str, bytes: &[u8]) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o600);
    builder.append_data(&mut header, format!("log-bundle/{path}"), bytes)
}

/// The content and whether something was taken out; none if it stays out.
fn redacted(
    path: &str,
    reader: &mut dyn Read,
    redactor: &Redactor,
    limits: Limits,
) -> Result<Option<(Vec<u8>, bool)>, BundleError> {
    let Some(bytes) = up_to(reader, limits.file)? else { return Ok(None) };
    if !path.ends_with(".gz") {
        return Ok(text(&bytes, redactor));
    }
    // A file that is cut off, or not gzip at all, stays out.
    let Ok(Some(inner)) = up_to(&mut GzDecoder::new(bytes.as_slice()), limits.file) else { return Ok(None) };
    let Some((inner, is_changed)) = text(&inner, redactor) else { return Ok(None) };
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&inner)?;
    Ok(Some((encoder.finish()?, is_changed)))
}

fn text(bytes: &[u8], redactor: &Redactor) -> Option<(Vec<u8>, bool)> {
    if bytes.contains(&0) {
        return None;
    }
    let text = String::from_utf8_lossy(bytes);
    let redacted = redactor.redact(&text);
    let is_changed = redacted != text;
    Some((redacted.into_bytes(), is_changed))
}

fn up_to(reader: &mut dyn Read, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    reader.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// The script's own words go to standard error: standard output is the bundle.
fn script(id: &str, masters: &[String]) -> Result<String, GatherError> {
    let is_host = |name: &str| {
        !name.is_empty()
            && !name.starts_with('-')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".:-_%".contains(&byte))
    };
    for name in masters.iter().map(String::as_str).chain([id]) {
        if !is_host(name) {
            return Err(GatherError::Host(name.to_owned()));
        }
    }
    Ok(format!(
        "set -eu\nfolder=$(mktemp -d)\ntrap 'rm -rf \"$folder\"' EXIT\n\
         TAR_FILE=$folder/bundle.tar.gz \"${{INSTALLER_GATHER:-/usr/local/bin/installer-gather.sh}}\" --id {id} {} </dev/null >&2\n\
         cat \"$folder/bundle.tar.gz\"\n",
        masters.join(" ")
    ))
}
