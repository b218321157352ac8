//! Why a wait was given up.

use std::fmt;

use jiff::SignedDuration;
use serde::Serialize;

use crate::clock::shown;
use crate::operators::{Prerequisite, Stall};

/// A wait that did not end well.
#[derive(Debug, thiserror::Error)]
pub enum WaitError {
    /// The API never answered.
    #[error("Bootstrap failed to complete: {last}")]
    Api {
        /// What was heard last.
        last: String,
        /// What ended the wait.
        why: GiveUp,
    },
    /// Bootstrapping did not end.
    #[error("Bootstrap failed to complete: {last}")]
    Bootstrap {
        /// What is missing.
        last: String,
        /// What ended the wait.
        why: GiveUp,
    },
    /// The kubeconfig cannot be used.
    #[error("the kubeconfig cannot be used: {0}")]
    Client(String),
    /// The ClusterVersion did not become available.
    #[error("failed to initialize the cluster: {last}")]
    Initialize {
        /// What the version operator said last.
        last: String,
        /// What ended the wait.
        why: GiveUp,
    },
    /// Declared nodes are missing.
    #[error("the cluster is initialized, but lacks declared nodes: {}", .missing.iter().map(|link| link.what.as_str()).collect::<Vec<_>>().join("; "))]
    Nodes {
        /// One per node.
        missing: Vec<Prerequisite>,
        /// What ended the wait.
        why: GiveUp,
    },
    /// Operators did not come to rest.
    #[error("These cluster operators were not stable: [{}]", .unstable.join(", "))]
    Stability {
        /// By name.
        unstable: Vec<String>,
        /// What ended the wait.
        why: GiveUp,
    },
}

/// What ended the wait.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum GiveUp {
    /// Nothing new for too long.
    Stalled(Box<Stall>),
    /// `--timeout` was over.
    TimedOut(SignedDuration, Option<Box<Prerequisite>>),
}

impl WaitError {
    /// What ended it.
    pub fn why(&self) -> Option<&GiveUp> {
        match self {
            Self::Api { why, .. }
            | Self::Bootstrap { why, .. }
            | Self::Initialize { why, .. }
            | Self::Nodes { why, .. }
            | Self::Stability { why, .. } => Some(why),
            Self::Client(_) => None,
        }
    }

    /// openshift-install's hint for the class of failure, in its own words.
    pub fn hint(&self) -> &'static str {
        let is_silent = self.why().and_then(GiveUp::broken).is_some_and(|broken| broken.subject == "api");
        match self {
            Self::Initialize { .. } | Self::Nodes { .. } | Self::Stability { .. } if is_silent => {
                "The API of the cluster cannot be reached, so nothing is known about its operators."
            }
            Self::Api { .. } => {
                "Failed waiting for Kubernetes API. This error usually happens when there is a problem on the bootstrap \
                 host that prevents creating a temporary control plane."
            }
            Self::Bootstrap { .. } => {
                "Failed to wait for bootstrapping to complete. This error usually happens when there is a problem with \
                 control plane hosts that prevents the control plane operators from creating the control plane."
            }
            Self::Client(_) => "Failed to create a kubernetes client.",
            Self::Initialize { .. } | Self::Nodes { .. } | Self::Stability { .. } => {
                "Cluster initialization failed because one or more operators are not functioning properly.\n\
                 The cluster should be accessible for troubleshooting as detailed in the documentation linked below,\n\
                 https://docs.openshift.com/container-platform/latest/support/troubleshooting/troubleshooting-installations.html\n\
                 The 'wait-for install-complete' subcommand can then be used to continue the installation"
            }
        }
    }
}

impl GiveUp {
    /// The first broken link.
    pub fn broken(&self) -> Option<&Prerequisite> {
        match self {
            Self::Stalled(stall) => stall.broken.as_ref(),
            Self::TimedOut(_, broken) => broken.as_deref(),
        }
    }
}

impl fmt::Display for GiveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stalled(stall) => {
                write!(f, "stalled: no progress since {:.0} ({})", stall.since, stall.last_progress)
            }
            Self::TimedOut(limit, _) => write!(f, "gave up after {}", shown(*limit)),
        }
    }
}
