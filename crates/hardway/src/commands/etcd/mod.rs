//! `hardway etcd`: its members, how they are, and backups that were restored once.

mod backup;
mod defrag;
mod members;
mod prove;
mod restore;
mod schedule;
mod status;

use hardway_cluster::etcd::EtcdStatus;

use crate::cli::{EtcdArgs, EtcdVerb, Global};
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

pub(crate) fn run(global: &Global, args: &EtcdArgs, out: &Output) -> Result<Exit, Report> {
    match &args.verb {
        EtcdVerb::Backup(args) => backup::run(global, args, out),
        EtcdVerb::Defrag { dry_run, look } => defrag::run(global, look, *dry_run, out),
        EtcdVerb::Members(look) => members::run(global, look, out),
        EtcdVerb::Prove(args) => prove::run(global, args, out),
        EtcdVerb::Restore(args) => restore::run(global, args, out),
        EtcdVerb::Status(look) => status::run(global, look, out),
    }
}

/// Where not everybody is well.
fn verdict(status: &EtcdStatus) -> Result<Exit, Report> {
    let mut complaints: Vec<String> = status
        .unwell()
        .map(|one| format!("{}: {}", one.member.shown(), one.complaint().unwrap_or_default()))
        .collect();
    if !status.has_quorum {
        complaints.insert(0, "there is no quorum, so nothing can be written".to_owned());
    }
    complaints.extend(status.unanswered.iter().cloned());
    if complaints.is_empty() {
        return Ok(Exit::Done);
    }
    Err(Report::new(Code::EtcdUnwell, complaints.join("; ")).fix(
        "hardway diagnose shows what is wrong with that master; if it is lost, `hardway node replace` shows how to replace it",
    ))
}

/// Bytes, for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
