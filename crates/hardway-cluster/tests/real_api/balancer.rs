//! A real HAProxy before a real API server, with a second server in its pool that is gone.

use std::path::Path;
use std::time::Duration;

use fs_err as fs;
use hardway_cluster::diagnosis::{Evidence, first_broken, live};
use hardway_testing::{Server, free_port, until};

use super::driver::Driver;

const PATIENCE: Duration = Duration::from_secs(60);

/// `check` is how servers are looked at.
fn balancer(folder: &Path, port: u16, api: u16, check: &str) -> Server {
    let gone = free_port();
    let config = format!(
        "defaults\n mode tcp\n retries 0\n timeout connect 5s\n timeout client 1h\n timeout server 1h\n timeout check 5s\n\
         listen api\n bind 127.0.0.1:{port}\n balance roundrobin\n option httpchk GET /readyz\n\
         \x20server master-0 127.0.0.1:{api} {check}\n server bootstrap 127.0.0.1:{gone} {check}\n"
    );
    fs::write(folder.join("haproxy.cfg"), config).unwrap();
    let started = Server::start(Path::new("/usr/sbin/haproxy"), ["-db", "-f", "haproxy.cfg"], folder);
    until("the balancer listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    started
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_a_server_that_is_gone_and_still_in_the_pool_is_noticed() {
    let driver = Driver::without_crds().await;
    let folder = tempfile::tempdir().unwrap();
    let (port, api) = (free_port(), driver.config.cluster_url.port_u16().unwrap());

    let running = balancer(folder.path(), port, api, "");
    let share = live::share("localhost", port, 8, PATIENCE).await;
    assert!(share.tried == 8 && (1..8).contains(&share.failed.len()), "{share:?}");
    let first = first_broken(&Evidence { shares: vec![share], ..Evidence::default() }).unwrap();
    assert_eq!(first.code, "E-L6", "{first:?}");
    assert!(
        first.evidence[0].contains(&format!(" of 8 connections to localhost:{port} failed: ")),
        "{first:?}"
    );
    drop(running);

    // Once it is looked at, nobody is sent there.
    let port = free_port();
    let _running =
        balancer(folder.path(), port, api, "check check-ssl verify none inter 200ms fall 1 rise 1");
    let mut last = live::share("localhost", port, 8, PATIENCE).await;
    let began = tokio::time::Instant::now();
    while !last.failed.is_empty() {
        assert!(began.elapsed() < Duration::from_secs(180), "{last:?}");
        last = live::share("localhost", port, 8, PATIENCE).await;
    }
    assert_eq!(first_broken(&Evidence { shares: vec![last], ..Evidence::default() }), None);
}
