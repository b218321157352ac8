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
//! scaling        which workers come and go                   pool_size how many are wanted, and how that is told
//! management     the management cluster                       pool_status   the gates of a pool, now
//! machine_maker  machines by a provider                       expected  whom the approver lets in
//! controller     all of it, in one long-running process      account_token  how its pod goes into the hosted cluster
//! worker_identity  who a machine is until it is a node
//! ovn            the network's certificate                    diagnosis what keeps workers from working
//! ```
//!
//! What decides is pure, and tested with data alone; what asks and writes is apart from it.

mod account_token;
pub mod config_watch;
pub mod controller;
pub mod diagnosis;
mod error;
pub mod expected;
pub mod gates;
pub mod hash;
mod machine_maker;
mod management;
pub mod names;
pub mod node_view;
pub mod objects;
pub mod ovn;
pub mod pointer;
mod pool_hosts;
pub mod pool_size;
mod pool_status;
pub mod prerequisites;
mod program_provider;
pub mod reconcile;
mod records;
pub mod render;
pub mod scaling;
pub mod stand_in;
pub mod token;
pub mod upgrade;
pub mod worker;
mod worker_identity;

pub use account_token::AccountToken;
pub use error::{HostedError, ReleaseUnread};
pub use machine_maker::{MachineMaker, MachineOf};
pub use management::Management;
pub use pool_hosts::{PlacedHost, PoolHosts};
pub use pool_status::{PoolStatus, TokenStatus, pool_status};
pub use program_provider::ProgramProvider;

/// What keeps hosted workers from working, explained.
pub const EXPLANATIONS: &[(hardway_assets::explain::Kind, &str)] =
    &[(hardway_assets::explain::Kind::HostedDiagnosis, include_str!("../explanations/diagnoses.md"))];
