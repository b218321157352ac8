//! Numbers for Prometheus, in its text format (<https://prometheus.io/docs/instrumenting/exposition_formats/>).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use hardway_journal::Face;

/// Counted since the start.
#[derive(Debug, Default)]
pub struct Metrics {
    /// By face and status: as many rows as there are pairs of both, whatever clients send.
    requests: Mutex<BTreeMap<(Option<Face>, u16), u64>>,
    /// Bytes of configs handed to connections.
    pub bytes: AtomicU64,
    /// Connections that are open.
    pub connections: AtomicU64,
    /// Connections that were closed so that others could come in: of the source with most.
    pub turned_away: AtomicU64,
    /// Connections that did not get through the handshake.
    pub handshakes_failed: AtomicU64,
    /// Requests that were put off unheard: their source had too many refused, or asked too often for configs of pools.
    pub limited: AtomicU64,
    /// Configs that were not given out, because it could not be written down.
    pub unrecorded: AtomicU64,
    /// Events that nobody was there to read.
    pub events_lost: AtomicU64,
}

impl Metrics {
    /// Counts one answer.
    pub fn answered(&self, face: Option<Face>, status: u16) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((face, status)).or_default() += 1;
    }

    /// One more of something.
    pub fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// The page. `is_ready` and `token_secrets` are known elsewhere.
    pub fn text(&self, is_ready: bool, token_secrets: Option<usize>) -> String {
        let mut text = String::new();
        let head = |name: &str, kind: &str, help: &str| {
            format!("# HELP hardway_ignition_{name} {help}\n# TYPE hardway_ignition_{name} {kind}\n")
        };
        text += &head("requests_total", "counter", "Answers by face and status.");
        for ((face, status), count) in self.requests.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let face = face.map_or("", Face::word);
            let _ = writeln!(
                text,
                "hardway_ignition_requests_total{{face=\"{face}\",code=\"{status}\"}} {count}"
            );
        }
        let counters = [
            ("sent_bytes_total", "Bytes of configs handed to connections.", &self.bytes),
            (
                "connections_turned_away_total",
                "Connections closed to make room for others, from the source with most connections.",
                &self.turned_away,
            ),
            (
                "handshakes_failed_total",
                "Connections that failed the TLS handshake.",
                &self.handshakes_failed,
            ),
            (
                "refusals_limited_total",
                "Requests answered with 503: too many refused, or too many for pools, from one source.",
                &self.limited,
            ),
            (
                "unrecorded_total",
                "Configs not served because the journal could not be written.",
                &self.unrecorded,
            ),
            (
                "events_lost_total",
                "Events dropped from the output because there were too many.",
                &self.events_lost,
            ),
        ];
        for (name, help, counter) in counters {
            text += &head(name, "counter", help);
            let _ = writeln!(text, "hardway_ignition_{name} {}", counter.load(Ordering::Relaxed));
        }
        text += &head("connections", "gauge", "Connections that are open.");
        let _ = writeln!(text, "hardway_ignition_connections {}", self.connections.load(Ordering::Relaxed));
        text += &head("ready", "gauge", "1 if the server is ready.");
        let _ = writeln!(text, "hardway_ignition_ready {}", u8::from(is_ready));
        if let Some(count) = token_secrets {
            text += &head("token_secrets", "gauge", "Token Secrets of hosted clusters that are known.");
            let _ = writeln!(text, "hardway_ignition_token_secrets {count}");
        }
        text
    }
}
