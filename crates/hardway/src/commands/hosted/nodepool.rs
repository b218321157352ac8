//! `hardway hosted nodepool`

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hardway_hosted::config_watch::{ConfigWatch, REST};
use hardway_hosted::gates::first_held;
use hardway_hosted::objects::{NodePool, Taint};
use hardway_hosted::render::{NodePoolRequest, RequestErrors, UpgradeType, node_pool_object};
use hardway_hosted::{HostedError, PoolStatus};
use serde_json::json;

use crate::cli::{Format, NodepoolCreateArgs, NodepoolVerb, UpgradeArg};
use crate::hosted::{ManagementAccess, await_gates, connect, failed, look_at_gates, refused};
use crate::report::{Exit, Report};
use crate::terminal::{Columns, Output, Place, Row};

pub(super) async fn run(
    access: &ManagementAccess,
    verb: &NodepoolVerb,
    out: &Output,
) -> Result<Exit, Report> {
    match verb {
        NodepoolVerb::Create(create) => self::create(access, create, out).await,
        NodepoolVerb::List { cluster, output } => {
            let management = connect(access, cluster).await?;
            let pools = management.node_pools().await.map_err(|error| failed(&error))?;
            let mut all = Vec::new();
            for pool in &pools {
                all.push(look_at_gates(&management, pool, &mut ConfigWatch::default(), REST).await?);
            }
            match output {
                Format::Text => out.data(&all.iter().map(line).collect::<String>()),
                format => out.value(&json!(all), *format),
            }
            Ok(Exit::Done)
        }
        NodepoolVerb::Status { name, cluster, output } => {
            let management = connect(access, cluster).await?;
            let pool = management.node_pool(name).await.map_err(|error| failed(&error))?;
            let status = look_at_gates(&management, &pool, &mut ConfigWatch::default(), REST).await?;
            match output {
                Format::Text => out.data(&text(&status)),
                format => out.value(&json!(status), *format),
            }
            Ok(if first_held(&status.gates).is_some() { Exit::Blocked } else { Exit::Done })
        }
        NodepoolVerb::Delete { name, cluster, .. } => {
            let management = connect(access, cluster).await?;
            management.node_pool(name).await.map_err(|error| failed(&error))?;
            management.delete::<NodePool>(name).await.map_err(|error| failed(&error))?;
            out.info(&format!("deleting NodePool {name}; its tokens are revoked now, running machines stay"));
            Ok(Exit::Done)
        }
    }
}

async fn create(
    access: &ManagementAccess,
    create: &NodepoolCreateArgs,
    out: &Output,
) -> Result<Exit, Report> {
    let management = connect(access, &create.cluster).await?;
    let cluster = management.hosted_cluster().await.map_err(|error| failed(&error))?;
    let cluster = cluster.ok_or_else(|| {
        failed(&HostedError::Missing(format!("HostedCluster {} in {}", create.cluster, access.namespace)))
    })?;
    let request = request(access, create, &cluster.spec.release.image)?;
    let object = node_pool_object(&request).map_err(|errors| refused(&errors))?;
    management.make(&[object]).await.map_err(|error| failed(&error))?;
    out.info(&format!("created NodePool {}", create.name));
    await_gates(&management, &create.name, create.timeout, create.config_rest, out).await?;
    Ok(Exit::Done)
}

fn request(
    access: &ManagementAccess,
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
        namespace: access.namespace.clone(),
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
    let columns = Columns { indent: 2, outcome: (4, 2), name: (18, 1), advice: Place::Name };
    let mut is_behind = false;
    for gate in &status.gates {
        let is_held = !gate.is_open && !is_behind;
        let outcome = if is_held {
            "HELD"
        } else if is_behind {
            "-"
        } else {
            "open"
        };
        let advice = gate.fix.filter(|_| is_held);
        columns.write(
            &mut text,
            &Row { name: gate.name.name(), outcome, detail: vec![gate.seen.as_str()], advice },
        );
        is_behind |= is_held;
    }
    if let Some(token) = &status.token {
        let until = token.copy_good_until.map_or("unknown".to_owned(), |time| time.to_string());
        let _ = writeln!(text, "  token in Secret {}; valid until {until} if copied now", token.secret);
        if let Some(message) = &token.message {
            let _ = writeln!(text, "  its config: {message}");
        }
    }
    text
}
