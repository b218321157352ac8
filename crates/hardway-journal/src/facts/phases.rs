//! How the phases of an install went.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! phase_names {
    ($($phase:ident, $word:literal;)+) => {
        /// A phase by its name. What it does is described where phases are; here it is only a word that stays the same. The
        /// program has a test that its phases and these are the same.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[allow(missing_docs, reason = "they are documented where they are done")]
        pub enum PhaseName { $(#[serde(rename = $word)] $phase,)+ }

        impl PhaseName {
            /// Every phase, in order.
            pub const ALL: &'static [Self] = &[$(Self::$phase,)+];

            /// The word.
            pub fn word(self) -> &'static str {
                match self { $(Self::$phase => $word,)+ }
            }
        }
    };
}

phase_names! {
    CheckHost, "check-host";
    BuildInfra, "build-infra";
    FetchRelease, "fetch-release";
    MakePki, "make-pki";
    MakeKubeconfigs, "make-kubeconfigs";
    MakeManifests, "make-manifests";
    RenderNodes, "render-nodes";
    MakeIgnition, "make-ignition";
    InstallOs, "install-os";
    AwaitBootstrap, "await-bootstrap";
    JoinControlPlane, "join-control-plane";
    AwaitEtcd, "await-etcd";
    RemoveBootstrap, "remove-bootstrap";
    BootWorkers, "boot-workers";
    JoinWorkers, "join-workers";
    AwaitOperators, "await-operators";
    VerifyCluster, "verify-cluster";
}

impl fmt::Display for PhaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A phase is about to act. Written before its first effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseStarted {
    /// Which.
    pub phase: PhaseName,
    /// What is missing, in a sentence.
    pub why: String,
}

/// What a phase is for holds now: it was made to, or was found to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseFinished {
    /// Which.
    pub phase: PhaseName,
    /// What was seen, in a sentence.
    pub evidence: String,
}

/// A phase gave up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseFailed {
    /// Which.
    pub phase: PhaseName,
    /// `hardway explain CODE` says more.
    pub code: String,
    /// In a sentence.
    pub what: String,
    /// What was seen, a text each. None in records of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// What to do. None in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// Somebody wants a phase done again, and all that come after it looked at again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseReset {
    /// Which.
    pub phase: PhaseName,
}

/// A person stopped the install.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interrupted {
    /// While this was done.
    pub phase: PhaseName,
}
