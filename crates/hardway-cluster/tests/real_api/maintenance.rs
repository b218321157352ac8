//! How etcd is, and giving its space back.

use std::time::Duration;

use hardway_cluster::etcd::{DefragRefused, EtcdAccess, MembersError, ask_status, defragment};
use hardway_testing::{feed, succeed};

use super::three_members::ThreeMembers;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_members_tell_how_they_are_and_give_space_back_while_all_are_well() {
    let mut three = ThreeMembers::start().await;
    let access = three.access.clone();
    let put = |text: &str| feed(three.etcdctl().args(["put", "big"]), text);
    (0..8).for_each(|_| put(&"x".repeat(1_000_000)));
    let before = ask_status(&access).await.unwrap();
    assert!(before.has_quorum && before.unwell().next().is_none(), "{before:?}");
    let names: Vec<&str> = before.members.iter().map(|one| one.member.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let leader = before.leader().unwrap().member.name.clone();
    let revision = before.members[0].answer.as_ref().unwrap().revision;
    let listed = succeed(three.etcdctl().args(["endpoint", "status", "-w", "fields"]));
    assert!(listed.contains(&format!("\"Revision\" : {revision}")), "{listed}");
    let id = u64::from_str_radix(&before.members[0].id, 16).unwrap();
    assert!(listed.contains(&format!("\"MemberID\" : {id}")), "{listed}");

    succeed(three.etcdctl().args(["compact", &revision.to_string()]));
    let mut order = Vec::new();
    let done = defragment(&access, |one| order.push(one.member.clone())).await.unwrap();
    assert_eq!(order.len(), 3);
    assert_eq!(order.last(), Some(&leader), "the leader last");
    assert!(done.iter().all(|one| one.after < one.before / 2), "{done:?}");
    let value = succeed(three.etcdctl().args(["get", "big", "--print-value-only"]));
    assert_eq!(value.trim().len(), 1_000_000);

    // One is gone: nothing is defragmented, and the others' sizes stay.
    three.servers[2] = None;
    three.healthy(2).await;
    let refused = defragment(&access, |_| panic!("nobody was to be defragmented")).await.unwrap_err();
    assert!(
        matches!(&refused, DefragRefused::Unwell(why) if why == &["c does not answer".to_owned()]),
        "{refused}"
    );

    // Two are gone: the one that is left is asked alone.
    three.servers[1] = None;
    // Whoever has no quorum never answers a read that needs one.
    let access = EtcdAccess { patience: Duration::from_secs(3), ..access };
    let alone = hardway_testing::until_found("the loss is noticed", async || {
        let status = ask_status(&access).await.ok()?;
        (!status.has_quorum).then_some(status)
    })
    .await;
    assert_eq!((alone.members.len(), alone.unanswered.len()), (1, 1), "{alone:?}");
    assert!(matches!(
        defragment(&access, |_| panic!("nobody was to be defragmented")).await,
        Err(DefragRefused::Unwell(_))
    ));
    three.servers[0] = None;
    assert!(matches!(ask_status(&access).await, Err(MembersError::Nobody(_))));
}
