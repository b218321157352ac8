//! Everything before the first machine of a hosted cluster, and its network while machines come up. Each step looks before it
//! acts, so a run that was cut off is simply repeated.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use hardway_base::Verdict;
use hardway_hosted::ovn::{OvnFacts, OvnVerdict, judge};
use hardway_hosted::prerequisites::Prerequisite;
use hardway_hosted::render::{NodePoolRequest, UpgradeType, node_pool_object};
use hardway_hosted::scaling::present;
use hardway_hosted::{HostedError, Management, PlacedHost};
use jiff::SignedDuration;

use super::gates::await_gates;
use super::{failed, refused};
use crate::clock;
use crate::report::{Code, Report};
use crate::terminal::{Columns, Output, Place, Row};

/// What a person may choose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SetUpOptions {
    /// Workers of each pool; as many as each wants where none is said.
    pub(crate) replicas: Option<usize>,
    /// How long a pool's gates may take.
    pub(crate) patience: SignedDuration,
    /// How long a config must be unchanged before machines boot with it.
    pub(crate) config_rest: SignedDuration,
}

/// How often the network's certificate is looked at while workers come up.
const OVN_AGAIN: Duration = Duration::from_secs(10);

/// Everything before the first machine: how many workers each pool wants.
pub(crate) async fn prepare(
    management: &Management,
    pools: &BTreeMap<String, Vec<PlacedHost>>,
    options: &SetUpOptions,
    out: &Output,
) -> Result<(Vec<Prerequisite>, BTreeMap<String, usize>), Report> {
    let rows = management.prerequisites().await.map_err(|error| failed(&error))?;
    out.info(&text(&rows));
    let wrong: Vec<&str> =
        rows.iter().filter(|row| row.judged.verdict == Verdict::Failed).map(|row| row.name).collect();
    if !wrong.is_empty() {
        return Err(Report::new(
            Code::HostedHeld,
            format!("the management cluster is not ready: {}", wrong.join(", ")),
        )
        .fix("see above what each needs; then run the same command again"));
    }
    let mut wanted = BTreeMap::new();
    for (pool, machines) in pools {
        wanted.insert(pool.clone(), node_pool(management, pool, machines.len(), options, out).await?);
    }
    for pool in pools.keys() {
        await_gates(management, pool, options.patience, options.config_rest, out).await?;
    }
    Ok((rows, wanted))
}

/// The NodePool as it is, or a new one; and how many workers it wants.
async fn node_pool(
    management: &Management,
    name: &str,
    machines: usize,
    options: &SetUpOptions,
    out: &Output,
) -> Result<usize, Report> {
    let found = match management.node_pool(name).await {
        Ok(pool) => Some(pool),
        Err(HostedError::Missing(_)) => None,
        Err(error) => return Err(failed(&error)),
    };
    let asked = options.replicas;
    let wanted = match (&found, asked) {
        (_, Some(asked)) => asked,
        (None, None) => 1,
        (Some(pool), None) => {
            let (workers, _) = management.workers().await.map_err(|error| failed(&error))?;
            let there = present(&workers, name).len();
            pool.wanted_workers(there).unwrap_or(there)
        }
    };
    if wanted > machines {
        let what = format!(
            "NodePool {name} wants {wanted} workers, but hosted-inventory.yaml has machines for {machines}"
        );
        return Err(Report::new(Code::HostedRequest, what)
            .fix("widen the pool's addresses, name more hosts, or pass a smaller --replicas"));
    }
    match found {
        None => {
            make(management, name, wanted).await?;
            out.info(&format!("created NodePool {name} for {wanted} workers"));
        }
        Some(pool) => {
            if asked.is_some() && pool.spec.replicas.and_then(|now| usize::try_from(now).ok()) != asked {
                management.want_replicas(name, wanted).await.map_err(|error| failed(&error))?;
            }
            out.info(&format!("NodePool {name} wants {wanted} workers"));
        }
    }
    Ok(wanted)
}

async fn make(management: &Management, name: &str, wanted: usize) -> Result<(), Report> {
    let cluster = management.hosted_cluster().await.map_err(|error| failed(&error))?;
    let release = cluster.map(|cluster| cluster.spec.release.image).unwrap_or_default();
    let request = NodePoolRequest {
        name: name.to_owned(),
        namespace: management.namespace.clone(),
        cluster: management.cluster.clone(),
        release_image: release,
        replicas: u32::try_from(wanted).unwrap_or(u32::MAX),
        arch: "amd64".to_owned(),
        upgrade_type: UpgradeType::InPlace,
        max_unavailable: None,
        auto_repair: false,
        node_labels: BTreeMap::new(),
        taints: Vec::new(),
    };
    let object = node_pool_object(&request).map_err(|errors| refused(&errors))?;
    management.make(&[object]).await.map_err(|error| failed(&error))
}

/// Makes the certificate that the network waits for, where nobody else will: without it no node becomes Ready. Never ends by itself; what
/// it cannot do is told, and tried again.
pub(crate) async fn network(management: &Management, out: &Output) -> Infallible {
    let mut told = None;
    loop {
        if let Err(error) = certificate(management, out).await.map_err(|error| error.to_string())
            && told.as_ref() != Some(&error)
        {
            out.warn(&format!("the network's certificate: {error}"));
            told = Some(error);
        }
        tokio::time::sleep(OVN_AGAIN).await;
    }
}

async fn certificate(management: &Management, out: &Output) -> Result<(), HostedError> {
    let cluster = management.hosted_cluster().await?;
    let now = clock::now();
    let facts = OvnFacts::collect(management, cluster.as_ref(), now).await?;
    if let OvnVerdict::Make(why) = judge(&facts, now) {
        out.info(&why);
        management.make_ovn_certificate(false, now).await?;
        out.info("created the certificate of the network");
    }
    Ok(())
}

fn text(rows: &[Prerequisite]) -> String {
    let columns = Columns { indent: 0, outcome: (8, 1), name: (16, 1), advice: Place::Detail };
    let mut text = String::from("the management cluster:\n");
    for Prerequisite { name, judged } in rows {
        columns.write(&mut text, &Row::judged(name, judged));
    }
    text.trim_end().to_owned()
}
