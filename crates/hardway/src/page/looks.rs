//! Looks at the cluster that a process of its own takes: in a lab the cluster is in another network than the browser.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use hardway_base::redaction::Redactor;
use hardway_page::Content;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::sync::oneshot;

use super::feed::redacted;
use super::look::{Looker, can_look};
use crate::cluster::known_secrets;
use crate::inputs::{InputFiles, Workdir};
use crate::machines;
use crate::project::cluster_before_release;
use crate::report::Report;
use crate::terminal::Output;

/// Between two looks: a cluster that is being installed is busy.
const PAUSE: Duration = Duration::from_secs(5);

/// Keeps what is seen current, as long as it is polled.
pub(crate) async fn follow(dir: &Path, content: &Content) {
    loop {
        if can_look(dir) {
            // It ends only when something is wrong with it; the next one may do better.
            let _ = read(dir, content).await;
            content.set_seen(None);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn read(dir: &Path, content: &Content) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--dir").arg(dir).args(["page", "--look"]).kill_on_drop(true);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let mut lines = BufReader::new(stdout).lines();
    while let Some(line) = lines.next_line().await? {
        // Secrets may have been drawn since the last look.
        let known = Workdir::open(dir).and_then(|workdir| known_secrets(&workdir));
        if let (Ok(seen), Ok(known)) = (serde_json::from_str(&line), known) {
            content.set_seen(Some(&redacted(seen, &Redactor::new(known))));
        }
    }
    child.wait().await.map(drop)
}

/// Takes them, and prints one a line, until whoever reads them is gone.
pub(crate) async fn take(dir: &Path, out: &Output) -> Result<(), Report> {
    let mut looker = Looker::new(Workdir::open(dir)?);
    let looking = async {
        loop {
            enter_lab(dir)?;
            let look = looker.look().await;
            out.data(&format!("{}\n", serde_json::json!(look)));
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::select! {
        ended = looking => ended,
        _ = reader_gone() => Ok(()),
    }
}

/// Standard input ends with the process that has its other end, whatever becomes of it.
fn reader_gone() -> oneshot::Receiver<()> {
    let (gone, is_gone) = oneshot::channel();
    std::thread::spawn(move || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        let _ = gone.send(());
    });
    is_gone
}

/// A lab may come to be while somebody looks on; then this process begins anew inside.
fn enter_lab(dir: &Path) -> Result<(), Report> {
    let workdir = Workdir::open(dir)?;
    let Ok(Some(files)) = InputFiles::open_if_there(&workdir) else { return Ok(()) };
    let Ok(cluster) = cluster_before_release(&workdir, &files) else { return Ok(()) };
    match machines::lab_site(&cluster, &files) {
        Ok(Some(site)) => machines::enter(&site),
        _ => Ok(()),
    }
}
