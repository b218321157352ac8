//! `hardway hosted`: the workers of HyperShift hosted clusters of platform None.

mod cluster;
mod controller;
mod doctor;
mod nodepool;
mod ovn;
mod registries;
mod stand_in;
mod token;
mod workers;

use std::path::Path;

use hardway_hosted::render::RequestErrors;
use hardway_hosted::{HostedError, Management};

use crate::cli::{
    ClusterVerb, Global, HostedArgs, HostedNoun, ManagementArgs, NodepoolVerb, RemovalArgs, WorkersVerb,
};
use crate::report::{Code, Exit, Report};
use crate::runtime;
use crate::terminal::{Output, confirm};

/// One of its nouns.
pub(crate) fn run(global: &Global, args: &HostedArgs, out: &Output) -> Result<Exit, Report> {
    if let Some((removal, name, what)) = removal(&args.noun) {
        if removal.dry_run {
            out.data(&format!("{what}\n"));
            return Ok(Exit::Done);
        }
        confirm(&what, name, removal.yes, out)?;
    }
    let done = async {
        match &args.noun {
            HostedNoun::Cluster(verb) => cluster::run(global, &args.management, verb, out).await,
            HostedNoun::Nodepool(verb) => nodepool::run(&args.management, verb, out).await,
            HostedNoun::Workers(verb) => workers::run(global, &args.management, verb, out).await,
            HostedNoun::Doctor(doctor) => doctor::run(&args.management, doctor, out).await,
            HostedNoun::StandIn(stand_in) => stand_in::run(&args.management, stand_in, out).await,
            HostedNoun::Token(args) => token::run(args, out).await,
            HostedNoun::Ovn(ovn) => ovn::run(&args.management, ovn, out).await,
            HostedNoun::Controller(controller) => {
                controller::run(global, &args.management, controller, out).await
            }
        }
    };
    match &args.noun {
        // These end by themselves when they are told to.
        HostedNoun::Controller(_)
        | HostedNoun::StandIn(_)
        | HostedNoun::Token(_)
        | HostedNoun::Workers(_) => runtime::run_to_its_end(done),
        _ => runtime::run("asking the management cluster", done),
    }
}

/// What is taken away, and how it is called, where something is.
fn removal(noun: &HostedNoun) -> Option<(RemovalArgs, &str, String)> {
    match noun {
        HostedNoun::Cluster(verb) => match &**verb {
            ClusterVerb::Delete { name, removal } => {
                let what = format!("HostedCluster {name} is deleted, with its control plane and its pools");
                Some((*removal, name, what))
            }
            _ => None,
        },
        HostedNoun::Nodepool(NodepoolVerb::Delete { name, removal, .. }) => {
            Some((*removal, name, format!("NodePool {name} is deleted, and its tokens end")))
        }
        HostedNoun::Workers(WorkersVerb::Remove { name, removal, .. }) => {
            let what = format!("{name}: its pods move away, its machine is taken away, its node is deleted");
            Some((*removal, name, what))
        }
        _ => None,
    }
}

async fn connect(args: &ManagementArgs, cluster: &str) -> Result<Management, Report> {
    let connected = Management::connect(args.kubeconfig.as_deref(), &args.namespace, cluster).await;
    connected.map_err(|error| match error {
        // The command line or the environment named it, as for every other command.
        HostedError::Kubeconfig { .. } => {
            Report::from_error(Code::KubeconfigUnusable, &error).exit(Exit::Usage).fix(error.fix())
        }
        error => failed(&error),
    })
}

/// The hosted cluster, by the kubeconfig that the command line names, or else by HyperShift's.
async fn hosted_client(management: &Management, kubeconfig: Option<&Path>) -> Result<kube::Client, Report> {
    management.hosted_client(kubeconfig).await.map_err(|error| match error {
        HostedError::Kubeconfig { .. } if kubeconfig.is_some() => {
            let fix = "name another with --hosted-kubeconfig, or leave it out: then HyperShift's own is used";
            Report::from_error(Code::KubeconfigUnusable, &error).exit(Exit::Usage).fix(fix)
        }
        error => failed(&error),
    })
}

fn failed(error: &HostedError) -> Report {
    Report::from_error(Code::HostedFailed, error).fix(error.fix())
}

fn refused(errors: &RequestErrors) -> Report {
    Report::from_error(Code::HostedRequest, errors)
        .evidence(errors.0.clone())
        .fix("correct what is listed above; nothing was made")
}

/// A file that was named on the command line.
fn read(path: &Path) -> Result<String, Report> {
    fs_err::read_to_string(path).map_err(|error| Report::from_error(Code::HostedRequest, &error))
}
