//! Day two: what a cluster is given after its install, step by step.
//!
//! ```text
//! DayTwoObject     what a step makes, and the files it is kept in            objects.rs
//!   identity       who may log in                                            identity.rs
//!   certificates   the organisation's own for API and routes                 serving_certificates.rs
//!   nodes          time servers and ssh keys, as MachineConfigs              node_settings.rs
//!   operators      registry, monitoring, proxy, trust, pull secret           operator_settings.rs
//! ```
//!
//! The steps and their settings are in `day_two_settings`, which the inventory reads.
//!
//! Pure: settings and the contents of the files they name go in, objects or everything that is wrong come out. The same go in, the same
//! come out: nothing changes in a cluster because a step was run twice.

mod identity;
mod node_settings;
mod objects;
mod operator_settings;
mod serving_certificates;

pub use crate::day_two_settings::{
    DayTwoSettings, DayTwoStep, HtpasswdSettings, HtpasswdUser, IdentitySettings, LdapSettings, NamedFile,
    NodeEffect, OpenIdSettings, ServingPair, StepRow,
};
pub use identity::provider_names;
pub use objects::{DayTwoInputs, DayTwoObject, files, objects};

#[cfg(test)]
mod tests;
