//! What whoever made the machines knows of those whose nodes are not well: power, state, console, disk.
//!
//! A machine that is off cannot be asked itself, so this comes before everything that nodes tell.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hardway_assets::Cluster;
use hardway_assets::host_services::InstallStage;
use hardway_assets::inventory::{Host, Role};
use hardway_cluster::diagnosis::{DeadMachine, Evidence, LogSource, LogTail};
use hardway_machines::providers::{DiskUsed, Power, Probe, Provider};

use crate::inputs::Workdir;
use crate::journal::history;
use crate::machines::{self, console_lines, outside};

/// For a hypervisor or a controller to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Questions at the same time: each is a program.
const AT_ONCE: usize = 8;

/// Of a console, as evidence that a machine is off: what it said last.
const LAST_LINES: usize = 3;

/// What was found out about one machine.
enum Seen {
    /// Off, or gone.
    Dead(DeadMachine),
    /// What it says of itself.
    Says(Vec<LogTail>),
}

/// Asks about machines that were made and whose nodes are not well. One that was never made is not off.
pub(super) async fn collect(workdir: &Workdir, cluster: &Cluster, evidence: &mut Evidence) {
    let Ok(history) = history(workdir) else { return };
    let stage = machines::stage(cluster, &history);
    let Ok(dir) = std::path::absolute(workdir.path("")) else { return };
    let Some(provider) = provider(cluster, &dir, stage) else { return };
    let is_well = |host: &&Host| {
        let node = evidence.state.nodes.get(&cluster.node_name(host));
        node.is_some_and(hardway_cluster::objects::Node::is_ready)
    };
    let is_made = |host: &&Host| {
        let (hosts, name) = (&history.hosts, &host.name);
        hosts.redeemed(name).is_some() || hosts.installed().contains(name) || hosts.joined(name).is_some()
    };
    let is_wanted = |host: &&Host| stage == InstallStage::Bootstrapping || host.role != Role::Bootstrap;
    let hosts = cluster.inventory.hosts.iter();
    let unwell = hosts.filter(is_wanted).filter(is_made).filter(|host| !is_well(host));
    let unwell: Vec<(Host, String)> = unwell.map(|host| (host.clone(), cluster.node_name(host))).collect();
    for some in unwell.chunks(AT_ONCE) {
        let ask = |(host, node): &(Host, String)| {
            let (provider, host, node) = (provider.clone(), host.clone(), node.clone());
            tokio::task::spawn_blocking(move || look(provider.as_ref(), &host, &node))
        };
        let asked: Vec<_> = some.iter().map(ask).collect();
        for answer in asked {
            match answer.await {
                Ok(Seen::Dead(machine)) => evidence.host.dead_machines.push(machine),
                Ok(Seen::Says(logs)) => evidence.logs.extend(logs),
                Err(_) => {}
            }
        }
    }
}

fn provider(cluster: &Cluster, dir: &Path, stage: InstallStage) -> Option<Arc<dyn Provider>> {
    machines::provider_if_any(cluster, dir, stage).map(Arc::from)
}

fn look(provider: &dyn Provider, host: &Host, node: &str) -> Seen {
    let power = provider.power(host);
    let program = Path::new(&power.program().program).file_name().unwrap_or_default();
    let by = provider.seen_by(host).map_or_else(|| program.to_string_lossy().into_owned(), str::to_owned);
    let dead =
        DeadMachine { host: host.name.clone(), exists: true, by: by.clone(), ..DeadMachine::default() };
    match power.within(PATIENCE).ask(&outside()) {
        Ok(Some(Power::Off)) => {
            let mut console = console(provider, host);
            Seen::Dead(DeadMachine {
                state: answer(provider.state(host)),
                console: console.split_off(console.len().saturating_sub(LAST_LINES)),
                disk: answer(provider.disk_used(host)).map(|DiskUsed { bytes }| bytes),
                ..dead
            })
        }
        Err(_) if answer(provider.exists(host)) == Some(false) => {
            Seen::Dead(DeadMachine { exists: false, ..dead })
        }
        _ => Seen::Says(says(provider, host, node, &by)),
    }
}

/// Of a machine that is not off: why it stands still, and what is on its serial console. Where that is the system's whole journal
/// instead, its kubelet speaks of other machines' troubles, and nobody could tell which came first.
fn says(provider: &dyn Provider, host: &Host, node: &str, by: &str) -> Vec<LogTail> {
    let log = |name: &str, lines: Vec<String>| LogTail {
        source: LogSource::Node(node.to_owned()),
        name: name.to_owned(),
        lines,
    };
    let mut logs: Vec<LogTail> =
        answer(provider.state(host)).map(|state| log(by, vec![state])).into_iter().collect();
    if provider.console(host).is_some() {
        logs.push(log("console", console(provider, host)));
    }
    logs
}

fn console(provider: &dyn Provider, host: &Host) -> Vec<String> {
    let probe = provider.console_tail(host).map(|tail| Probe::new(tail, |printed| Some(printed.to_owned())));
    answer(probe).map(|printed| console_lines(&printed)).unwrap_or_default()
}

/// Nothing where nobody knows, or nobody answers in time.
fn answer<T>(probe: Option<Probe<T>>) -> Option<T> {
    probe?.within(PATIENCE).ask(&outside()).ok()?
}
