//! The names as this host resolves them, by whatever means it is set up to.

use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use hardway_assets::Cluster;

use super::judgement::list;
use crate::preflight::Judged;

/// A name and what the system's resolver says.
#[derive(Debug)]
pub(super) struct HostLookup {
    pub(super) name: String,
    pub(super) expected: Vec<IpAddr>,
    pub(super) found: Result<Vec<IpAddr>, Unresolved>,
    /// Whether hardway itself, or a person at this host, needs it.
    pub(super) is_needed_here: bool,
}

/// Why a name has no address.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unresolved {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("no answer within {} s", .0.as_secs())]
    Late(Duration),
}

/// api and a name below apps, which people use from here; api-int, which is for nodes.
pub(super) fn resolve_names(cluster: &Cluster, patience: Duration) -> Vec<HostLookup> {
    let network = &cluster.inventory.network;
    let route = format!("hardway-check.apps.{}", cluster.domain());
    let wanted = [
        (cluster.api_host(), &network.api_vip, true),
        (route, &network.ingress_vip, true),
        (cluster.api_int_host(), &network.api_vip, false),
    ];
    let asked = wanted
        .map(|(name, expected, is_needed_here)| (resolve(name.clone()), name, expected, is_needed_here));
    let found = asked.map(|(answer, name, expected, is_needed_here)| {
        let found = answer.recv_timeout(patience).map_err(|_| Unresolved::Late(patience));
        let found = found.and_then(|found| Ok(found?));
        HostLookup { name, expected: expected.clone(), found, is_needed_here }
    });
    found.into()
}

/// The system's resolver cannot be told to hurry: its thread is left to itself.
fn resolve(name: String) -> mpsc::Receiver<io::Result<Vec<IpAddr>>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let found = (name.as_str(), 0).to_socket_addrs();
        let _ = sender.send(found.map(|found| found.map(|socket| socket.ip()).collect()));
    });
    receiver
}

/// Whether this host sees what is declared.
pub(super) fn judge_host(names: &[HostLookup]) -> Judged {
    let (mut wrong, mut odd) = (Vec::new(), Vec::new());
    for HostLookup { name, expected, found, is_needed_here } in names {
        let missing =
            |why: &Unresolved| format!("{name} does not resolve here: {why}; expected {}", list(expected));
        match found {
            Err(why) if *is_needed_here => wrong.push(missing(why)),
            Err(why) => odd.push(missing(why)),
            Ok(found) if found.iter().any(|address| !expected.contains(address)) => {
                wrong.push(format!("{name} is {} here, expected {}", list(found), list(expected)));
            }
            Ok(_) => {}
        }
    }
    let shown: Vec<&str> = names.iter().map(|name| name.name.as_str()).collect();
    let fix =
        "point this host's resolver at the cluster's name server, or add the records to its own name server";
    Judged::of(wrong, odd, fix, format!("{} resolve here", shown.join(", ")))
}
