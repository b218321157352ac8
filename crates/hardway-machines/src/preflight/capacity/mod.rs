//! Whether the machines fit on this host, and are large enough.

mod disk_latency;
mod disk_space;
mod machine_sizes;
mod memory;
mod processors;

pub(super) use disk_latency::disk_latency;
pub(super) use disk_space::disk_space;
pub(super) use machine_sizes::machine_sizes;
pub(super) use memory::memory;
pub(super) use processors::processors;
