//! The faces: who may have which config. Data in, [`Decision`](super::Decision) out; no clock, no network, no disk.

mod host;
mod host_folder;
mod hosted;
mod pool;

pub use host::{HostFace, HostOffer, HostTable};
pub use host_folder::{HostFile, HostFolder, Looked, UnreadableConfig};
pub use hosted::HostedFace;
pub use pool::{Pool, PoolFace};
