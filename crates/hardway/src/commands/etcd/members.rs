//! `hardway etcd members`

use hardway_cluster::etcd::MemberStatus;
use serde_json::{Value, json};

use super::verdict;
use crate::cli::{EtcdLookArgs, Format, Global};
use crate::cluster::etcd;
use crate::inputs::Workdir;
use crate::report::{Exit, Report};
use crate::runtime;
use crate::terminal::Output;

/// Who is in it.
pub(super) fn run(global: &Global, args: &EtcdLookArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let status = runtime::run("asking etcd", etcd::status(&workdir, &(&args.cluster).into(), out))?;
    if !status.has_quorum {
        return verdict(&status);
    }
    match args.output {
        Format::Text => status.members.iter().for_each(|one| out.data(&line(one))),
        format => {
            let row =
                |one: &MemberStatus| json!({"id": one.id, "member": one.member, "isWell": one.is_well()});
            let members: Vec<Value> = status.members.iter().map(row).collect();
            out.value(&json!({"clusterId": status.cluster_id, "members": members}), format);
        }
    }
    Ok(Exit::Done)
}

fn line(one: &MemberStatus) -> String {
    let kind = if one.member.is_learner { "learner" } else { "voter" };
    let state = if one.is_well() { "healthy" } else { "unhealthy" };
    let urls = one.member.client_urls.join(",");
    format!("{:>16} {kind:7} {state:9} {:40} {urls}\n", one.id, one.member.shown())
}
