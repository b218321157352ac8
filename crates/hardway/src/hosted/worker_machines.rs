//! Machines of hosted workers: those that are there and whose they are, and what they say before they are nodes.

use std::path::Path;

use hardway_assets::inventory::{Host, Provider};
use hardway_hosted::worker::Worker;
use hardway_journal::MachineOwner;
use hardway_machines::actions::Program;

use super::absolute;
use super::pools::site;
use crate::inputs::Workdir;
use crate::journal::history;
use crate::machines::{self, HostedSite};
use crate::report::{Code, Report};
use crate::terminal::Output;

/// What a provider has.
pub(crate) struct Leftovers {
    pub(crate) provider: Provider,
    /// None where the provider makes no machines.
    pub(crate) rows: Option<Vec<Leftover>>,
}

/// A machine that is there.
pub(crate) struct Leftover {
    /// As its provider calls it.
    pub(crate) machine: String,
    /// The host of the inventory that it is.
    pub(crate) host: Option<String>,
    /// The pool that it was made for, and still belongs to.
    pub(crate) owner: Option<String>,
}

/// Asks the provider what there is, and the journal whose it is.
pub(crate) fn leftovers(dir: &Path, out: &Output) -> Result<Leftovers, Report> {
    let workdir = Workdir::open(dir)?;
    let site = site(&workdir)?;
    let provider = site.provider(&absolute(dir)?)?;
    let kind = site.cluster.inventory.machines.provider;
    if let Some(note) = machines::undrawn_id(&site.cluster) {
        out.warn(&note);
    }
    let Some(probe) = provider.there() else {
        return Ok(Leftovers { provider: kind, rows: None });
    };
    machines::answered(&*provider, kind)?;
    let found = probe.ask(&machines::outside()).map_err(|error| {
        let report = Report::from_error(Code::ActionFailed, &error);
        match hardway_machines::providers::advice(Some(kind), &report.what) {
            Some(fix) => report.fix(fix),
            None => report,
        }
    })?;
    let owners = history(&workdir)?.owners;
    let hosts: Vec<(String, &Host)> =
        site.cluster.inventory.hosts.iter().map(|host| (provider.called(host), host)).collect();
    let leftover = |machine: String| {
        let host = hosts.iter().find(|(called, _)| *called == machine).map(|(_, host)| host.name.clone());
        let owner = host.as_deref().and_then(|host| owners.of(host)).map(|owner| match owner {
            MachineOwner::Hosted(made) => format!("pool {} of {}", made.node_pool, made.cluster),
            MachineOwner::Folder => "the folder's own cluster".to_owned(),
        });
        Leftover { machine, host, owner }
    };
    let rows = found.unwrap_or_default().into_iter().map(leftover).collect();
    Ok(Leftovers { provider: kind, rows: Some(rows) })
}

/// What machines that have not come up have said on their consoles, where this folder has them and their provider keeps that.
pub(crate) async fn consoles(
    dir: &Path,
    (namespace, cluster): (&str, &str),
    workers: &[Worker],
    out: &Output,
) -> Vec<String> {
    let mut logs = Vec::new();
    let Ok(Some(site)) = Workdir::open(dir).and_then(|workdir| HostedSite::open(&workdir)) else {
        return logs;
    };
    let Ok(provider) = std::path::absolute(dir).map(|folder| site.provider(&folder)) else {
        return logs;
    };
    let Ok(provider) = provider.map_err(|report| out.warn(&report.what)) else { return logs };
    let is_late = |worker: &&Worker| worker.history.booted.is_some() && worker.history.joined.is_none();
    let hosts = site.hosts_of(namespace, cluster);
    for worker in workers.iter().filter(is_late) {
        let host = hosts.iter().find(|host| host.name == worker.name);
        let Some(tail) = host.and_then(|host| provider.console_tail(host)) else { continue };
        // A hypervisor that is silent holds nobody up.
        let tail = Program::new("timeout", ["30".to_owned(), tail.program]).with(tail.arguments);
        let host = machines::outside();
        match tokio::task::spawn_blocking(move || host.run(&tail)).await {
            Ok(Ok(log)) => logs.push(log),
            Ok(Err(error)) => out.warn(&format!("the console of {} cannot be read: {error}", worker.name)),
            Err(error) => out.warn(&format!("the console of {} cannot be read: {error}", worker.name)),
        }
    }
    logs
}
