//! Whether a step does what it is for, as seen from outside.

use std::time::Duration;

use hardway_assets::day_two::{DayTwoStep, NodeEffect};
use hardway_assets::pki::inspect;
use hardway_base::{Judged, Verdict};
use hardway_cluster::api_error::{sentence, unless_absent};
use hardway_cluster::day_two::{Objects, Planned};
use hardway_cluster::presented;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, ListParams};
use kube::core::GroupVersionKind;
use serde_json::Value;

use super::{DayTwo, failed, kubeadmin};
use crate::report::{Code, Report};

/// For a handshake.
const PATIENCE: Duration = Duration::from_secs(10);

/// One thing that was looked at.
pub(crate) struct StepCheck {
    pub(crate) name: String,
    pub(crate) judged: Judged,
}

/// Everything that tells whether the step holds. Must run inside an async runtime.
pub(crate) async fn check(step: &DayTwo<'_>) -> Result<Vec<StepCheck>, Report> {
    let mut checks = Vec::new();
    if step.step == DayTwoStep::KubeadminGone {
        let managed = Objects::of_step(step.client.clone(), step.step.name());
        let planned = managed.plan(&kubeadmin(), true).await.map_err(|error| failed(&error))?;
        let judged = match planned.before {
            None => passed("there is no Secret kube-system/kubeadmin"),
            Some(_) => wrong(
                "Secret kube-system/kubeadmin is there: its password works",
                "hardway day2 apply kubeadmin-gone",
            ),
        };
        checks.push(named("kubeadmin", judged));
    }
    for object in &step.plan(false).await?.objects {
        let judged = match &object.planned {
            Planned::Kept => passed("as in the inventory"),
            Planned::Created => wrong("is not there", &apply(step)),
            Planned::Changed(changes) => {
                let fields: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
                wrong(&format!("differs from the inventory: {}", fields.join(", ")), &apply(step))
            }
            Planned::Contested(why) | Planned::Refused(why) => wrong(why, &apply(step)),
        };
        checks.push(named(&object.id, judged));
    }
    for operator in step.step.row().operators {
        checks.push(named(&format!("operator {operator}"), of_operator(step, operator).await?));
    }
    if matches!(
        step.step.row().nodes,
        NodeEffect::Reboots | NodeEffect::WithoutDisruption | NodeEffect::RestartsRuntime
    ) {
        checks.extend(pools(step).await?);
    }
    match step.step {
        DayTwoStep::Certificates => checks.extend(certificates(step).await?),
        DayTwoStep::Identity => checks.push(named("administrator", administrator(step).await?)),
        DayTwoStep::Registry => checks.push(named("volume", volume(step).await?)),
        _ => {}
    }
    Ok(checks)
}

fn apply(step: &DayTwo<'_>) -> String {
    format!("hardway day2 apply {}", step.step.name())
}

/// An operator that is at rest has rolled it out. One that the cluster does not have is not asked.
async fn of_operator(step: &DayTwo<'_>, name: &str) -> Result<Judged, Report> {
    let found = get(step, "config.openshift.io", "ClusterOperator", "clusteroperators", name).await?;
    let Some(found) = found else { return Ok(skipped("the cluster has no such operator")) };
    let condition = |kind: &str| {
        let all = found.data["status"]["conditions"].as_array().cloned().unwrap_or_default();
        all.into_iter().find(|condition| condition["type"] == kind)
    };
    let says =
        |kind: &str, status: &str| condition(kind).is_some_and(|condition| condition["status"] == status);
    if says("Available", "True") && says("Progressing", "False") && says("Degraded", "False") {
        return Ok(passed("available, and not progressing"));
    }
    let told = ["Degraded", "Progressing", "Available"].iter().find_map(|kind| {
        let condition = condition(kind)?;
        let is_bad = (condition["status"] == "True") != (*kind == "Available");
        is_bad.then(|| format!("{kind} is {}: {}", text(&condition["status"]), text(&condition["message"])))
    });
    let told = told.unwrap_or_else(|| "it has not reported yet".to_owned());
    Ok(wrong(&told, "wait until it has rolled the change out; `hardway diagnose` shows what blocks it"))
}

/// Pools that have the step's MachineConfigs on every node.
async fn pools(step: &DayTwo<'_>) -> Result<Vec<StepCheck>, Report> {
    let wanted: Vec<String> = step
        .objects
        .iter()
        .filter(|object| object.value["kind"] == "MachineConfig")
        .map(|object| text(&object.value["metadata"]["name"]))
        .collect();
    let kind = resource("machineconfiguration.openshift.io", "MachineConfigPool", "machineconfigpools");
    let pools: Api<DynamicObject> = Api::all_with(step.client.clone(), &kind);
    let pools = match pools.list(&ListParams::default()).await {
        Err(kube::Error::Api(status)) if status.code == 404 => return Ok(Vec::new()),
        pools => pools.map_err(|error| Report::new(Code::DayTwoFailed, sentence(&error)))?,
    };
    let mut checks = Vec::new();
    for pool in pools.items {
        let name = pool.metadata.name.clone().unwrap_or_default();
        let (spec, status) = (&pool.data["spec"], &pool.data["status"]);
        let of_pool: Vec<&String> =
            wanted.iter().filter(|config| config.starts_with(&format!("99-{name}-"))).collect();
        let sources = status["configuration"]["source"].as_array().cloned().unwrap_or_default();
        let missing: Vec<&str> = of_pool
            .iter()
            .filter(|config| !sources.iter().any(|source| source["name"] == ***config))
            .map(|config| config.as_str())
            .collect();
        let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
        let is_updated = conditions
            .iter()
            .any(|condition| condition["type"] == "Updated" && condition["status"] == "True");
        let judged = match (missing.is_empty() && is_updated, spec["paused"] == true) {
            (true, _) => passed("every node has it"),
            (false, true) => wrong(
                "the pool is paused",
                &format!(
                    "oc patch machineconfigpool {name} --type merge -p '{{\"spec\":{{\"paused\":false}}}}'"
                ),
            ),
            (false, false) => {
                let updated = status["updatedMachineCount"].as_u64().unwrap_or_default();
                let all = status["machineCount"].as_u64().unwrap_or_default();
                wrong(
                    &format!("{updated} of {all} nodes have it"),
                    "wait: nodes are updated one after another",
                )
            }
        };
        checks.push(named(&format!("pool {name}"), judged));
    }
    Ok(checks)
}

