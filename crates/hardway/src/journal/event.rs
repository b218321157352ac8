//! What the install writes into the journal about itself.

use hardway_journal::Fact;
use serde::{Deserialize, Serialize};

/// A phase is about to act. Written before its first effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PhaseStarted {
    pub(crate) phase: String,
    /// What is missing, in a sentence.
    pub(crate) why: String,
}

/// What a phase is for holds now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PhaseFinished {
    pub(crate) phase: String,
    /// What was seen, in a sentence.
    pub(crate) evidence: String,
}

/// A phase gave up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PhaseFailed {
    pub(crate) phase: String,
    /// `hardway explain CODE` says more.
    pub(crate) code: String,
    pub(crate) what: String,
}

/// Somebody wants a phase done again, and all that come after it looked at again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PhaseReset {
    pub(crate) phase: String,
}

/// A machine has done its part and is about to be taken away for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MachineRetired {
    pub(crate) host: String,
}

/// A person stopped the install.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Interrupted {
    pub(crate) phase: String,
}

impl Fact for PhaseStarted {
    const KIND: &'static str = "phase-started";
}

impl Fact for PhaseFinished {
    const KIND: &'static str = "phase-finished";
}

impl Fact for PhaseFailed {
    const KIND: &'static str = "phase-failed";
}

impl Fact for PhaseReset {
    const KIND: &'static str = "phase-reset";
}

impl Fact for MachineRetired {
    const KIND: &'static str = "machine-retired";
}

impl Fact for Interrupted {
    const KIND: &'static str = "install-interrupted";
}
