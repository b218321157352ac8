//! `hardway hosted nodepool`

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use hardway_hosted::config_watch::{ConfigWatch, REST};
use hardway_hosted::gates::first_held;
use hardway_hosted::objects::{NodePool, Taint};
use hardway_hosted::render::{NodePoolRequest, RequestErrors, UpgradeType, node_pool_object};
use hardway_hosted::{HostedError, Management, PoolStatus, pool_status};
use jiff::SignedDuration;
use serde_json::json;

use super::{connect, failed, refused};
use crate::cli::{Format, ManagementArgs, NodepoolCreateArgs, NodepoolVerb, UpgradeArg};
use crate::clock;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// How often the gates are looked at.
const LOOK: Duration = Duration::from_secs(2);

pub(super) async fn run(args: &ManagementArgs, verb: &NodepoolVerb, out: &Output) -> Result<Exit, Report> {
    match verb {
        NodepoolVerb::Create(create) => self::create(args, create, out).await,
        NodepoolVerb::List { cluster, output } => {
            let management = connect(args, cluster).await?;
            let pools = management.node_pools().await.map_err(|error| failed(&error))?;
            let mut all = Vec::new();
            for pool in &pools {
                all.push(look(&management, pool, &mut ConfigWatch::default(), REST).await?);
            }
            match output {
                Format::Text => out.data(&all.iter().map(line).collect::<String>()),
                format => out.value(&json!(all), *format),
            }
            Ok(Exit::Done)
        }
        NodepoolVerb::Status { name, cluster, output } => {
            let management = connect(args, cluster).await?;
            let pool = management.node_pool(name).await.map_err(|error| failed(&error))?;
            let status = look(&management, &pool, &mut ConfigWatch::default(), REST).await?;
            match output {
                Format::Text => out.data(&text(&status)),
                format => out.value(&json!(status), *format),
            }
            Ok(if first_held(&status.gates).is_some() { Exit::Blocked } else { Exit::Done })
        }
        NodepoolVerb::Delete { name, cluster, .. } => {
            let management = connect(args, cluster).await?;
            management.node_pool(name).await.map_err(|error| failed(&error))?;
            management.delete::<NodePool>(name).await.map_err(|error| failed(&error))?;
            out.info(&format!(
                "NodePool {name} is being deleted; its tokens end now, and machines that run stay"
            ));
            Ok(Exit::Done)
        }
    }
}

async fn create(args: &ManagementArgs, create: &NodepoolCreateArgs, out: &Output) -> Result<Exit, Report> {
    let management = connect(args, &create.cluster).await?;
    let cluster = management.hosted_cluster().await.map_err(|error| failed(&error))?;
    let cluster = cluster.ok_or_else(|| {
        failed(&HostedError::Missing(format!("HostedCluster {} in {}", create.cluster, args.namespace)))
    })?;
    let request = request(args, create, &cluster.spec.release.image)?;
    let object = node_pool_object(&request).map_err(|errors| refused(&errors))?;
    management.make(&[object]).await.map_err(|error| failed(&error))?;
    out.info(&format!("NodePool {} is made", create.name));
    await_gates(&management, &create.name, create.timeout, create.config_rest, out).await
}

