//! etcd's members: who they are, how they are, and whether one may go. etcd itself is asked, and told.
//!
//! ```text
//! ask_members()     who is in it, each asked for its health   members.rs
//! guard_removal()   may this member go?                       quorum.rs
//! remove_member()   takes one out                             removal.rs
//! ask_status()      how each is, in its own words             status.rs
//! EtcdWatch         the same, again and again                  watch.rs
//! defragment()      gives space back, one after the other     defrag.rs
//! take_snapshot()   as a member sends it                      snapshot.rs
//! write_backup()    one encrypted file; open_backup() reads   backup.rs
//! prove()           restores it, and compares everything      proof/
//! RestorePlan       brings etcd back where a majority is lost  restore/
//! Turn              one at a time                             turn.rs
//! database          what a database file holds                database/
//! ```

mod backup;
pub mod database;
mod defrag;
mod members;
mod proof;
mod quorum;
mod removal;
pub mod restore;
mod snapshot;
mod status;
#[cfg(test)]
mod tests;
mod turn;
mod watch;

pub use backup::{
    BackupError, BackupManifest, Opened, SNAPSHOT, STATIC_PODS, Shelf, open_backup, remove_backup,
    static_pods, write_backup,
};
pub use defrag::{DefragRefused, Defragmented, defrag_order, defragment};
pub use members::{EtcdAccess, Member, MembersError, ask_members};
pub use proof::{KindCount, ProgramMissing, Programs, Proof, ProofError, prove};
pub use quorum::{Loss, QuorumError, guard_removal, quorum};
pub use removal::{RemovalRefused, remove_member};
pub use snapshot::{SnapshotError, snapshot_source, take_snapshot};
pub use status::{EtcdStatus, MemberStatus, StatusAnswer, ask_status};
pub use turn::{Turn, TurnError};
pub use watch::EtcdWatch;

/// What the bootstrap host's member is called; the etcd operator removes it by this name.
pub const BOOTSTRAP_MEMBER: &str = "etcd-bootstrap";
