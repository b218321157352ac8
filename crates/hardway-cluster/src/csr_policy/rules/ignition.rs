//! The proof that only whoever serves the configs can have: this host showed its own token, from its own address, just now. For a
//! host with an identity of its own it is further evidence: a config that was stolen on its way shows.

use jiff::Timestamp;

use super::{Rule, history};
use crate::csr_policy::case::{Ask, Case};
use crate::csr_policy::{Finding, IgnitionEvidence, ReasonCode, Redemption};

pub(super) const RULES: &[Rule] = &[Rule {
    name: "ignition",
    about: "the host fetched its config from its own address, not long before",
    check: ignition,
}];

fn ignition(case: &Case<'_>) -> Finding {
    let Some(declared) = case.declared() else { return Finding::DoesNotApply };
    let world = case.world;
    if case.ask() != Ask::FirstClient || world.settings.ignition == IgnitionEvidence::Ignored {
        return Finding::DoesNotApply;
    }
    if is_let_in(case) {
        return Finding::fits("a person lets this node in again");
    }
    if let Some(since) = case.identity().filter(|identity| identity.in_place).and_then(|own| own.since) {
        return Finding::fits(format!("its identity was put in place on the host itself, at {since}"));
    }
    if world.settings.ignition == IgnitionEvidence::IfServed && world.redemptions.is_empty() {
        return Finding::fits("nobody fetched a config here: hosts get theirs in another way");
    }
    let host = &declared.host;
    let Some(last) = redemptions(case).last() else {
        return Finding::objects(
            ReasonCode::IgnitionNotRedeemed,
            format!("host {host} has not fetched its config"),
        );
    };
    if let Some(stranger) = redemptions(case).find(|one| !declared.addresses.contains(&one.source)) {
        let what =
            format!("the config of host {host} was fetched from {} at {}", stranger.source, stranger.at);
        return Finding::objects(ReasonCode::IgnitionRedeemedElsewhere, what);
    }
    match is_in_window(case, last.at) {
        true => Finding::fits(format!("host {host} fetched its config from {} at {}", last.source, last.at)),
        false => Finding::objects(
            ReasonCode::OutsideJoinWindow,
            format!(
                "host {host} fetched its config at {}, and this was asked at {}",
                last.at, case.request.created
            ),
        ),
    }
}

/// Why a node that is there, or that has a certificate already, may have another: a person said so, or the machine was
/// installed again since then.
pub(super) fn may_come_again(case: &Case<'_>, since: Timestamp) -> Option<String> {
    let declared = case.declared()?;
    if is_let_in(case) {
        return Some("a person lets it in again".to_owned());
    }
    let last = redemptions(case).last().filter(|last| declared.addresses.contains(&last.source))?;
    let approved = history::other_key(case).map(|approval| approval.at);
    let is_newer = last.at > since && approved.is_none_or(|approved| last.at > approved);
    (is_newer && is_in_window(case, last.at))
        .then(|| format!("its host fetched its config again, from {} at {}", last.source, last.at))
}

/// Whether a person lets the node in again, for requests from then on, and no other key has come in since: a permission that
/// lasted would be open to whoever has the shared identity. A host with an identity of its own gets its next generation instead.
fn is_let_in(case: &Case<'_>) -> bool {
    let Some(declared) = case.declared().filter(|declared| declared.identity.is_none()) else { return false };
    let given = case.world.settings.rejoin.get(&declared.name);
    given.is_some_and(|given| {
        case.request.created >= *given && history::other_key(case).is_none_or(|other| other.at < *given)
    })
}

/// What the host fetched, in order, within the time in which this request can be its first. What anybody fetched long before
/// says nothing about today.
fn redemptions<'c>(case: &Case<'c>) -> impl Iterator<Item = &'c Redemption> {
    let host = case.declared().map(|declared| declared.host.as_str());
    let settings = case.world.settings;
    let begin = case.request.created - settings.join_window - settings.clock_skew;
    let mut own: Vec<&Redemption> =
        case.world.redemptions.iter().filter(|one| Some(one.host.as_str()) == host).collect();
    own.sort_by_key(|one| one.at);
    let recent = own.iter().position(|one| one.at >= begin).unwrap_or(own.len().saturating_sub(1));
    own.into_iter().skip(recent)
}

fn is_in_window(case: &Case<'_>, fetched: Timestamp) -> bool {
    let settings = case.world.settings;
    let after = case.request.created.duration_since(fetched);
    (-settings.clock_skew..=settings.join_window + settings.clock_skew).contains(&after)
}
