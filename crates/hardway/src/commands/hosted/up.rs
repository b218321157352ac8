//! `hardway hosted up`: from a HostedCluster to verified workers. Each step looks before it acts, so a run that was cut off is simply
//! repeated; what was done to machines and workers is in the journal.

use hardway_hosted::PoolHosts;
use serde_json::json;

use crate::cli::{Format, Global, HostedUpArgs};
use crate::cluster::verification;
use crate::hosted::{
    ManagementAccess, Wish, connect, network, pool_hosts, prepare, reach, site,
    verification as hosted_verification,
};
use crate::inputs::Workdir;
use crate::report::{Code, Exit, Report};
use crate::runtime::{interrupted, told_to_stop};
use crate::terminal::Output;

pub(super) async fn run(
    global: &Global,
    access: &ManagementAccess,
    up: &HostedUpArgs,
    out: &Output,
) -> Result<Exit, Report> {
    let cluster = &up.reconcile.cluster;
    let file = site(&Workdir::open(&global.dir)?)?.file;
    let PoolHosts::ByPool(pools) = pool_hosts(&file, access, cluster)? else {
        return Err(Report::new(Code::ConfigMissing, "the inventory has no pools"));
    };
    let (set_up, reconcile) = (up.into(), (&up.reconcile).into());
    let management = connect(access, cluster).await?;
    let (rows, wanted) = tokio::select! {
        prepared = prepare(&management, &pools, &set_up, out) => prepared?,
        _ = told_to_stop() => return Err(interrupted("preparing workers")),
    };
    let workers = tokio::select! {
        workers = reach(&global.dir, access, Wish::Pools(wanted.clone()), &reconcile, up.timeout, out) => workers?,
        never = network(&management, out) => match never {},
    };
    let verify = (&up.verify()).into();
    let outcomes = tokio::select! {
        outcomes = hosted_verification::look(&management, &verify) => outcomes?,
        _ = told_to_stop() => return Err(interrupted("verifying")),
    };
    match up.output {
        Format::Text => out.painted(&out.advice(&verification::text(&outcomes))),
        format => {
            let passed = verification::failed(&outcomes).is_empty();
            let value = json!({"prerequisites": rows, "wanted": wanted, "workers": workers, "passed": passed, "checks": outcomes});
            out.value(&value, format);
        }
    }
    hosted_verification::verdict(&outcomes)?;
    Ok(Exit::Done)
}
