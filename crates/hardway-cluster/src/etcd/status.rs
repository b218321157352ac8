//! How each member of etcd is, in its own words.
//!
//! Every member is asked for itself (etcd-io/etcd `api/etcdserverpb/rpc.proto` Maintenance.Status); the list comes from whoever answers
//! first, by a read that needs a quorum. Without one the list cannot be had, and then each address is asked alone.

use serde::{Deserialize, Serialize};

use super::members::{EtcdAccess, ListedMember, Member, MembersError, ask, list};

/// etcd as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EtcdStatus {
    /// What etcd calls this cluster, in hexadecimal.
    pub cluster_id: String,
    /// Whether more than half of the voting members agree just now.
    pub has_quorum: bool,
    /// In the order of their names; those that have not started yet first.
    pub members: Vec<MemberStatus>,
    /// Addresses of masters that nobody answered at, and why. Only where the list could not be had.
    pub unanswered: Vec<String>,
}

/// One member, and what it says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberStatus {
    /// As on the list.
    #[serde(flatten)]
    pub member: Member,
    /// Its number, in hexadecimal as etcdctl prints it.
    pub id: String,
    /// Its own word; none where it does not answer.
    pub answer: Option<StatusAnswer>,
}

/// What a member says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusAnswer {
    /// Of etcd.
    pub version: String,
    /// Bytes of its database on disk.
    pub db_size: u64,
    /// Bytes of it that hold something.
    pub db_size_in_use: u64,
    /// Whether it is the leader.
    pub is_leader: bool,
    /// Whether it knows a leader.
    pub has_leader: bool,
    /// The newest change that it has.
    pub revision: u64,
    /// The election that it knows of.
    pub raft_term: u64,
    /// How far its log goes.
    pub raft_index: u64,
    /// How much of its log it has carried out.
    pub raft_applied_index: u64,
    /// What it complains of, such as an alarm for want of space.
    pub errors: Vec<String>,
}

impl EtcdStatus {
    /// Voting members that do not answer, or complain.
    pub fn unwell(&self) -> impl Iterator<Item = &MemberStatus> {
        self.members.iter().filter(|one| !one.member.is_learner && !one.is_well())
    }

    /// Who leads.
    pub fn leader(&self) -> Option<&MemberStatus> {
        self.members.iter().find(|one| one.answer.as_ref().is_some_and(|answer| answer.is_leader))
    }
}

impl MemberStatus {
    /// It answers, takes part, and complains of nothing.
    pub fn is_well(&self) -> bool {
        self.member.is_healthy
            && self.answer.as_ref().is_some_and(|answer| answer.has_leader && answer.errors.is_empty())
    }

    /// What is wrong with it, for people.
    pub fn complaint(&self) -> Option<String> {
        match &self.answer {
            None => Some("does not answer".to_owned()),
            Some(answer) if !answer.has_leader => Some("knows no leader".to_owned()),
            Some(answer) if !answer.errors.is_empty() => Some(answer.errors.join(", ")),
            Some(_) if !self.member.is_healthy => Some("reports that it is not healthy".to_owned()),
            Some(_) => None,
        }
    }
}

impl StatusAnswer {
    /// Bytes that defragmenting would give back.
    pub fn reclaimable(&self) -> u64 {
        self.db_size.saturating_sub(self.db_size_in_use)
    }
}

/// Asks every member. Without a quorum, whoever answers at the addresses of the masters.
///
/// # Errors
/// When nobody answers at all.
pub async fn ask_status(access: &EtcdAccess) -> Result<EtcdStatus, MembersError> {
    if access.addresses.is_empty() {
        return Err(MembersError::NoAddress);
    }
    let mut refusals = Vec::new();
    for url in access.urls() {
        match list(access, &url).await {
            Ok(listed) => return Ok(of_list(access, listed).await),
            Err(MembersError::Nobody(why)) => refusals.extend(why),
            Err(error) => return Err(error),
        }
    }
    alone(access, refusals).await
}

/// One member's own word, and the number of its cluster.
pub(super) async fn ask_one(
    access: &EtcdAccess,
    url: &str,
) -> Result<(StatusReply, StatusAnswer), MembersError> {
    let request = http::Request::post("/v3/maintenance/status").body(b"{}".to_vec());
    let text = ask(access, url, request).await?;
    let told: StatusReply =
        serde_json::from_str(&text).map_err(|error| MembersError::Nobody(vec![format!("{url}: {error}")]))?;
    let answer = told.answer();
    Ok((told, answer))
}

async fn of_list(access: &EtcdAccess, listed: Vec<ListedMember>) -> EtcdStatus {
    let mut status = EtcdStatus { has_quorum: true, ..EtcdStatus::default() };
    for one in listed {
        let mut answer = None;
        for url in &one.client_urls {
            if let Ok((told, said)) = ask_one(access, url).await {
                status.cluster_id = told.header.cluster();
                answer = Some(said);
                break;
            }
        }
        let id = hexadecimal(&one.id);
        let member = one.with_health(access).await;
        status.members.push(MemberStatus { member, id, answer });
    }
    status.members.sort_by(|a, b| a.member.name.cmp(&b.member.name));
    status
}

async fn alone(access: &EtcdAccess, refusals: Vec<String>) -> Result<EtcdStatus, MembersError> {
    let mut status = EtcdStatus::default();
    for url in access.urls() {
        match ask_one(access, &url).await {
            Ok((told, answer)) => {
                status.cluster_id = told.header.cluster();
                // Without a quorum nobody is healthy: asking would only take its time.
                let member = Member { client_urls: vec![url], ..Member::unnamed() };
                let id = hexadecimal(&told.header.member_id);
                status.members.push(MemberStatus { member, id, answer: Some(answer) });
            }
            Err(MembersError::Nobody(why)) => status.unanswered.extend(why),
            Err(error) => return Err(error),
        }
    }
    if status.members.is_empty() { Err(MembersError::Nobody(refusals)) } else { Ok(status) }
}

/// Numbers of 64 bits come as text, and what is zero is left out.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub(super) struct StatusReply {
    pub(super) header: Header,
    version: String,
    db_size: String,
    db_size_in_use: String,
    leader: String,
    raft_index: String,
    raft_term: String,
    raft_applied_index: String,
    errors: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Header {
    cluster_id: String,
    pub(super) member_id: String,
    pub(super) revision: String,
}

impl Header {
    pub(super) fn cluster(&self) -> String {
        hexadecimal(&self.cluster_id)
    }
}

impl StatusReply {
    fn answer(&self) -> StatusAnswer {
        let number = |text: &str| text.parse().unwrap_or(0);
        StatusAnswer {
            version: self.version.clone(),
            db_size: number(&self.db_size),
            db_size_in_use: number(&self.db_size_in_use),
            is_leader: number(&self.leader) != 0 && self.leader == self.header.member_id,
            has_leader: number(&self.leader) != 0,
            revision: number(&self.header.revision),
            raft_term: number(&self.raft_term),
            raft_index: number(&self.raft_index),
            raft_applied_index: number(&self.raft_applied_index),
            errors: self.errors.clone(),
        }
    }
}

/// As etcdctl prints numbers of members and clusters.
fn hexadecimal(decimal: &str) -> String {
    decimal.parse::<u64>().map_or_else(|_| decimal.to_owned(), |number| format!("{number:x}"))
}
