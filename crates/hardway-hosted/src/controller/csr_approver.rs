//! The approver of the hosted cluster, while this controller leads.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hardway_cluster::approver::{Approver, Expected, News};
use hardway_cluster::leader_election::Standing;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use super::{Controller, ControllerEvent};
use crate::management::Management;

/// An approver that runs.
pub(super) struct CsrApprover {
    expected: watch::Sender<Expected>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl CsrApprover {
    pub(super) fn begin(controller: &Arc<Controller>) -> Self {
        let (expected, receiver) = watch::channel(Expected::default());
        let (stop, stopped) = oneshot::channel::<()>();
        let told = Arc::clone(controller);
        let approver = Approver {
            client: controller.hosted.clone(),
            folder: approver_folder(&controller.folder, &controller.management),
            fetches: Some(controller.folder.clone()),
            declared: hardway_cluster::declared::Declared::default(),
            settings: controller.policy.clone(),
            identity: controller.identity.clone(),
            standing: Standing::Principal,
            dry_run: false,
            now: controller.now.clone(),
            tell: Arc::new(move |news| tell(&told, news)),
        };
        let told = Arc::clone(controller);
        let task = tokio::spawn(async move {
            let stopped = async {
                let _ = stopped.await;
            };
            if let Err(error) = approver.watch_expected(receiver, stopped).await {
                (told.tell)(&ControllerEvent::Trouble(hardway_cluster::api_error::sentence(&error)));
            }
        });
        Self { expected, stop: Some(stop), task }
    }

    /// Whether it gave up: what it decides could not be written down, say. Nobody else approves meanwhile.
    pub(super) fn has_ended(&self) -> bool {
        self.task.is_finished()
    }

    /// Tells it who is expected now.
    pub(super) fn expect(&self, expected: Expected) {
        self.expected.send_if_modified(|known| {
            let is_new = *known != expected;
            *known = expected;
            is_new
        });
    }

    pub(super) async fn end(mut self) {
        drop(self.stop.take());
        let _ = self.task.await;
    }
}

/// Where the approver of a hosted cluster keeps journal and log. Not in the folder's own: whoever administers the hosted cluster decides
/// what its requests and nodes are called and what stands in them, and the folder's journal says which hosts of its own cluster have
/// joined, and got what.
pub(super) fn approver_folder(folder: &Path, management: &Management) -> PathBuf {
    folder.join("hosted/clusters").join(format!("{}.{}", management.namespace, management.cluster))
}

fn tell(controller: &Controller, news: News<'_>) {
    match news {
        News::Decided(outcome) => {
            let decided = &outcome.decided;
            let what = format!("{} {}: {}", decided.verdict, decided.reason, decided.evidence.join("; "));
            (controller.tell)(&ControllerEvent::Decided { node: decided.node.clone(), what });
        }
        News::Trouble(what) => (controller.tell)(&ControllerEvent::Trouble(what.to_owned())),
        News::Leading | News::Following(_) | News::Joined(_) => {}
    }
}