/// Waits, and tells each gate once.
pub(super) async fn await_gates(
    management: &Management,
    name: &str,
    timeout: SignedDuration,
    rest: SignedDuration,
    out: &Output,
) -> Result<Exit, Report> {
    let late = clock::now() + timeout;
    let (mut config, mut told) = (ConfigWatch::default(), None);
    loop {
        let pool = management.node_pool(name).await.map_err(|error| failed(&error))?;
        let status = look(management, &pool, &mut config, rest).await?;
        let Some(gate) = first_held(&status.gates) else {
            out.info(&format!(
                "every gate is open: machines can boot with config {}",
                status.config_hash.unwrap_or_default()
            ));
            return Ok(Exit::Done);
        };
        if told != Some(gate.name) {
            told = Some(gate.name);
            out.info(&format!("waiting at gate {}: {}", gate.name, gate.seen));
        }
        if clock::now() >= late {
            return Err(Report::new(
                Code::HostedHeld,
                format!("NodePool {name} is held at gate {}: {}", gate.name, gate.seen),
            )
            .fix(gate.fix));
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn look(
    management: &Management,
    pool: &NodePool,
    config: &mut ConfigWatch,
    rest: SignedDuration,
) -> Result<PoolStatus, Report> {
    pool_status(management, pool, config, rest, clock::now()).await.map_err(|error| failed(&error))
}

fn request(
    args: &ManagementArgs,
    create: &NodepoolCreateArgs,
    of_cluster: &str,
) -> Result<NodePoolRequest, Report> {
    let mut errors = Vec::new();
    let mut labels = BTreeMap::new();
    for text in &create.node_label {
        match text.split_once('=') {
            Some((key, value)) if !key.is_empty() => drop(labels.insert(key.to_owned(), value.to_owned())),
            _ => errors.push(format!("--node-label {text}: write it as KEY=VALUE")),
        }
    }
    let mut taints = Vec::new();
    for text in &create.taint {
        match taint(text) {
            Some(taint) => taints.push(taint),
            None => errors.push(format!("--taint {text}: write it as KEY=VALUE:EFFECT or KEY:EFFECT")),
        }
    }
    if !errors.is_empty() {
        return Err(refused(&RequestErrors(errors)));
    }
    Ok(NodePoolRequest {
        name: create.name.clone(),
        namespace: args.namespace.clone(),
        cluster: create.cluster.clone(),
        release_image: create.release_image.clone().unwrap_or_else(|| of_cluster.to_owned()),
        replicas: create.replicas,
        arch: create.arch.clone(),
        upgrade_type: match create.node_upgrade_type {
            UpgradeArg::InPlace => UpgradeType::InPlace,
            UpgradeArg::Replace => UpgradeType::Replace,
        },
        max_unavailable: create.max_unavailable.clone(),
        auto_repair: create.auto_repair,
        node_labels: labels,
        taints,
    })
}

fn taint(text: &str) -> Option<Taint> {
    let (rest, effect) = text.rsplit_once(':')?;
    let (key, value) =
        rest.split_once('=').map_or((rest, None), |(key, value)| (key, Some(value.to_owned())));
    (!key.is_empty()).then(|| Taint { key: key.to_owned(), value, effect: effect.to_owned() })
}

fn line(status: &PoolStatus) -> String {
    let hash = status.config_hash.as_deref().unwrap_or("-");
    let state = first_held(&status.gates)
        .map_or("machines can boot".to_owned(), |gate| format!("held at {}: {}", gate.name, gate.seen));
    format!(
        "{:20} {:>4} wanted  {:8}  {hash:8}  {state}\n",
        status.name, status.replicas, status.upgrade_type
    )
}

fn text(status: &PoolStatus) -> String {
    let mut text = format!("NodePool {}\n", status.name);
    let mut is_behind = false;
    for gate in &status.gates {
        let mark = if gate.is_open && !is_behind {
            "open"
        } else if is_behind {
            "-   "
        } else {
            "HELD"
        };
        let _ = writeln!(text, "  {mark}  {:18} {}", gate.name, gate.seen);
        if !gate.is_open && !is_behind {
            is_behind = true;
            if !gate.fix.is_empty() {
                let _ = writeln!(text, "        fix: {}", gate.fix);
            }
        }
    }
    if let Some(token) = &status.token {
        let until = token.copy_good_until.map_or("nobody can tell".to_owned(), |time| time.to_string());
        let _ = writeln!(text, "  token in Secret {}; a copy made now is good until {until}", token.secret);
        if let Some(message) = &token.message {
            let _ = writeln!(text, "  its config: {message}");
        }
    }
    text
}
