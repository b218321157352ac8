//! Hosted clusters: the way to them, the machines of their workers, and whoever keeps those true.
//!
//! ```text
//! connect()         a management cluster, and the hosted cluster behind it          mod.rs
//! pools             which machines of the inventory are whose                       pools.rs
//! PoolPlan          what would be made for a pool                                   pool_plan.rs
//! leftovers()       machines that are there, and what they say; consoles()      worker_machines.rs
//! encryption_key()  drawn once for a cluster that is rendered                       encryption_key.rs
//! prepare()         prerequisites, NodePools and their gates, before any machine    set_up.rs
//! await_gates()     until machines can boot                                         gates.rs
//! controller()      keeps workers true                                              controller.rs
//! reach()           the same until a wish has come true                             workers.rs
//! look()            the hosted cluster, verified from outside                       verification.rs
//! ```

mod controller;
mod encryption_key;
mod gates;
mod pool_plan;
mod pools;
mod set_up;
pub(crate) mod verification;
mod worker_machines;
mod workers;

use std::path::{Path, PathBuf};

use hardway_hosted::render::RequestErrors;
use hardway_hosted::{HostedError, Management};

use crate::report::{Code, Exit, Report};

pub(crate) use controller::{EvidenceRule, ReconcileOptions, controller, print};
pub(crate) use encryption_key::encryption_key;
pub(crate) use gates::{await_gates, look_at_gates};
pub(crate) use pool_plan::PoolPlan;
pub(crate) use pools::{pool_hosts, site};
pub(crate) use set_up::{SetUpOptions, network, prepare};
pub(crate) use worker_machines::{Leftovers, consoles, leftovers};
pub(crate) use workers::{Wish, add, reach, remove, replace, resize};

/// Where the management cluster is, and which of its namespaces has the hosted clusters.
#[derive(Clone, Debug)]
pub(crate) struct ManagementAccess {
    pub(crate) kubeconfig: Option<PathBuf>,
    pub(crate) namespace: String,
}

pub(crate) async fn connect(access: &ManagementAccess, cluster: &str) -> Result<Management, Report> {
    let connected = Management::connect(access.kubeconfig.as_deref(), &access.namespace, cluster).await;
    connected.map_err(|error| match error {
        // The command line or the environment named it, as for every other command.
        HostedError::Kubeconfig { .. } | HostedError::NoKubeconfig { .. } => {
            Report::from_error(Code::KubeconfigUnusable, &error).exit(Exit::Usage).fix(error.fix())
        }
        error => failed(&error),
    })
}

/// The hosted cluster, by the kubeconfig that the command line names, or else by HyperShift's.
pub(crate) async fn hosted_client(
    management: &Management,
    kubeconfig: Option<&Path>,
) -> Result<kube::Client, Report> {
    management.hosted_client(kubeconfig).await.map_err(|error| match error {
        HostedError::Kubeconfig { .. } if kubeconfig.is_some() => {
            let fix = "name another with --hosted-kubeconfig, or omit it to use HyperShift's own";
            Report::from_error(Code::KubeconfigUnusable, &error).exit(Exit::Usage).fix(fix)
        }
        error => failed(&error),
    })
}

pub(crate) fn failed(error: &HostedError) -> Report {
    Report::from_error(Code::HostedFailed, error).fix(error.fix())
}

pub(crate) fn refused(errors: &RequestErrors) -> Report {
    Report::from_error(Code::HostedRequest, errors)
        .evidence(errors.0.clone())
        .fix("correct what is listed above; nothing was created")
}

/// A file that was named on the command line.
pub(crate) fn read(path: &Path) -> Result<String, Report> {
    fs_err::read_to_string(path).map_err(|error| Report::from_error(Code::HostedRequest, &error))
}

/// The working folder as machines' programs are told of it.
fn absolute(dir: &Path) -> Result<PathBuf, Report> {
    std::path::absolute(dir).map_err(|error| Report::from_error(Code::WorkdirUnusable, &error))
}
