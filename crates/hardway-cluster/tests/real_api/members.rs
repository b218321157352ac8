//! etcd's own word about its members.

use std::time::Duration;

use hardway_base::Secret;
use hardway_cluster::etcd::{EtcdAccess, MembersError, ask_members};
use hardway_testing::ControlPlane;

pub(crate) fn access(plane: &ControlPlane) -> EtcdAccess {
    let url: http::Uri = plane.etcd_health_url().parse().unwrap();
    EtcdAccess {
        addresses: vec!["127.0.0.1".parse().unwrap()],
        port: url.port_u16().unwrap(),
        trust: plane.read("ca.crt"),
        certificate: plane.read("admin.crt"),
        key: Secret::new(plane.read("admin.key")),
        patience: Duration::from_secs(30),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_etcd_tells_its_members_and_their_health() {
    let plane = tokio::task::spawn_blocking(ControlPlane::shared).await.unwrap();
    let mut access = access(&plane);
    let members = ask_members(&access).await.unwrap();
    assert_eq!(members.len(), 1, "{members:?}");
    assert_eq!(
        (members[0].name.as_str(), members[0].is_healthy, members[0].is_learner),
        ("default", true, false)
    );

    // The first address does not answer, the second does.
    access.addresses.insert(0, "127.0.0.2".parse().unwrap());
    assert_eq!(ask_members(&access).await.unwrap(), members);

    let stranger = EtcdAccess { addresses: vec!["127.0.0.2".parse().unwrap()], ..access.clone() };
    let error = ask_members(&stranger).await.unwrap_err();
    assert!(matches!(&error, MembersError::Nobody(said) if said.len() == 1), "{error}");
    let nobody = EtcdAccess { addresses: Vec::new(), ..access };
    assert!(matches!(ask_members(&nobody).await, Err(MembersError::NoAddress)));
}
