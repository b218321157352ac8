//! An update service on loopback: the protocol of openshift/cincinnati, with the graph of one channel for one architecture.

use std::io::Write as _;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::fixture::front::head;

/// Runs until the test ends.
#[derive(Clone)]
pub(crate) struct GraphServer {
    port: u16,
    graph: Arc<Value>,
    seen: Arc<Mutex<Vec<String>>>,
}

pub(crate) const CHANNEL: &str = "stable-4.18";

impl GraphServer {
    /// `newest` is the payload of 4.18.99, which risks are known of.
    pub(crate) fn start(newest: &str) -> Self {
        let other =
            |digit: &str| format!("quay.io/openshift-release-dev/ocp-release@sha256:{}", digit.repeat(64));
        let node = |version: &str, payload: &str| {
            json!({"version": version, "payload": payload, "metadata": {
                "io.openshift.upgrades.graph.release.channels": "candidate-4.18,fast-4.18,stable-4.18",
                "io.openshift.upgrades.graph.release.manifestref": payload.split('@').nth(1), "url": "https://example.com/errata"}})
        };
        let graph = json!({"version": 1,
            "nodes": [node("4.18.9", &other("a")), node("4.17.35", &other("b")), node("4.18.99", newest), node("4.18.10", &other("c"))],
            "edges": [[1, 0], [0, 3]],
            "conditionalEdges": [{"edges": [{"from": "4.18.10", "to": "4.18.99"}], "risks": [{"name": "SlowNodes",
                "url": "https://example.com/risk", "message": "Nodes are slow.", "matchingRules": [{"type": "Always"}]}]}]});
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Self { port, graph: Arc::new(graph), seen: Arc::default() };
        let shared = server.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let _ = shared.serve(client);
            }
        });
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/api/upgrades_info/v1/graph", self.port)
    }

    /// Queries so far.
    pub(crate) fn take_seen(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }

    fn serve(&self, mut client: TcpStream) -> std::io::Result<()> {
        let head = head(&mut client)?;
        let target = head.split(' ').nth(1).unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        self.seen.lock().unwrap().push(query.to_owned());
        let wanted = |name: &str| {
            query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name)
        };
        let accepts = head.to_lowercase().contains("accept: application/json");
        let (status, answer) = match (path, accepts, wanted("channel")) {
            ("/api/upgrades_info/v1/graph", true, Some((_, channel))) => {
                let is_known = channel == CHANNEL && wanted("arch").is_none_or(|(_, arch)| arch == "amd64");
                // A channel that nobody has heard of has no releases.
                let empty = json!({"version": 1, "nodes": [], "edges": [], "conditionalEdges": []});
                ("200 OK", if is_known { (*self.graph).clone() } else { empty })
            }
            ("/api/upgrades_info/v1/graph", true, None) => (
                "400 Bad Request",
                json!({"kind": "missing_params", "value": "mandatory client parameters missing: channel"}),
            ),
            (_, false, _) => (
                "406 Not Acceptable",
                json!({"kind": "invalid_content_type", "value": "invalid Content-Type requested"}),
            ),
            _ => ("404 Not Found", json!({"kind": "not_found", "value": "no such path"})),
        };
        let answer = answer.to_string();
        write!(
            client,
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{answer}",
            answer.len()
        )?;
        client.shutdown(Shutdown::Both)
    }
}
