//! Learning what happens in a cluster, as events that a fold takes in.

mod event;
mod follow;

pub use event::{Event, Kind, Observed};
pub use follow::{Watch, WatchPatience};
