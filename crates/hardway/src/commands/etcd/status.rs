//! `hardway etcd status`

use std::fmt::Write as _;

use hardway_cluster::etcd::{EtcdStatus, MemberStatus};
use serde_json::json;

use super::{size, verdict};
use crate::cli::{EtcdLookArgs, Format, Global};
use crate::cluster::etcd;
use crate::inputs::Workdir;
use crate::report::{Exit, Report};
use crate::runtime;
use crate::terminal::Output;

/// How each member is; an error when one is unwell.
pub(super) fn run(global: &Global, args: &EtcdLookArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let status = runtime::run("asking etcd", etcd::status(&workdir, &(&args.cluster).into(), out))?;
    match args.output {
        Format::Text => out.data(&text(&status)),
        format => out.value(&json!(status), format),
    }
    verdict(&status)
}

fn text(status: &EtcdStatus) -> String {
    let mut text = String::new();
    for one in &status.members {
        let _ = writeln!(text, "{}", line(one));
    }
    text
}

fn line(one: &MemberStatus) -> String {
    let state = if one.is_well() { "healthy" } else { "UNHEALTHY" };
    let mut text = format!("{state:9} {:40}", one.member.shown());
    if let Some(answer) = &one.answer {
        let role = match (answer.is_leader, one.member.is_learner) {
            (true, _) => "leader",
            (_, true) => "learner",
            _ => "follower",
        };
        let _ = write!(
            text,
            " {role:8} etcd {}  {} of {} in use  revision {}  term {}",
            answer.version,
            size(answer.db_size_in_use),
            size(answer.db_size),
            answer.revision,
            answer.raft_term,
        );
    }
    if let Some(complaint) = one.complaint() {
        let _ = write!(text, "  {complaint}");
    }
    text.trim_end().to_owned()
}
