//! Which members may go.

use proptest::prelude::*;

use super::*;

fn member(name: &str, is_healthy: bool) -> Member {
    Member { name: name.to_owned(), is_learner: false, is_healthy, client_urls: Vec::new() }
}

fn members(names: &[&str]) -> Vec<Member> {
    names.iter().map(|name| member(name, true)).collect()
}

#[test]
fn quorum_is_never_given_away() {
    let four = |healthy: [bool; 4]| -> Vec<Member> {
        ["m0", "m1", "m2", BOOTSTRAP_MEMBER]
            .iter()
            .zip(healthy)
            .map(|(name, well)| member(name, well))
            .collect()
    };
    assert_eq!(guard_removal(&four([true; 4]), BOOTSTRAP_MEMBER), Ok(Loss::Spare));
    assert_eq!(guard_removal(&four([true, true, false, true]), BOOTSTRAP_MEMBER), Ok(Loss::NoSpare));
    assert!(matches!(
        guard_removal(&four([true, false, false, true]), BOOTSTRAP_MEMBER),
        Err(QuorumError::Lost { left: 1, voters: 3, needed: 2, .. })
    ));
    assert!(guard_removal(&members(&[BOOTSTRAP_MEMBER]), BOOTSTRAP_MEMBER).is_err(), "the last one");
    assert_eq!(
        guard_removal(&members(&["m0", "m1", "m2"]), "who"),
        Err(QuorumError::NoSuchMember("who".to_owned()))
    );
    assert_eq!(guard_removal(&[], "m0"), Err(QuorumError::Unknown));
}

proptest! {
    #[test]
    fn what_the_guard_lets_pass_keeps_a_quorum(healthy in prop::collection::vec(any::<(bool, bool)>(), 1..8), which in 0..8_usize) {
        let list: Vec<Member> = healthy.iter().enumerate()
            .map(|(n, (is_healthy, is_learner))| Member { name: format!("m{n}"), is_learner: *is_learner, is_healthy: *is_healthy, client_urls: vec![] })
            .collect();
        let name = format!("m{which}");
        let left = |member: &&Member| member.name != name && !member.is_learner && member.is_healthy;
        let alive = list.iter().filter(left).count();
        if guard_removal(&list, &name).is_ok() {
            prop_assert!(alive * 2 > list.iter().filter(|member| !member.is_learner && member.name != name).count());
        }
    }
}

fn status_of(name: &str, change: impl FnOnce(&mut MemberStatus)) -> MemberStatus {
    let answer = StatusAnswer {
        version: "3.5.21".to_owned(),
        db_size: 100,
        db_size_in_use: 60,
        is_leader: false,
        has_leader: true,
        revision: 7,
        raft_term: 2,
        raft_index: 9,
        raft_applied_index: 9,
        errors: Vec::new(),
    };
    let mut one = MemberStatus { member: member(name, true), id: name.to_owned(), answer: Some(answer) };
    change(&mut one);
    one
}

fn leads(one: &mut MemberStatus) {
    one.answer.as_mut().unwrap().is_leader = true;
}

fn complains(said: &str) -> impl FnOnce(&mut MemberStatus) {
    move |one| one.answer.as_mut().unwrap().errors.push(said.to_owned())
}

fn etcd(members: impl Into<Vec<MemberStatus>>) -> EtcdStatus {
    EtcdStatus { has_quorum: true, members: members.into(), ..EtcdStatus::default() }
}

#[test]
fn the_leader_is_defragmented_last_and_nobody_while_one_is_unwell() {
    let well = etcd([status_of("a", leads), status_of("b", |_| ()), status_of("c", |_| ())]);
    let order: Vec<&str> = defrag_order(&well).unwrap().iter().map(|one| one.id.as_str()).collect();
    assert_eq!(order, ["b", "c", "a"]);

    let silent = etcd([status_of("a", leads), status_of("b", |one| one.answer = None)]);
    assert!(matches!(defrag_order(&silent), Err(DefragRefused::Unwell(why)) if why == ["b does not answer"]));
    let leaderless =
        etcd([status_of("a", leads), status_of("b", |one| one.answer.as_mut().unwrap().has_leader = false)]);
    assert!(
        matches!(defrag_order(&leaderless), Err(DefragRefused::Unwell(why)) if why == ["b knows no leader"])
    );
    let corrupt =
        etcd([status_of("a", leads), status_of("b", complains("memberID:1 alarm:CORRUPT, alarm raised"))]);
    assert!(defrag_order(&corrupt).is_err());
    let split = EtcdStatus { has_quorum: false, ..etcd([status_of("a", |_| ())]) };
    assert!(defrag_order(&split).is_err());

    // Want of space makes a member unwell, and defragmenting is what helps against it.
    let full = etcd([status_of("a", leads), status_of("b", complains("memberID:1 alarm:NOSPACE "))]);
    assert_eq!(full.unwell().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["b"]);
    assert!(defrag_order(&full).is_ok());
}
