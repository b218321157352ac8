//! `hardway verify`

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use hardway_assets::Cluster;
use hardway_cluster::verify::{CHECKS, Endpoint, Outcome, Surroundings, Verdict, Verifier};
use serde_json::{Value, json};

use crate::cli::{Format, Global, VerifyArgs};
use crate::live::{self, Live};
use crate::output::Output;
use crate::report::{EXIT_USAGE, Report};
use crate::workdir::Workdir;
use crate::{clock, interrupt};

/// Looks at a cluster from outside and compares it with the inventory. Makes one namespace and takes it away again.
pub(crate) fn run(global: &Global, args: &VerifyArgs, out: &Output) -> Result<u8, Report> {
    if args.list {
        list(args.output, out);
        return Ok(0);
    }
    let skip: BTreeSet<String> = args.skip_check.iter().cloned().collect();
    if let Some(unknown) = skip.iter().find(|name| CHECKS.iter().all(|(check, _)| check != name)) {
        let names: Vec<&str> = CHECKS.iter().map(|(name, _)| *name).collect();
        return Err(Report::new("usage", format!("there is no check {unknown:?}"))
            .exit(EXIT_USAGE)
            .fix(format!("one of {}", names.join(", "))));
    }
    let workdir = Workdir::open(&global.dir)?;
    let outcomes = live::run_to_its_end(async {
        let live = Live::open(&workdir, &args.cluster, out).await?;
        run_aloud(&verifier(&live, &workdir, args.image.clone(), skip)?, out).await
    })?;
    match args.output {
        Format::Text => out.data(&out.advice(&text(&outcomes))),
        format => out.value(&json!({"passed": failed(&outcomes).is_empty(), "checks": outcomes}), format),
    }
    let failed = failed(&outcomes);
    if failed.is_empty() {
        return Ok(0);
    }
    let (count, names) = (failed.len(), failed.join(", "));
    Err(Report::new("verify-failed", format!("{count} of {} checks failed: {names}", outcomes.len()))
        .fix("each failed check above says what was seen and what to do; --skip-check leaves one out"))
}

/// Says which check takes its time; and takes the test pod away again when somebody ends it.
async fn run_aloud(verifier: &Verifier, out: &Output) -> Result<Vec<Outcome>, Report> {
    let check = Cell::new("");
    let doing = || match check.get() {
        "api" => format!("no answer from the API at {} yet", verifier.config.cluster_url),
        check => format!("still checking {check}"),
    };
    tokio::select! {
        outcomes = live::aloud(out, doing, verifier.run_telling(|begun| check.set(begun))) => return Ok(outcomes),
        _ = interrupt::told_to_stop() => {}
    }
    if ["workload", "logs", "exec"].contains(&check.get()) {
        let cleaned = tokio::time::timeout(Duration::from_secs(5), verifier.clean_up()).await;
        if !matches!(cleaned, Ok(Ok(()))) {
            out.warn("the namespace of the test pod could not be deleted: oc delete namespace -l hardway.dev/verify");
        }
    }
    Err(interrupt::interrupted("verifying"))
}

/// Everything that can be looked at from this folder.
pub(crate) fn verifier(
    live: &Live,
    workdir: &Workdir,
    image: Option<String>,
    skip: BTreeSet<String>,
) -> Result<Verifier, Report> {
    Ok(Verifier {
        config: live.config.clone(),
        declared: live.declared(workdir),
        surroundings: surroundings(live),
        etcd: live.etcd(workdir),
        image: image.or_else(|| live.cli_image.clone()),
        now: clock::now()?,
        skip,
        patience: Duration::from_secs(20),
        pod_patience: Duration::from_mins(3),
    })
}

/// The names that people and nodes use. Without input files, only what the kubeconfig says.
fn surroundings(live: &Live) -> Surroundings {
    match &live.cluster {
        Some(cluster) => of_cluster(cluster),
        None => {
            let host = live.config.cluster_url.host().unwrap_or_default().to_owned();
            let port = live.config.cluster_url.port_u16().unwrap_or(443);
            Surroundings { names: vec![(host.clone(), Vec::new())], endpoints: vec![Endpoint { host, port }] }
        }
    }
}

fn of_cluster(cluster: &Cluster) -> Surroundings {
    let network = &cluster.inventory.network;
    // Any name below apps will do; this one is nobody's.
    let below_apps = format!("hardway-verify.apps.{}", cluster.domain());
    let hosts = [cluster.api_host(), cluster.api_int_host()];
    let mut names: Vec<_> = hosts.iter().map(|host| (host.clone(), network.api_vip.clone())).collect();
    names.push((below_apps, network.ingress_vip.clone()));
    Surroundings { names, endpoints: hosts.map(|host| Endpoint { host, port: 6443 }).into() }
}

pub(crate) fn failed(outcomes: &[Outcome]) -> Vec<&'static str> {
    outcomes
        .iter()
        .filter(|outcome| outcome.verdict == Verdict::Failed)
        .map(|outcome| outcome.check)
        .collect()
}

/// A line a check; what was seen and what to do below those that did not pass.
pub(crate) fn text(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for Outcome { check, verdict, seen, fix } in outcomes {
        let first = seen.first().map_or("", String::as_str);
        let _ = writeln!(text, "{verdict:8} {check:16} {first}");
        for more in seen.iter().skip(1) {
            let _ = writeln!(text, "{:25} {more}", "");
        }
        if let Some(fix) = fix {
            let _ = writeln!(text, "{:25} fix: {fix}", "");
        }
    }
    let count = |verdict| outcomes.iter().filter(|outcome| outcome.verdict == verdict).count();
    let [passed, warned, skipped, failed] =
        [Verdict::Passed, Verdict::Warned, Verdict::Skipped, Verdict::Failed].map(count);
    let _ = writeln!(text, "{passed} passed, {warned} warned, {skipped} skipped, {failed} failed");
    text
}

fn list(format: Format, out: &Output) {
    match format {
        Format::Text => CHECKS.iter().for_each(|(name, asks)| out.data(&format!("{name:16} {asks}\n"))),
        format => {
            let list = CHECKS.iter().map(|(name, asks)| json!({"check": name, "asks": asks}));
            out.value(&Value::Array(list.collect()), format);
        }
    }
}
