//! Management controllers of machines: they answer, and their passwords can be used.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::Path;
use std::thread;

use hardway_base::{Judged, Verdict};
use serde_json::Value;

use crate::check::{CheckedSite, Reachability};
use crate::providers::bare_metal::{BareMetalSettings, BmcSettings};

/// The one path that Redfish answers without a login (DMTF DSP0266, protected resources).
const SERVICE_ROOT: &str = "/redfish/v1/";

/// A controller that was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ControllerAnswer {
    host: String,
    address: String,
    answer: Result<Reachability, ControllerLost>,
}

/// Why a controller could not even be asked. The system's own words are kept: its error cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum ControllerLost {
    #[error("has no address")]
    NoAddress,
    #[error("is not an IP address")]
    NotAnAddress,
    #[error("{0}")]
    Unresolved(String),
}

/// Where a controller is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Server {
    is_https: bool,
    /// With the port.
    authority: String,
}

pub(in crate::providers::bare_metal) fn bmc(site: &CheckedSite<'_>) -> Judged {
    let patience = site.patience.answer;
    let controllers = controllers(&site.cluster.inventory.machines.settings);
    let asked = thread::scope(|scope| {
        let asking: Vec<_> = controllers
            .into_iter()
            .map(|(host, address)| {
                scope.spawn(move || {
                    let server = Server::of(&address).ok_or(ControllerLost::NotAnAddress);
                    let answer = server.and_then(|server| {
                        let at = server.resolve()?;
                        Ok(Reachability::at(at, SERVICE_ROOT, server.is_https, patience))
                    });
                    ControllerAnswer { host, address, answer }
                })
            })
            .collect();
        asking.into_iter().filter_map(|controller| controller.join().ok()).collect::<Vec<_>>()
    });
    with_passwords(judge_controllers(&asked), &BareMetalSettings::controllers_of(site.cluster), site.folder)
}

/// No login is tried, but a password that `hardway bmc` would refuse is seen here already.
fn with_passwords(answers: Judged, controllers: &BTreeMap<String, BmcSettings>, folder: &Path) -> Judged {
    let (mut wrong, mut fixes) = (Vec::new(), Vec::new());
    for (host, controller) in controllers {
        if let Err(error) = controller.open(folder) {
            let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
            wrong.push(format!("{host}: {error}{cause}"));
            fixes.push(error.fix(&folder.join(&controller.password_file)));
        }
    }
    if wrong.is_empty() {
        return answers;
    }
    let is_failed = answers.verdict == Verdict::Failed;
    let seen = answers.seen.into_iter().filter(|_| is_failed).chain(wrong).collect();
    fixes.splice(0..0, answers.fix.filter(|_| is_failed));
    fixes.dedup();
    Judged::failed(seen, fixes.join("; "))
}

/// `hosts.NAME.bmc.address` of the settings.
fn controllers(settings: &Value) -> Vec<(String, String)> {
    let hosts = settings["hosts"].as_object().into_iter().flatten();
    hosts.filter_map(|(host, of)| Some((host.clone(), of["bmc"]["address"].as_str()?.to_owned()))).collect()
}

impl Server {
    /// Of `redfish+https://10.0.0.1/redfish/v1/Systems/1`; without a word about it, the way is encrypted.
    fn of(address: &str) -> Option<Self> {
        let (scheme, rest) = address.split_once("://")?;
        let is_https = scheme != "http" && !scheme.ends_with("+http");
        let authority = rest.split('/').next().filter(|authority| !authority.is_empty())?;
        let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let port = if is_https { 443 } else { 80 };
        let authority = if has_port { authority.to_owned() } else { format!("{authority}:{port}") };
        Some(Self { is_https, authority })
    }

    fn resolve(&self) -> Result<SocketAddr, ControllerLost> {
        let lost = |error: std::io::Error| ControllerLost::Unresolved(error.to_string());
        let mut found = self.authority.to_socket_addrs().map_err(lost)?;
        found.next().ok_or(ControllerLost::NoAddress)
    }
}

fn judge_controllers(asked: &[ControllerAnswer]) -> Judged {
    if asked.is_empty() {
        return Judged::not_applicable(
            "the inventory has no management controllers: machines are booted by hand",
        );
    }
    let wrong = asked
        .iter()
        .filter_map(|ControllerAnswer { host, address, answer }| match answer {
            Ok(Reachability::Answered { text, .. }) if is_good(text) => None,
            Ok(reached) => Some(format!("{host}: {address}: {reached}")),
            Err(why) => Some(format!("{host}: {address}: {why}")),
        })
        .collect();
    let fix = "correct machines.bare-metal.hosts.NAME.bmc.address, make it reachable from this host, and enable Redfish on it";
    Judged::of(wrong, Vec::new(), fix, format!("{} controllers answer Redfish requests", asked.len()))
}

fn is_good(answer: &str) -> bool {
    answer.lines().next().is_some_and(|status| status.split_whitespace().nth(1) == Some("200"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn addresses_as_installers_write_them() {
        let server = |text: &str| Server::of(text).map(|server| (server.is_https, server.authority));
        assert_eq!(
            server("redfish+https://10.0.0.1/redfish/v1/Systems/1"),
            Some((true, "10.0.0.1:443".to_owned()))
        );
        assert_eq!(server("redfish+http://[fd00::1]:8000"), Some((false, "[fd00::1]:8000".to_owned())));
        assert_eq!(server("idrac-virtualmedia://bmc-0"), Some((true, "bmc-0:443".to_owned())));
        assert_eq!(server("10.0.0.1"), None);
        let settings =
            json!({"hosts": {"master-0": {"bmc": {"address": "redfish+http://a"}}, "worker-0": {}}});
        assert_eq!(controllers(&settings), [("master-0".to_owned(), "redfish+http://a".to_owned())]);
    }

    #[test]
    fn a_controller_that_does_not_answer_is_named_with_its_host() {
        let asked = |answer| {
            let (host, address) = ("master-0".to_owned(), "redfish+https://10.0.0.1".to_owned());
            judge_controllers(&[ControllerAnswer { host, address, answer }])
        };
        let said = |text: &str| Ok(Reachability::Answered { certificate: None, text: text.to_owned() });
        assert_eq!(asked(said("HTTP/1.1 200 OK\r\n")).verdict, Verdict::Passed);
        let other = asked(said("HTTP/1.1 404 Not Found\r\n"));
        assert_eq!(other.seen, ["master-0: redfish+https://10.0.0.1: answers \"HTTP/1.1 404 Not Found\""]);
        assert_eq!(
            asked(Ok(Reachability::Refused)).seen,
            ["master-0: redfish+https://10.0.0.1: connection refused"]
        );
        assert_eq!(judge_controllers(&[]).verdict, Verdict::NotApplicable);
    }
}
