//! Why a worker does not come on.

use std::fmt;

use hardway_journal::WorkerStep as StepKind;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::gates::GateName;

/// Why a worker does not come on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Trouble {
    /// Which it is.
    pub reason: TroubleReason,
    /// In sentences.
    pub message: String,
    /// Since when.
    pub since: Timestamp,
}

/// What kind of trouble. In records, metrics and output it is one word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum TroubleReason {
    /// A person has to switch the machine on.
    ByHand,
    /// Pods do not leave, because a budget keeps them.
    DrainHeld,
    /// A step failed; it is tried again.
    Failed(StepKind),
    /// A gate of the pool is closed.
    Held(GateName),
    /// A node of that name is there already.
    NameTaken,
    /// The node was there and is gone.
    NodeMissing,
    /// Which image upgrades nodes is not known.
    NoDaemonImage,
    /// Its certificate request is not approved.
    NotApproved,
    /// It has not asked for a certificate.
    NotAsked,
    /// It has not fetched its config.
    NotFetched,
    /// Its node has not been ready for too long.
    NotReady,
    /// It has a certificate and no node.
    NotRegistered,
    /// It would be replaced, but something speaks against replacing anybody.
    RepairsPaused,
    /// The machine-config-daemon gave up.
    UpgradeDegraded,
    /// An upgrade does not end.
    UpgradeStuck,
    /// Draining would lose pods that nobody starts again.
    WouldLosePods,
    /// Written by another version of hardway.
    Other(String),
}

impl TroubleReason {
    const PLAIN: [Self; 14] = [
        Self::ByHand,
        Self::DrainHeld,
        Self::NameTaken,
        Self::NodeMissing,
        Self::NoDaemonImage,
        Self::NotApproved,
        Self::NotAsked,
        Self::NotFetched,
        Self::NotReady,
        Self::NotRegistered,
        Self::RepairsPaused,
        Self::UpgradeDegraded,
        Self::UpgradeStuck,
        Self::WouldLosePods,
    ];

    /// Whether it is over once the node is Ready.
    pub fn ends_with_ready(&self) -> bool {
        matches!(
            self,
            Self::ByHand
                | Self::NotApproved
                | Self::NotAsked
                | Self::NotFetched
                | Self::NotReady
                | Self::NotRegistered
                | Self::RepairsPaused
        )
    }

    /// Whether it is over once an upgrade has ended.
    pub fn is_of_upgrade(&self) -> bool {
        matches!(self, Self::UpgradeDegraded | Self::UpgradeStuck | Self::Failed(StepKind::Upgrade))
    }
}

impl fmt::Display for TroubleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::ByHand => "by-hand",
            Self::DrainHeld => "drain-held",
            Self::Failed(step) => return f.pad(&format!("{step}-failed")),
            Self::Held(gate) => gate.name(),
            Self::NameTaken => "name-taken",
            Self::NodeMissing => "node-missing",
            Self::NoDaemonImage => "no-daemon-image",
            Self::NotApproved => "not-approved",
            Self::NotAsked => "not-asked",
            Self::NotFetched => "not-fetched",
            Self::NotReady => "not-ready",
            Self::NotRegistered => "not-registered",
            Self::RepairsPaused => "repairs-paused",
            Self::UpgradeDegraded => "upgrade-degraded",
            Self::UpgradeStuck => "upgrade-stuck",
            Self::WouldLosePods => "would-lose-pods",
            Self::Other(word) => word,
        })
    }
}

impl From<TroubleReason> for String {
    fn from(reason: TroubleReason) -> Self {
        reason.to_string()
    }
}

impl From<String> for TroubleReason {
    fn from(word: String) -> Self {
        let plain = Self::PLAIN.into_iter();
        let failed = StepKind::ALL.into_iter().map(Self::Failed);
        let held = GateName::ALL.into_iter().map(Self::Held);
        let known = plain.chain(failed).chain(held).find(|reason| reason.to_string() == word);
        known.unwrap_or(Self::Other(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_read_as_it_was_written() {
        let reasons = TroubleReason::PLAIN.into_iter();
        let reasons = reasons
            .chain(StepKind::ALL.map(TroubleReason::Failed))
            .chain(GateName::ALL.map(TroubleReason::Held));
        for reason in reasons {
            assert_eq!(TroubleReason::from(reason.to_string()), reason);
        }
        let other = TroubleReason::from("of-tomorrow".to_owned());
        assert_eq!(
            (other.to_string().as_str(), &other),
            ("of-tomorrow", &TroubleReason::Other("of-tomorrow".into()))
        );
    }
}
