//! One look at the cluster and its machines, as they are now. Nothing is changed there, and nothing of it is written down.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hardway_assets::host_services::{BalancedPort, InstallStage};
use hardway_assets::inventory::Host;
use hardway_assets::{Cluster, Phase, work_paths};
use hardway_cluster::diagnosis::{Api, Evidence, live as ask};
use hardway_cluster::etcd::ask_status;
use hardway_cluster::objects::{ClusterOperator, Condition, Node, SigningRequest};
use hardway_cluster::verify::ResolvedName;
use hardway_journal::{EtcdMember, FILE_NAME, History, OperatorSeen, PhaseState};
use hardway_machines::load_balancer::{BalancedServer, ServerState, servers};
use hardway_machines::providers::{LoadBalancer, Probe, Provider};
use jiff::Timestamp;
use serde::Serialize;

use crate::clock;
use crate::cluster::{Access, Intent, Live};
use crate::inputs::{InputFiles, Workdir};
use crate::install::{member_seen, operators_seen};
use crate::journal::recorded;
use crate::machines::{console_lines, outside, provider_if_any, stage};
use crate::project::cluster_before_release;
use crate::terminal::Output;

/// What was seen.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Look {
    /// When; none of a bundle, which may be old.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<Timestamp>,
    /// Nothing where nobody had a reason to ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    api: Option<ApiLook>,
    nodes: Vec<NodeLook>,
    operators: Vec<OperatorLook>,
    requests: Vec<RequestLook>,
    #[serde(skip_serializing_if = "Option::is_none")]
    etcd: Option<Vec<EtcdMember>>,
    members: Vec<MemberLook>,
    names: Vec<NameLook>,
    consoles: Vec<ConsoleLook>,
}

/// Whether the API answers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ApiLook {
    answers: bool,
    sentence: String,
}

/// A node as the API has it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct NodeLook {
    node: String,
    is_ready: bool,
    sentence: String,
}

/// An operator as the API has it, in the words of the journal.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OperatorLook {
    #[serde(flatten)]
    seen: OperatorSeen,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
}

/// A certificate request as the API has it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RequestLook {
    request: String,
    node: String,
    signer: String,
    /// `approve`, `deny` or `pending`.
    verdict: &'static str,
    reason: String,
    evidence: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
}

/// A member of the load balancer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct MemberLook {
    port: u16,
    host: String,
    is_well: bool,
    sentence: String,
}

/// A name, as it resolves where the look was taken.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct NameLook {
    name: String,
    is_as_declared: bool,
    sentence: String,
}

/// The end of a console.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ConsoleLook {
    host: String,
    lines: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
}

/// For each answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// For a console: gcloud takes seconds.
const CONSOLE_PATIENCE: Duration = Duration::from_secs(15);

/// Looks again and again, and keeps what need not be read twice.
pub(crate) struct Looker {
    workdir: Workdir,
    live: Option<Live>,
}

/// What there is to look at.
struct Site {
    cluster: Cluster,
    provider: Arc<dyn Provider>,
    stage: InstallStage,
}

impl Looker {
    pub(crate) fn new(workdir: Workdir) -> Self {
        Self { workdir, live: None }
    }

    /// One look. What cannot be seen is left out.
    pub(crate) async fn look(&mut self) -> Look {
        let history = History::read(&self.workdir.path(FILE_NAME)).unwrap_or_default();
        let has_begun = |phase| !matches!(history.phases.state(recorded(phase)), PhaseState::Untouched);
        let site = self.site(&history);
        let site = site.as_ref().filter(|_| has_begun(Phase::BuildInfra));
        // A folder of openshift-install has no journal, and its cluster may be there all the same.
        let has_machines = site.is_none_or(|_| has_begun(Phase::InstallOs));
        let consoles = async {
            match site {
                Some(site) => site.consoles().await,
                None => Vec::new(),
            }
        };
        let around = async {
            match site.filter(|_| has_machines) {
                Some(site) => (site.members().await, names(&site.cluster).await),
                None => Default::default(),
            }
        };
        let cluster = async { if has_machines { self.cluster().await } else { Look::default() } };
        let (consoles, (members, names), seen) = tokio::join!(consoles, around, cluster);
        Look { time: Some(clock::now()), consoles, members, names, ..seen }
    }

