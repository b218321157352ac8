//! Looking at the bootstrap host again and again, beside everything else.

use std::time::Duration;

use tokio::sync::watch::{Receiver, channel};
use tokio::task::JoinHandle;

use super::bootstrap_host::{BootstrapHost, Looking};
use super::report::BootstrapReport;

/// A host that is being looked at, until this is dropped.
#[derive(Debug)]
pub struct HostWatch {
    reports: Receiver<Option<Result<BootstrapReport, String>>>,
    task: JoinHandle<()>,
}

impl HostWatch {
    /// Begins; a look takes as long as it takes, and the next comes after a pause.
    pub fn start(host: impl Into<BootstrapHost>, pause: Duration) -> Self {
        let (sender, reports) = channel(None);
        let mut looking = Looking::at(host.into());
        let task = tokio::spawn(async move {
            loop {
                let seen = looking.look().await.map_err(|error| error.to_string());
                if sender.send(Some(seen)).is_err() {
                    return;
                }
                tokio::time::sleep(pause).await;
            }
        });
        Self { reports, task }
    }

    /// What was seen since this was asked last.
    pub fn news(&mut self) -> Option<Result<BootstrapReport, String>> {
        let is_new = self.reports.has_changed().unwrap_or(false);
        if is_new { self.reports.borrow_and_update().clone() } else { None }
    }
}

impl Drop for HostWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}
