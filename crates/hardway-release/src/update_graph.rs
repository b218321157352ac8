//! Which release a word means: an update service's graph of a channel (openshift/cincinnati `docs/design`), or a repository's tags.
//!
//! Whoever answers decides which release is installed, so the answer counts only as a digest, and is kept as one. What it names is
//! checked like any release that somebody typed.

use std::collections::BTreeSet;

use hardway_assets::release_payload::ReleaseWord;
use hardway_base::redaction::without_password;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::pull_spec::PullSpec;
use crate::registry::{Connection, RegistryError, Repository, body, transport};
use crate::release_image::FetchOptions;

/// The public update service.
pub const PUBLIC_GRAPH: &str = "https://api.openshift.com/api/upgrades_info/v1/graph";
/// Where OKD's releases are.
pub const OKD_REPOSITORY: &str = "quay.io/okd/scos-release";

/// The whole graph of a channel has a few megabytes.
const MOST: u64 = 64 << 20;
/// In `metadata` of a node: the channels that it is in, with commas between.
const CHANNELS: &str = "io.openshift.upgrades.graph.release.channels";

/// What a word was resolved to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedWord {
    /// By digest.
    pub image: PullSpec,
    /// Such as `4.18.10`.
    pub version: String,
    /// Who said so: a channel and its service, or a tag.
    pub source: String,
    /// Names of risks that are known of updates to this version. They need not be risks of an installation.
    pub risks: Vec<String>,
}

/// Why a word has no release.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The service, or the registry, gives no answer.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The service refuses, in its own words.
    #[error("{url} says {status}: {said}")]
    Refused {
        /// Without a password.
        url: String,
        /// HTTP.
        status: u16,
        /// `kind` and `value` of its answer, or its beginning.
        said: String,
    },
    /// An answer that is no graph.
    #[error("the answer of {url} is no update graph: {detail}")]
    Malformed {
        /// Without a password.
        url: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A channel without releases is one that nobody has heard of.
    #[error("{url} knows no channel {channel:?} for {architecture}")]
    NoChannel {
        /// Without a password.
        url: String,
        /// As it was asked for.
        channel: String,
        /// Go's name.
        architecture: String,
    },
    /// The channel is there, and has others.
    #[error("{place} has no release {word:?}{}", newest_of(.newest.as_deref()))]
    NoVersion {
        /// The channels of a service, or a repository.
        place: String,
        /// As it was asked for.
        word: String,
        /// The newest that it has.
        newest: Option<String>,
    },
    /// A tag can be moved; a digest cannot.
    #[error("{place} names release {version} as {payload:?}, which is no pull spec by digest")]
    NotByDigest {
        /// Who said so.
        place: String,
        /// The version.
        version: String,
        /// What was said.
        payload: String,
    },
}

fn newest_of(newest: Option<&str>) -> String {
    newest.map_or_else(String::new, |newest| format!("; the newest there is {newest}"))
}

/// The answer of an update service, as far as it says what there is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateGraph {
    nodes: Vec<Node>,
    #[serde(default)]
    conditional_edges: Vec<ConditionalEdges>,
}