    fn site(&self, history: &History) -> Option<Site> {
        let files = InputFiles::open_if_there(&self.workdir).ok()??;
        let cluster = cluster_before_release(&self.workdir, &files).ok()?;
        let stage = stage(&cluster, history);
        let dir = std::path::absolute(self.workdir.path("")).ok()?;
        let provider = provider_if_any(&cluster, &dir, stage)?.into();
        Some(Site { cluster, provider, stage })
    }

    /// By the API, and by etcd's members themselves.
    async fn cluster(&mut self) -> Look {
        if !self.workdir.path(work_paths::KUBECONFIG).is_file() {
            return Look::default();
        }
        if self.live.is_none() {
            let opened = Live::open(&self.workdir, &Access::default(), Intent::Look, &Output::silent()).await;
            match opened {
                Ok(live) => self.live = Some(live),
                Err(report) => {
                    let api = Some(ApiLook { answers: false, sentence: report.what });
                    return Look { api, ..Look::default() };
                }
            }
        }
        let Some(live) = &self.live else { return Look::default() };
        let declared = live.declared(&self.workdir);
        let mut evidence = Evidence { declared, ..Evidence::default() };
        let access = live.etcd(&self.workdir);
        let members = async {
            match &access {
                Some(access) => ask_status(access).await.ok(),
                None => None,
            }
        };
        let ((), members) = tokio::join!(ask::ask_api(&live.config, PATIENCE, &mut evidence), members);
        let etcd = members.map(|status| status.members.iter().map(member_seen).collect());
        Look { etcd, ..Look::of(&evidence) }
    }
}

impl Look {
    /// Of evidence that was collected before: a bundle's, or the API's.
    pub(crate) fn of(evidence: &Evidence) -> Self {
        let state = &evidence.state;
        let api = match &evidence.api {
            Api::Answers => Some(ApiLook { answers: true, sentence: "the API answers".to_owned() }),
            Api::NotAsked => None,
            Api::Silent(why) => Some(ApiLook { answers: false, sentence: why.clone() }),
        };
        let operator = |seen: OperatorSeen| {
            let conditions = state.operators.get(&seen.operator).map(ClusterOperator::conditions);
            let since = conditions.unwrap_or_default().iter().filter_map(|it| it.last_transition_time).max();
            OperatorLook { seen, since }
        };
        Self {
            api,
            nodes: state.nodes.iter().map(|(name, node)| NodeLook::of(name, node)).collect(),
            operators: operators_seen(state, &evidence.declared).into_iter().map(operator).collect(),
            requests: state.requests.iter().map(|(name, request)| RequestLook::of(name, request)).collect(),
            ..Self::default()
        }
    }
}

impl NodeLook {
    fn of(name: &str, node: &Node) -> Self {
        let ready = node.ready();
        let sentence =
            ready.map_or_else(|| "its kubelet has not reported yet".to_owned(), Condition::sentence);
        Self { node: name.to_owned(), is_ready: node.is_ready(), sentence }
    }
}

