//! Who answers behind the load balancer.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use serde_json::Value;

use super::outcome::{Check, VerifyOutcome};
use super::questions::AskError;
use super::verifier::Verifier;

/// Connections a master. A balancer that takes the next at random misses one of three masters in one run of ten thousand.
const TRIES: usize = 8;

/// What came of many connections to one address.
#[derive(Clone, Debug, Default)]
pub struct BalancerSeen {
    /// Where.
    pub url: String,
    /// Servers, by the address that they advertise, with how often each answered.
    pub answered: BTreeMap<IpAddr, usize>,
    /// Answers of servers that do not say who they are.
    pub nameless: usize,
    /// Connections that came to nothing.
    pub failed: Vec<String>,
}

/// Every master answers, nobody else does, and no connection is lost. `others` are addresses that are no master's, with whose they are.
pub fn judge_balancer(
    masters: &BTreeMap<String, Vec<IpAddr>>,
    others: &BTreeMap<IpAddr, String>,
    seen: &BalancerSeen,
) -> VerifyOutcome {
    const FIX: &str = "the load balancer's pool for port 6443 must hold every master and nothing else, and must check GET /readyz \
     of each (docs/guide/02-build-infra.md)";
    let BalancerSeen { url, answered, nameless, failed } = seen;
    let tried = answered.values().sum::<usize>() + nameless + failed.len();
    let (mut wrong, mut odd) = (Vec::new(), Vec::new());
    // A server that is gone loses its whole share; a single connection may break for any reason.
    if let Some(first) = failed.first() {
        let told = if failed.len() > 1 { &mut wrong } else { &mut odd };
        told.push(format!("{} of {tried} connections to {url} failed: {first}", failed.len()));
    }
    if answered.is_empty() && failed.is_empty() {
        let why = format!("not checked: the servers behind {url} do not say who they are");
        return VerifyOutcome::skipped(Check::Balancer, why);
    }
    for ip in answered.keys().filter(|ip| !masters.values().flatten().any(|known| known == *ip)) {
        let whose = others.get(ip).map_or_else(String::new, |whose| format!(": {whose}"));
        wrong.push(format!("{ip} answers behind {url}, but is not a master{whose}"));
    }
    let is_silent = |addresses: &Vec<IpAddr>| !addresses.iter().any(|ip| answered.contains_key(ip));
    let silent: Vec<&str> =
        masters.iter().filter(|(_, addresses)| is_silent(addresses)).map(|(name, _)| name.as_str()).collect();
    if !silent.is_empty() && !answered.is_empty() {
        let names = silent.join(", ");
        match answered.len() {
            1 => odd.push(format!(
                "one server answered all {tried} connections to {url}: either the load balancer keeps a client at one server, or \
                 these are not in its pool: {names}"
            )),
            _ => wrong.push(format!("none of {tried} connections to {url} came to {names}")),
        }
    }
    let good = format!("{tried} connections to {url} came to {} masters and nobody else", masters.len());
    VerifyOutcome { check: Check::Balancer, judged: hardway_base::Judged::of(wrong, odd, FIX, good) }
}

impl Verifier {
    pub(super) async fn balancer(&self) -> Result<VerifyOutcome, AskError> {
        let masters = self.master_addresses().await?;
        if masters.is_empty() {
            let why = "not checked: no address of a master is known";
            return Ok(VerifyOutcome::skipped(Check::Balancer, why));
        }
        let mut seen = BalancerSeen { url: self.config.cluster_url.to_string(), ..BalancerSeen::default() };
        for _ in 0..TRIES * masters.len() {
            match self.who_answers().await {
                Ok(Some(ip)) => *seen.answered.entry(ip).or_default() += 1,
                Ok(None) => seen.nameless += 1,
                Err(error) => seen.failed.push(error.to_string()),
            }
        }
        let others = self.declared.other_addresses.iter();
        let others = others.map(|other| (other.address, other.of.clone())).collect();
        Ok(judge_balancer(&masters, &others, &seen))
    }

    /// `/api` says at which address clients reach the server that answers: the one it advertises, which is its host's own. Each
    /// question is a connection of its own.
    async fn who_answers(&self) -> Result<Option<IpAddr>, AskError> {
        let request = http::Request::get("/api").body(Vec::new()).map_err(kube::Error::HttpError)?;
        let answer: Value = self.within(self.client()?.request(request)).await?;
        Ok(advertised(&answer))
    }
}

fn advertised(answer: &Value) -> Option<IpAddr> {
    let first = answer["serverAddressByClientCIDRs"].as_array()?.first()?;
    first["serverAddress"].as_str()?.parse::<SocketAddr>().ok().map(|at| at.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_who_it_is() {
        let answer = |address: &str| {
            serde_json::json!({"kind": "APIVersions", "serverAddressByClientCIDRs": [
            {"clientCIDR": "0.0.0.0/0", "serverAddress": address}]})
        };
        assert_eq!(advertised(&answer("192.0.2.7:6443")), "192.0.2.7".parse().ok());
        assert_eq!(advertised(&answer("[2001:db8::7]:6443")), "2001:db8::7".parse().ok());
        assert_eq!(advertised(&answer("api.example.com:6443")), None);
        assert_eq!(advertised(&serde_json::json!({})), None);
    }
}
