//! `hardway node add|remove|replace`: one machine of a cluster that runs.

mod replace;

use hardway_assets::Cluster;
use hardway_assets::inventory::{Balancer, Host, Role};
use hardway_machines::providers::ActionScope;

use crate::cli::{Global, NodeArgs, NodeVerb, RemovalArgs, RunArgs};
use crate::commands::cluster;
use crate::commands::removal::{NOTHING_REMOVED, Removal};
use crate::inputs::{FolderLock, InputFiles, Workdir};
use crate::install::{Install, node_host};
use crate::machines::owned_actions;
use crate::project::cluster_before_release;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// Whoever works in the folder meanwhile is kept out.
pub(crate) fn run(global: &Global, args: &NodeArgs, out: &Output) -> Result<Exit, Report> {
    match &args.verb {
        NodeVerb::Add { name, run } => add(global, name, run, out),
        NodeVerb::Remove { name, force, removal, run } => remove(global, name, *force, *removal, run, out),
        NodeVerb::Replace { name, apply, force, output, run } => {
            let replace = replace::Replace { name, is_applied: *apply, may_lose: *force, format: *output };
            replace.run(global, run, out)
        }
    }
}

fn add(global: &Global, name: &str, run: &RunArgs, out: &Output) -> Result<Exit, Report> {
    let (_held, install) = open(global, run)?;
    let host = install.node_host(name)?;
    if install.has_node(&host)? {
        out.info(&format!("{} is already a node", install.cluster.node_name(&host)));
        return Ok(Exit::Done);
    }
    let ready = install.add_node(&host, false)?;
    out.info(&ready);
    Ok(Exit::Done)
}

fn remove(
    global: &Global,
    name: &str,
    may_lose: bool,
    removal: RemovalArgs,
    run: &RunArgs,
    out: &Output,
) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let inputs = InputFiles::open(&workdir)?;
    let cluster = cluster_before_release(&workdir, &inputs)?;
    let host = node_host(&cluster, name)?;
    refuse_master(&cluster, &host)?;
    let around = Surroundings::of(&workdir, &cluster)?;
    let what = format!(
        "This would drain {name}, delete its node and remove its machine.\n{}{}",
        around.changes(name),
        around.by_hand(name)
    );
    // The folder is not held while a person thinks it over.
    let going = Removal { what: &what, warning: "", name: Some(name), kept: NOTHING_REMOVED };
    if !going.is_agreed(removal, out)? {
        return Ok(Exit::Done);
    }
    let _held = FolderLock::take(&workdir)?;
    let mut install = cluster::open(workdir, inputs, run, &[])?;
    install.remove_node(&host, may_lose)?;
    let by_hand = around.by_hand(name);
    if !by_hand.is_empty() {
        out.info(&by_hand);
    }
    out.info(&format!(
        "removed {name}; now remove it from inventory.yaml, and lower {} in install-config.yaml by one",
        if host.role == Role::Master { "controlPlane.replicas" } else { "compute[].replicas" }
    ));
    Ok(Exit::Done)
}

/// What has to know which machines there are.
struct Surroundings {
    /// Actions of this folder about names and load balancer.
    ours: Vec<String>,
    has_balancer: bool,
}

impl Surroundings {
    fn of(workdir: &Workdir, cluster: &Cluster) -> Result<Self, Report> {
        let mut ours = owned_actions(workdir)?;
        ours.retain(|action| {
            matches!(ActionScope::of(action), Some(ActionScope::Names | ActionScope::Balancer))
        });
        let is_balancer = |action: &String| ActionScope::of(action) == Some(ActionScope::Balancer);
        let is_external = cluster.inventory.network.load_balancer == Balancer::External;
        Ok(Self { has_balancer: !is_external && ours.iter().any(is_balancer), ours })
    }

    fn changes(&self, name: &str) -> String {
        self.ours.iter().map(|action| format!("{action}: changed: no longer contains {name}\n")).collect()
    }

    /// What is left to a person.
    fn by_hand(&self, name: &str) -> String {
        match self.has_balancer {
            true => String::new(),
            false => format!(
                "the load balancer was not set up from this folder and is left alone: take {name} out of its backends yourself"
            ),
        }
    }
}

/// A master carries a part of etcd: with fewer than three, the loss of one more stops it.
fn refuse_master(cluster: &Cluster, host: &Host) -> Result<(), Report> {
    let masters = cluster.inventory.with_role(Role::Master).count();
    if host.role != Role::Master || masters > 3 {
        return Ok(());
    }
    let what = format!("{} is one of {masters} masters, which can be replaced but not removed", host.name);
    Err(Report::new(Code::Usage, what).fix(format!("hardway node replace {}", host.name)))
}

fn open(global: &Global, run: &RunArgs) -> Result<(FolderLock, Install), Report> {
    let workdir = Workdir::open(&global.dir)?;
    let lock = FolderLock::take(&workdir)?;
    let inputs = InputFiles::open(&workdir)?;
    Ok((lock, cluster::open(workdir, inputs, run, &[])?))
}
