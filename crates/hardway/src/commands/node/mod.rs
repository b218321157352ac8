//! `hardway node add|remove|replace`: one machine of a cluster that runs.

mod replace;

use hardway_assets::inventory::{Host, Role};

use crate::cli::{Global, NodeArgs, NodeVerb, RemovalArgs, RunArgs};
use crate::commands::cluster;
use crate::inputs::{FolderLock, InputFiles, Workdir};
use crate::install::{Install, node_host};
use crate::project::cluster_before_release;
use crate::report::{Code, Exit, Report};
use crate::terminal::{Output, confirm};

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
        out.info(&format!("{} is a node already", install.cluster.node_name(&host)));
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
    let what = format!("{name}: its pods move away, its node is deleted, its machine is taken away");
    if removal.dry_run {
        let workdir = Workdir::open(&global.dir)?;
        let cluster = cluster_before_release(&workdir, &InputFiles::open(&workdir)?)?;
        refuse_master(&node_host(&cluster, name)?)?;
        out.data(&format!("{what}\n"));
        return Ok(Exit::Done);
    }
    let (_held, mut install) = open(global, run)?;
    let host = install.node_host(name)?;
    refuse_master(&host)?;
    confirm(&what, name, removal.yes, out)?;
    install.empty_node(&host, may_lose)?;
    install.delete_node(&host)?;
    install.surroundings_without(&host)?;
    install.take_machine_away(&host)?;
    out.info(&format!(
        "{name} is gone: take it out of inventory.yaml, and lower compute[].replicas of install-config.yaml by one, or it is expected again"
    ));
    Ok(Exit::Done)
}

/// A master carries a part of etcd: three stay three.
fn refuse_master(host: &Host) -> Result<(), Report> {
    if host.role != Role::Master {
        return Ok(());
    }
    let what = format!("{} is a master: it can be replaced, and not removed", host.name);
    Err(Report::new(Code::Usage, what).fix(format!("hardway node replace {}", host.name)))
}

fn open(global: &Global, run: &RunArgs) -> Result<(FolderLock, Install), Report> {
    let workdir = Workdir::open(&global.dir)?;
    let lock = FolderLock::take(&workdir)?;
    let inputs = InputFiles::open(&workdir)?;
    Ok((lock, cluster::open(workdir, inputs, run, &[])?))
}
