//! How each member is, again and again, beside whoever waits for something else.

use std::time::Duration;

use tokio::sync::watch::{Receiver, channel};
use tokio::task::JoinHandle;

use super::{EtcdAccess, MemberStatus, ask_status};

/// Asks until this is dropped.
#[derive(Debug)]
pub struct EtcdWatch {
    members: Receiver<Vec<MemberStatus>>,
    task: JoinHandle<()>,
}

impl EtcdWatch {
    /// Begins; asking takes as long as it takes, and the next time comes after a pause.
    pub fn start(access: EtcdAccess, pause: Duration) -> Self {
        let (sender, members) = channel(Vec::new());
        let task = tokio::spawn(async move {
            loop {
                // Before the first master has joined nobody answers, and that is no news. Without a quorum nobody can tell
                // who is in it.
                if let Ok(status) = ask_status(&access).await
                    && status.has_quorum
                    && sender.send(status.members).is_err()
                {
                    return;
                }
                tokio::time::sleep(pause).await;
            }
        });
        Self { members, task }
    }

    /// Who is in it, if that was told since this was asked last.
    pub fn news(&mut self) -> Option<Vec<MemberStatus>> {
        let is_new = self.members.has_changed().unwrap_or(false);
        is_new.then(|| self.members.borrow_and_update().clone())
    }
}

impl Drop for EtcdWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}
