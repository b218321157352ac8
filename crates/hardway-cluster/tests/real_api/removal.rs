//! Three real etcd members on addresses of loopback, and one that is taken out.

use hardway_cluster::etcd::{Loss, QuorumError, RemovalRefused, remove_member};

use super::three_members::ThreeMembers;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_member_is_taken_out_unless_etcd_would_stop() {
    let mut three = ThreeMembers::start().await;
    let access = three.access.clone();
    assert!(matches!(remove_member(&access, "nobody").await, Ok(None)), "who is not there is out");

    three.servers[2] = None;
    three.healthy(2).await;
    let refused = remove_member(&access, "b").await.unwrap_err();
    assert!(
        matches!(refused, RemovalRefused::Quorum(QuorumError::Lost { left: 1, voters: 2, .. })),
        "{refused}"
    );
    assert_eq!(three.healthy(2).await.len(), 3, "nothing was changed");

    // Removing the dead one leaves two of two.
    assert!(matches!(remove_member(&access, "c").await, Ok(Some(Loss::NoSpare))));
    let mut left: Vec<String> = three.healthy(2).await.into_iter().map(|member| member.name).collect();
    left.sort();
    assert_eq!(left, ["a", "b"]);
    assert!(matches!(remove_member(&access, "c").await, Ok(None)));
}
