//! What can be set.

use jiff::SignedDuration;

/// The patience of the controller, and its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Machines that may be booting at the same time.
    pub boots_at_once: usize,
    /// From being switched on to being a node. What HyperShift would give other platforms: 20 minutes.
    pub startup: SignedDuration,
    /// A node that is not ready for longer is unwell. What HyperShift would give platform None: 16 minutes.
    pub unready: SignedDuration,
    /// With more unwell workers than this, nothing is replaced: the fault is likely elsewhere.
    pub most_unwell: usize,
    /// Workers of a pool that are replaced within an hour, at most.
    pub repairs_per_hour: usize,
    /// Pods get this long to leave; then the machine goes all the same.
    pub drain: SignedDuration,
    /// Pods of a node that has not answered for this long are not waited for.
    pub unreachable: SignedDuration,
    /// An upgrade that takes longer is stuck.
    pub upgrade: SignedDuration,
    /// Whether upgrades are driven at all.
    pub upgrades: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            boots_at_once: 20,
            startup: SignedDuration::from_mins(20),
            unready: SignedDuration::from_mins(16),
            most_unwell: 2,
            repairs_per_hour: 3,
            drain: SignedDuration::from_mins(10),
            unreachable: SignedDuration::from_mins(5),
            upgrade: SignedDuration::from_mins(45),
            upgrades: true,
        }
    }
}
