//! The rules, in the order in which they are reported. All are evaluated, so that a person sees everything that speaks against a request.

mod history;
mod identity;
mod ignition;
mod names;
mod node;
mod object;
mod proof;
mod requester;
mod subject;

use std::collections::BTreeMap;

pub(crate) use history::MOST_KEYS;
use jiff::Timestamp;

use super::case::{Ask, Case};
use super::{CsrVerdict, Decision, Examined, Finding, PolicySettings, ReasonCode, RuleFinding, World};
use crate::declared::Declared;

/// One thing that is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// In a word or two.
    pub name: &'static str,
    /// What has to hold.
    pub about: &'static str,
    check: fn(&Case<'_>) -> Finding,
}

/// Whether it is our business at all.
const OURS: &[Rule] = object::OURS;

/// What a request says, and what must not be in it whatever else is going on.
const SHAPE: [&[Rule]; 5] = [object::SHAPE, proof::RULES, subject::RULES, requester::RULES, names::RULES];

/// Whether it is expected now.
const OCCASION: [&[Rule]; 4] = [object::TIMING, node::RULES, ignition::RULES, history::RULES];

/// Every rule, group by group.
pub const RULES: [&[Rule]; 10] = [
    OURS,
    SHAPE[0],
    SHAPE[1],
    SHAPE[2],
    SHAPE[3],
    SHAPE[4],
    OCCASION[0],
    OCCASION[1],
    OCCASION[2],
    OCCASION[3],
];

/// Decides: what is not ours is left; then all objections count.
pub(super) fn decide(examined: &Examined, world: &World<'_>) -> Decision {
    let case = Case::new(examined, world);
    let ours = ask(&[OURS], &case);
    let findings = match ours.iter().any(|found| found.finding.objection().is_some()) {
        true => ours,
        false => ask(&RULES, &case),
    };
    Decision::from_findings(findings, approved(&case))
}

/// Whether a request has nothing wrong in itself; only such a one can take another's place.
pub(super) fn is_sound(examined: &Examined, declared: &Declared, settings: &PolicySettings) -> bool {
    let (nodes, now) = (BTreeMap::new(), Timestamp::UNIX_EPOCH);
    let (redemptions, approvals, rivals, is_serving) = (&[], &[], &[], false);
    let world = World { declared, nodes: &nodes, redemptions, is_serving, approvals, rivals, now, settings };
    let case = Case::new(examined, &world);
    [&[OURS][..], &SHAPE]
        .concat()
        .iter()
        .all(|group| group.iter().all(|rule| (rule.check)(&case).objection().is_none()))
}

fn ask(groups: &[&[Rule]], case: &Case<'_>) -> Vec<RuleFinding> {
    let rules = groups.iter().flat_map(|group| group.iter());
    rules.map(|rule| RuleFinding { rule: rule.name, finding: (rule.check)(case) }).collect()
}

/// The reason, when nothing speaks against it.
fn approved(case: &Case<'_>) -> ReasonCode {
    let reason = match case.ask() {
        Ask::FirstClient if case.node().is_some() || history::other_key(case).is_some() => ReasonCode::Rejoin,
        Ask::FirstClient => ReasonCode::FirstClient,
        Ask::ClientRenewal => ReasonCode::ClientRenewal,
        Ask::Serving if history::approvals(case).next().is_some() => ReasonCode::ServingRenewal,
        Ask::Serving => ReasonCode::FirstServing,
    };
    debug_assert_eq!(reason.verdict(), CsrVerdict::Approve);
    reason
}
