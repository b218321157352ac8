//! Three real etcd members on addresses of loopback.

use std::path::PathBuf;
use std::time::Duration;

use hardway_base::Secret;
use hardway_cluster::etcd::{EtcdAccess, Member, ask_members};
use hardway_testing::{EtcdMembers, Server, free_ports, self_signed_leaf, until_found};
use tempfile::TempDir;

/// They are called a, b and c.
pub(crate) struct ThreeMembers {
    pub(crate) access: EtcdAccess,
    pub(crate) servers: [Option<Server>; 3],
    folder: TempDir,
}

impl ThreeMembers {
    /// Started, and well.
    pub(crate) async fn start() -> Self {
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
        let servers = tokio::task::spawn_blocking(start).await.unwrap();
        let read = |name: &str| fs_err::read_to_string(folder.path().join(name)).unwrap();
        let access = EtcdAccess {
            addresses: [1, 2].map(|last| [127, 0, 0, last].into()).into(),
            port: client,
            trust: read("tls.crt"),
            certificate: read("tls.crt"),
            key: Secret::new(read("tls.key")),
            patience: Duration::from_secs(30),
        };
        let three = Self { access, servers, folder };
        three.healthy(3).await;
        three
    }

    /// The members, as soon as so many are healthy.
    pub(crate) async fn healthy(&self, count: usize) -> Vec<Member> {
        until_found("healthy members", async || {
            let members = ask_members(&self.access).await.unwrap_or_default();
            (members.iter().filter(|member| member.is_healthy).count() == count).then_some(members)
        })
        .await
    }

    /// `etcdctl` at the first of them.
    pub(crate) fn etcdctl(&self) -> std::process::Command {
        let mut command = std::process::Command::new(hardway_testing::tools(&["etcdctl"]).join("etcdctl"));
        command.arg(format!("--endpoints=https://127.0.0.1:{}", self.access.port));
        command.arg("--cacert").arg(self.path("tls.crt"));
        command
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
