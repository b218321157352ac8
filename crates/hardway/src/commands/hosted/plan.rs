//! `hardway hosted plan`

use std::fmt::Write as _;

use hardway_assets::hosted_inventory::{HostedHost, HostedPool};
use hardway_machines::actions::Action;
use hardway_machines::providers::{ActionScope, Provider, is_of_machine};
use serde_json::{Value, json};

use crate::cli::{Global, HostedPlanArgs};
use crate::hosted::{ManagementAccess, PoolPlan, site};
use crate::inputs::Workdir;
use crate::machines;
use crate::report::{Code, Exit, Report};
use crate::terminal::{Format, Output};

/// Looks, and changes nothing.
pub(super) async fn run(
    global: &Global,
    access: &ManagementAccess,
    args: &HostedPlanArgs,
    out: &Output,
) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let site = site(&workdir)?;
    let folder = std::path::absolute(&global.dir)
        .map_err(|error| Report::from_error(Code::WorkdirUnusable, &error))?;
    let provider = site.provider(&folder)?;
    let mut plans = Vec::new();
    for pool in &site.file.inventory.pools {
        plans.push(match args.replicas {
            Some(wanted) => PoolPlan::of(pool, 0, wanted, pool.hosts.iter().collect()),
            None => PoolPlan::asked(&site, access, pool).await?,
        });
    }
    if let Some(note) = machines::undrawn_id(&site.cluster) {
        out.warn(&note);
    }
    let actions = provider.infrastructure();
    let is_of_any = |action: &&Action| matches!(ActionScope::of(&action.id), Some(ActionScope::Machine(_)));
    let shared: Vec<&Action> = actions.iter().filter(|action| !is_of_any(action)).collect();
    let of_machine = |host: &HostedHost| -> Vec<String> {
        let own = actions.iter().filter(|action| is_of_machine(&action.id, &host.host.name));
        let pointer = folder.join("hosted").join(format!("{}.ign", host.host.name));
        let boot = provider.first_boot_with(&host.host, &pointer);
        own.map(|action| action.id.clone()).chain(boot.iter().map(|action| action.id.clone())).collect()
    };
    match args.output {
        Format::Text => out.data(&text(&plans, &shared, &*provider)),
        format => {
            let shared: Vec<Value> =
                shared.iter().map(|action| json!({"action": action.id, "why": action.why})).collect();
            let pools: Vec<Value> = plans.iter().map(|plan| value(plan, &of_machine)).collect();
            out.value(&json!({"shared": shared, "pools": pools}), format);
        }
    }
    Ok(Exit::Done)
}

fn text(plans: &[PoolPlan<'_>], shared: &[&Action], provider: &dyn Provider) -> String {
    let mut text = String::new();
    if !shared.is_empty() {
        text.push_str("around the machines, once:\n");
        for action in shared {
            let _ = writeln!(text, "  {:32} {}", action.id, action.why);
        }
    }
    for plan in plans {
        let HostedPool { namespace, cluster, node_pool, hosts } = plan.pool;
        let _ = writeln!(
            text,
            "{namespace}/{cluster}, NodePool {node_pool}: {} wanted, {} there, {} possible",
            plan.wanted,
            plan.present,
            hosts.len()
        );
        for HostedHost { host, zone, .. } in &plan.add {
            let size = |name: &str, number: Option<u32>| {
                number.map_or_else(String::new, |number| format!(", {number} {name}"))
            };
            let ips: Vec<String> = host.ip.iter().map(ToString::to_string).collect();
            let _ = writeln!(
                text,
                "  + {} as {}, {}{}{}{}{}",
                host.name,
                provider.called(host),
                ips.join(" "),
                zone.as_ref().map_or_else(String::new, |zone| format!(", in {zone}")),
                size("cpus", host.cpus),
                size("GiB memory", host.memory_gib),
                size("GiB disk", host.disk_gib)
            );
        }
        if plan.remove > 0 {
            let _ = writeln!(text, "  - {} to remove: those that cost least at that time", plan.remove);
        }
        if plan.missing > 0 {
            let _ = writeln!(
                text,
                "  ! {} more are wanted than there are machines for: widen addresses",
                plan.missing
            );
        }
    }
    let add: usize = plans.iter().map(|plan| plan.add.len()).sum();
    let sum = |of: fn(&HostedHost) -> Option<u32>| -> u64 {
        plans.iter().flat_map(|plan| &plan.add).filter_map(|one| of(one)).map(u64::from).sum()
    };
    let (cpus, memory, disk) =
        (sum(|one| one.host.cpus), sum(|one| one.host.memory_gib), sum(|one| one.host.disk_gib));
    let _ = writeln!(
        text,
        "{add} machines to make, as far as sizes are given: {cpus} cpus, {memory} GiB memory, {disk} GiB disk"
    );
    text
}

fn value(plan: &PoolPlan<'_>, actions: &dyn Fn(&HostedHost) -> Vec<String>) -> Value {
    let HostedPool { namespace, cluster, node_pool, hosts } = plan.pool;
    let add: Vec<Value> = plan
        .add
        .iter()
        .map(|one| {
            let mut value = json!(one);
            value["actions"] = json!(actions(one));
            value
        })
        .collect();
    json!({
        "namespace": namespace, "cluster": cluster, "nodePool": node_pool, "possible": hosts.len(),
        "wanted": plan.wanted, "present": plan.present, "add": add, "remove": plan.remove, "missing": plan.missing,
    })
}
