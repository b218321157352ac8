//! What an event says, for people.

use hardway_journal::{
    ActionFinished, ActionStarted, ActionUndone, AssetSeen, AssetsSeen, BootstrapComplete, CertificatesSeen,
    CsrDecided, CsrIntended, CsrVerdict, DayTwoApplied, DayTwoBegun, DayTwoUndone, EtcdRestoreBegun,
    EtcdRestoreStep, EtcdRole, EtcdSeen, Event, HostSeen, HostedMachine, HostedStep, IgnitionOffered,
    IgnitionRedeemed, InstallBegun, Interrupted, MachineGone, MachineRetired, MediumRead, NodeJoined,
    NodeSeen, OperatorCondition, OperatorSeen, PhaseFailed, PhaseFinished, PhaseReset, PhaseStarted,
    PoolServed, Sight,
};

/// What happened, and to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sentence {
    /// What `hardway explain` knows it by.
    pub(crate) about: String,
    pub(crate) text: String,
}

impl Sentence {
    fn new(about: &str, text: String) -> Self {
        Self { about: about.to_owned(), text }
    }

    /// A newer hardway wrote it.
    pub(crate) fn unknown(kind: &str) -> Self {
        Self { about: String::new(), text: format!("{kind}, which this version of hardway does not know") }
    }
}

/// The sentence of an event.
pub(crate) fn sentence(event: &Event) -> Sentence {
    match event {
        Event::PhaseStarted(PhaseStarted { phase, why }) => {
            Sentence::new(phase.word(), format!("{phase} begins: {why}"))
        }
        Event::PhaseFinished(PhaseFinished { phase, evidence }) => {
            Sentence::new(phase.word(), format!("{phase} is done: {evidence}"))
        }
        Event::PhaseFailed(PhaseFailed { phase, code, what, .. }) => {
            Sentence::new(code, format!("{phase} gave up: {what}"))
        }
        Event::PhaseReset(PhaseReset { phase }) => {
            Sentence::new(phase.word(), format!("{phase} is to be done again"))
        }
        Event::Interrupted(Interrupted { phase }) => {
            Sentence::new(phase.word(), format!("a person stopped the install during {phase}"))
        }
        Event::ActionStarted(ActionStarted { action, why, .. }) => {
            Sentence::new(action, format!("{action} begins: {why}"))
        }
        Event::ActionFinished(ActionFinished { action }) => {
            Sentence::new(action, format!("{action} is done"))
        }
        Event::ActionUndone(ActionUndone { action }) => Sentence::new(action, format!("{action} was undone")),
        Event::CsrDecided(decided) => request(decided),
        Event::CsrIntended(CsrIntended(CsrDecided { request, verdict, reason, .. })) => {
            Sentence::new(reason.word(), format!("request {request} is about to be decided: {verdict}"))
        }
        Event::OperatorSeen(seen) => Sentence::new("", operator(seen)),
        Event::NodeSeen(NodeSeen { node, is_ready }) => {
            let state = if *is_ready { "is Ready" } else { "is not Ready" };
            Sentence::new("", format!("node {node} {state}"))
        }
        Event::EtcdRestoreBegun(EtcdRestoreBegun { host, revision, .. }) => Sentence::new(
            host,
            format!("etcd is to be restored on {host} from a backup of revision {revision}"),
        ),
        Event::EtcdRestoreStep(EtcdRestoreStep { step, .. }) => {
            Sentence::new(step.word(), format!("restoring etcd: {} is done", step.word()))
        }
        Event::EtcdSeen(EtcdSeen { members }) => {
            let voters = members.iter().filter(|member| member.role != EtcdRole::Learner).count();
            let learners = members.len() - voters;
            let learners = if learners > 0 { format!(" and {learners} learners") } else { String::new() };
            Sentence::new("", format!("etcd has {voters} voting members{learners}"))
        }
        Event::AssetsSeen(seen) => Sentence::new("assets-seen", assets(seen)),
        Event::CertificatesSeen(seen) => Sentence::new("certificates-seen", certificates(seen)),
        Event::DayTwoBegun(DayTwoBegun { step, .. }) => {
            Sentence::new(&format!("day2 {step}"), format!("step {step} of day two begins"))
        }
        Event::DayTwoApplied(DayTwoApplied { step }) => {
            Sentence::new(&format!("day2 {step}"), format!("step {step} of day two is applied"))
        }
        Event::DayTwoUndone(DayTwoUndone { step }) => {
            Sentence::new(&format!("day2 {step}"), format!("step {step} of day two was undone"))
        }
        Event::ClusterStopping(_) => {
            Sentence::new("cluster-stopping", "the cluster is being switched off".to_owned())
        }
        Event::ClusterStopped(_) => {
            Sentence::new("cluster-stopped", "every machine of the cluster is off".to_owned())
        }
        Event::ClusterStarted(_) => {
            Sentence::new("cluster-started", "the cluster was switched on again".to_owned())
        }
        event => of_machine(event),
    }
}

