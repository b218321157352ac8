//! What install media carry: the live system's config, pointers, boot scripts. Text only; images are made elsewhere.
//!
//! ```text
//! live_config.rs     the config of a live system that installs a host and restarts
//! hashed_pointer.rs  a config that says where the real one is, and what it must be
//! network_boot.rs    kernel arguments and iPXE scripts of machines that boot from the network
//! user_data.rs       how much a cloud hands to a machine
//! ```

mod hashed_pointer;
mod live_config;
mod network_boot;
mod user_data;

pub use hashed_pointer::{hash, hash_in, hashed_pointer};
pub use live_config::{DESTINATION, INSTALLER, LiveConfig, Script, ScriptName, When};
pub use network_boot::{BootFiles, Mac, boot_index, boot_local, boot_script, kernel_arguments};
pub use user_data::{GCE_LIMIT, LIMITS, Limit, TooLarge};
