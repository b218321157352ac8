//! Three real etcd members on addresses of loopback, and one that is taken out.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use hardway_base::Secret;
use hardway_cluster::pivot::{EtcdAccess, Loss, QuorumError, RemovalRefused, ask_members, remove_member};
use hardway_testing::{Server, succeed, tools};

const NAMES: [&str; 3] = ["a", "b", "c"];

/// One key for everybody: what is tested is etcd, not who may ask it.
const MAKE_CERTIFICATE: &str = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=etcd \
     -addext subjectAltName=IP:127.0.0.1,IP:127.0.0.2,IP:127.0.0.3 -addext basicConstraints=critical,CA:FALSE \
     -keyout tls.key -out tls.crt";

fn free_port() -> u16 {
    std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

fn start(folder: &Path, number: usize, client: u16, peer: u16) -> Server {
    let home = folder.join(NAMES[number]);
    fs_err::create_dir_all(&home).unwrap();
    let ip = |number: usize| format!("127.0.0.{}", number + 1);
    let all: Vec<String> =
        NAMES.iter().enumerate().map(|(i, name)| format!("{name}=http://{}:{peer}", ip(i))).collect();
    let (client, peer) =
        (format!("https://{}:{client}", ip(number)), format!("http://{}:{peer}", ip(number)));
    let tls = |name: &str| folder.join(name).display().to_string();
    let flags = [
        format!("--name={}", NAMES[number]),
        "--data-dir=data".to_owned(),
        "--unsafe-no-fsync".to_owned(),
        format!("--cert-file={}", tls("tls.crt")),
        format!("--key-file={}", tls("tls.key")),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster={}", all.join(",")),
    ];
    Server::start(&tools(&["etcd"]).join("etcd"), &flags, &home)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_member_is_taken_out_unless_etcd_would_stop() {
    let folder = tempfile::tempdir().unwrap();
    succeed(Command::new("bash").args(["-c", MAKE_CERTIFICATE]).current_dir(folder.path()));
    let (client, peer) = (free_port(), free_port());
    let path = folder.path().to_owned();
    let mut servers =
        tokio::task::spawn_blocking(move || [0, 1, 2].map(|number| Some(start(&path, number, client, peer))))
            .await
            .unwrap();
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
        loop {
            let members = ask_members(&access).await.unwrap_or_default();
            if members.iter().filter(|member| member.is_healthy).count() == count {
                return members;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
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
