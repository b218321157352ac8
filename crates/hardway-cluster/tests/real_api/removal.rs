//! Three real etcd members on addresses of loopback, and one that is taken out.

use std::time::Duration;

use hardway_base::Secret;
use hardway_cluster::pivot::{EtcdAccess, Loss, QuorumError, RemovalRefused, ask_members, remove_member};
use hardway_testing::{EtcdMembers, free_ports, self_signed_leaf, until_found};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_member_is_taken_out_unless_etcd_would_stop() {
    let folder = tempfile::tempdir().unwrap();
    let [client, peer] = free_ports();
    let path = folder.path().to_owned();
    let start = move || {
        self_signed_leaf(&path, "tls", "IP:127.0.0.1,IP:127.0.0.2,IP:127.0.0.3");
        let members =
            [("a", 1), ("b", 2), ("c", 3)].map(|(name, n)| (name.to_owned(), format!("127.0.0.{n}")));
        let etcd = EtcdMembers { folder: &path, members: &members, client_port: client, peer_port: peer };
        [0, 1, 2].map(|number| Some(etcd.start(number)))
    };
    let mut servers = tokio::task::spawn_blocking(start).await.unwrap();
    let read = |name: &str| fs_err::read_to_string(folder.path().join(name)).unwrap();
    let access = EtcdAccess {
        addresses: [1, 2].map(|last| [127, 0, 0, last].into()).into(),
        port: client,
        trust: read("tls.crt"),
        certificate: read("tls.crt"),
        key: Secret::new(read("tls.key")),
        patience: Duration::from_secs(30),
    };
    let healthy = async |count: usize| {
        until_found("healthy members", async || {
            let members = ask_members(&access).await.unwrap_or_default();
            (members.iter().filter(|member| member.is_healthy).count() == count).then_some(members)
        })
        .await
    };
    healthy(3).await;
    assert!(matches!(remove_member(&access, "nobody").await, Ok(None)), "who is not there is out");

    servers[2] = None;
    healthy(2).await;
    let refused = remove_member(&access, "b").await.unwrap_err();
    assert!(
        matches!(refused, RemovalRefused::Quorum(QuorumError::Lost { left: 1, voters: 2, .. })),
        "{refused}"
    );
    assert_eq!(healthy(2).await.len(), 3, "nothing was changed");

    // Removing the dead one leaves two of two.
    assert!(matches!(remove_member(&access, "c").await, Ok(Some(Loss::NoSpare))));
    let mut left: Vec<String> = healthy(2).await.into_iter().map(|member| member.name).collect();
    left.sort();
    assert_eq!(left, ["a", "b"]);
    assert!(matches!(remove_member(&access, "c").await, Ok(None)));
}