/// What clients are shown, compared with what was given.
async fn certificates(step: &DayTwo<'_>) -> Result<Vec<StepCheck>, Report> {
    let cluster = step.cluster()?;
    let Some(certificates) = cluster.inventory.day_two.certificates.as_ref() else { return Ok(Vec::new()) };
    let below = format!("hardway-verify.apps.{}", cluster.domain());
    let both = [(&certificates.api, cluster.api_host(), 6443), (&certificates.ingress, below, 443)];
    let mut checks = Vec::new();
    for (pair, host, port) in both {
        let Some(pair) = pair else { continue };
        let given = step.files.get(&pair.certificate_file).map(|file| inspect(file.expose_text()));
        let Some(given) = given.and_then(Result::ok).and_then(|chain| chain.into_iter().next()) else {
            continue;
        };
        let judged = match presented(host.clone(), port, PATIENCE).await {
            Err(error) => wrong(&format!("no handshake: {error}"), "make sure that this host reaches it"),
            Ok(chain) => match chain.first() {
                Some(shown)
                    if shown.public_key_info == given.public_key_info && shown.serial == given.serial =>
                {
                    passed(&format!("shown, and valid until {}", shown.not_after))
                }
                Some(shown) => wrong(
                    &format!("it shows another one, signed by {:?}", shown.issuer_common_name),
                    "wait until the operator has rolled it out",
                ),
                None => wrong("it shows no certificate", "wait until the operator has rolled it out"),
            },
        };
        checks.push(named(&format!("{host}:{port}"), judged));
    }
    Ok(checks)
}

/// Whether the administrator has logged in once.
async fn administrator(step: &DayTwo<'_>) -> Result<Judged, Report> {
    let Some(identity) = step.cluster()?.inventory.day_two.identity.as_ref() else {
        return Ok(skipped("nobody is named"));
    };
    let user = get(step, "user.openshift.io", "User", "users", &identity.admin).await?;
    Ok(match user {
        Some(_) => passed(&format!("{} has logged in", identity.admin)),
        None => Judged {
            verdict: Verdict::Warned,
            seen: vec![format!("{} has not logged in yet", identity.admin)],
            fix: Some("log in once, then: hardway day2 apply kubeadmin-gone".to_owned()),
        },
    })
}

async fn volume(step: &DayTwo<'_>) -> Result<Judged, Report> {
    let kind = resource("", "PersistentVolumeClaim", "persistentvolumeclaims");
    let claims: Api<DynamicObject> =
        Api::namespaced_with(step.client.clone(), "openshift-image-registry", &kind);
    let found = unless_absent(claims.get_opt("day2-registry").await);
    let found = found.map_err(|error| Report::new(Code::DayTwoFailed, sentence(&error)))?;
    let phase = found.map(|claim| text(&claim.data["status"]["phase"])).unwrap_or_default();
    Ok(match phase.as_str() {
        "Bound" => passed("the claim is bound"),
        _ => wrong(
            &format!("the claim is {}", if phase.is_empty() { "not there" } else { &phase }),
            "check that its StorageClass exists, or that there is a default one: oc get storageclass",
        ),
    })
}

async fn get(
    step: &DayTwo<'_>,
    group: &str,
    kind: &str,
    plural: &str,
    name: &str,
) -> Result<Option<DynamicObject>, Report> {
    let objects: Api<DynamicObject> = Api::all_with(step.client.clone(), &resource(group, kind, plural));
    unless_absent(objects.get_opt(name).await)
        .map_err(|error| Report::new(Code::DayTwoFailed, sentence(&error)))
}

fn resource(group: &str, kind: &str, plural: &str) -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, "v1", kind), plural)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn named(name: &str, judged: Judged) -> StepCheck {
    StepCheck { name: name.to_owned(), judged }
}

fn passed(seen: &str) -> Judged {
    Judged { verdict: Verdict::Passed, seen: vec![seen.to_owned()], fix: None }
}

fn skipped(seen: &str) -> Judged {
    Judged { verdict: Verdict::Skipped, seen: vec![seen.to_owned()], fix: None }
}

fn wrong(seen: &str, fix: &str) -> Judged {
    Judged { verdict: Verdict::Failed, seen: vec![seen.to_owned()], fix: Some(fix.to_owned()) }
}
