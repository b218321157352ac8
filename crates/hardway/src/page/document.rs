//! What stays while an install goes on: phases, hosts, names, balancer, certificates, assets.

use hardway_assets::graph::{FileState, to_json};
use hardway_assets::guide;
use hardway_assets::host_services::{BalancedPort, InstallStage, Names};
use hardway_assets::{Cluster, Phase, pki};
use serde_json::{Value, json};

use crate::clock;
use crate::inputs::{InputFiles, Workdir};
use crate::install::needs;
use crate::project::{Checked, Forecast, Project, cluster_before_release, graph_of};
use crate::release::Reach;
use crate::report::Report;
use crate::terminal::Output;

/// What was found in a folder.
pub(crate) struct Document {
    pub(crate) value: Value,
    /// What the input files describe, as far as they can be read.
    pub(crate) cluster: Option<Cluster>,
    /// Everything in it that can be asked about.
    pub(crate) names: Vec<String>,
}

/// Fields of the input files that the page shows by another name.
const FIELDS: [&str; 6] = [
    "networking.machineNetwork",
    "inventory network.gateway",
    "inventory network.dns",
    "inventory network.loadBalancer",
    "inventory network.apiVIP",
    "inventory network.ingressVIP",
];

/// Of a folder. What cannot be known is left out, and said: a page about an install is worth most when something is wrong.
pub(crate) fn document(workdir: &Workdir, out: &Output) -> Document {
    let mut problems: Vec<Value> = Vec::new();
    let files = match InputFiles::open_if_there(workdir) {
        Ok(None) => {
            let what = "install-config.yaml or inventory.yaml is missing here, so the hosts of the cluster are not known";
            problems.push(json!({"detail": what, "fix": "hardway init"}));
            None
        }
        Ok(files) => files,
        Err(report) => {
            problems.push(problem(&report));
            None
        }
    };
    let cluster = files.as_ref().and_then(|files| match cluster_before_release(workdir, files) {
        Ok(cluster) => Some(cluster),
        Err(report) => {
            problems.push(problem(&report));
            None
        }
    });
    let made = files.as_ref().and_then(|files| match made(workdir, files, out) {
        Ok(made) => Some(made),
        Err(report) => {
            problems.push(problem(&report));
            None
        }
    });
    let (assets, certificates) = made.unwrap_or_default();
    let mut names: Vec<String> = Phase::ALL.iter().map(|phase| phase.name().to_owned()).collect();
    names.extend(assets.iter().filter_map(|asset| Some(asset["asset"].as_str()?.to_owned())));
    let files = assets.iter().flat_map(|asset| asset["files"].as_array().into_iter().flatten());
    names.extend(files.filter_map(|file| Some(file["path"].as_str()?.to_owned())));
    names.extend(certificates.iter().filter_map(|row| Some(row["name"].as_str()?.to_owned())));
    names.extend(cluster.iter().flat_map(|cluster| &cluster.inventory.hosts).map(|host| host.name.clone()));
    names.extend(FIELDS.map(str::to_owned));
    let title = cluster.as_ref().map_or_else(|| folder_name(workdir), Cluster::domain);
    let value = json!({
        "title": title,
        "version": env!("CARGO_PKG_VERSION"),
        "time": clock::now(),
        "phases": Phase::ALL.iter().map(|phase| phase_row(*phase)).collect::<Vec<_>>(),
        "hosts": cluster.as_ref().map(hosts).unwrap_or_default(),
        "network": cluster.as_ref().map(network),
        "assets": assets,
        "certificates": certificates,
        "problems": problems,
    });
    Document { value, cluster, names }
}

/// In the words of a phase that failed.
fn problem(report: &Report) -> Value {
    // Mistakes in the input files each have their own, which stands with the line.
    let fix = report.fix.as_deref().unwrap_or("hardway validate");
    json!({"detail": report.what, "code": report.code.name(), "evidence": report.evidence, "fix": fix})
}

/// What to call an install whose cluster is not known.
fn folder_name(workdir: &Workdir) -> String {
    let folder = std::path::absolute(workdir.path("")).unwrap_or_else(|_| workdir.path(""));
    folder
        .file_name()
        .map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn phase_row(phase: Phase) -> Value {
    let needs: Vec<&str> = needs(phase).iter().map(|need| need.name()).collect();
    let title = guide::page(phase.name()).map(|page| page.title);
    json!({"name": phase.name(), "number": phase.number(), "title": title, "needs": needs})
}

fn hosts(cluster: &Cluster) -> Vec<Value> {
    let row = |host: &hardway_assets::inventory::Host| {
        json!({
            "name": host.name,
            "node": cluster.node_name(host),
            "role": host.role.name(),
            "addresses": host.ip,
        })
    };
    cluster.inventory.hosts.iter().map(row).collect()
}

fn network(cluster: &Cluster) -> Value {
    let network = &cluster.inventory.network;
    let Names { domain, names, wildcard } = Names::of(cluster);
    let mut names: Vec<Value> =
        names.iter().map(|name| json!({"name": name.name, "addresses": name.addresses})).collect();
    names.push(json!({"name": format!("*.{}", wildcard.name), "addresses": wildcard.addresses}));
    let ports = |stage| -> Vec<Value> {
        let port = |port: &BalancedPort| {
            json!({
                "name": port.name,
                "port": port.port,
                "addresses": port.addresses,
                "members": port.members.iter().map(|member| member.name.clone()).collect::<Vec<_>>(),
                "health": format!("{}:{}{}", if port.health.is_tls { "https" } else { "http" }, port.health.port, port.health.path),
            })
        };
        BalancedPort::all(cluster, stage).iter().map(port).collect()
    };
    let machines = cluster.config.networking.machine_network.iter().map(|net| net.cidr.to_string());
    json!({
        "domain": domain,
        "machineNetworks": machines.collect::<Vec<_>>(),
        "gateway": network.gateway,
        "dns": network.dns,
        "balancer": network.load_balancer,
        "names": names,
        "bootstrapping": ports(InstallStage::Bootstrapping),
        "installed": ports(InstallStage::Installed),
    })
}

/// Assets and certificates, as `hardway status` tells them.
type Made = (Vec<Value>, Vec<Value>);

fn made(workdir: &Workdir, files: &InputFiles, out: &Output) -> Result<Made, Report> {
    let checked = || Checked::of(workdir, files, Reach::Kept, out);
    let graph = to_json(&graph_of(workdir, checked()?)?);
    let project = Project::look(workdir, checked()?)?.around_the_broken();
    let forecast = Forecast::of(&project, |_| true)?;
    let mut ends = pki::expiries(project.cluster(), project.tree(), project.now());
    ends.retain(|end| end.is_on_disk);
    let edges = graph["edges"].as_array().cloned().unwrap_or_default();
    let assets = forecast.steps().into_iter().map(|step| {
        let needs: Vec<&Value> =
            edges.iter().filter(|edge| edge["to"] == step.asset.as_str()).map(|edge| &edge["from"]).collect();
        let files: Vec<Value> = step
            .files
            .iter()
            .map(
                |(output, state)| json!({"path": output.path, "isEdited": *state == FileState::EditedByHand}),
            )
            .collect();
        json!({
            "asset": step.asset,
            "phase": step.phase.name(),
            "stale": !step.reasons.is_empty(),
            "reasons": step.reasons.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "files": files,
            "needs": needs,
        })
    });
    let certificates = ends
        .iter()
        .map(|end| json!({"name": end.certificate, "notAfter": end.not_after, "dueFrom": end.due_from}));
    Ok((assets.collect(), certificates.collect()))
}
