//! A load balancer that can fall silent: connections stay open, and nothing comes through any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kube::Config;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub(crate) struct Proxy {
    port: u16,
    /// Connections with a lower number are silent.
    silent_below: watch::Sender<usize>,
    opened: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Proxy {
    pub(crate) async fn before(config: &Config) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let target = config.cluster_url.port_u16().unwrap();
        let (silent_below, silence) = watch::channel(0);
        let opened = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&opened);
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let number = count.fetch_add(1, Ordering::SeqCst);
                let Ok(server) = TcpStream::connect(("127.0.0.1", target)).await else { continue };
                let ((client_in, client_out), (server_in, server_out)) =
                    (client.into_split(), server.into_split());
                tokio::spawn(pump(client_in, server_out, number, silence.clone()));
                tokio::spawn(pump(server_in, client_out, number, silence.clone()));
            }
        });
        Self { port, silent_below, opened, task }
    }

    /// The way to the cluster through this proxy.
    pub(crate) fn config(&self, config: &Config) -> Config {
        let mut through = config.clone();
        through.cluster_url = format!("https://localhost:{}", self.port).parse().unwrap();
        through
    }

    /// Every connection that is open now says nothing more, and is not closed. New ones work.
    pub(crate) fn silence(&self) {
        self.silent_below.send(self.opened.load(Ordering::SeqCst)).unwrap();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pump(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    number: usize,
    silent_below: watch::Receiver<usize>,
) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count) = from.read(&mut buffer).await {
        if number < *silent_below.borrow() {
            // Held open by keeping both halves, for as long as the test runs.
            std::future::pending::<()>().await;
        }
        if count == 0 || to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
