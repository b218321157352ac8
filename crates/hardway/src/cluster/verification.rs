//! A look at a cluster from outside, compared with the inventory.

use std::collections::BTreeSet;
use std::time::Duration;

use hardway_assets::Cluster;
use hardway_base::Verdict;
use hardway_cluster::verify::{Check, Endpoint, Surroundings, Verifier, VerifyOutcome};

use super::Live;
use crate::clock;
use crate::inputs::Workdir;
use crate::terminal::{Columns, Place, Row, counts};

/// Where masters serve.
const API_PORT: u16 = 6443;

/// Everything that can be looked at from this folder.
pub(crate) fn verifier(
    live: &Live,
    workdir: &Workdir,
    image: Option<String>,
    skip: BTreeSet<Check>,
) -> Verifier {
    Verifier {
        config: live.config.clone(),
        declared: live.declared(workdir),
        surroundings: surroundings(live),
        etcd: live.etcd(workdir),
        image: image.or_else(|| live.cli_image.clone()),
        now: clock::now(),
        skip,
        patience: Duration::from_secs(20),
        pod_patience: Duration::from_mins(3),
    }
}

/// The names that people and nodes use. Without input files, only what the kubeconfig says.
fn surroundings(live: &Live) -> Surroundings {
    match &live.cluster {
        Some(cluster) => of_cluster(cluster),
        None => {
            let host = live.config.cluster_url.host().unwrap_or_default().to_owned();
            let port = live.config.cluster_url.port_u16().unwrap_or(443);
            Surroundings {
                names: vec![(host.clone(), Vec::new())],
                endpoints: vec![Endpoint { host, port }],
                absent: Vec::new(),
                api_port: API_PORT,
            }
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
    Surroundings {
        names,
        endpoints: hosts.map(|host| Endpoint { host, port: API_PORT }).into(),
        absent: vec![format!("hardway-verify-nobody.{}", cluster.domain())],
        api_port: API_PORT,
    }
}

/// Checks that failed, by name.
pub(crate) fn failed(outcomes: &[VerifyOutcome]) -> Vec<&'static str> {
    outcomes
        .iter()
        .filter(|outcome| outcome.judged.verdict == Verdict::Failed)
        .map(|outcome| outcome.check.name())
        .collect()
}

/// One line per check; what was seen and what to do below those that did not pass.
pub(crate) fn text(outcomes: &[VerifyOutcome]) -> String {
    let columns = Columns { indent: 0, outcome: (8, 1), name: (16, 1), advice: Place::Detail };
    let mut text = String::new();
    for VerifyOutcome { check, judged } in outcomes {
        columns.write_painted(&mut text, &Row::judged(check.name(), judged));
    }
    let verdicts = [Verdict::Passed, Verdict::Warned, Verdict::Skipped, Verdict::Failed];
    text + &counts(outcomes.iter().map(|outcome| &outcome.judged), &verdicts)
}
