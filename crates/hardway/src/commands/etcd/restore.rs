//! `hardway etcd restore`

use std::fmt::Write as _;

use hardway_cluster::etcd::restore::{LostMembers, SeenMaster};
use hardway_cluster::etcd::{BackupManifest, Programs};
use hardway_journal::RestoreStep;

use super::prove::{age, open, scratch};
use super::size;
use crate::cli::{EtcdRestoreArgs, Global};
use crate::cluster::etcd::{EtcdRestore, PlannedRestore, names};
use crate::cluster::folder_infra_id;
use crate::commands::removal::Removal;
use crate::inputs::{FolderLock, InputFiles, Workdir};
use crate::machines::cluster_name;
use crate::project::cluster_before_release;
use crate::report::{Code, Exit, Report};
use crate::runtime;
use crate::terminal::Output;

/// The plan; and, once a person agrees, the deed.
pub(super) fn run(global: &Global, args: &EtcdRestoreArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    // Mistakes in the input files come first.
    cluster_before_release(&workdir, &InputFiles::open(&workdir)?)?;
    let etcdutl = Programs::etcdutl(args.programs.as_deref()).map_err(|error| {
        Report::from_error(Code::RestoreFailed, &error)
            .fix("name the folder that has it with --programs; the release's etcd image has it in /usr/bin")
            .exit(Exit::Usage)
    })?;
    let scratch = scratch()?;
    let cluster = folder_infra_id(&workdir);
    let opened = open(&args.file, &args.identity, scratch.path(), cluster.as_deref())?;
    let restore = EtcdRestore {
        access: (&args.cluster).into(),
        login: (&args.ssh).into(),
        recovery: args.recovery_host.clone(),
        etcdutl,
    };
    let look = || {
        let doing = || "still looking at etcd and the masters".to_owned();
        let looking = async { runtime::aloud(out, doing, restore.plan(&workdir, &opened, out)).await };
        runtime::run("looking at etcd", looking)
    };
    let agreed = look()?;
    let name = cluster_name(&workdir)?;
    let what = text(&agreed, &opened.manifest);
    let going = Removal { what: &what, warning: "", name: Some(&name), kept: "nothing was restored" };
    if !going.is_agreed(args.removal, out)? {
        return Ok(Exit::Done);
    }
    let _held = FolderLock::take(&workdir)?;
    // While a person read it, members may have come back, or somebody else may have restored it.
    let planned = look()?;
    let told = |one: &PlannedRestore| {
        let plan = &one.plan;
        (one.resumes.clone(), plan.recovery.host.clone(), names(&plan.returning), names(&plan.gone))
    };
    if told(&planned) != told(&agreed) {
        let what = "etcd or the masters are no longer as the plan says; nothing was restored";
        let report = Report::new(Code::RestoreFailed, what).exit(Exit::Blocked);
        return Err(report.fix("run the same command again, and read its plan"));
    }
    runtime::run("restoring etcd", restore.carry_out(&planned, &opened, scratch.path(), &workdir, out))?;
    out.info(&end(&planned));
    Ok(Exit::Done)
}

fn text(planned: &PlannedRestore, backup: &BackupManifest) -> String {
    let plan = &planned.plan;
    let mut text = match (&planned.resumes, plan.lost) {
        (Some(restore), _) => format!("Continuing the restore that was begun at {restore}.\n"),
        (None, LostMembers::All) => "No member of etcd answers: all are lost.\n".to_owned(),
        (None, LostMembers::Majority) => {
            "Too few members of etcd are left to agree on anything: a majority is lost.\n".to_owned()
        }
    };
    let _ = writeln!(
        text,
        "backup: from {}, {} old, {} keys, {}, at revision {}, hash {}",
        backup.made,
        age(backup),
        backup.keys,
        size(backup.size),
        backup.revision,
        backup.hash
    );
    if planned.resumes.is_none() {
        let lost = match plan.changes_lost {
            Some(count) => format!("every change since the backup: {count}, according to a surviving member"),
            None => "every change since the backup; no member is left to say how many".to_owned(),
        };
        let _ = writeln!(text, "LOST:   {lost}");
    }
    let seen = |master: &SeenMaster| match (master.revision, &master.unreachable) {
        (Some(revision), _) => format!("its etcd is at revision {revision}"),
        (None, None) => "its etcd does not answer".to_owned(),
        (None, Some(why)) => format!("cannot be reached: {why}"),
    };
    let _ = writeln!(text, "{}: restored here; {}", plan.recovery.host, seen(&plan.recovery));
    for master in &plan.returning {
        let _ = writeln!(text, "{}: joins again without its old data; {}", master.host, seen(master));
    }
    for master in &plan.gone {
        let _ = writeln!(
            text,
            "{}: to be replaced, and must not be switched on again as it is; {}",
            master.host,
            seen(master)
        );
    }
    text.push_str("Steps:\n");
    for (number, step) in RestoreStep::ALL.into_iter().enumerate() {
        let _ = writeln!(text, "{:>3}. {:13} {}", number + 1, step.word(), planned.why(step));
    }
    text
}

/// What is left to do.
fn end(planned: &PlannedRestore) -> String {
    let plan = &planned.plan;
    let mut text = format!("etcd was restored on {}", plan.recovery.host);
    if plan.gone.is_empty() {
        text.push_str(", and all masters are members again; `hardway verify` checks the cluster");
        return text;
    }
    let commands: Vec<String> =
        plan.gone.iter().map(|master| format!("hardway node replace {} --apply", master.host)).collect();
    let _ = write!(
        text,
        "; {} still missing. Replace one after the other: {}",
        names(&plan.gone) + if plan.gone.len() == 1 { " is" } else { " are" },
        commands.join(", then ")
    );
    text
}
