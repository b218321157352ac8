//! Giving back the space that etcd's databases no longer use: one member at a time, the leader last.
//!
//! A member that defragments answers nobody meanwhile, so that each counts as lost for that long. It is refused unless all others are
//! well, and the next one's turn comes only once the last is well again.

use std::time::Duration;

use serde::Serialize;
use tokio::time::{Instant, sleep};

use super::members::{EtcdAccess, MembersError, ask};
use super::status::{EtcdStatus, MemberStatus, ask_one, ask_status};

/// etcd's word for a member that has no more room; defragmenting is a part of the way out, so that it does not stand in its way.
const NO_SPACE: &str = "NOSPACE";

/// How long a member may take: it copies its whole database.
const PATIENCE: Duration = Duration::from_mins(5);

/// Between looks at a member that comes back.
const POLL: Duration = Duration::from_millis(500);

/// Why nothing was done, or not to all.
#[derive(Debug, thiserror::Error)]
pub enum DefragRefused {
    /// etcd could not be asked or told.
    #[error(transparent)]
    Etcd(#[from] MembersError),
    /// Somebody is unwell, and one more would be too much.
    #[error("nothing is defragmented while a member is unhealthy: {}", .0.join("; "))]
    Unwell(Vec<String>),
    /// A member did not come back.
    #[error("member {0} has been unhealthy since it was defragmented; the others were left alone")]
    NotBack(String),
}

/// What became of one member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Defragmented {
    /// Its name.
    pub member: String,
    /// Bytes on disk before.
    pub before: u64,
    /// Bytes on disk now.
    pub after: u64,
}

/// In which order it is done: the leader last, so that it changes no more than once.
///
/// # Errors
/// When a member is unwell.
pub fn defrag_order(status: &EtcdStatus) -> Result<Vec<&MemberStatus>, DefragRefused> {
    let mut complaints: Vec<String> = status.members.iter().filter_map(hinders).collect();
    if !status.has_quorum {
        complaints.push("there is no quorum".to_owned());
    }
    if !complaints.is_empty() {
        return Err(DefragRefused::Unwell(complaints));
    }
    let is_leader = |one: &&MemberStatus| one.answer.as_ref().is_some_and(|answer| answer.is_leader);
    let mut order: Vec<&MemberStatus> = status.members.iter().collect();
    order.sort_by_key(|one| is_leader(one));
    Ok(order)
}

/// Defragments every member in that order; `told` hears of each that is done.
///
/// # Errors
/// When a member is unwell, refuses, or does not come back; those after it are left alone.
pub async fn defragment(
    access: &EtcdAccess,
    mut told: impl FnMut(&Defragmented),
) -> Result<Vec<Defragmented>, DefragRefused> {
    let status = ask_status(access).await?;
    let order: Vec<MemberStatus> = defrag_order(&status)?.into_iter().cloned().collect();
    let mut all = Vec::new();
    for one in order {
        // Looked at anew before each: minutes may have passed.
        defrag_order(&ask_status(access).await?)?;
        let done = one_member(access, &one).await?;
        told(&done);
        all.push(done);
    }
    Ok(all)
}

async fn one_member(access: &EtcdAccess, one: &MemberStatus) -> Result<Defragmented, DefragRefused> {
    let name = one.member.shown();
    let url = one.member.client_urls.first().ok_or(MembersError::NoAddress)?;
    let patient = EtcdAccess { patience: PATIENCE, ..access.clone() };
    let request = http::Request::post("/v3/maintenance/defragment").body(b"{}".to_vec());
    ask(&patient, url, request).await?;
    let until = Instant::now() + access.patience.max(Duration::from_secs(30));
    while Instant::now() < until {
        if let Ok((_, answer)) = ask_one(access, url).await
            && answer.has_leader
        {
            let before = one.answer.as_ref().map_or(0, |answer| answer.db_size);
            return Ok(Defragmented { member: name, before, after: answer.db_size });
        }
        sleep(POLL).await;
    }
    Err(DefragRefused::NotBack(name))
}

fn hinders(one: &MemberStatus) -> Option<String> {
    let name = one.member.shown();
    let said = match &one.answer {
        None => "does not answer",
        Some(answer) if !answer.has_leader => "knows no leader",
        Some(answer) => {
            let others: Vec<&str> =
                answer.errors.iter().map(String::as_str).filter(|error| !error.contains(NO_SPACE)).collect();
            return (!others.is_empty()).then(|| format!("{name} complains: {}", others.join(", ")));
        }
    };
    Some(format!("{name} {said}"))
}
