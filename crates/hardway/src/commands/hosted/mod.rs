//! `hardway hosted`: the workers of HyperShift hosted clusters of platform None.

mod cluster;
mod controller;
mod doctor;
mod init;
mod leftovers;
mod nodepool;
mod ovn;
mod plan;
mod stand_in;
mod token;
mod up;
mod verify;
mod workers;

use super::removal::{NOTHING_REMOVED, Removal};
use crate::cli::{ClusterVerb, Global, HostedArgs, HostedNoun, NodepoolVerb, RemovalArgs, WorkersVerb};
use crate::hosted::ManagementAccess;
use crate::report::{Exit, Report};
use crate::runtime;
use crate::terminal::Output;

/// One of its nouns.
pub(crate) fn run(global: &Global, args: &HostedArgs, out: &Output) -> Result<Exit, Report> {
    if let Some((removal, name, what)) = removal(&args.noun) {
        let going = Removal { what: &what, warning: "", name: Some(name), kept: NOTHING_REMOVED };
        if !going.is_agreed(removal, out)? {
            return Ok(Exit::Done);
        }
    }
    let access = ManagementAccess::from(&args.management);
    let done = async {
        match &args.noun {
            HostedNoun::Init(init) => init::run(global, init, out),
            HostedNoun::Up(up) => up::run(global, &access, up, out).await,
            HostedNoun::Verify(verify) => verify::run(&access, verify, out).await,
            HostedNoun::Plan(plan) => plan::run(global, &access, plan, out).await,
            HostedNoun::Leftovers { output } => leftovers::run(global, *output, out),
            HostedNoun::Cluster(verb) => cluster::run(global, &access, verb, out).await,
            HostedNoun::Nodepool(verb) => nodepool::run(&access, verb, out).await,
            HostedNoun::Workers(verb) => workers::run(global, &access, verb, out).await,
            HostedNoun::Doctor(doctor) => doctor::run(global, &access, doctor, out).await,
            HostedNoun::StandIn(stand_in) => stand_in::run(&access, stand_in, out).await,
            HostedNoun::Token(args) => token::run(args, out).await,
            HostedNoun::Ovn(ovn) => ovn::run(&access, ovn, out).await,
            HostedNoun::Controller(controller) => controller::run(global, &access, controller, out).await,
        }
    };
    match &args.noun {
        // These end by themselves when they are told to.
        HostedNoun::Controller(_)
        | HostedNoun::StandIn(_)
        | HostedNoun::Token(_)
        | HostedNoun::Up(_)
        | HostedNoun::Workers(_) => runtime::run_to_its_end(done),
        _ => runtime::run("asking the management cluster", done),
    }
}

/// What is taken away, and how it is called, where something is.
fn removal(noun: &HostedNoun) -> Option<(RemovalArgs, &str, String)> {
    match noun {
        HostedNoun::Cluster(verb) => match &**verb {
            ClusterVerb::Delete { name, removal } => {
                let what =
                    format!("This would delete HostedCluster {name} with its control plane and its pools.");
                Some((*removal, name, what))
            }
            _ => None,
        },
        HostedNoun::Nodepool(NodepoolVerb::Delete { name, removal, .. }) => {
            Some((*removal, name, format!("This would delete NodePool {name} and revoke its tokens.")))
        }
        HostedNoun::Workers(WorkersVerb::Remove { name, removal, .. }) => {
            let what = format!("This would drain {name}, remove its machine and delete its node.");
            Some((*removal, name, what))
        }
        _ => None,
    }
}
