//! An etcd that was restored from a snapshot, for as long as this lives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_base::error_sentence;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::{Instant, sleep};

use super::super::database::KeyVersion;
use super::programs::{Programs, Scratch, last_words};

/// So long may it take until it answers.
const PATIENCE: Duration = Duration::from_secs(60);
/// Keys in one answer: values may be as large as a megabyte and a half.
const PAGE: usize = 200;

/// Nobody but its owner can reach it: it listens on a socket in a folder that is theirs.
pub(super) struct ScratchEtcd {
    socket: PathBuf,
    client: reqwest::Client,
    _server: Scratch,
}

/// Why it does not run.
#[derive(Debug, thiserror::Error)]
pub enum ScratchError {
    /// A program cannot be started.
    #[error("{program} cannot be started")]
    Start {
        /// Which.
        program: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// etcdutl refuses the snapshot.
    #[error("etcdutl cannot restore it: {0}")]
    Refused(String),
    /// It does not answer.
    #[error("the restored etcd does not answer: {0}")]
    Silent(String),
}

impl ScratchEtcd {
    pub(super) async fn restore(
        programs: &Programs,
        snapshot: &Path,
        folder: &Path,
    ) -> Result<Self, ScratchError> {
        let data = folder.join("etcd-data");
        let start = |program: &Path| {
            let program = program.display().to_string();
            move |source| ScratchError::Start { program, source }
        };
        let restored = Command::new(&programs.etcdutl)
            .args(["snapshot", "restore"])
            .arg(snapshot)
            .arg("--data-dir")
            .arg(&data)
            .output()
            .await
            .map_err(start(&programs.etcdutl))?;
        if !restored.status.success() {
            let said = String::from_utf8_lossy(&restored.stderr);
            let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
            return Err(ScratchError::Refused(last.to_owned()));
        }
        let [socket, peer] = ["etcd.sock", "peer.sock"].map(|name| folder.join(name));
        let [client, peer] = [&socket, &peer].map(|path| format!("unix://{}", path.display()));
        let flags = [
            format!("--data-dir={}", data.display()),
            format!("--listen-client-urls={client}"),
            // A place has to be told, and nobody is told it.
            "--advertise-client-urls=http://localhost:2379".to_owned(),
            format!("--listen-peer-urls={peer}"),
            // It lives for a minute.
            "--unsafe-no-fsync".to_owned(),
        ];
        let log = folder.join("etcd.log");
        let server = Scratch::start(&programs.etcd, &flags, &log).map_err(start(&programs.etcd))?;
        let client = reqwest::Client::builder().unix_socket(socket.clone()).no_proxy().build();
        let client = client.map_err(|error| ScratchError::Silent(error_sentence(&error)))?;
        let etcd = Self { socket, client, _server: server };
        etcd.until_it_answers(&log).await?;
        Ok(etcd)
    }

    /// For an API server.
    pub(super) fn url(&self) -> String {
        format!("unix://{}", self.socket.display())
    }

    /// Every key there is, with the hash of its value.
    pub(super) async fn keys(&self) -> Result<BTreeMap<Vec<u8>, KeyVersion>, ScratchError> {
        let odd = |error: &dyn std::fmt::Display| ScratchError::Silent(error.to_string());
        let (mut keys, mut from) = (BTreeMap::new(), vec![0]);
        loop {
            // A key of one zero byte as the end stands for all.
            let question = json!({"key": STANDARD.encode(&from), "range_end": "AA==", "limit": PAGE});
            let answer: Answer = self.ask("/v3/kv/range", &question).await?;
            let Some(last) = answer.kvs.last() else { return Ok(keys) };
            from = STANDARD.decode(&last.key).map_err(|error| odd(&error))?;
            from.push(0);
            for pair in answer.kvs {
                let key = STANDARD.decode(&pair.key).map_err(|error| odd(&error))?;
                let value = STANDARD.decode(&pair.value).map_err(|error| odd(&error))?;
                let revision =
                    pair.mod_revision.parse().map_err(|error: std::num::ParseIntError| odd(&error))?;
                keys.insert(key, KeyVersion::of(revision, &value));
            }
        }
    }

    async fn ask<T: DeserializeOwned>(&self, path: &str, question: &Value) -> Result<T, ScratchError> {
        let silent = |error: reqwest::Error| ScratchError::Silent(error_sentence(&error));
        let request = self.client.post(format!("http://localhost{path}")).body(question.to_string());
        let answer = request.send().await.and_then(reqwest::Response::error_for_status).map_err(silent)?;
        let bytes = answer.bytes().await.map_err(silent)?;
        serde_json::from_slice(&bytes).map_err(|error| ScratchError::Silent(error.to_string()))
    }

    async fn until_it_answers(&self, log: &Path) -> Result<(), ScratchError> {
        let until = Instant::now() + PATIENCE;
        loop {
            let question = json!({"key": "AA==", "range_end": "AA==", "count_only": true});
            match self.ask::<Value>("/v3/kv/range", &question).await {
                Ok(_) => return Ok(()),
                Err(_) if Instant::now() < until => sleep(Duration::from_millis(100)).await,
                Err(error) => return Err(ScratchError::Silent(format!("{error}: {}", last_words(log)))),
            }
        }
    }
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    kvs: Vec<Pair>,
}

#[derive(Deserialize)]
struct Pair {
    key: String,
    #[serde(default)]
    value: String,
    mod_revision: String,
}
