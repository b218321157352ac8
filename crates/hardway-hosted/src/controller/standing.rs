//! Standing for one of the leases.

use hardway_cluster::approver::{Elector, Leadership};
use kube::api::Api;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::Controller;

/// Standing for one of the leases.
pub(super) struct Standing {
    pub(super) of: &'static str,
    pub(super) leadership: Leadership,
    pub(super) was_ours: bool,
    stop: Option<oneshot::Sender<()>>,
    elector: JoinHandle<()>,
}

impl Standing {
    pub(super) fn begin(controller: &Controller, of: &'static str) -> Self {
        let management = &controller.management;
        let leases = Api::namespaced(management.client.clone(), &management.namespace);
        let name = format!("hardway-{of}-{}", management.cluster);
        let (elector, leadership) = Elector::on(leases, &name, &controller.identity, controller.now.clone());
        let (stop, stopped) = oneshot::channel::<()>();
        let elector = tokio::spawn(elector.stand(async {
            let _ = stopped.await;
        }));
        Self { of, leadership, was_ours: false, stop: Some(stop), elector }
    }

    /// Whether this one acts.
    pub(super) fn is_ours(&self) -> bool {
        self.leadership.is_ours()
    }

    pub(super) async fn any_changed(one: &mut Self, other: &mut Option<Self>) {
        match other {
            Some(other) => tokio::select! {
                () = one.leadership.changed() => {}
                () = other.leadership.changed() => {}
            },
            None => one.leadership.changed().await,
        }
    }

    /// Lets go.
    pub(super) async fn end(mut self) {
        drop(self.stop.take());
        let _ = self.elector.await;
    }
}
