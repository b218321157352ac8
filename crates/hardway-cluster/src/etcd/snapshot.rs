//! A snapshot, as a member sends it.
//!
//! etcd streams its database in pieces, as JSON lines over the same port as everything else, and the SHA-256 of it at the end
//! (etcd-io/etcd `api/etcdserverpb/rpc.proto` Maintenance.Snapshot).

use std::fs::File;
use std::io::Write as _;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::AsyncBufReadExt as _;
use serde::Deserialize;
use tokio::time::timeout;

use super::database::{Contents, DatabaseError};
use super::members::{EtcdAccess, MembersError, client};
use super::status::{EtcdStatus, MemberStatus};

/// So long may a member take for the next piece.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why there is no snapshot.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// etcd could not be asked.
    #[error(transparent)]
    Etcd(#[from] MembersError),
    /// Nobody is well enough to tell the truth.
    #[error("no etcd member is healthy, and the snapshot of an unhealthy one may be outdated")]
    NobodyWell,
    /// The member ended before its end, or said something else.
    #[error("the snapshot from {member} broke off: {why}")]
    BrokenOff {
        /// Its name.
        member: String,
        /// Its words, or what was missing.
        why: String,
    },
    /// It cannot be written down.
    #[error("it cannot be written")]
    Io(#[from] std::io::Error),
    /// What came is no database.
    #[error("what {member} sent is damaged")]
    Damaged {
        /// Its name.
        member: String,
        /// How.
        #[source]
        source: DatabaseError,
    },
}

/// Whom to take it from: one that is well, and a follower rather than the leader, who has more to do.
///
/// # Errors
/// When nobody is well, or there is no quorum.
pub fn snapshot_source(status: &EtcdStatus) -> Result<&MemberStatus, SnapshotError> {
    let is_leader = |one: &&MemberStatus| one.answer.as_ref().is_some_and(|answer| answer.is_leader);
    let well = || status.members.iter().filter(|one| one.is_well() && !one.member.is_learner);
    let found = well().find(|one| !is_leader(one)).or_else(|| well().next());
    found.filter(|_| status.has_quorum).ok_or(SnapshotError::NobodyWell)
}

/// Writes a member's snapshot into a file and reads it through: its sum, every page, every key.
///
/// # Errors
/// When it breaks off or is damaged.
pub async fn take_snapshot(
    access: &EtcdAccess,
    source: &MemberStatus,
    file: &mut File,
) -> Result<Contents, SnapshotError> {
    let member = source.member.shown();
    let url = source.member.client_urls.first().ok_or(MembersError::NoAddress)?;
    download(access, url, &member, file).await?;
    Contents::of_snapshot(file).map_err(|source| SnapshotError::Damaged { member, source })
}

async fn download(
    access: &EtcdAccess,
    url: &str,
    member: &str,
    file: &mut File,
) -> Result<(), SnapshotError> {
    let broken = |why: String| SnapshotError::BrokenOff { member: member.to_owned(), why };
    let late = || broken(format!("nothing came for {} s", PATIENCE.as_secs()));
    let request = http::Request::post("/v3/maintenance/snapshot").body(b"{}".to_vec());
    let request = request.map_err(|error| broken(error.to_string()))?;
    let asked = timeout(PATIENCE, client(access, url)?.request_stream(request)).await.map_err(|_| late())?;
    let mut lines = std::pin::pin!(asked.map_err(|error| broken(crate::api_error::sentence(&error)))?);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = timeout(PATIENCE, lines.read_until(b'\n', &mut line)).await.map_err(|_| late())?;
        if read.map_err(|error| broken(error.to_string()))? == 0 {
            return Ok(());
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let piece: Line = serde_json::from_slice(&line).map_err(|error| broken(error.to_string()))?;
        match piece {
            Line { result: Some(piece), .. } => {
                let bytes = STANDARD.decode(&piece.blob).map_err(|error| broken(error.to_string()))?;
                file.write_all(&bytes)?;
            }
            Line { error, .. } => {
                return Err(broken(
                    error.map_or_else(|| "it sent nothing".to_owned(), |error| error.message),
                ));
            }
        }
    }
}

#[derive(Deserialize)]
struct Line {
    result: Option<Piece>,
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Piece {
    #[serde(default)]
    blob: String,
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    message: String,
}
