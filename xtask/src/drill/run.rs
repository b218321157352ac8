//! One run of hardway that can be watched and killed.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use fs_err as fs;

use super::lab::last_lines;

/// Killed when it is dropped.
pub(super) struct Run {
    child: Child,
    log: PathBuf,
    journal: PathBuf,
}

/// Longer than anything takes, on a computer that is busy: a hang, then.
const FOR_EVER: Duration = Duration::from_secs(45 * 60);

/// A look costs something.
const BETWEEN_LOOKS: Duration = Duration::from_secs(2);

impl Run {
    /// What it says goes to a file.
    pub(super) fn start(mut command: Command, log: &Path, journal: &Path) -> Result<Self> {
        let file = fs::File::create(log)?.into_parts().0;
        let child = command.stdout(file.try_clone()?).stderr(file).spawn()?;
        Ok(Self { child, log: log.to_owned(), journal: journal.to_owned() })
    }

    /// What it said so far.
    pub(super) fn said(&self) -> String {
        fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// Whole lines of the journal.
    pub(super) fn records(&self) -> usize {
        fs::read(&self.journal).map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count())
    }

    /// Waits until it says something; an error when it ends before.
    pub(super) fn until_said(&mut self, words: &str) -> Result<()> {
        self.until(|run| run.said().contains(words)).with_context(|| format!("waiting for {words:?}"))
    }

    /// Waits until something holds outside; an error when it ends before. What is asked may fail until then.
    pub(super) fn until_seen(&mut self, what: &str, holds: impl Fn() -> Result<bool>) -> Result<()> {
        let looks = |_: &Self| {
            std::thread::sleep(BETWEEN_LOOKS);
            holds().unwrap_or(false)
        };
        self.until(looks).with_context(|| format!("waiting until {what}"))
    }

    /// Waits until the journal has more records than so many, or it has ended: then its status.
    pub(super) fn until_more_records(&mut self, known: usize) -> Result<Option<ExitStatus>> {
        let end = Instant::now() + FOR_EVER;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(status));
            }
            if self.records() > known {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        bail!("nothing happened for ever:\n{}", last_lines(&self.said(), 40))
    }

    /// As if the computer had lost it.
    pub(super) fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// As Ctrl-C does.
    pub(super) fn interrupt(&self) -> Result<()> {
        let status = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status()?;
        ensure!(status.success(), "kill ended with {status}");
        Ok(())
    }

    pub(super) fn must_succeed(mut self) -> Result<()> {
        let status = self.end()?;
        ensure!(status.success(), "hardway ended with {status}:\n{}", last_lines(&self.said(), 80));
        Ok(())
    }

    /// Must end with this code; gives back what it said.
    pub(super) fn must_fail(mut self, exit: i32) -> Result<String> {
        let status = self.end()?;
        ensure!(
            status.code() == Some(exit),
            "hardway ended with {status}, not {exit}:\n{}",
            last_lines(&self.said(), 80)
        );
        Ok(self.said())
    }

    fn end(&mut self) -> Result<ExitStatus> {
        let end = Instant::now() + FOR_EVER;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        bail!("it hangs:\n{}", last_lines(&self.said(), 40))
    }

    fn until(&mut self, holds: impl Fn(&Self) -> bool) -> Result<()> {
        let end = Instant::now() + FOR_EVER;
        while Instant::now() < end {
            if holds(self) {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("hardway ended with {status}:\n{}", last_lines(&self.said(), 60));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        bail!("it hangs:\n{}", last_lines(&self.said(), 40))
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
