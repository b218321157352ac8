//! Where evidence comes from.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err as fs;
use hardway_assets::inventory::Role;
use hardway_assets::{Cluster, Phase};
use hardway_cluster::declared::Declared;
use hardway_cluster::diagnosis::{
    Api, BundleLimits, Evidence, InstallFacts, LogSource, LogTail, NameFacts, from_bundle, live as ask,
};
use hardway_cluster::verify::ResolvedName;
use hardway_journal::{FILE_NAME, History, IgnitionRedeemed, JournalError, PhaseState, Record};

use super::local_facts::{folder_facts, host_facts};
use super::machine_facts;
use crate::clock;
use crate::cluster::Live;
use crate::inputs::{InputFiles, Workdir};
use crate::journal::{journal_report, recorded};
use crate::project::{self, Checked};
use crate::release::Reach;
use crate::report::{Code, Report};
use crate::terminal::Output;

/// For each answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Through the load balancer: more than it has servers to spread them over.
const CONNECTIONS: usize = 8;

/// The last lines of a file that are looked at.
const LINES: usize = 5000;

/// Of a cluster that runs, or should.
pub(crate) async fn of_cluster(workdir: &Workdir, live: &Live, out: &Output) -> Result<Evidence, Report> {
    let now = clock::now();
    let mut evidence = Evidence { now: Some(now), declared: live.declared(workdir), ..Evidence::default() };
    ask::ask_api(&live.config, PATIENCE, &mut evidence).await;
    match &live.cluster {
        Some(cluster) => {
            evidence.domain = Some(cluster.domain());
            evidence.service_address = Some(cluster.kubernetes_service_ip());
            evidence.names = names(cluster).await;
            evidence.folder = folder_facts(workdir, cluster, now)?;
            evidence.host = host_facts(cluster);
            for port in [6443, 22623] {
                evidence.ports.push(ask::knock(cluster.api_int_host(), port, PATIENCE).await);
            }
            machine_facts::collect(workdir, cluster, &mut evidence).await;
            journal(workdir, cluster, &mut evidence)?;
            balancer(live, cluster, &mut evidence).await;
        }
        None => {
            let host = live.config.cluster_url.host().unwrap_or_default().to_owned();
            evidence.names.api = Some(ResolvedName::ask(host, Vec::new(), PATIENCE).await);
        }
    }
    if !evidence.state.is_bootstrap_complete()
        && let Some(host) = live.bootstrap_host(workdir)
        && let Err(error) = ask::ask_bootstrap_host(&host, &mut evidence).await
    {
        out.info(&format!("cannot reach the bootstrap host: {error}"));
    }
    Ok(evidence)
}

/// Of a bundle, and of what is declared here. Its time is not ours.
pub(crate) fn of_bundle(
    workdir: &Workdir,
    file: &Path,
    release_dir: Option<&Path>,
    out: &Output,
) -> Result<Evidence, Report> {
    let unusable = |error: &dyn std::error::Error| {
        let report = Report::from_error(Code::BundleUnusable, error);
        Report { what: format!("{}: {}", file.display(), report.what), ..report }
            .fix("make one with `hardway gather bootstrap`")
    };
    let reader = fs::File::open(file).map_err(|error| unusable(&error))?;
    let mut evidence = from_bundle(reader, BundleLimits::default()).map_err(|error| unusable(&error))?;
    if let Some(files) = InputFiles::open_if_there(workdir)? {
        let checked = Checked::of(workdir, &files, Reach::local(release_dir), out)?;
        let cluster = project::cluster_of(workdir, checked)?;
        evidence.declared = Declared::of(&cluster);
        evidence.domain = Some(cluster.domain());
        evidence.service_address = Some(cluster.kubernetes_service_ip());
        let (records, history) = records(workdir)?;
        evidence.install = install_facts(&history, &records, &cluster);
    }
    Ok(evidence)
}

