//! Workers that somebody wishes for: the wish is written down where controllers see it, and waited for here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hardway_hosted::scaling::scaling;
use hardway_hosted::worker::{WantedState, Worker, WorkerStage};
use hardway_hosted::{Management, PoolHosts};
use jiff::SignedDuration;

use super::pools::hosts;
use super::{ManagementAccess, ReconcileOptions, controller, failed, print};
use crate::clock;
use crate::report::{Code, Report};
use crate::runtime::{interrupted, told_to_stop};
use crate::terminal::Output;

/// What is waited for.
pub(crate) enum Wish {
    /// These are what they are wanted to be.
    Workers(BTreeSet<String>),
    /// The pool has this many that are, and no others.
    Size(String, usize),
    /// Each of these pools has.
    Pools(BTreeMap<String, usize>),
}

impl Wish {
    /// Those that it is about.
    fn of(&self, workers: &[Worker]) -> Vec<Worker> {
        let is_meant = |worker: &&Worker| match self {
            Self::Workers(names) => names.contains(&worker.name),
            Self::Size(pool, _) => worker.node_pool == *pool,
            Self::Pools(pools) => pools.contains_key(&worker.node_pool),
        };
        workers.iter().filter(is_meant).cloned().collect()
    }

    /// Whether it has come true, with these.
    fn is_done(&self, own: &[Worker]) -> bool {
        let is_enough = match self {
            Self::Workers(_) => true,
            Self::Size(_, wanted) => own.len() == *wanted,
            Self::Pools(pools) => pools.iter().all(|(pool, wanted)| {
                own.iter().filter(|worker| worker.node_pool == *pool).count() == *wanted
            }),
        };
        is_enough && own.iter().all(is_settled)
    }
}

/// So many more workers.
pub(crate) async fn add(
    dir: &Path,
    access: &ManagementAccess,
    management: &Management,
    pool: &str,
    number: usize,
) -> Result<Wish, Report> {
    let present = present(management, pool).await?;
    resize(dir, access, management, pool, present + number).await
}

/// Adds or removes, whichever leads there.
pub(crate) async fn resize(
    dir: &Path,
    access: &ManagementAccess,
    management: &Management,
    pool: &str,
    wanted: usize,
) -> Result<Wish, Report> {
    management.node_pool(pool).await.map_err(|error| failed(&error))?;
    let pools = hosts(dir, access, &management.cluster)?;
    let hosts = pools.of(pool).ok_or_else(|| not_in_inventory(pool))?;
    let (workers, _) = management.workers().await.map_err(|error| failed(&error))?;
    let scaling = scaling(&workers, pool, hosts, wanted, &BTreeMap::new()).map_err(|error| {
        let fix = match &pools {
            PoolHosts::ByPool(_) => {
                "widen the pool's addresses in hosted-inventory.yaml, or name more hosts there"
            }
            PoolHosts::AnyPool(_) => "add hosts with role worker to inventory.yaml",
        };
        Report::from_error(Code::HostedRequest, &error).fix(fix)
    })?;
    if let PoolHosts::ByPool(_) = pools {
        // The NodePool says how many, and whoever makes machines obeys it.
        management.want_replicas(pool, wanted).await.map_err(|error| failed(&error))?;
        return Ok(Wish::Size(pool.to_owned(), wanted));
    }
    let scaled = management.scale(pool, wanted, &scaling, clock::now()).await;
    scaled.map_err(|error| failed(&error))?;
    let added = scaling.add.into_iter().map(|host| host.name);
    let names: BTreeSet<String> = added.chain(scaling.remove).collect();
    Ok(Wish::Workers(names))
}

/// One worker, and one fewer in its pool: whoever obeys the NodePool would ask for another at once otherwise.
pub(crate) async fn remove(
    dir: &Path,
    access: &ManagementAccess,
    management: &Management,
    name: &str,
) -> Result<Wish, Report> {
    let worker = management.want_worker(name, WantedState::Absent).await.map_err(|error| failed(&error))?;
    if let PoolHosts::ByPool(_) = hosts(dir, access, &management.cluster)? {
        let wanted = present(management, &worker.node_pool).await?;
        management.want_replicas(&worker.node_pool, wanted).await.map_err(|error| failed(&error))?;
    }
    Ok(Wish::Workers(BTreeSet::from([name.to_owned()])))
}

/// One worker, made anew.
pub(crate) async fn replace(management: &Management, name: &str) -> Result<Wish, Report> {
    management.want_worker(name, WantedState::Replaced).await.map_err(|error| failed(&error))?;
    Ok(Wish::Workers(BTreeSet::from([name.to_owned()])))
}

/// Runs a controller until a wish has come true, and gives the workers that it is about. Where another controller leads, that one
/// acts.
pub(crate) async fn reach(
    dir: &Path,
    access: &ManagementAccess,
    wish: Wish,
    options: &ReconcileOptions,
    patience: SignedDuration,
    out: &Output,
) -> Result<Vec<Worker>, Report> {
    let (controller, told) = controller(dir, access, options, true, out).await?;
    let last: Arc<Mutex<Vec<Worker>>> = Arc::default();
    let (seen, wanted) = (Arc::clone(&last), Arc::new(wish));
    let wish = Arc::clone(&wanted);
    let until = Box::new(move |workers: &[Worker]| {
        let own = wanted.of(workers);
        let is_done = wanted.is_done(&own);
        *seen.lock().unwrap_or_else(PoisonError::into_inner) = own;
        is_done
    });
    let limit = Duration::try_from(patience).unwrap_or_default();
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
    if wish.is_done(&own) {
        return Ok(own);
    }
    if is_told {
        return Err(interrupted("waiting for workers"));
    }
    let waiting = own.iter().filter(|worker| !is_settled(worker)).map(sentence);
    let unsettled = own.iter().filter(|worker| !is_settled(worker)).count();
    let what = match &*wish {
        Wish::Workers(names) => {
            format!("{unsettled} of {} workers have not reached the wanted state", names.len())
        }
        Wish::Size(pool, wanted) => {
            format!(
                "NodePool {pool} wants {wanted} workers: {} are ready, {unsettled} are not",
                own.len() - unsettled
            )
        }
        Wish::Pools(pools) => {
            let wanted: usize = pools.values().sum();
            format!("{wanted} workers are wanted: {} are ready, {unsettled} are not", own.len() - unsettled)
        }
    };
    Err(Report::new(Code::HostedHeld, what)
    .evidence(waiting)
    .fix("see above what each of them is waiting for; the wanted state is saved, and a controller continues from it"))
}

/// Ready and dressed, and nothing left of its first boot; one that is to go is settled when its record is gone.
fn is_settled(worker: &Worker) -> bool {
    worker.wanted == WantedState::Present
        && worker.stage() == WorkerStage::Ready
        && worker.history.settled.is_some()
}

fn sentence(worker: &Worker) -> String {
    let why = worker
        .history
        .trouble
        .as_ref()
        .map_or_else(String::new, |trouble| format!(": {}: {}", trouble.reason, trouble.message));
    format!("{} is {}{why}", worker.name, worker.stage())
}

async fn present(management: &Management, pool: &str) -> Result<usize, Report> {
    let (workers, _) = management.workers().await.map_err(|error| failed(&error))?;
    Ok(workers
        .iter()
        .filter(|worker| worker.node_pool == pool && worker.wanted != WantedState::Absent)
        .count())
}

fn not_in_inventory(pool: &str) -> Report {
    Report::new(Code::HostedRequest, format!("hosted-inventory.yaml has no machines for NodePool {pool}"))
        .fix("add it below pools")
}
