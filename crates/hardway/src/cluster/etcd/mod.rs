//! The etcd of a folder's cluster: the way to it, backups of what is in it, and the way back from one.

mod backup;
mod restore;

use hardway_cluster::etcd::{EtcdAccess, EtcdStatus, MembersError, ask_status};

use super::{Access, Intent, Live};
use crate::inputs::Workdir;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

pub(crate) use backup::{EtcdBackup, thin_out};
pub(crate) use restore::{EtcdRestore, PlannedRestore, names};

/// How etcd is reached from the folder. Must run inside an async runtime.
pub(crate) async fn access(workdir: &Workdir, access: &Access, out: &Output) -> Result<EtcdAccess, Report> {
    let live = Live::open(workdir, access, Intent::Change, out).await?;
    live.etcd(workdir).ok_or_else(no_certificate)
}

/// How each member is. Must run inside an async runtime.
pub(crate) async fn status(workdir: &Workdir, way: &Access, out: &Output) -> Result<EtcdStatus, Report> {
    let access = access(workdir, way, out).await?;
    ask_status(&access).await.map_err(|error| unreachable(&error))
}

/// Nobody answers.
pub(crate) fn unreachable(error: &MembersError) -> Report {
    Report::from_error(Code::EtcdUnreachable, error).fix(
        "check that the masters are on and that this host can reach their port 2379; `hardway diagnose` shows what else is wrong",
    )
}

fn no_certificate() -> Report {
    let what = "the folder has no client certificate for etcd: pki/etcd-client.crt";
    Report::new(Code::EtcdUnreachable, what)
        .fix("use the folder that the cluster was installed from; name it with --dir")
        .exit(Exit::Config)
}