/// Files that a person named.
pub(crate) fn given(files: &[PathBuf]) -> Result<Vec<LogTail>, Report> {
    let read = |file: &PathBuf| {
        let bytes = fs::read(file).map_err(|error| Report::from_error(Code::Usage, &error))?;
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        let lines =
            lines[lines.len().saturating_sub(LINES)..].iter().map(|line| (*line).to_owned()).collect();
        Ok(LogTail { source: LogSource::Given, name: file.display().to_string(), lines })
    };
    files.iter().map(read).collect()
}

async fn names(cluster: &Cluster) -> NameFacts {
    let network = &cluster.inventory.network;
    let domain = cluster.domain();
    let resolve = |name: String, expected: &[_]| ResolvedName::ask(name, expected.to_vec(), PATIENCE);
    NameFacts {
        api: Some(resolve(cluster.api_host(), &network.api_vip).await),
        api_int: Some(resolve(cluster.api_int_host(), &network.api_vip).await),
        apps: Some(resolve(format!("hardway-diagnose.apps.{domain}"), &network.ingress_vip).await),
        stray: Some(resolve(format!("hardway-diagnose-nobody.{domain}"), &[]).await),
    }
}

/// What the load balancer does: with an API that answers, whether it always does, and whether routes do; without one, whether
/// the masters have one themselves.
async fn balancer(live: &Live, cluster: &Cluster, evidence: &mut Evidence) {
    if evidence.api == Api::Answers {
        evidence.shares.push(ask::share(&cluster.api_host(), 6443, CONNECTIONS, PATIENCE).await);
        evidence.routers = ask::routers(&live.config, PATIENCE).await;
        if !evidence.routers.is_empty() {
            let name = format!("hardway-diagnose.apps.{}", cluster.domain());
            evidence.routes = Some(ask::greet(name, 443, PATIENCE).await);
        }
        return;
    }
    let masters = cluster.inventory.with_role(Role::Master).filter_map(|host| host.ip.first());
    evidence.masters = ask::knock_all(masters.map(ToString::to_string), 6443, PATIENCE).await;
}

/// Who fetched its config, and which requests the approver let wait.
fn journal(workdir: &Workdir, cluster: &Cluster, evidence: &mut Evidence) -> Result<(), Report> {
    let (records, history) = records(workdir)?;
    evidence.install = install_facts(&history, &records, cluster);
    let held = history.requests.held().iter();
    evidence.held.extend(held.map(|(request, reason)| (request.clone(), reason.to_string())));
    let mut fetched: BTreeMap<String, usize> = BTreeMap::new();
    for record in &records {
        if let Some((node, _)) = fetched_by(record, cluster) {
            *fetched.entry(node).or_default() += 1;
        }
    }
    evidence.fetched = (!fetched.is_empty()).then_some(fetched);
    Ok(())
}

/// All of them, and what they come to.
fn records(workdir: &Workdir) -> Result<(Vec<Record>, History), Report> {
    let path = workdir.path(FILE_NAME);
    let records = hardway_journal::read(&path).map_err(|error| journal_report(&error))?;
    let history = History::fold(&records)
        .map_err(|impossible| journal_report(&JournalError::Impossible { path, impossible }))?;
    Ok((records, history))
}

/// How the install went so far.
fn install_facts(history: &History, records: &[Record], cluster: &Cluster) -> InstallFacts {
    let mut facts = InstallFacts {
        begun: records.first().map(|record| record.time),
        api_came_up: matches!(
            history.phases.state(recorded(Phase::AwaitBootstrap)),
            PhaseState::Finished { .. }
        ),
        is_bootstrap_removed: cluster
            .inventory
            .with_role(Role::Bootstrap)
            .any(|host| history.hosts.is_retired(&host.name)),
        ..InstallFacts::default()
    };
    for (node, source) in records.iter().filter_map(|record| fetched_by(record, cluster)) {
        facts.fetched_from.entry(node).or_default().insert(source);
    }
    facts
}

/// Which node's machine fetched its config, and from where.
fn fetched_by(record: &Record, cluster: &Cluster) -> Option<(String, IpAddr)> {
    let redeemed = record.fact::<IgnitionRedeemed>()?.ok()?;
    let host = cluster.inventory.hosts.iter().find(|host| host.name == redeemed.host)?;
    Some((cluster.node_name(host), redeemed.source.to_canonical()))
}
