//! `/metrics` and `/healthz` over plain HTTP, as Prometheus and kubelets ask. Nothing in it is secret.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::Metrics;

/// A server that ends when this is dropped.
#[derive(Debug)]
pub struct MetricsServer {
    address: SocketAddr,
    task: JoinHandle<()>,
}

/// Nobody needs longer for one page.
const LONGEST: Duration = Duration::from_secs(10);

impl MetricsServer {
    /// Listens.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub async fn start(address: SocketAddr, metrics: Arc<Metrics>) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(async move {
            loop {
                if let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(tokio::time::timeout(LONGEST, serve(stream, Arc::clone(&metrics))));
                }
            }
        });
        Ok(Self { address, task })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(stream: TcpStream, metrics: Arc<Metrics>) {
    let answer = |request: Request<Incoming>| {
        let (status, text) = match request.uri().path() {
            "/metrics" => (StatusCode::OK, metrics.text()),
            "/healthz" => (StatusCode::OK, String::new()),
            _ => (StatusCode::NOT_FOUND, "not found\n".to_owned()),
        };
        let mut response = Response::new(kube::client::Body::from(text.into_bytes()));
        *response.status_mut() = status;
        std::future::ready(Ok::<_, Infallible>(response))
    };
    // Whoever hangs up gets nothing.
    let _ = hyper::server::conn::http1::Builder::new()
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service_fn(answer))
        .await;
}
