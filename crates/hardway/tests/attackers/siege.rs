//! All attackers at one moment, and what they got.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use hardway_cluster::csr_policy::{CLIENT_SIGNER, SERVING_SIGNER};
use hardway_testing::{node_request, run, until};

use super::ask::{Ask, Dice, object};
use super::attacker::{Attacker, Loot};
use super::cluster::{Cluster, node_name};
use super::credential::{Credential, Server};
use super::report::Report;

/// When in a host's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Moment {
    BeforeConfig,
    BeforeJoin,
    AfterJoin,
    Replacing,
    Recovering,
}

impl Moment {
    pub(crate) const ALL: [Self; 5] =
        [Self::BeforeConfig, Self::BeforeJoin, Self::AfterJoin, Self::Replacing, Self::Recovering];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::BeforeConfig => "before-config",
            Self::BeforeJoin => "before-join",
            Self::AfterJoin => "after-join",
            Self::Replacing => "replacing",
            Self::Recovering => "recovering",
        }
    }
}

/// How many attempts, and which.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Of each attacker at each moment.
    pub(crate) attempts: usize,
    pub(crate) seed: u64,
}

/// One moment's attempts.
pub(crate) struct Siege {
    cluster: Arc<Cluster>,
    moment: Moment,
    attempts: Vec<Attempt>,
}

struct Attempt {
    name: String,
    attacker: Attacker,
    credential: Credential,
    ask: Ask,
}

/// All that anybody asks in the name of.
const HOSTS: [&str; 5] = ["master-0", "master-1", "worker-0", "worker-1", "worker-9"];
/// At once.
const CONCURRENT: usize = 16;

impl Siege {
    pub(crate) fn new(cluster: &Arc<Cluster>, moment: Moment, loot: &Loot, size: Size) -> Self {
        let mut attempts = Vec::new();
        for number in 0..size.attempts {
            for attacker in Attacker::ALL {
                let place = (moment as u64) << 32 | (attacker as u64) << 24 | number as u64;
                let mut dice = Dice::new(size.seed ^ place);
                let (credential, ask) = match (attacker, number) {
                    // What it got in with is tried at every moment, however few attempts there are.
                    (Attacker::CompromisedWorker, 0) => loot.used_pointer_again(),
                    (Attacker::CompromisedWorker, 1) => loot.boot_identity_again(&mut dice),
                    _ => loot.attempt(attacker, &mut dice),
                };
                let name = format!("attack-{}-{}-{number}", moment.name(), attacker.name());
                attempts.push(Attempt { name, attacker, credential, ask });
            }
        }
        Self { cluster: cluster.clone(), moment, attempts }
    }

    /// Half of it now, so that all of that is pending whatever comes next, the rest over so many seconds.
    pub(crate) async fn run(self, over: Duration) -> Report {
        let Self { cluster, moment, attempts } = self;
        let servers = Arc::new((cluster.api(), cluster.ignition()));
        let half = attempts.len() / 2;
        let pause = over / u32::try_from(attempts.len() - half).unwrap();
        // Those that wait must not keep others from being sent.
        let width = if over.is_zero() { CONCURRENT } else { attempts.len() };
        let tries = attempts.into_iter().enumerate().map(|(number, attempt)| {
            let servers = servers.clone();
            async move {
                tokio::time::sleep(pause * u32::try_from(number.saturating_sub(half)).unwrap()).await;
                let got = attempt.make(&servers.0, &servers.1).await;
                (attempt, got)
            }
        });
        let results: Vec<(Attempt, Got)> = stream::iter(tries).buffer_unordered(width).collect().await;
        let pending = results.iter().filter(|(_, got)| *got == Got::Pending);
        let asked: Vec<&str> = pending.map(|(attempt, _)| attempt.name.as_str()).collect();
        tokio::task::block_in_place(|| until_decided(&cluster, &asked));
        let mut report = Report::default();
        for (attempt, got) in results {
            let row = report.row(attempt.attacker, moment);
            row.attempts += 1;
            match got {
                Got::In(what) => {
                    row.let_in.push(format!("{} as {}: {what}", attempt.name, attempt.credential.label));
                }
                Got::Pending => row.judged.push(attempt.name),
                Got::Left | Got::Refused => {}
            }
        }
        report
    }
}

/// Until each request has a verdict: only then does it say something that it is not approved. Of refusals only some are told. But requests for
/// one node are decided about in their order, so that a probe for each node, which is denied, has its verdict after all of them; and a
/// second round has it after those that are about no node, of which a few may be under way while the first is decided.
fn until_decided(cluster: &Cluster, asked: &[&str]) {
    let Some(first) = asked.first() else { return };
    for round in 0..2 {
        let probe = |host: &str| format!("probe-{first}-{host}-{round}");
        for host in HOSTS {
            let pem = node_request(&node_name(host), "");
            // No kubelet asks to serve with a client's certificate.
            let usages = ["digital signature", "server auth"].map(str::to_owned);
            let mut object = object(pem.as_bytes(), CLIENT_SIGNER, &usages, None);
            object["metadata"] = serde_json::json!({"name": probe(host)});
            cluster.plane.apply(&object);
        }
        until(&format!("a verdict for each of {} requests", asked.len()), || {
            let all = cluster.requests();
            let is_denied = |name: String| {
                let its = all.iter().find(|one| one["metadata"]["name"] == *name);
                its.is_some_and(|one| one["status"]["conditions"][0]["type"] == "Denied")
            };
            HOSTS.iter().all(|host| is_denied(probe(host)))
        });
    }
}

/// What an attempt came to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Got {
    /// What was wanted.
    In(String),
    /// A request that the policy decides about.
    Pending,
    /// A request that is none of the policy's business, and nobody else's here.
    Left,
    Refused,
}

impl Attempt {
    async fn make(&self, api: &Server, ignition: &Server) -> Got {
        let json = [("Content-Type".to_owned(), "application/json".to_owned())];
        match &self.ask {
            Ask::Certificate(object) => {
                let mut object = object.clone();
                object["metadata"] = serde_json::json!({"name": self.name});
                let path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
                let reply = self.credential.send(api, "POST", path, &json, &object.to_string()).await;
                let signer = object["spec"]["signerName"].as_str().unwrap();
                match reply.status {
                    201 if [CLIENT_SIGNER, SERVING_SIGNER].contains(&signer) => Got::Pending,
                    201 => Got::Left,
                    _ => Got::Refused,
                }
            }
            Ask::Object(method, path, body) => {
                let patch = [("Content-Type".to_owned(), "application/merge-patch+json".to_owned())];
                let headers = if *method == "PATCH" { &patch } else { &json };
                let reply = self.credential.send(api, method, path, headers, body).await;
                match reply.status {
                    200..300 => Got::In(format!("{method} {path}")),
                    _ => Got::Refused,
                }
            }
            Ask::Config(path, headers) => {
                let reply = self.credential.send(ignition, "GET", path, headers, "").await;
                if reply.status == 200 { Got::In(path.clone()) } else { Got::Refused }
            }
            Ask::File(path) => {
                let mut read = Command::new("setpriv");
                read.args(["--reuid=65534", "--regid=65534", "--clear-groups", "cat"]).arg(path);
                let (done, _) = tokio::task::block_in_place(|| run(&mut read));
                if done { Got::In(path.display().to_string()) } else { Got::Refused }
            }
        }
    }
}
