//! Pure questions to the evidence. Each gives sentences about what is broken, or none.

pub(super) mod bootstrap;
pub(super) mod folder;
pub(super) mod logs;
pub(super) mod machines;
pub(super) mod names;
pub(super) mod nodes;
pub(super) mod operators;
pub(super) mod reach;
pub(super) mod seeds;
