//! Why the approver stopped.

use std::io;

use hardway_journal::JournalError;

/// What it cannot go on without.
#[derive(Debug, thiserror::Error)]
pub enum ApproverError {
    /// The API server, when there is nobody to wait for it.
    #[error("the API server does not answer")]
    Api(#[source] Box<kube::Error>),
    /// The API server took too long, when there is nobody to wait for it.
    #[error("the API server takes longer than {0} seconds to answer")]
    TooSlow(u64),
    /// The journal: what cannot be recorded is not decided.
    #[error("decisions cannot be recorded")]
    Journal(#[source] JournalError),
    /// The log.
    #[error("decisions cannot be logged")]
    Log(#[source] io::Error),
    /// Something in here.
    #[error("a mistake in hardway: {0}")]
    Bug(String),
}

impl ApproverError {
    /// What a person can do.
    pub fn fix(&self) -> String {
        match self {
            Self::Api(_) | Self::TooSlow(_) => {
                "see that the address in the kubeconfig answers from this host: DNS, load balancer, port 6443; with --watch \
                 the approver waits for it"
                    .to_owned()
            }
            Self::Journal(error) => error.fix().to_owned(),
            Self::Log(_) => "see that logs/ in the working folder can be written, and that the disk is not full".to_owned(),
            Self::Bug(_) => "report it, with the output of --log-level debug".to_owned(),
        }
    }
}
