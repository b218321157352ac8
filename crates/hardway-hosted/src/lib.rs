//! HyperShift platform None: the workers of hosted clusters.
//!
//! On this platform HyperShift writes two Secrets for each NodePool and stops (openshift/hypershift
//! `hypershift-operator/controllers/nodepool/nodepool_controller.go`). Everything behind them is done here.
//!
//! ```text
//! render         the objects of a cluster and its pools
//! gates          what a pool must come through before a machine can boot, and what holds it
//! config_watch   whether its config has come to rest          token     how long a token can be used
//! pointer        HyperShift's pointer, made one machine's     worker    a worker's record
//! reconcile      what is wanted and seen → the next steps     upgrade   upgrades in place
//! management     the management cluster                       pool_status   the gates of a pool, now
//! ```
//!
//! What decides is pure, and tested with data alone; what asks and writes is apart from it.

pub mod config_watch;
mod error;
pub mod gates;
pub mod hash;
mod management;
pub mod names;
pub mod node_view;
pub mod objects;
pub mod pointer;
mod pool_status;
pub mod reconcile;
pub mod render;
pub mod token;
pub mod upgrade;
pub mod worker;

pub use error::HostedError;
pub use management::Management;
pub use pool_status::{PoolStatus, TokenStatus, pool_status};
