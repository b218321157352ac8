//! The same evidence, asked of a running cluster and its hosts. Nothing is changed there.

use std::time::Duration;

use kube::{Client, Config};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::bundle_evidence::{LINES, last_lines};
use super::evidence::{Api, Evidence, LogSource, LogTail, Port, Share};
use super::resources::{CONFIG_MAPS, Resources, WANTED};
use crate::api_error::{sentence, unless_absent};
use crate::bootstrap_progress::{BootstrapHost, HostError};
use crate::handshake::{self, NoAnswer, Trust};
use crate::kubeconfig::without_retries;

/// Asks the API for every list. That it does not answer is evidence too.
pub async fn ask_api(config: &Config, patience: Duration, evidence: &mut Evidence) {
    match resources(config, patience).await {
        Ok(resources) => {
            resources.tell(evidence);
            evidence.api = Api::Answers;
        }
        Err(why) => {
            evidence.api = Api::Silent(format!("the API at {} does not answer: {why}", config.cluster_url))
        }
    }
}

/// Looks at the bootstrap host: its record, then the ends of its journals and, over ssh, of its containers.
pub async fn ask_bootstrap_host(host: &BootstrapHost, evidence: &mut Evidence) -> Result<(), HostError> {
    evidence.bootstrap = Some(host.look().await?);
    let over_ssh = match &host.ssh {
        Some(remote) => remote.run(&LOGS.replace("UNITS", &UNITS.join(" "))).await.ok(),
        None => None,
    };
    evidence.logs.extend(match over_ssh {
        Some(answer) => logs(&answer),
        None => {
            let log = |(name, lines)| LogTail { source: LogSource::Bootstrap, name, lines };
            let all = host.journals(&UNITS, LINES).await?.into_iter().map(log);
            all.filter(|log| !log.lines.is_empty()).collect()
        }
    });
    Ok(())
}

/// Tries a connection and says nothing over it.
pub async fn knock(host: String, port: u16, patience: Duration) -> Port {
    let open = match timeout(patience, TcpStream::connect((host.as_str(), port))).await {
        Err(late) => Err(late.into()),
        Ok(answer) => answer.map(drop).map_err(NoAnswer::from),
    };
    Port { host, port, open }
}

/// Tries one port of several hosts at once.
pub async fn knock_all(hosts: impl Iterator<Item = String>, port: u16, patience: Duration) -> Vec<Port> {
    futures_util::future::join_all(hosts.map(|host| knock(host, port, patience))).await
}

/// Tries several connections at once, up to the end of a handshake: a load balancer takes every connection, and only then looks
/// for somebody to pass it on to.
pub async fn share(host: &str, port: u16, times: usize, patience: Duration) -> Share {
    let one = |_| handshake::chain(host.to_owned(), port, Trust::Nobody, patience);
    let ended = futures_util::future::join_all((0..times).map(one)).await;
    let failed = ended.into_iter().filter_map(Result::err).map(|error| error.to_string()).collect();
    Share { endpoint: format!("{host}:{port}"), tried: times, failed }
}

/// Tries a connection up to the end of a handshake.
pub async fn greet(host: String, port: u16, patience: Duration) -> Port {
    let open = handshake::chain(host.clone(), port, Trust::Nobody, patience).await;
    let open = open.map(drop).map_err(NoAnswer::from);
    Port { host, port, open }
}

/// The nodes on which a router is ready; none where there are no routers, or nobody may ask.
pub async fn routers(config: &Config, patience: Duration) -> Vec<String> {
    let Ok(client) = without_retries(config) else { return Vec::new() };
    let path = "/api/v1/namespaces/openshift-ingress/pods";
    let Ok(Some(pods)) = get(&client, path, patience).await else { return Vec::new() };
    let is_ready = |pod: &&Value| {
        let mut conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
        conditions.any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
    };
    let pods = pods["items"].as_array().into_iter().flatten().filter(is_ready);
    pods.filter_map(|pod| pod["spec"]["nodeName"].as_str().map(str::to_owned)).collect()
}

/// Those whose journals tell something.
const UNITS: [&str; 7] =
    ["bootkube", "crio", "crio-configure", "kubelet", "release-image", "node-image-pull", "progress"];

/// Sections as in the look at the host's record; `UNITS` stands for those above.
const LOGS: &str = r#"
for unit in UNITS; do
  echo "== log $unit"
  journalctl --boot --no-pager --output=short --lines=400 --unit="$unit" 2>/dev/null
done
if command -v crictl >/dev/null; then
  crictl ps --all --output json 2>/dev/null | jq -r '.containers[]? | "\(.id) \(.metadata.name)"' | while read -r id name; do
    echo "== log $name"
    timeout 5 crictl logs --tail 100 "$id" 2>&1
  done
fi
exit 0
"#;

fn logs(answer: &str) -> Vec<LogTail> {
    let mut logs: Vec<(String, Vec<&str>)> = Vec::new();
    for line in answer.lines() {
        match (line.strip_prefix("== log "), logs.last_mut()) {
            (Some(name), _) => logs.push((name.to_owned(), Vec::new())),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    let log = |(name, lines): (String, Vec<&str>)| LogTail {
        source: LogSource::Bootstrap,
        name,
        lines: last_lines(&lines.join("\n")),
    };
    logs.into_iter().map(log).filter(|log| !log.lines.is_empty()).collect()
}

/// Why there is no list.
#[derive(Debug, thiserror::Error)]
enum ListError {
    #[error("{}", sentence(.0))]
    Api(Box<kube::Error>),
    #[error("{path}: no answer within {} s", patience.as_secs())]
    Late { path: String, patience: Duration },
    #[error("{0}")]
    Path(#[from] http::Error),
}

impl From<kube::Error> for ListError {
    fn from(error: kube::Error) -> Self {
        Self::Api(Box::new(error))
    }
}

async fn resources(config: &Config, patience: Duration) -> Result<Resources, ListError> {
    let client = without_retries(config)?;
    let mut resources = Resources::default();
    // One question to know whether there is anybody, before a dozen.
    ask(&client, "/version", patience).await?;
    for (name, path) in WANTED.iter().filter(|(_, path)| !path.is_empty()) {
        if let Some(list) = get(&client, path, patience).await? {
            resources.0.insert((*name).to_owned(), list);
        }
    }
    let mut maps = Vec::new();
    for path in CONFIG_MAPS {
        maps.extend(get(&client, path, patience).await?);
    }
    resources.0.insert("configmaps.json".to_owned(), json!({"items": maps}));
    Ok(resources)
}

/// How often each is asked: a cluster that is being installed is busy, and one late answer would cost all the others.
const TRIES: usize = 3;

/// None where the API does not know the kind or the object. What this user may not see counts as absent.
async fn get(client: &Client, path: &str, patience: Duration) -> Result<Option<Value>, ListError> {
    let mut answer = ask(client, path, patience).await;
    for _ in 1..TRIES {
        if answer.is_err() {
            answer = ask(client, path, patience).await;
        }
    }
    answer
}

async fn ask(client: &Client, path: &str, patience: Duration) -> Result<Option<Value>, ListError> {
    let request = http::Request::get(path).body(Vec::new())?;
    let answer = timeout(patience, client.request::<Value>(request)).await;
    let answer = answer.map_err(|_| ListError::Late { path: path.to_owned(), patience })?;
    match unless_absent(answer.map(Some)) {
        Err(kube::Error::Api(status)) if status.code == 403 => Ok(None),
        Err(error) => Err(error.into()),
        Ok(value) => Ok(value),
    }
}
