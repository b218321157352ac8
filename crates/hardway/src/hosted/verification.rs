//! The hosted cluster, looked at from outside.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use hardway_assets::inventory::Role;
use hardway_cluster::csr_policy::PolicySettings;
use hardway_cluster::verify::{Check, Endpoint, Surroundings, Verifier, VerifyOutcome};
use hardway_hosted::Management;
use hardway_hosted::expected::{ClusterNetworks, Witness, expected};

use super::failed;
use crate::clock;
use crate::cluster::verification;
use crate::report::{Code, Report};

/// What a person may choose.
#[derive(Clone, Debug)]
pub(crate) struct HostedVerifyOptions {
    /// In place of HyperShift's own.
    pub(crate) hosted_kubeconfig: Option<PathBuf>,
    /// What the pods of checks run.
    pub(crate) image: Option<String>,
    /// Names of checks that are left out.
    pub(crate) skip: Vec<String>,
}

/// What is not in the hosted cluster, and cannot be looked at there: its control plane runs in the management cluster.
const ELSEWHERE: [Check; 4] = [Check::ControlPlane, Check::Masters, Check::Balancer, Check::Etcd];

/// Every check, and what could not be checked.
pub(crate) async fn look(
    management: &Management,
    options: &HostedVerifyOptions,
) -> Result<Vec<VerifyOutcome>, Report> {
    let known = |name: &String| {
        Check::named(name).ok_or_else(|| {
            let names = Check::ALL.map(Check::name).join(", ");
            Report::new(Code::Usage, format!("no check {name:?}")).fix(format!("checks: {names}"))
        })
    };
    let mut skip = options.skip.iter().map(known).collect::<Result<BTreeSet<Check>, Report>>()?;
    skip.extend(ELSEWHERE);
    let config = management.hosted_config(options.hosted_kubeconfig.as_deref()).await;
    let config = config.map_err(|error| failed(&error))?;
    let (workers, _) = management.workers().await.map_err(|error| failed(&error))?;
    let (policy, now) = (PolicySettings::default(), clock::now());
    let expected = expected(
        &workers,
        &management.namespace,
        &ClusterNetworks::default(),
        &policy,
        Witness::Journal,
        now,
    );
    let mut declared = expected.declared;
    declared.nodes.iter_mut().for_each(|node| node.role = Some(Role::Worker));
    let host = config.cluster_url.host().unwrap_or_default().to_owned();
    let port = config.cluster_url.port_u16().unwrap_or(443);
    let verifier = Verifier {
        config,
        declared,
        surroundings: Surroundings {
            names: vec![(host.clone(), Vec::new())],
            endpoints: vec![Endpoint { host, port }],
            absent: Vec::new(),
            api_port: port,
        },
        etcd: None,
        image: options.image.clone(),
        now,
        skip,
        patience: Duration::from_secs(20),
        pod_patience: Duration::from_mins(3),
    };
    let mut outcomes = verifier.run().await;
    for outcome in outcomes.iter_mut().filter(|outcome| ELSEWHERE.contains(&outcome.check)) {
        let why =
            format!("it runs in the management cluster: pods in namespace {}", management.control_plane());
        *outcome = VerifyOutcome::skipped(outcome.check, why);
    }
    Ok(outcomes)
}

/// An error where a check failed.
pub(crate) fn verdict(outcomes: &[VerifyOutcome]) -> Result<(), Report> {
    let failed = verification::failed(outcomes);
    if failed.is_empty() {
        return Ok(());
    }
    let what = format!("{} of {} checks failed: {}", failed.len(), outcomes.len(), failed.join(", "));
    Err(Report::new(Code::VerifyFailed, what)
        .fix("see what each failed check above found; `hardway hosted doctor` finds out why workers do not come up"))
}