fn request(decided: &CsrDecided) -> Sentence {
    let CsrDecided { node, verdict, reason, more, .. } = decided;
    let done = match verdict {
        CsrVerdict::Approve => "approved",
        CsrVerdict::Deny => "denied",
        CsrVerdict::Hold => "held",
        CsrVerdict::Leave => "left to others",
    };
    let more = if *more > 0 { format!(", and {more} more like it") } else { String::new() };
    Sentence::new(reason.word(), format!("certificate request of {node} {done}: {reason}{more}"))
}

fn operator(seen: &OperatorSeen) -> String {
    let name = &seen.operator;
    let mut states: Vec<&str> = Vec::new();
    match seen.available {
        OperatorCondition::True => states.push("available"),
        OperatorCondition::False => states.push("not available"),
        OperatorCondition::Unknown => {}
    }
    if seen.progressing == OperatorCondition::True {
        states.push("progressing");
    }
    if seen.degraded == OperatorCondition::True {
        states.push("degraded");
    }
    match states.is_empty() {
        true => format!("operator {name} has not reported yet"),
        false => format!("operator {name} is {}", states.join(", ")),
    }
}

fn assets(AssetsSeen { assets, gone }: &AssetsSeen) -> String {
    let (stale, fresh): (Vec<&AssetSeen>, Vec<&AssetSeen>) =
        assets.iter().partition(|seen| !seen.reasons.is_empty());
    let mut parts = Vec::new();
    if let [seen] = stale[..] {
        parts.push(format!("{} is stale: {}", seen.asset, seen.reasons.join("; ")));
    } else if !stale.is_empty() {
        parts.push(format!("{} assets are stale", stale.len()));
    }
    match fresh[..] {
        [] => {}
        [seen] => parts.push(format!("{} is fresh", seen.asset)),
        _ => parts.push(format!("{} assets are fresh", fresh.len())),
    }
    match &gone[..] {
        [] => {}
        [name] => parts.push(format!("{name} is no part of the cluster any more")),
        names => parts.push(format!("{} assets are no part of the cluster any more", names.len())),
    }
    format!("files: {}", parts.join(", "))
}

fn certificates(CertificatesSeen { certificates, gone }: &CertificatesSeen) -> String {
    let mut parts = Vec::new();
    match &certificates[..] {
        [] => {}
        [seen] => parts
            .push(format!("certificate {} lies in the folder, until {}", seen.certificate, seen.not_after)),
        all => parts.push(format!("{} certificates lie in the folder, made or renewed", all.len())),
    }
    match &gone[..] {
        [] => {}
        [name] => parts.push(format!("certificate {name} is gone")),
        names => parts.push(format!("{} certificates are gone", names.len())),
    }
    parts.join(", ")
}

fn of_machine(event: &Event) -> Sentence {
    match event {
        Event::HostSeen(HostSeen { host, sight, by }) => {
            let seen = match sight {
                Sight::Off => "is off".to_owned(),
                Sight::On => "is on".to_owned(),
                Sight::Live => "has started from its medium".to_owned(),
                Sight::Writing { megabytes } => format!("is writing its disk, {megabytes} MB so far"),
                Sight::OsWritten => "has the OS on its disk".to_owned(),
                Sight::Rebooted => "has started from its disk".to_owned(),
                Sight::KubeletUp => "runs its kubelet".to_owned(),
            };
            Sentence::new(host, format!("{host} {seen} ({by})"))
        }
        Event::InstallBegun(InstallBegun { host, source }) => {
            Sentence::new(host, format!("the installer of {host} fetched its config from {source}"))
        }
        Event::MediumRead(MediumRead { host, source, .. }) => {
            Sentence::new(host, format!("the medium of {host} was read from {source}"))
        }
        Event::MachineGone(MachineGone { host }) => {
            Sentence::new(host, format!("the machine of {host} was removed"))
        }
        Event::MachineRetired(MachineRetired { host }) => {
            Sentence::new(host, format!("{host} has done its part and is removed"))
        }
        Event::BootstrapComplete(BootstrapComplete { host }) => {
            Sentence::new(host, format!("bootstrapping is complete: {host} is no longer needed"))
        }
        Event::NodeJoined(NodeJoined { host }) => Sentence::new(host, format!("{host} has become a node")),
        Event::IgnitionOffered(IgnitionOffered { host, .. }) => {
            Sentence::new(host, format!("the config of {host} is available"))
        }
        Event::IgnitionRedeemed(IgnitionRedeemed { host, source, .. }) => {
            Sentence::new(host, format!("{host} fetched its config from {source}"))
        }
        Event::PoolServed(PoolServed { pool, source, .. }) => {
            Sentence::new("", format!("{source} fetched the config of the pool {pool}"))
        }
        Event::HostedMachine(HostedMachine { machine, cluster, node_pool }) => {
            Sentence::new(machine, format!("{machine} is made for {node_pool} of {cluster}"))
        }
        Event::HostedStep(HostedStep { cluster, worker, step, error }) => {
            let ended = error.as_ref().map(|error| format!(", and failed: {error}")).unwrap_or_default();
            Sentence::new(worker, format!("{worker} of {cluster}: {step}{ended}"))
        }
        // The others are told above.
        _ => Sentence::new("", "configs are served to any address from now on".to_owned()),
    }
}
