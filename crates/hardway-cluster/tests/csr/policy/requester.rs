//! Who asks for a first certificate of a hosted worker.

use hardway_assets::host_identity::{WORKER_GROUP, user, worker_user};
use hardway_cluster::csr_policy::{CsrVerdict, IgnitionEvidence, ReasonCode as R};
use hardway_cluster::declared::HostIdentity;

use crate::csr::support::key::GOOD;
use crate::csr::support::request::{BOOTSTRAPPER, BOOTSTRAPPER_GROUPS, Draft, HOST_GROUPS, NODE, ago};

const WORKER_GROUPS: [&str; 3] = ["system:serviceaccounts", WORKER_GROUP, "system:authenticated"];

/// Its machine is on, whatever proof of fetched configs is wanted.
fn worker(ignition: IgnitionEvidence) -> Draft {
    let mut draft = Draft::first_client();
    let user = worker_user("worker-0", 7);
    draft.settings.ignition = ignition;
    draft.settings.switched_on = [(NODE.to_owned(), ago(700))].into();
    draft.own().identity = Some(HostIdentity { user: user.clone(), since: None, in_place: false });
    draft.request.username = user;
    draft.request.groups = WORKER_GROUPS.map(str::to_owned).into();
    draft
}

#[test]
fn a_hosted_worker_asks_as_its_own_account() {
    let rows: [(String, &[&str], R); 9] = [
        (worker_user("worker-0", 7), &WORKER_GROUPS, R::FirstClient),
        (worker_user("worker-0", 7), &HOST_GROUPS, R::BootstrapperGroupsDiffer),
        (worker_user("worker-0", 7), &["system:masters"], R::BootstrapperGroupsDiffer),
        (BOOTSTRAPPER.to_owned(), &BOOTSTRAPPER_GROUPS, R::SharedIdentity),
        (worker_user("worker-0", 6), &WORKER_GROUPS, R::IdentityReplaced),
        (worker_user("worker-0", 8), &WORKER_GROUPS, R::IdentityUnknown),
        (worker_user("worker-1", 7), &WORKER_GROUPS, R::IdentityOfAnotherHost),
        (worker_user("default", 7).replace(".7", ""), &WORKER_GROUPS, R::RequesterNotBootstrapper),
        // The same name and number, vouched for by another cluster's signer.
        (user("worker-0", 7), &HOST_GROUPS, R::IdentityUnknown),
    ];
    for ignition in [IgnitionEvidence::Required, IgnitionEvidence::Ignored] {
        for (user, groups, reason) in &rows {
            let mut draft = worker(ignition);
            draft.request.username.clone_from(user);
            draft.request.groups = groups.iter().map(|group| (*group).to_owned()).collect();
            let decision = draft.decide(&GOOD[0].1);
            assert_eq!(decision.reason(), *reason, "{user} {groups:?} {ignition:?}");
            assert_eq!(decision.verdict() == CsrVerdict::Approve, *reason == R::FirstClient, "{user}");
        }
    }
}

/// What it will ask with is in its pointer before the machine is on; and a machine without identity, of an older hardway, is nobody.
#[test]
fn a_hosted_worker_does_not_ask_before_it_is_on_or_as_nobody() {
    let mut draft = worker(IgnitionEvidence::Ignored);
    draft.settings.switched_on = [(NODE.to_owned(), ago(2))].into();
    assert_eq!(draft.decide(&GOOD[0].1).reason(), R::AskedBeforeBoot);
    let mut draft = worker(IgnitionEvidence::Ignored);
    draft.own().identity =
        Some(HostIdentity { user: worker_user("worker-0", 0), since: None, in_place: false });
    draft.request.username = BOOTSTRAPPER.to_owned();
    draft.request.groups = BOOTSTRAPPER_GROUPS.map(str::to_owned).into();
    let decision = draft.decide(&GOOD[0].1);
    assert_eq!((decision.verdict(), decision.reason()), (CsrVerdict::Deny, R::SharedIdentity));
}
