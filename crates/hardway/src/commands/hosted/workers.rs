//! `hardway hosted workers`

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hardway_hosted::controller::stretches;
use hardway_hosted::objects::NodePool;
use hardway_hosted::scaling::scaling;
use hardway_hosted::worker::{Stage, Wanted, Worker};
use hardway_hosted::{HostedError, Management};
use kube::api::{Patch, PatchParams};
use serde_json::json;

use super::controller::{controller, hosts, print};
use super::{connect, failed};
use crate::cli::{Format, Global, ManagementArgs, WorkersArgs, WorkersVerb};
use crate::clock;
use crate::report::{Code, Exit, Report};
use crate::runtime::{interrupted, told_to_stop};
use crate::terminal::Output;

pub(super) async fn run(
    global: &Global,
    args: &ManagementArgs,
    verb: &WorkersVerb,
    out: &Output,
) -> Result<Exit, Report> {
    match verb {
        WorkersVerb::Add { number, pool, run } => {
            let management = connect(args, &run.reconcile.cluster).await?;
            let present = present(&management, pool).await?;
            resize(global, args, &management, pool, present + number, run, out).await
        }
        WorkersVerb::Scale { number, pool, run } => {
            let management = connect(args, &run.reconcile.cluster).await?;
            resize(global, args, &management, pool, *number, run, out).await
        }
        WorkersVerb::Remove { name, run, .. } => change(global, args, name, Wanted::Absent, run, out).await,
        WorkersVerb::Replace { name, run } => change(global, args, name, Wanted::Replaced, run, out).await,
        WorkersVerb::List { cluster, output } => {
            let management = connect(args, cluster).await?;
            let (workers, strange) = management.workers().await.map_err(|error| failed(&error))?;
            strange.iter().for_each(|what| out.warn(what));
            match output {
                Format::Text => out.data(&table(&workers)),
                format => out.value(&json!(workers.iter().map(value).collect::<Vec<_>>()), *format),
            }
            Ok(Exit::Done)
        }
    }
}

async fn present(management: &Management, pool: &str) -> Result<usize, Report> {
    let (workers, _) = management.workers().await.map_err(|error| failed(&error))?;
    Ok(workers.iter().filter(|worker| worker.node_pool == pool && worker.wanted != Wanted::Absent).count())
}

/// Adds or removes, whichever leads there.
async fn resize(
    global: &Global,
    args: &ManagementArgs,
    management: &Management,
    pool: &str,
    wanted: usize,
    run: &WorkersArgs,
    out: &Output,
) -> Result<Exit, Report> {
    management.node_pool(pool).await.map_err(|error| failed(&error))?;
    let hosts = hosts(global)?;
    let (workers, _) = management.workers().await.map_err(|error| failed(&error))?;
    let scaling = scaling(&workers, pool, &hosts, wanted).map_err(|error| {
        Report::from_error(Code::HostedRequest, &error).fix("add hosts with role worker to inventory.yaml")
    })?;
    let now = clock::now();
    let plan = async {
        for name in &scaling.add {
            let addresses =
                hosts.iter().find(|host| host.name == *name).map(|host| host.ip.clone()).unwrap_or_default();
            management.plan_worker(&Worker::planned(name, pool, &addresses, now)).await?;
        }
        for name in &scaling.remove {
            management.want_worker(name, Wanted::Absent).await?;
        }
        // HyperShift does not look at it, but people do.
        let patch = Patch::Merge(json!({"spec": {"replicas": wanted}}));
        let patched = management.api::<NodePool>().patch(pool, &PatchParams::default(), &patch).await;
        patched
            .map(drop)
            .map_err(|source| HostedError::Api { what: format!("NodePool {pool}"), source: Box::new(source) })
    };
    plan.await.map_err(|error: HostedError| failed(&error))?;
    let names: BTreeSet<String> = scaling.add.iter().chain(&scaling.remove).cloned().collect();
    settle(global, args, names, run, out).await
}

