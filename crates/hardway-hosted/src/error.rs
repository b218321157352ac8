//! Why something could not be done to a hosted cluster.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use hardway_base::error_sentence;
use hardway_cluster::api_error::sentence;

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
    /// There is no kubeconfig where one is looked for.
    #[error("no kubeconfig for the management cluster: {why}")]
    NoKubeconfig {
        /// Where it was looked for.
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
    #[error("not touching machine {machine}: {why}")]
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
    #[error("{0} already exists")]
    AlreadyThere(String),
    /// Ports that other services have.
    #[error("NodePorts are already in use: {}", .0.join("; "))]
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
    #[error("it ended without a result, which is a bug in hardway: {0}")]
    Bug(String),
    /// What happened could not be recorded.
    #[error("could not write the journal")]
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
                "check that the kubeconfig is the management cluster's, that its API server answers, and that you have the \
                 permission"
            }
            Self::Kubeconfig { .. } => "name another with --kubeconfig, or set KUBECONFIG",
            Self::NoKubeconfig { .. } => "name it with --kubeconfig, or set KUBECONFIG",
            Self::KubeconfigRefused { .. } => {
                "HyperShift writes none of these: find out who changed the Secret, or pass your own kubeconfig with \
                 --hosted-kubeconfig"
            }
            Self::NotOurs { .. } => {
                "find out who created the record: one that names a foreign machine can be deleted; nothing was done for it"
            }
            Self::Missing(_) => "check `hardway hosted cluster status` and `hardway hosted nodepool list`",
            Self::AlreadyThere(_) => "choose another name, or delete the existing one first",
            Self::PortsTaken(_) => {
                "choose four others in a row with --node-port-base; they cannot be changed later"
            }
            Self::Secret { .. } => {
                "wait for HyperShift's operators, which write it; `hardway hosted doctor` shows more"
            }
            Self::Machine { .. } => "run the command by hand to see why; the next round retries",
            Self::Pointer { .. } => "check that the working folder is writable and the disk is not full",
            Self::Release { .. } => {
                "check that its registry can be reached from here with the cluster's pull secret, or name the image with \
                 --daemon-image"
            }
            Self::Bug(_) => "please report it, with the log; the next round retries",
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

/// Why a release could not be looked into, as whoever looked says. Cheap to keep, and to give out again.
#[derive(Clone, Debug)]
pub struct ReleaseUnread(Arc<dyn Error + Send + Sync>);

impl ReleaseUnread {
    /// For this reason.
    pub fn new(why: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(why))
    }
}

impl fmt::Display for ReleaseUnread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&error_sentence(&*self.0))
    }
}

impl Error for ReleaseUnread {}
/// What is gone already is as good as removed.
pub(crate) fn unless_gone<T>(answer: kube::Result<T>, what: String) -> Result<(), HostedError> {
    match answer {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        answer => answer.map(drop).map_err(HostedError::api(what)),
    }
}
