//! Machines that a person boots: what to do, and whether they came.

use std::fmt::Write as _;

use hardway_assets::host_services::InstallStage;
use hardway_assets::inventory::{Host, Role};
use hardway_machines::host_progress::{HostProgress, HostReport, TrackedHost, fold};
use hardway_machines::providers::Provider as _;

use super::Site;
use crate::report::{Code, Exit, Report};

/// Ends with 9 while a machine was not seen: somebody has something to do.
pub(super) fn run(site: &Site, host: Option<&str>) -> Result<Exit, Report> {
    let provider = site.provider();
    let hosts: Vec<&Host> = match host {
        Some(name) => vec![site.host(name)?],
        // A bootstrap host that has done its work is not to be booted again.
        None => {
            let is_over = site.stage()? == InstallStage::Installed;
            let hosts = site.cluster.inventory.hosts.iter();
            hosts.filter(|host| !(is_over && host.role == Role::Bootstrap)).collect()
        }
    };
    let mut waiting = Vec::new();
    let mut evidence = Vec::new();
    for (host, state) in hosts.iter().zip(states(site, &hosts)?) {
        let steps = provider.by_hand(host);
        if steps.is_empty() || is_seen(&state) {
            continue;
        }
        let mut text = format!("{}:", host.name);
        for (i, step) in steps.iter().enumerate() {
            let _ = write!(text, "\n  {}. {step}", i + 1);
        }
        evidence.push(text);
        waiting.push(host.name.as_str());
    }
    if waiting.is_empty() {
        return Ok(Exit::Done);
    }
    let wait = if waiting.len() == 1 { "waits" } else { "wait" };
    Err(Report::new(Code::ByHand, format!("{} {wait} for a person", waiting.join(", ")))
        .evidence(evidence)
        .fix("follow the steps above; hardway continues once it sees the machines"))
}

/// Ends with 9 when the machine was not seen.
pub(super) fn seen(site: &Site, host: &Host) -> Result<Exit, Report> {
    let state = states(site, &[host])?.remove(0);
    if is_seen(&state) {
        return Ok(Exit::Done);
    }
    Err(Report::new(Code::ByHand, format!("{} has not been seen yet: {}", host.name, state.sentence))
        .fix(format!("hardway bmc by-hand --host {}", host.name)))
}

fn is_seen(state: &HostReport) -> bool {
    state.progress >= HostProgress::Seen
}

/// In the order given; the journal is read once for all of them.
fn states(site: &Site, hosts: &[&Host]) -> Result<Vec<HostReport>, Report> {
    let records = hardway_journal::read(&site.workdir.path(hardway_journal::FILE_NAME))
        .map_err(|error| Report::from_error(Code::WorkdirUnusable, &error).fix(error.fix()))?;
    let tracked: Vec<TrackedHost> = hosts.iter().map(|host| TrackedHost::new(&site.cluster, host)).collect();
    Ok(fold(&records, &tracked))
}
