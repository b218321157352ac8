//! `hardway power off|on`

use std::fmt::Write as _;
use std::time::Duration;

use hardway_machines::providers::Power;

use super::cluster;
use super::removal::Removal;
use crate::cli::{Global, OffArgs, OnArgs, PowerArgs, PowerVerb, RemovalArgs};
use crate::clock;
use crate::cluster::etcd::EtcdBackup;
use crate::cluster::{Access, ReturnForecast, certificates};
use crate::inputs::{FolderLock, InputFiles, Workdir};
use crate::machines::cluster_name;
use crate::report::{Exit, Report};
use crate::runtime;
use crate::terminal::Output;

/// The whole cluster, machine by machine.
pub(crate) fn run(global: &Global, args: &PowerArgs, out: &Output) -> Result<Exit, Report> {
    match &args.verb {
        PowerVerb::Off(args) => off(global, args, out),
        PowerVerb::On(args) => on(global, args, out),
    }
}

/// Plans, asks, then closes nodes, backs etcd up, and switches off workers, then masters.
fn off(global: &Global, args: &OffArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let looked = cluster::open_to_look(Workdir::open(&global.dir)?, &args.run)?;
    let switching = looked.switching(Power::Off)?;
    let before = looked.switched_off()?;
    let open = looked.open_nodes()?;
    if open.is_none() && before.is_none() {
        // It says why.
        runtime::run("asking", crate::cluster::etcd::status(&workdir, &access(args), out))?;
    }
    let mut what = String::new();
    if open.is_some() {
        let known = runtime::run("asking", certificates(&workdir, &access(args), clock::now(), out))?;
        what += &ReturnForecast::of(&known.live.known, clock::now(), args.until).text(args.until);
        known.live.unknown.iter().for_each(|unknown| out.warn(unknown));
    }
    match &open {
        Some(nodes) if !nodes.is_empty() => {
            _ = writeln!(what, "cordoned, and workers drained: {}", nodes.join(", "))
        }
        Some(_) => {}
        None => what += "the API no longer answers: what is left is to switch machines off\n",
    }
    if open.is_some() && !args.without_backup {
        let _ = writeln!(what, "a backup of etcd in {}", args.to.display());
    }
    let _ = write!(what, "switched off, in this order:\n{}", switching.text());
    let name = cluster_name(&workdir)?;
    let going = Removal {
        what: &what,
        warning: "Nothing that runs in the cluster can be reached until `hardway power on`.",
        name: Some(&name),
        kept: "nothing was switched off",
    };
    if !going.is_agreed(RemovalArgs { dry_run: args.dry_run, yes: args.yes }, out)? {
        return Ok(Exit::Done);
    }
    drop(looked);
    let _held = FolderLock::take(&workdir)?;
    let install = cluster::open(Workdir::open(&global.dir)?, InputFiles::open(&workdir)?, &args.run, &[])?;
    if let Some(nodes) = open {
        let drain = Duration::from_secs(args.drain_timeout.into());
        install.close_nodes(&nodes, args.until, drain, |warning| out.warn(warning))?;
        if !args.without_backup {
            let backup = EtcdBackup {
                access: access(args),
                folder: workdir.path("").join(&args.to),
                recipients: args.recipient.clone(),
                login: None,
                without_lease: false,
            };
            let made = runtime::run("backing up", backup.make(&workdir, out))?;
            out.info(&format!("backed up: {}", backup.folder.join(made.file_name()).display()));
        }
    }
    install.switch(&switching, Power::Off, Duration::from_secs(args.patience.timeout.into()))?;
    install.is_off_now()?;
    out.info("every machine is off; `hardway power on` brings the cluster back");
    Ok(Exit::Done)
}

/// Switches masters on, waits for the API, then workers; lets nodes in by policy, opens those that `off` has closed, and verifies.
fn on(global: &Global, args: &OnArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    if args.dry_run {
        let looked = cluster::open_to_look(workdir, &args.run)?;
        let mut what = format!("switched on, in this order:\n{}", looked.switching(Power::On)?.text());
        if let Some(off) = looked.switched_off()?.filter(|off| !off.cordoned.is_empty()) {
            let nodes: Vec<&str> = off.cordoned.iter().map(String::as_str).collect();
            let _ = writeln!(what, "uncordoned: {}", nodes.join(", "));
        }
        out.data(&what);
        return Ok(Exit::Done);
    }
    let _held = FolderLock::take(&workdir)?;
    let install = cluster::open(Workdir::open(&global.dir)?, InputFiles::open(&workdir)?, &args.run, &[])?;
    let switching = install.switching(Power::On)?;
    install.switch(&switching, Power::On, Duration::from_secs(args.patience.timeout.into()))?;
    install.until_ready()?;
    if let Some(off) = install.switched_off()? {
        install.open_again(&off)?;
    }
    if !args.without_verify {
        install.own(&["verify"])?;
    }
    out.info("the cluster is back");
    Ok(Exit::Done)
}

fn access(args: &OffArgs) -> Access {
    Access { kubeconfig: None, release_dir: args.run.release.release_dir.clone() }
}
