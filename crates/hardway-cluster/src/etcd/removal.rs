//! Takes a member out of etcd, after asking whether that may be.

use super::members::{EtcdAccess, MembersError, ask, ask_members, list};
use super::quorum::{Loss, QuorumError, guard_removal};

/// Why it was not taken out.
#[derive(Debug, thiserror::Error)]
pub enum RemovalRefused {
    /// etcd could not be asked or told.
    #[error(transparent)]
    Etcd(#[from] MembersError),
    /// etcd would stop.
    #[error(transparent)]
    Quorum(#[from] QuorumError),
}

/// Takes a member out; one that is not on the list is out already. What remains is looked at right before.
///
/// # Errors
/// When etcd does not answer, refuses, or would stop.
pub async fn remove_member(access: &EtcdAccess, name: &str) -> Result<Option<Loss>, RemovalRefused> {
    let members = ask_members(access).await?;
    let loss = match guard_removal(&members, name) {
        Err(QuorumError::NoSuchMember(_)) => return Ok(None),
        judged => judged?,
    };
    let mut refusals = Vec::new();
    for url in access.urls() {
        match take_out(access, &url, name).await {
            Ok(()) => return Ok(Some(loss)),
            Err(MembersError::Nobody(why)) => refusals.extend(why),
            Err(error) => return Err(error.into()),
        }
    }
    Err(MembersError::Nobody(refusals).into())
}

/// By whoever answers: it passes the change on to the leader.
async fn take_out(access: &EtcdAccess, url: &str, name: &str) -> Result<(), MembersError> {
    let listed = list(access, url).await?;
    let Some(member) = listed.into_iter().find(|member| member.name == name) else { return Ok(()) };
    let body = serde_json::json!({"ID": member.id}).to_string().into_bytes();
    ask(access, url, http::Request::post("/v3/cluster/member/remove").body(body)).await.map(drop)
}
