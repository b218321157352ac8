//! etcd brought back from a backup, when more than half of its members are lost.
//!
//! ```text
//! RestorePlan      which case it is, and where it is restored; refused over a quorum   plan.rs
//! RestoredData     the data of one member, made and read through here                  data.rs
//! MasterShell      what is done on a master, each so that it can be done again         master.rs
//! redeploy()       operators make their static pods anew; note_restore() is a write    operators.rs
//! ```
//!
//! The way is that of OpenShift's own scripts (openshift/cluster-etcd-operator 4.18 `bindata/etcd/cluster-restore.sh`,
//! `restore-pod.yaml`): no etcd runs anywhere, one master gets the data of the backup as those of a cluster of one member, with
//! its revisions raised and everything before them marked as compacted, and the others join it anew. What differs: `etcdutl` runs
//! where hardway runs, so that the data are made and compared before anything is stopped.

mod data;
mod master;
mod operators;
mod plan;

pub use data::{BUMP, DataError, RestoredData, RestoredMember};
pub use master::{MasterLook, MasterShell};
pub use operators::{note_restore, redeploy};
pub use plan::{LostMembers, RestorePlan, RestoreRefused, SeenMaster};
