//! A look at a cluster from outside, compared with the inventory.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use hardway_assets::Cluster;
use hardway_cluster::verify::{Check, Endpoint, Surroundings, Verifier, VerifyOutcome, VerifyVerdict};

use super::Live;
use crate::clock;
use crate::inputs::Workdir;
use crate::report::Report;

/// Everything that can be looked at from this folder.
pub(crate) fn verifier(
    live: &Live,
    workdir: &Workdir,
    image: Option<String>,
    skip: BTreeSet<Check>,
) -> Result<Verifier, Report> {
    Ok(Verifier {
        config: live.config.clone(),
        declared: live.declared(workdir),
        surroundings: surroundings(live),
        etcd: live.etcd(workdir),
        image: image.or_else(|| live.cli_image.clone()),
        now: clock::now(),
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

/// Checks that failed, by name.
pub(crate) fn failed(outcomes: &[VerifyOutcome]) -> Vec<&'static str> {
    outcomes
        .iter()
        .filter(|outcome| outcome.verdict == VerifyVerdict::Failed)
        .map(|outcome| outcome.check.name())
        .collect()
}

/// One line per check; what was seen and what to do below those that did not pass.
pub(crate) fn text(outcomes: &[VerifyOutcome]) -> String {
    let mut text = String::new();
    for VerifyOutcome { check, verdict, seen, fix } in outcomes {
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
        [VerifyVerdict::Passed, VerifyVerdict::Warned, VerifyVerdict::Skipped, VerifyVerdict::Failed]
            .map(count);
    let _ = writeln!(text, "{passed} passed, {warned} warned, {skipped} skipped, {failed} failed");
    text
}
