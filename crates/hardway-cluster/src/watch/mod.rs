//! Learning what happens in a cluster.

mod event;

pub use event::{Event, Kind, Observed};
