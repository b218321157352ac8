//! An approver that runs beside something else, for as long as that takes.

use std::thread::JoinHandle;
use std::time::Duration;

use hardway_base::error_sentence;
use hardway_cluster::approver::{Approver, ApproverError};
use tokio_util::sync::CancellationToken;

use super::DeclaredHere;
use crate::report::Report;
use crate::runtime;

/// The pause before an approver that gave up is started again.
const BETWEEN_APPROVERS: Duration = Duration::from_secs(5);

/// Ends when it is dropped: what it has begun is brought to its end, and the Lease is let go.
pub(crate) struct BackgroundApprover {
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl BackgroundApprover {
    /// Begins now, for whoever is expected by then. Why it gave up, and that it tries again, is told to `warn`, as is what cannot
    /// be read.
    pub(crate) fn start(
        approver: Approver,
        mut expected: DeclaredHere,
        warn: impl Fn(&str) + Send + 'static,
    ) -> Result<Self, Report> {
        let (stop, runtime) = (CancellationToken::new(), runtime::handle()?);
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                let watch = async || {
                    let stopped = stopped.clone().cancelled_owned();
                    expected.watch(&approver, stopped, &warn).await.map(drop)
                };
                again_and_again(watch, &stopped, BETWEEN_APPROVERS, |why| warn(&why)).await;
            });
        });
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for BackgroundApprover {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What cannot be recorded is not decided, and an approver that finds so gives up. A disk that is full for a moment must not
/// leave the machines without certificates for the rest of the wait.
async fn again_and_again(
    mut run: impl AsyncFnMut() -> Result<(), ApproverError>,
    stop: &CancellationToken,
    pause: Duration,
    mut tell: impl FnMut(String),
) {
    let mut told = String::new();
    while let Err(why) = run().await {
        let why = error_sentence(&why);
        if why != told {
            tell(format!("{why}; retrying"));
        }
        told = why;
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = stop.cancelled() => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_approver_that_gave_up_begins_again_and_says_why_once() {
        let (mut runs, mut told) = (0, Vec::new());
        let full = || ApproverError::Log(std::io::ErrorKind::StorageFull.into());
        let run = async || {
            runs += 1;
            if runs < 4 { Err(full()) } else { Ok(()) }
        };
        again_and_again(run, &CancellationToken::new(), Duration::ZERO, |why| told.push(why)).await;
        assert_eq!((runs, told), (4, vec![format!("{}; retrying", error_sentence(&full()))]));

        let stopped = CancellationToken::new();
        stopped.cancel();
        again_and_again(async || Err(full()), &stopped, Duration::MAX, |_| {}).await;
    }
}
