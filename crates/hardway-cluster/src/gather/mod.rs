//! Fetching a log bundle from the bootstrap host and the masters, and taking secrets out of it on the way.
//!
//! Each host is asked from here: no host gets a way to another.

mod bundle_writer;
mod journal;

use std::io::{self, PipeReader, Write};
use std::sync::Arc;

use hardway_assets::ignition::bootstrap_files::scripts;
use hardway_base::error_sentence;
use hardway_base::redaction::Redactor;
use tokio::io::AsyncReadExt as _;
use tokio::process::Child;

use crate::diagnosis::{BundleError, BundleLimits};
use crate::remote::{Remote, RemoteError};

pub use bundle_writer::copy_redacted;
use bundle_writer::{BundleWriter, append};
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
    /// Masters of which nothing is in it, or not all, and why.
    pub missing: Vec<String>,
}

/// A master, to be asked for its logs.
#[derive(Clone, Debug)]
pub struct Master {
    /// The folder in the bundle.
    pub name: String,
    /// The way to it.
    pub remote: Remote,
}

/// There is no bundle.
#[derive(Debug, thiserror::Error)]
pub enum GatherError {
    /// What the host sent is no bundle.
    #[error("what the host sent cannot be used")]
    Bundle(#[from] BundleError),
    /// A name that cannot be one of a host.
    #[error("{0:?} is not a host name or an IP address")]
    Host(String),
    /// The journal gateway gave nothing.
    #[error("its journal cannot be read: {0}")]
    Journal(String),
    /// The host could not be reached, or the script failed there.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The program could not be started, or its output could not be read.
    #[error("{0} cannot be run")]
    Start(String, #[source] io::Error),
}

/// Runs the gathering script on the bootstrap host, and the part of it that is about a single host on each master, and copies
/// what they send, redacted, to `target`. Nothing stays behind there. Dropped before its end, the program that leads there is
/// killed.
///
/// # Errors
/// When the bootstrap host gives no bundle. A master that gives nothing is noted.
pub async fn bootstrap<W: Write + Send + 'static>(
    remote: &Remote,
    id: &str,
    masters: &[Master],
    redactor: &Arc<Redactor>,
    target: W,
) -> Result<Gathered, GatherError> {
    for name in masters.iter().map(|master| master.name.as_str()).chain([id]) {
        if !is_host(name) {
            return Err(GatherError::Host(name.to_owned()));
        }
    }
    let (mut bundle, failed) = fetch(remote, &script(id), "", redactor, BundleWriter::new(target)).await?;
    if let Some(error) = failed {
        return Err(error);
    }
    if bundle.gathered.files == 0 {
        return Err(BundleError::NotABundle.into());
    }
    for master in masters {
        let (folder, before) = (format!("control-plane/{}/", master.name), bundle.gathered.files);
        let (written, failed) = fetch(&master.remote, &master_script(), &folder, redactor, bundle).await?;
        bundle = written;
        let why = match failed {
            None if bundle.gathered.files > before => continue,
            None => "it sent nothing".to_owned(),
            Some(error) => error_sentence(&error),
        };
        bundle.gathered.missing.push(format!("{}: {why}", master.name));
    }
    Ok(bundle.finish()?)
}

/// Adds what a script on a host sends, below a folder of the bundle. What had come before something failed is in it.
async fn fetch<W: Write + Send + 'static>(
    remote: &Remote,
    script: &str,
    folder: &str,
    redactor: &Arc<Redactor>,
    mut bundle: BundleWriter<W>,
) -> Result<(BundleWriter<W>, Option<GatherError>), GatherError> {
    let start = |error| GatherError::Start(remote.command.join(" "), error);
    let (mut child, stdout) = match run(remote, script).await {
        Ok(running) => running,
        Err(error) => return Ok((bundle, Some(start(error)))),
    };
    let (known, folder) = (Arc::clone(redactor), folder.to_owned());
    let copying = tokio::task::spawn_blocking(move || {
        let copied = bundle.add(stdout, &folder, &known, BundleLimits::default());
        (bundle, copied)
    });
    let mut said = Vec::new();
    let listening = async {
        if let Some(mut stderr) = child.stderr.take() {
            let _ = stderr.read_to_end(&mut said).await;
        }
    };
    let (copied, ()) = tokio::join!(copying, listening);
    let (bundle, copied) = copied.map_err(|error| start(io::Error::other(error)))?;
    let failed = match child.wait().await {
        Err(error) => Some(start(error)),
        Ok(status) if !status.success() => {
            let said = redactor.redact(&String::from_utf8_lossy(&said));
            Some(remote.failed(status, &said).into())
        }
        Ok(_) => copied.err().map(GatherError::from),
    };
    Ok((bundle, failed))
}

/// The program that leads there, with the script told to it, and what it prints.
async fn run(remote: &Remote, script: &str) -> io::Result<(Child, PipeReader)> {
    let mut child = remote.start(script).await?;
    let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    Ok((child, PipeReader::from(stdout.into_owned_fd()?)))
}

fn is_host(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(['-', '.'])
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".:-_%".contains(&byte))
}

/// The script's own words go to standard error: standard output is the bundle.
fn script(id: &str) -> String {
    format!(
        "set -eu\nfolder=$(mktemp -d)\ntrap 'rm -rf \"$folder\"' EXIT\n\
         TAR_FILE=$folder/bundle.tar.gz \"${{INSTALLER_GATHER:-/usr/local/bin/installer-gather.sh}}\" --id {id} </dev/null >&2\n\
         cat \"$folder/bundle.tar.gz\"\n"
    )
}

/// The same of a host that has no such script: it is sent along.
fn master_script() -> String {
    const NAME: &str = "/usr/local/bin/installer-masters-gather.sh";
    const END: &str = "END_OF_INSTALLER_MASTERS_GATHER";
    let text = scripts().into_iter().find(|script| script.path == NAME).map_or("", |script| script.text);
    format!(
        "set -eu\numask 077\nfolder=$(mktemp -d)\ntrap 'rm -rf \"$folder\"' EXIT\n\
         cat >\"$folder/gather.sh\" <<'{END}'\n{text}\n{END}\n\
         bash \"$folder/gather.sh\" \"$folder/master\" </dev/null >&2 || :\n\
         tar -cz -C \"$folder\" master\n"
    )
}