async fn change(
    global: &Global,
    args: &ManagementArgs,
    name: &str,
    wanted: Wanted,
    run: &WorkersArgs,
    out: &Output,
) -> Result<Exit, Report> {
    let management = connect(args, &run.reconcile.cluster).await?;
    management.want_worker(name, wanted).await.map_err(|error| failed(&error))?;
    settle(global, args, BTreeSet::from([name.to_owned()]), run, out).await
}

/// Runs a controller until these workers are what they are wanted to be. Where another one leads, that one acts.
async fn settle(
    global: &Global,
    args: &ManagementArgs,
    names: BTreeSet<String>,
    run: &WorkersArgs,
    out: &Output,
) -> Result<Exit, Report> {
    if run.no_wait || names.is_empty() {
        out.info(&format!("{} workers changed; a controller does the rest", names.len()));
        return Ok(Exit::Done);
    }
    let (controller, told) = controller(global, args, &run.reconcile, true, out).await?;
    let last: Arc<Mutex<Vec<Worker>>> = Arc::default();
    let (seen, wanted) = (Arc::clone(&last), names.clone());
    let until = Box::new(move |workers: &[Worker]| {
        let own: Vec<Worker> =
            workers.iter().filter(|worker| wanted.contains(&worker.name)).cloned().collect();
        let is_done = own.iter().all(is_settled);
        *seen.lock().unwrap_or_else(PoisonError::into_inner) = own;
        is_done
    });
    let limit = Duration::try_from(run.timeout).unwrap_or_default();
    let mut is_told = false;
    let stop = async {
        tokio::select! {
            () = tokio::time::sleep(limit) => {}
            _ = told_to_stop() => is_told = true,
        }
    };
    let running = async {
        let ended = controller.run(stop, until).await;
        drop(controller);
        ended
    };
    let (ended, ()) = tokio::join!(running, print(told, out));
    ended.map_err(|error| failed(&error))?;
    let own = last.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if own.iter().all(is_settled) {
        out.data(&table(&own));
        return Ok(Exit::Done);
    }
    if is_told {
        return Err(interrupted("waiting for workers"));
    }
    let waiting = own.iter().filter(|worker| !is_settled(worker)).map(sentence);
    Err(Report::new(
        Code::HostedHeld,
        format!(
            "{} of {} workers are not what they are wanted to be",
            own.iter().filter(|w| !is_settled(w)).count(),
            names.len()
        ),
    )
    .evidence(waiting)
    .fix("look at why each of them waits; what is wanted is written down, and a controller goes on with it"))
}

/// Ready and dressed, and nothing left of its first boot; one that is to go is settled when its record is gone.
fn is_settled(worker: &Worker) -> bool {
    worker.wanted == Wanted::Present && worker.stage() == Stage::Ready && worker.history.settled.is_some()
}

fn sentence(worker: &Worker) -> String {
    let why = worker
        .history
        .trouble
        .as_ref()
        .map_or_else(String::new, |trouble| format!(": {}: {}", trouble.reason, trouble.message));
    format!("{} is {}{why}", worker.name, worker.stage())
}

fn value(worker: &Worker) -> serde_json::Value {
    let mut value = json!(worker);
    value["stage"] = json!(worker.stage());
    value["seconds"] = stretches(worker)
        .into_iter()
        .map(|(from, to, seconds)| json!({"from": from, "to": to, "seconds": seconds}))
        .collect();
    value
}

fn table(workers: &[Worker]) -> String {
    let mut text = String::new();
    for worker in workers {
        let took: f64 = stretches(worker).iter().map(|(_, _, seconds)| seconds).sum();
        let hash = worker.history.config_hash.as_deref().unwrap_or("-");
        let _ = writeln!(
            text,
            "{:24} {:16} {:9} {hash:8} {took:>6.0} s  machine {}",
            worker.name,
            worker.node_pool,
            worker.stage(),
            worker.incarnation
        );
        if let Some(trouble) = &worker.history.trouble {
            let _ = writeln!(text, "    {} since {}: {}", trouble.reason, trouble.since, trouble.message);
        }
    }
    text
}
