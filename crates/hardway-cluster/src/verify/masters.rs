//! Every master, asked without the load balancer between.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use hardway_assets::inventory::Role;
use kube::ResourceExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::outcome::{Check, VerifyOutcome};
use super::questions::AskError;
use super::verifier::Verifier;
use crate::api_error::sentence;
use crate::kubeconfig::without_retries;
use crate::objects::Node;

/// What a master says at its own address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MasterAnswer {
    /// Its API server is ready.
    Ready,
    /// Somebody answers, and this is wrong.
    NotReady(String),
    /// Nobody answers from where we are.
    Unreachable(String),
}

/// Each master, by name, with where it was asked. From where none of them can be reached nothing is said about any: the API answers,
/// so that one at least is well, and what is between us and them is not the cluster's.
pub fn judge_masters(asked: &[(String, SocketAddr, MasterAnswer)]) -> VerifyOutcome {
    const FIX: &str = "on that master: crictl ps -a --name kube-apiserver, and the log of that container; `oc get --raw \
     '/readyz?verbose'` shows what a server waits for";
    if asked.is_empty() {
        return VerifyOutcome::skipped(Check::Masters, "not checked: no address of a master is known");
    }
    let silent =
        |(_, _, answer): &(String, SocketAddr, MasterAnswer)| matches!(answer, MasterAnswer::Unreachable(_));
    if asked.iter().all(silent) {
        let why = asked.iter().map(|(name, at, _)| format!("{name} ({at})")).collect::<Vec<_>>().join(", ");
        let why = format!("not checked: no master can be reached directly from this host: {why}");
        return VerifyOutcome::skipped(Check::Masters, why);
    }
    let wrong = asked.iter().filter_map(|(name, at, answer)| match answer {
        MasterAnswer::Ready => None,
        MasterAnswer::NotReady(why) => Some(format!("{name} is not ready at {at}: {why}")),
        MasterAnswer::Unreachable(why) => Some(format!("{name} does not answer at {at}: {why}")),
    });
    VerifyOutcome::of(
        Check::Masters,
        wrong.collect(),
        FIX,
        format!("{} masters answer /readyz when asked directly", asked.len()),
    )
}

impl Verifier {
    pub(super) async fn ask_masters(&self) -> Result<VerifyOutcome, AskError> {
        let mut asked = Vec::new();
        for (name, addresses) in self.master_addresses().await? {
            let mut last = None;
            for address in addresses {
                let at = SocketAddr::new(address, self.surroundings.api_port);
                let answer = self.ask_master(at).await;
                let is_ready = answer == MasterAnswer::Ready;
                last = Some((name.clone(), at, answer));
                if is_ready {
                    break;
                }
            }
            asked.extend(last);
        }
        Ok(judge_masters(&asked))
    }

    async fn ask_master(&self, at: SocketAddr) -> MasterAnswer {
        match timeout(self.patience, TcpStream::connect(at)).await {
            Err(_) => return MasterAnswer::Unreachable("no answer".to_owned()),
            Ok(Err(error)) => return MasterAnswer::Unreachable(sentence(&error)),
            Ok(Ok(_)) => {}
        }
        match self.readyz(at).await {
            Ok(_) => MasterAnswer::Ready,
            Err(AskError::Api(error)) => MasterAnswer::NotReady(unready(&sentence(&*error))),
            Err(late) => MasterAnswer::NotReady(late.to_string()),
        }
    }

    /// It presents a certificate for the name that clients call, whichever address they come by.
    async fn readyz(&self, at: SocketAddr) -> Result<String, AskError> {
        let mut config = self.config.clone();
        let name = config.cluster_url.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        config.tls_server_name.get_or_insert(name);
        let url = format!("https://{at}").parse::<http::Uri>();
        config.cluster_url = url.map_err(|error| kube::Error::HttpError(error.into()))?;
        let request = http::Request::get("/readyz").body(Vec::new()).map_err(kube::Error::HttpError)?;
        let client = without_retries(&config)?;
        self.within(client.request_text(request)).await
    }

    /// Declared, or what nodes with that label say where nothing is declared.
    pub(super) async fn master_addresses(&self) -> Result<BTreeMap<String, Vec<IpAddr>>, AskError> {
        let declared: BTreeMap<String, Vec<IpAddr>> = self
            .declared
            .with_role(Role::Master)
            .map(|node| (node.name.clone(), node.addresses.clone()))
            .collect();
        if !declared.is_empty() {
            return Ok(declared);
        }
        let nodes = self.all::<Node>().await?;
        let masters = nodes.iter().filter(|node| node.has_role("master"));
        Ok(masters
            .map(|node| (node.name_any(), node.internal_ips().filter_map(|ip| ip.parse().ok()).collect()))
            .collect())
    }
}

/// A server that is not ready lists everything it looks at; only what failed matters.
fn unready(said: &str) -> String {
    let failed: Vec<&str> =
        said.split("[-]").skip(1).filter_map(|rest| rest.split_whitespace().next()).collect();
    match failed.is_empty() {
        true => said.to_owned(),
        false => format!("it waits for {}", failed.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::unready;

    #[test]
    fn only_what_failed_is_told() {
        let said =
            "ApiError: \"[+]ping ok\\n[-]etcd failed: reason withheld\\n[+]log ok\\nreadyz check failed\"";
        assert_eq!(unready(said), "it waits for etcd");
        assert_eq!(unready("404 page not found"), "404 page not found");
    }
}
