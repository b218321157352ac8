//! Day two, in a cluster that runs: what a step would change, changing it, and taking it back.
//!
//! ```text
//! Objects       the cluster's objects: what is there, what would change, changing it     objects.rs
//! difference    two versions of an object, field by field                                difference.rs
//! Forecast      which nodes the machine-config-operator takes, and in what order         forecast.rs
//! asking        servers of the organisation, before the cluster is told about them       asking.rs
//! newcomer      whether an administrator has really logged in                            newcomer.rs
//! ```

mod asking;
mod difference;
mod forecast;
mod newcomer;
mod objects;

pub use asking::{AskError, ask_ldap, ask_open_id};
pub use difference::FieldChange;
pub use forecast::{Forecast, PoolForecast};
pub use newcomer::{NewcomerError, verify as verify_newcomer};
pub use objects::{Objects, ObjectsError, Planned, PlannedObject};
