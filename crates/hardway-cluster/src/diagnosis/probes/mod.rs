//! Pure questions to the evidence. Each gives sentences about what is broken, or none.

pub(super) mod bootstrap;
pub(super) mod folder;
pub(super) mod host;
pub(super) mod ignition;
pub(super) mod logs;
pub(super) mod names;
pub(super) mod nodes;
pub(super) mod operators;
pub(super) mod os_install;
pub(super) mod reach;
pub(super) mod seeds;
