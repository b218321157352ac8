//! `hardway etcd defrag`

use hardway_cluster::etcd::{
    DefragRefused, Defragmented, MemberStatus, ask_status, defrag_order, defragment,
};
use serde_json::{Value, json};

use super::size;
use crate::cli::{EtcdLookArgs, Format, Global};
use crate::cluster::etcd::{access, unreachable};
use crate::inputs::Workdir;
use crate::report::{Code, Exit, Report};
use crate::runtime;
use crate::terminal::Output;

/// One after the other, or only the order.
pub(super) fn run(global: &Global, args: &EtcdLookArgs, dry_run: bool, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let rows: Vec<Value> = runtime::run("defragmenting", async {
        let access = access(&workdir, &(&args.cluster).into(), out).await?;
        if dry_run {
            let status = ask_status(&access).await.map_err(|error| unreachable(&error))?;
            let order = defrag_order(&status).map_err(|error| refused(&error))?;
            return Ok(order.into_iter().map(planned).collect());
        }
        let told = |one: &Defragmented| {
            out.info(&format!("{}: {} before, {} now", one.member, size(one.before), size(one.after)));
        };
        let done = defragment(&access, told).await.map_err(|error| refused(&error))?;
        Ok(done.iter().map(|one| json!(one)).collect())
    })?;
    match args.output {
        Format::Text if dry_run => rows.iter().for_each(|row| out.data(&planned_line(row))),
        Format::Text => {}
        format => out.value(&json!({"dryRun": dry_run, "members": rows}), format),
    }
    Ok(Exit::Done)
}

fn planned(one: &MemberStatus) -> Value {
    let answer = one.answer.as_ref();
    json!({
        "member": one.member.shown(),
        "isLeader": answer.is_some_and(|answer| answer.is_leader),
        "before": answer.map(|answer| answer.db_size),
        "reclaimable": answer.map(hardway_cluster::etcd::StatusAnswer::reclaimable),
    })
}

fn planned_line(row: &Value) -> String {
    let bytes = |name: &str| size(row[name].as_u64().unwrap_or(0));
    let leader = if row["isLeader"] == true { "  the leader, last" } else { "" };
    let member = row["member"].as_str().unwrap_or_default();
    format!("{member:40} {}, up to {} to free{leader}\n", bytes("before"), bytes("reclaimable"))
}

fn refused(error: &DefragRefused) -> Report {
    match error {
        DefragRefused::Etcd(error) => unreachable(error),
        error => Report::from_error(Code::EtcdUnwell, error).fix(
            "hardway etcd status shows the health of each member, and hardway diagnose what is wrong with a master",
        ),
    }
}