impl RequestLook {
    fn of(name: &str, request: &SigningRequest) -> Self {
        let conditions = request.status.conditions.as_deref().unwrap_or_default();
        let of = |kind: &str| conditions.iter().find(|condition| condition.r#type == kind);
        let (verdict, told) = match (of("Denied"), of("Approved")) {
            (Some(denied), _) => ("deny", Some(denied)),
            (None, Some(approved)) => ("approve", Some(approved)),
            (None, None) => ("pending", None),
        };
        let text = |text: Option<&String>| text.cloned().unwrap_or_default();
        let username = request.spec.username.as_deref().unwrap_or_default();
        Self {
            request: name.to_owned(),
            node: username.strip_prefix("system:node:").unwrap_or(username).to_owned(),
            signer: request.spec.signer_name.clone(),
            verdict,
            reason: text(told.and_then(|told| told.reason.as_ref())),
            evidence: told.and_then(|told| told.message.clone()).into_iter().collect(),
            since: request.created(),
        }
    }
}

impl Site {
    /// As HAProxy says; of a load balancer that is not ours, whether each member answers at its port.
    async fn members(&self) -> Vec<MemberLook> {
        let ports = BalancedPort::all(&self.cluster, self.stage);
        let LoadBalancer::Haproxy { admin_socket } = self.provider.load_balancer() else {
            return knocked(&ports).await;
        };
        let told = tokio::task::spawn_blocking(move || servers(&admin_socket)).await;
        let told = told.ok().and_then(Result::ok).unwrap_or_default();
        let row = |server: &BalancedServer| {
            let port = ports.iter().find(|port| port.name == server.service)?.port;
            let sentence = match (server.state, server.is_well) {
                (ServerState::Ready, true) => "healthy".to_owned(),
                (ServerState::Ready, false) => "fails its health check".to_owned(),
                (state, _) => format!("gets no connections: {state}"),
            };
            Some(MemberLook { port, host: server.name.clone(), is_well: server.is_well, sentence })
        };
        told.iter().filter_map(row).collect()
    }

    /// One after the other: whoever keeps them is asked by a program each.
    async fn consoles(&self) -> Vec<ConsoleLook> {
        let (provider, hosts) = (self.provider.clone(), self.cluster.inventory.hosts.clone());
        let look = move || hosts.iter().filter_map(|host| console(provider.as_ref(), host)).collect();
        tokio::task::spawn_blocking(look).await.unwrap_or_default()
    }
}

fn console(provider: &dyn Provider, host: &Host) -> Option<ConsoleLook> {
    let tail = provider.console_tail(host)?;
    let probe = Probe::new(tail, |printed| Some(printed.to_owned())).within(CONSOLE_PATIENCE);
    let lines = console_lines(&probe.ask(&outside()).ok()??);
    (!lines.is_empty()).then(|| ConsoleLook {
        host: host.name.clone(),
        lines,
        command: provider.look_at_console(host),
    })
}

async fn knocked(ports: &[BalancedPort]) -> Vec<MemberLook> {
    let mut found = Vec::new();
    for port in ports {
        let addresses = port.members.iter().map(|member| member.address.to_string());
        let knocks = ask::knock_all(addresses, port.port, PATIENCE).await;
        found.extend(port.members.iter().zip(knocks).map(|(member, knock)| MemberLook {
            port: port.port,
            host: member.name.clone(),
            is_well: knock.open.is_ok(),
            sentence: match knock.open {
                Ok(()) => "takes connections".to_owned(),
                Err(why) => format!("no connection: {why}"),
            },
        }));
    }
    found
}

async fn names(cluster: &Cluster) -> Vec<NameLook> {
    let network = &cluster.inventory.network;
    let wanted: [(String, &[IpAddr]); 3] = [
        (cluster.api_host(), &network.api_vip[..]),
        (cluster.api_int_host(), &network.api_vip[..]),
        (format!("console-openshift-console.apps.{}", cluster.domain()), &network.ingress_vip[..]),
    ];
    let mut found = Vec::new();
    for (name, expected) in wanted {
        let ResolvedName { name, found: addresses, .. } =
            ResolvedName::ask(name, expected.to_vec(), PATIENCE).await;
        let is_declared = |address: &IpAddr| expected.is_empty() || expected.contains(address);
        found.push(match addresses {
            Ok(addresses) => NameLook {
                name,
                is_as_declared: !addresses.is_empty() && addresses.iter().all(is_declared),
                sentence: listed(&addresses),
            },
            Err(why) => NameLook { name, is_as_declared: false, sentence: why.to_string() },
        });
    }
    found
}

fn listed(addresses: &[IpAddr]) -> String {
    match addresses {
        [] => "it has no address".to_owned(),
        addresses => addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// Whether a folder has anything that could be looked at.
pub(crate) fn can_look(dir: &Path) -> bool {
    [work_paths::KUBECONFIG, "inventory.yaml"].iter().any(|name| dir.join(name).is_file())
}
