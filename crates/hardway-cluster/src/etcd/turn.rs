//! Whose turn it is: of all who would back up, defragment or restore an etcd, one does.

use hardway_journal::Now;
use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, Client};
use tokio::time::{Instant, timeout_at};

use crate::leader_election::{DURATION, Election, PERIOD, Standing};

const NAMESPACE: &str = "kube-system";
const NAME: &str = "hardway-etcd";

/// A Lease in the cluster, held for as long as this is not ended.
pub struct Turn(Election);

/// Somebody else has it, or nobody can say.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// Who has it.
    #[error("{0} is already making a backup: two at once would slow etcd down")]
    Taken(String),
    /// The API server does not say.
    #[error(
        "cannot tell whether another backup is running: the API server does not return the Lease {NAMESPACE}/{NAME}"
    )]
    Unknown,
}

impl Turn {
    /// Takes it. One whose holder is dead is free after a quarter of a minute, and so long it is waited for.
    ///
    /// # Errors
    /// When somebody else has it.
    pub async fn take(client: Client, identity: &str, now: Now) -> Result<Self, TurnError> {
        let leases: Api<Lease> = Api::namespaced(client, NAMESPACE);
        let mut election = Election::join(leases, NAME, identity, Standing::Principal, now);
        let until = Instant::now() + DURATION + 3 * PERIOD;
        while !election.leadership().is_ours() {
            if timeout_at(until, election.leadership_mut().changed()).await.is_err() {
                let holder = election.leadership().holder();
                election.end().await;
                return Err(holder.map_or(TurnError::Unknown, TurnError::Taken));
            }
        }
        Ok(Self(election))
    }

    /// Whether it still is ours.
    pub fn is_ours(&self) -> bool {
        self.0.leadership().is_ours()
    }

    /// Gives it back.
    pub async fn end(self) {
        self.0.end().await;
    }
}
