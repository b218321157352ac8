//! Why something could not be done to a hosted cluster.

use std::path::PathBuf;

use hardway_cluster::api_error::sentence;

use crate::release_unread::ReleaseUnread;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum HostedError {
    /// An API server said no, or nothing.
    #[error("{what}: {}", said(.source))]
    Api {
        /// What was to be done.
        what: String,
        /// What it said.
        source: Box<kube::Error>,
    },
    /// A kubeconfig that cannot be used.
    #[error("{what} cannot be used as a kubeconfig: {why}")]
    Kubeconfig {
        /// Which.
        what: String,
        /// Why.
        why: String,
    },
    /// A kubeconfig in a Secret that says more than it may.
    #[error("the kubeconfig in Secret {secret} is refused: {}", .flaws.join("; "))]
    KubeconfigRefused {
        /// Which.
        secret: String,
        /// Every field that must not be there, and why; never a value.
        flaws: Vec<String>,
    },
    /// A machine that is not this pool's to touch.
    #[error("machine {machine} is left alone: {why}")]
    NotOurs {
        /// Which.
        machine: String,
        /// Whose it is.
        why: String,
    },
    /// Something that must be there is not.
    #[error("there is no {0}")]
    Missing(String),
    /// Something is there that must not be.
    #[error("{0} is already there")]
    AlreadyThere(String),
    /// Ports that other services have.
    #[error("NodePorts are taken: {}", .0.join("; "))]
    PortsTaken(Vec<String>),
    /// A Secret does not hold what it should.
    #[error("Secret {name}: {why}")]
    Secret {
        /// Which.
        name: String,
        /// What is wrong; never its value.
        why: String,
    },
    /// A machine could not be made, switched on or removed.
    #[error("machine {machine}: {why}")]
    Machine {
        /// Which.
        machine: String,
        /// Why.
        why: String,
    },
    /// The pointer of a machine could not be put down.
    #[error("{} could not be written", path.display())]
    Pointer {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A release that could not be looked into.
    #[error("release {image}: {why}")]
    Release {
        /// Which.
        image: String,
        /// Why.
        why: ReleaseUnread,
    },
    /// A fault of ours: a step panicked.
    #[error("it ended without a result, which is a fault of hardway: {0}")]
    Bug(String),
    /// What happened could not be recorded.
    #[error("what happened could not be recorded")]
    Journal(#[from] hardway_journal::JournalError),
}

impl HostedError {
    /// An answer of an API server, with what was to be done.
    pub(crate) fn api(what: impl Into<String>) -> impl FnOnce(kube::Error) -> Self {
        let what = what.into();
        move |source| Self::Api { what, source: Box::new(source) }
    }

    /// Whether somebody else wrote in between, or was faster: looking again is enough.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Api { source, .. } if matches!(source.as_ref(), kube::Error::Api(status) if status.code == 409))
    }

    /// What a person can do.
    pub fn fix(&self) -> &'static str {
        match self {
            Self::Api { .. } => {
                "see that the kubeconfig is the management cluster's, that its API server answers, and that you may do this there"
            }
            Self::Kubeconfig { .. } => "name another with --kubeconfig, or set KUBECONFIG",
            Self::KubeconfigRefused { .. } => {
                "HyperShift writes none of these: find out who changed the Secret, or name a kubeconfig of your own with --hosted-kubeconfig"
            }
            Self::NotOurs { .. } => {
                "see who asks for it: a record with the name of a machine that is somebody else's can be deleted, nothing was done for it"
            }
            Self::Missing(_) => "look at `hardway hosted cluster status` and `hardway hosted nodepool list`",
            Self::AlreadyThere(_) => "choose another name, or delete what is there first",
            Self::PortsTaken(_) => {
                "choose others with --node-port-base: four in a row; they cannot be changed later"
            }
            Self::Secret { .. } => {
                "wait for HyperShift's operators; they write it. `hardway hosted doctor` says more"
            }
            Self::Machine { .. } => "run the command it names by hand; the next round tries again",
            Self::Pointer { .. } => "see that the working folder is writable by you and has space left",
            Self::Release { .. } => {
                "see that its registry can be reached from here with the cluster's pull secret, or name the image with --daemon-image"
            }
            Self::Bug(_) => "report it, with the log; the next round tries again",
            Self::Journal(error) => error.fix(),
        }
    }
}

/// What the API server said in its own words, or why it said nothing.
fn said(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => status.message.clone(),
        error => sentence(error),
    }
}
