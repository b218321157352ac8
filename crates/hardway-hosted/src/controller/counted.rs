//! A client whose requests are counted: how much a controller asks of API servers is part of what it costs.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::{Method, Request, Response};
use kube::Client;
use kube::client::Body;
use tower_service::Service;

use super::Metrics;

/// The same client, counted under the name of its server. To be called where tasks can be started.
pub(super) fn counted(client: Client, server: &'static str, metrics: &Arc<Metrics>) -> Client {
    let namespace = client.default_namespace().to_owned();
    Client::new(Counted { client, server, metrics: Arc::clone(metrics) }, namespace)
}

struct Counted {
    client: Client,
    server: &'static str,
    metrics: Arc<Metrics>,
}

impl Service<Request<Body>> for Counted {
    type Response = Response<Body>;
    type Error = kube::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    /// The client inside waits for its own turn.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.metrics.ask(self.server, verb(&request));
        let client = self.client.clone();
        async move { client.send(request).await }.boxed()
    }
}

/// In the words of the API server's own metrics, as far as a request alone tells.
fn verb<B>(request: &Request<B>) -> &'static str {
    let is_watch =
        || request.uri().query().is_some_and(|query| query.split('&').any(|one| one == "watch=true"));
    match *request.method() {
        Method::GET if is_watch() => "watch",
        Method::GET => "get",
        Method::POST => "post",
        Method::PUT => "put",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_is_told_from_a_list() {
        let verb_of = |uri: &str| verb(&Request::get(uri).body(()).unwrap());
        assert_eq!(verb_of("/api/v1/nodes?limit=500"), "get");
        assert_eq!(verb_of("/api/v1/nodes?&watch=true&timeoutSeconds=60"), "watch");
        assert_eq!(verb_of("/api/v1/nodes?fieldSelector=watch%3Dtrue"), "get");
        assert_eq!(verb(&Request::put("/").body(()).unwrap()), "put");
    }
}
