//! The proof that only whoever serves the configs can have: this host showed its own token, from its own address, just now. For a
//! host with an identity of its own it is further evidence: a config that was stolen on its way shows.

use jiff::{SignedDuration, Timestamp};

use super::{Rule, history};
use crate::csr_policy::case::{Ask, Case};
use crate::csr_policy::{Finding, IgnitionEvidence, ReasonCode, Redemption};

/// How long a host's identity is good, and an hour for clocks (hardway-assets `host_identity`).
const IDENTITY_LIFE: SignedDuration = SignedDuration::from_hours(25);

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
        return Finding::fits("an administrator lets this node rejoin");
    }
    if let Some(since) = case.identity().filter(|identity| identity.in_place).and_then(|own| own.since) {
        return Finding::fits(format!("its identity was installed on the host itself at {since}"));
    }
    if world.settings.ignition == IgnitionEvidence::IfServed && !world.is_serving {
        return Finding::fits("no host fetched its config here: hosts get theirs another way");
    }
    let host = &declared.host;
    let Some(last) = redemptions(case).last() else {
        return Finding::objects(
            ReasonCode::IgnitionNotRedeemed,
            format!("host {host} has not fetched its config"),
        );
    };
    let known: Vec<&Redemption> = match case.identity() {
        // Whoever fetched the config of this generation has the identity in it, for as long as that is good.
        Some(_) => {
            let begin = case.request.created - IDENTITY_LIFE;
            of_generation(case).into_iter().filter(|one| one.at >= begin).collect()
        }
        None => redemptions(case).collect(),
    };
    if let Some(stranger) = known.iter().find(|one| !declared.addresses.contains(&one.source)) {
        let what =
            format!("the config of host {host} was fetched from {} at {}", stranger.source, stranger.at);
        return Finding::objects(ReasonCode::IgnitionRedeemedElsewhere, what);
    }
    match is_in_window(case, last.at) {
        true => Finding::fits(format!("host {host} fetched its config from {} at {}", last.source, last.at)),
        false => Finding::objects(
            ReasonCode::OutsideJoinWindow,
            format!(
                "host {host} fetched its config at {}, and this request was made at {}",
                last.at, case.request.created
            ),
        ),
    }
}

/// Why a node that is there, or that has a certificate already, may have another: a person said so, or the machine was
/// installed again since then. Machines that are made on demand are never installed again: another takes their place. The token of
/// their pool outlives their join, and whoever runs a pod on one has its address.
pub(super) fn may_come_again(case: &Case<'_>, since: Timestamp) -> Option<String> {
    let declared = case.declared()?;
    if case.switched_on().is_some_and(|switched_on| switched_on <= since) {
        return None;
    }
    if is_let_in(case) {
        return Some("an administrator lets it rejoin".to_owned());
    }
    let last = redemptions(case).last().filter(|last| declared.addresses.contains(&last.source))?;
    let approved = history::other_key(case).map(|approval| approval.at);
    let is_newer = is_surely_after(case, last.at, approved.map_or(since, |approved| approved.max(since)));
    (is_newer && is_in_window(case, last.at))
        .then(|| format!("its host fetched its config again, from {} at {}", last.source, last.at))
}

/// Whether a host fetched its config after it had come in, and not for that. The two times are by two clocks, and the API server's
/// counts in whole seconds: where they are closer than the clocks, the fetch is the one before the join. Machines that are made on
/// demand were switched on in between, so that only the fraction of a second is left to be unsure about.
fn is_surely_after(case: &Case<'_>, fetched: Timestamp, came_in: Timestamp) -> bool {
    let unsure = match case.switched_on() {
        Some(_) => SignedDuration::ZERO,
        None => case.world.settings.clock_skew,
    };
    fetched.as_second() > (came_in + unsure).as_second()
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
    let settings = case.world.settings;
    let begin = case.request.created - settings.join_window - settings.clock_skew;
    let own = of_generation(case);
    let recent = own.iter().position(|one| one.at >= begin).unwrap_or(own.len().saturating_sub(1));
    own.into_iter().skip(recent)
}

/// What the host fetched, in order, since its identity is the one it has: what it fetched before had another in it.
fn of_generation<'c>(case: &Case<'c>) -> Vec<&'c Redemption> {
    let host = case.declared().map(|declared| declared.host.as_str());
    let mut own: Vec<&Redemption> =
        case.world.redemptions.iter().filter(|one| Some(one.host.as_str()) == host).collect();
    own.sort_by_key(|one| one.at);
    if let Some(since) = case.identity().and_then(|identity| identity.since) {
        own.retain(|one| one.at.as_second() >= since.as_second());
    }
    // Another machine had the name, the address and the pool's token before.
    if let Some(switched_on) = case.switched_on() {
        own.retain(|one| one.at.duration_since(switched_on) >= -case.world.settings.clock_skew);
    }
    own
}

fn is_in_window(case: &Case<'_>, fetched: Timestamp) -> bool {
    let settings = case.world.settings;
    let after = case.request.created.duration_since(fetched);
    (-settings.clock_skew..=settings.join_window + settings.clock_skew).contains(&after)
}
