//! `hardway hosted workers`

use std::fmt::Write as _;

use hardway_hosted::controller::stretches;
use hardway_hosted::worker::Worker;
use serde_json::json;

use crate::cli::{Format, Global, WorkersArgs, WorkersVerb};
use crate::hosted::{ManagementAccess, Wish, add, connect, failed, reach, remove, replace, resize};
use crate::report::{Exit, Report};
use crate::terminal::Output;

pub(super) async fn run(
    global: &Global,
    access: &ManagementAccess,
    verb: &WorkersVerb,
    out: &Output,
) -> Result<Exit, Report> {
    let dir = &global.dir;
    match verb {
        WorkersVerb::Add { number, pool, run } => {
            let management = connect(access, &run.reconcile.cluster).await?;
            let wish = add(dir, access, &management, pool, *number).await?;
            settle(global, access, wish, run, out).await
        }
        WorkersVerb::Scale { number, pool, run } => {
            let management = connect(access, &run.reconcile.cluster).await?;
            let wish = resize(dir, access, &management, pool, *number).await?;
            settle(global, access, wish, run, out).await
        }
        WorkersVerb::Remove { name, run, .. } => {
            let management = connect(access, &run.reconcile.cluster).await?;
            let wish = remove(dir, access, &management, name).await?;
            settle(global, access, wish, run, out).await
        }
        WorkersVerb::Replace { name, run } => {
            let management = connect(access, &run.reconcile.cluster).await?;
            let wish = replace(&management, name).await?;
            settle(global, access, wish, run, out).await
        }
        WorkersVerb::List { cluster, output } => {
            let management = connect(access, cluster).await?;
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

/// Runs a controller until these workers are what they are wanted to be. Where another one leads, that one acts.
async fn settle(
    global: &Global,
    access: &ManagementAccess,
    wish: Wish,
    run: &WorkersArgs,
    out: &Output,
) -> Result<Exit, Report> {
    match &wish {
        Wish::Workers(names) if run.no_wait || names.is_empty() => {
            out.info(&format!("{} workers changed; a running controller does the rest", names.len()));
            return Ok(Exit::Done);
        }
        Wish::Size(pool, wanted) if run.no_wait => {
            out.info(&format!("NodePool {pool} wants {wanted} workers; a running controller does the rest"));
            return Ok(Exit::Done);
        }
        _ => {}
    }
    let own = reach(&global.dir, access, wish, &(&run.reconcile).into(), run.timeout, out).await?;
    out.data(&table(&own));
    Ok(Exit::Done)
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