#[derive(Clone, Debug, Deserialize)]
struct Node {
    version: String,
    payload: String,
    #[serde(default)]
    metadata: Map<String, Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ConditionalEdges {
    edges: Vec<Edge>,
    risks: Vec<Risk>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Edge {
    to: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Risk {
    name: String,
}

impl UpdateGraph {
    /// # Errors
    /// When it is something else.
    pub fn read(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }

    /// What a file of a web server holds may be of all channels.
    fn of_channel(&self, channel: &str) -> Vec<&Node> {
        let is_of = |node: &&Node| match node.metadata.get(CHANNELS).and_then(Value::as_str) {
            Some(channels) => channels.split(',').any(|one| one.trim() == channel),
            None => true,
        };
        self.nodes.iter().filter(is_of).collect()
    }

    fn risks_of(&self, version: &str) -> Vec<String> {
        let leads_there = |edges: &&ConditionalEdges| edges.edges.iter().any(|edge| edge.to == version);
        let risks = self.conditional_edges.iter().filter(leads_there).flat_map(|edges| &edges.risks);
        risks.map(|risk| risk.name.clone()).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// Asks whoever knows. `graph` is the address of an update service's graph, `repository` that of OKD's releases; only one of them
/// is asked.
///
/// # Errors
/// When nobody answers, or nothing fits.
pub async fn resolve(
    word: &ReleaseWord,
    asked: &str,
    graph: &str,
    repository: &str,
    options: &FetchOptions,
) -> Result<ResolvedWord, ResolveError> {
    match word {
        ReleaseWord::Okd(_) => by_tag(word, asked, repository, options).await,
        _ => by_graph(word, asked, graph, options).await,
    }
}

async fn by_graph(
    word: &ReleaseWord,
    asked: &str,
    url: &str,
    options: &FetchOptions,
) -> Result<ResolvedWord, ResolveError> {
    let shown = without_password(url);
    let (mut seen, mut unknown) = (Vec::new(), None);
    for channel in word.channels() {
        let graph = ask(url, &channel, &options.architecture, &options.connection).await?;
        let nodes = graph.of_channel(&channel);
        if nodes.is_empty() {
            unknown.get_or_insert(channel);
            continue;
        }
        let Some(version) = word.best(nodes.iter().map(|node| node.version.as_str())) else {
            seen.extend(nodes.iter().map(|node| node.version.clone()));
            continue;
        };
        let place = format!("channel {channel} of {shown}");
        let payload = nodes.iter().find(|node| node.version == version).map(|node| node.payload.clone());
        let payload = payload.unwrap_or_default();
        let image = payload.parse::<PullSpec>().ok().filter(|image| image.digest.is_some());
        let Some(image) = image else {
            return Err(ResolveError::NotByDigest { place, version: version.to_owned(), payload });
        };
        let (risks, version) = (graph.risks_of(version), version.to_owned());
        return Ok(ResolvedWord { image, version, source: place, risks });
    }
    match unknown.filter(|_| seen.is_empty()) {
        Some(channel) => {
            let architecture = options.architecture.clone();
            Err(ResolveError::NoChannel { url: shown, channel, architecture })
        }
        None => Err(ResolveError::NoVersion {
            place: format!("{} of {shown}", word.channels().join(", ")),
            word: asked.to_owned(),
            newest: ReleaseWord::newest(seen.iter().map(String::as_str)).map(str::to_owned),
        }),
    }
}

async fn ask(
    url: &str,
    channel: &str,
    architecture: &str,
    connection: &Connection,
) -> Result<UpdateGraph, ResolveError> {
    let shown = without_password(url);
    let host = reqwest::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    let host = host.unwrap_or_else(|| shown.clone());
    let asked = || async {
        // A service that sends us on to somebody else, perhaps without TLS, is not the one that was named.
        let client = connection.http_client_without_redirects()?;
        let request = client.get(url).query(&[("channel", channel), ("arch", architecture)]);
        let answer = request.header("accept", "application/json").send().await;
        let answer = answer.map_err(|error| transport(&host, &error))?;
        let status = answer.status();
        if status.is_server_error() {
            return Err(RegistryError::Server {
                registry: host.clone(),
                status: status.as_u16(),
                detail: String::new(),
                wait: None,
            });
        }
        Ok((status, body(answer, MOST, &host, || format!("the answer of {shown}")).await?))
    };
    let (status, bytes) = connection.retry.run(asked).await?;
    if !status.is_success() {
        return Err(ResolveError::Refused { url: shown, status: status.as_u16(), said: said(&bytes) });
    }
    UpdateGraph::read(&bytes)
        .map_err(|error| ResolveError::Malformed { url: shown, detail: error.to_string() })
}

/// Errors have a kind and a text.
fn said(bytes: &[u8]) -> String {
    let answer: Value = serde_json::from_slice(bytes).unwrap_or_default();
    match (answer["kind"].as_str(), answer["value"].as_str()) {
        (Some(kind), Some(value)) => format!("{kind}: {value}"),
        _ => String::from_utf8_lossy(bytes).chars().take(200).collect::<String>().trim().to_owned(),
    }
}

async fn by_tag(
    word: &ReleaseWord,
    asked: &str,
    repository: &str,
    options: &FetchOptions,
) -> Result<ResolvedWord, ResolveError> {
    // A tag is needed for a pull spec; this one is never asked for.
    let place: PullSpec = format!("{repository}:any")
        .parse()
        .map_err(|error: crate::PullSpecError| RegistryError::Setting(error.to_string()))?;
    let opened = Repository::to_pull(&place, &options.connection)?;
    let tags = opened.tags(&place).await?;
    let Some(tag) = word.best(tags.iter().map(String::as_str)) else {
        return Err(ResolveError::NoVersion {
            place: repository.to_owned(),
            word: asked.to_owned(),
            newest: ReleaseWord::Okd(None).best(tags.iter().map(String::as_str)).map(str::to_owned),
        });
    };
    let tagged = PullSpec { tag: Some(tag.to_owned()), ..place };
    let manifest = opened.manifest(&tagged, &options.cache).await?;
    Ok(ResolvedWord {
        image: tagged.at(&manifest.digest),
        version: tag.to_owned(),
        source: format!("tag {tag} of {repository}"),
        risks: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_and_risks_are_read() {
        let graph = UpdateGraph::read(
            br#"{"version": 1, "nodes": [
                {"version": "4.18.1", "payload": "q/a@sha256:0", "metadata": {"io.openshift.upgrades.graph.release.channels": "stable-4.18,fast-4.18"}},
                {"version": "4.18.2", "payload": "q/a@sha256:1", "metadata": {"io.openshift.upgrades.graph.release.channels": "fast-4.18"}}],
              "edges": [[0, 1]], "conditionalEdges": [{"edges": [{"from": "4.18.1", "to": "4.18.2"}],
                "risks": [{"name": "Slow", "url": "https://example.com", "message": "It is slow.", "matchingRules": [{"type": "Always"}]}]}]}"#,
        )
        .unwrap();
        assert_eq!(graph.of_channel("stable-4.18").len(), 1);
        assert_eq!(graph.of_channel("fast-4.18").len(), 2);
        assert_eq!((graph.risks_of("4.18.2"), graph.risks_of("4.18.1").len()), (vec!["Slow".to_owned()], 0));
        assert!(UpdateGraph::read(b"<html>").is_err());
        assert_eq!(said(br#"{"kind": "invalid_channel", "value": "no such"}"#), "invalid_channel: no such");
    }
}
