//! What an installation must not leave behind: requests that wait, a kube-proxy, a bootstrap host that still serves.

use std::net::SocketAddr;

use jiff::Timestamp;
use kube::ResourceExt as _;
use kube::api::Api;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::outcome::{Check, VerifyOutcome};
use super::questions::AskError;
use super::verifier::Verifier;
use crate::declared::BOOTSTRAP_HOST;
use crate::objects::{Pod, SigningRequest};

/// The machine-config server's.
const MACHINE_CONFIG_PORT: u16 = 22623;
/// The network operator runs one of its own for networks that need it; that one is wanted.
const OPERATORS_OWN: &str = "openshift-kube-proxy";
/// As many are told; the rest is counted.
const TOLD: usize = 10;

/// Nobody waits for a certificate. One that waits breaks nothing that works today, so it is only told.
pub fn judge_requests(now: Timestamp, requests: &[SigningRequest]) -> VerifyOutcome {
    const FIX: &str = "hardway approve --dry-run says what is to be done with each, hardway approve does it";
    let waiting: Vec<&SigningRequest> = requests.iter().filter(|request| request.is_pending()).collect();
    let told = waiting.iter().take(TOLD).map(|request| {
        let who = request.spec.username.as_deref().unwrap_or("nobody");
        let since = request.created().map_or_else(String::new, |made| {
            format!(", for {} min", now.duration_since(made).as_mins().max(0))
        });
        format!("{:?} of {who:?} to {} is pending{since}", request.name_any(), request.spec.signer_name)
    });
    let mut seen: Vec<String> = told.collect();
    if waiting.len() > TOLD {
        seen.push(format!("and {} more", waiting.len() - TOLD));
    }
    match seen.is_empty() {
        true => VerifyOutcome::passed(Check::Requests, format!("{} requests, none pending", requests.len())),
        false => VerifyOutcome::warned(Check::Requests, seen, FIX),
    }
}

/// `bootstrap` is where the bootstrap host still answers.
pub fn judge_leftovers(masters: &[String], pods: &[Pod], bootstrap: &[SocketAddr]) -> VerifyOutcome {
    const FIX: &str = "switch the bootstrap host off and take it out of the load balancer; delete a kube-proxy with what made it (a \
     DaemonSet, or a file in /etc/kubernetes/manifests of the master), and restart the master to clear its rules";
    let is_proxy = |pod: &&Pod| {
        pod.name_any().starts_with("kube-proxy") && pod.namespace().as_deref() != Some(OPERATORS_OWN)
    };
    let proxies = pods.iter().filter(is_proxy).filter_map(|pod| {
        let node = pod.spec.node_name.as_ref().filter(|node| masters.contains(node))?;
        let namespace = pod.namespace().unwrap_or_default();
        Some(format!(
            "pod {namespace}/{} on {node}: its rules compete with the network's own",
            pod.name_any()
        ))
    });
    let mut wrong: Vec<String> = proxies.collect();
    wrong.extend(bootstrap.iter().map(|at| format!("the bootstrap host still serves at {at}")));
    VerifyOutcome::of(
        Check::Leftovers,
        wrong,
        FIX,
        "no kube-proxy on masters, and the bootstrap host does not serve".to_owned(),
    )
}

impl Verifier {
    pub(super) async fn leftovers(&self) -> Result<VerifyOutcome, AskError> {
        let everywhere: Api<Pod> = Api::all(self.client()?);
        let pods = self.list(&everywhere).await?;
        let masters: Vec<String> = self.master_addresses().await?.into_keys().collect();
        Ok(judge_leftovers(&masters, &pods, &self.bootstrap_serves().await))
    }

    /// Other ports may be anybody's: the machine is often used again, as a worker.
    async fn bootstrap_serves(&self) -> Vec<SocketAddr> {
        let others = self.declared.other_addresses.iter().filter(|other| other.of == BOOTSTRAP_HOST);
        let ports = [self.surroundings.api_port, MACHINE_CONFIG_PORT];
        let places = others.flat_map(|other| ports.map(|port| SocketAddr::new(other.address, port)));
        let tried = places.map(|at| async move {
            let open = timeout(self.patience, TcpStream::connect(at)).await;
            matches!(open, Ok(Ok(_))).then_some(at)
        });
        futures_util::future::join_all(tried).await.into_iter().flatten().collect()
    }
}
