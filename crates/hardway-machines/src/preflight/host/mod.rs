//! This host: programs, clock, and what the inventory still has to say.

mod clock;
mod inventory_complete;
mod programs;

pub(super) use clock::clock;
pub(super) use inventory_complete::inventory_complete;
pub(super) use programs::programs;
