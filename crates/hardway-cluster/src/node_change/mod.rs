//! A node that comes, goes, or is replaced.
//!
//! ```text
//! fate()          what becomes of a pod when its node goes                  fate.rs
//! Leaving         cordon, drain, delete                                     leaving.rs
//! Replacement     the steps of replacing a master, or why it may not be     replacement.rs
//! etcd            what the etcd operator has to be told meanwhile           etcd.rs
//! user_data()     what the cluster gives to machines that join              user_data.rs
//! ```

mod etcd;
mod fate;
mod leaving;
mod replacement;
mod user_data;

pub use etcd::{forget_certificates, set_unsafe_etcd};
pub use fate::{Fate, fate};
pub use leaving::{Leaving, LeavingError};
pub use replacement::{Replacement, Step};
pub use user_data::{UserDataMissing, user_data};
