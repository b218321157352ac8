//! Takes a member out of etcd, after asking whether that may be.

use std::net::IpAddr;

use serde::Deserialize;

use super::members::{EtcdAccess, MembersError, ask, ask_members};
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

/// Ids are numbers of 64 bits, as text: that is how JSON carries them here.
#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    members: Vec<Numbered>,
}

#[derive(Deserialize)]
struct Numbered {
    #[serde(rename = "ID")]
    id: String,
    #[serde(default)]
    name: String,
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
    for address in &access.addresses {
        let url = match address {
            IpAddr::V4(ip) => format!("https://{ip}:{}", access.port),
            IpAddr::V6(ip) => format!("https://[{ip}]:{}", access.port),
        };
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
    let list = http::Request::post("/v3/cluster/member/list").body(br#"{"linearizable": true}"#.to_vec());
    let text = ask(access, url, list).await?;
    let listed: Listed =
        serde_json::from_str(&text).map_err(|error| MembersError::Nobody(vec![format!("{url}: {error}")]))?;
    let Some(member) = listed.members.into_iter().find(|member| member.name == name) else { return Ok(()) };
    let body = serde_json::json!({"ID": member.id}).to_string().into_bytes();
    ask(access, url, http::Request::post("/v3/cluster/member/remove").body(body)).await.map(drop)
}
