//! Steps that are being taken: one per worker, and a bounded number of them.

use tokio::task::{Id, JoinError, JoinSet};

use crate::error::HostedError;
use crate::reconcile::StepKind;

/// Steps that are taken at the same time.
const PARALLEL: usize = 16;

/// What is underway.
#[derive(Default)]
pub(super) struct Tasks {
    set: JoinSet<Result<(), HostedError>>,
    /// Kept here and not in what a task gives back: one that panics gives back nothing, and its worker must not be busy for ever.
    underway: Vec<Underway>,
}

struct Underway {
    id: Id,
    worker: String,
    step: StepKind,
}

/// A step that has ended, however it ended.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) worker: String,
    pub(super) step: StepKind,
    pub(super) result: Result<(), HostedError>,
}

impl Tasks {
    /// Nothing is underway.
    pub(super) fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// Whether a step of this worker can be begun now.
    pub(super) fn have_room_for(&self, worker: &str) -> bool {
        self.underway.len() < PARALLEL && self.underway.iter().all(|one| one.worker != worker)
    }

    /// Begins one.
    pub(super) fn begin(
        &mut self,
        worker: String,
        step: StepKind,
        taking: impl Future<Output = Result<(), HostedError>> + Send + 'static,
    ) {
        let id = self.set.spawn(taking).id();
        self.underway.push(Underway { id, worker, step });
    }

    /// The next that ends; `None` when nothing is underway.
    pub(super) async fn done(&mut self) -> Option<Done> {
        let (id, result) = match self.set.join_next_with_id().await? {
            Ok((id, result)) => (id, result),
            Err(error) => (error.id(), Err(HostedError::Bug(sentence(error)))),
        };
        let place = self.underway.iter().position(|one| one.id == id)?;
        let Underway { worker, step, .. } = self.underway.swap_remove(place);
        Some(Done { worker, step, result })
    }
}

fn sentence(error: JoinError) -> String {
    let panic = match error.try_into_panic() {
        Ok(panic) => panic,
        Err(error) => return error.to_string(),
    };
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it panicked").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_step_that_panics_ends_and_its_worker_is_free_again() {
        let mut tasks = Tasks::default();
        tasks.begin("a".to_owned(), StepKind::Boot, async { panic!("no such thing as {}", 7) });
        tasks.begin("b".to_owned(), StepKind::Label, std::future::pending());
        assert!(!tasks.have_room_for("a") && tasks.have_room_for("c"));
        let done = tasks.done().await.unwrap();
        assert_eq!((done.worker.as_str(), done.step), ("a", StepKind::Boot));
        let why = done.result.unwrap_err().to_string();
        assert!(why.contains("no such thing as 7"), "{why}");
        assert!(tasks.have_room_for("a") && !tasks.have_room_for("b"));
        tasks.begin("a".to_owned(), StepKind::Boot, async { Ok(()) });
        let done = tasks.done().await.unwrap();
        assert!(done.worker == "a" && done.result.is_ok());
    }

    #[tokio::test]
    async fn only_so_many_at_once() {
        let mut tasks = Tasks::default();
        for n in 0..PARALLEL {
            assert!(tasks.have_room_for("another"));
            tasks.begin(format!("w-{n}"), StepKind::Boot, async { Ok(()) });
        }
        assert!(!tasks.have_room_for("another"));
        assert!(tasks.done().await.is_some() && tasks.have_room_for("another"));
        while tasks.done().await.is_some() {}
        assert!(tasks.is_empty());
    }
}
