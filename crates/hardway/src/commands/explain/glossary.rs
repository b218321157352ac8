//! Words that commands print as states, and terms that messages use.

use hardway_hosted::gates::GateName;

/// A word, what it means, and where it is printed.
pub(super) struct Term {
    pub(super) word: &'static str,
    pub(super) what: &'static str,
    pub(super) shown_by: &'static str,
}

const fn term(word: &'static str, what: &'static str, shown_by: &'static str) -> Term {
    Term { word, what, shown_by }
}

const STATUS: &str = "hardway status";
const CHECKS: &str = "hardway check, hardway verify";
const INFRA: &str = "hardway infra status";
const MACHINES: &str = "hardway serve, hardway bmc seen";
const WORKERS: &str = "hardway hosted workers list";
const REQUESTS: &str = "hardway approve simulate, hardway approve";
const ETCD: &str = "hardway etcd status, hardway etcd members, hardway page";
const JOURNAL: &str = "journal.jsonl, hardway page";

const TERMS: &[Term] = &[
    term("fresh", "An asset whose files are up to date: none of its sources has changed.", STATUS),
    term("stale", "An asset that the next `hardway create` makes again; the reasons are next to it.", STATUS),
    term(
        "kept",
        "A file that was edited by hand or not written by hardway. hardway never overwrites it.",
        STATUS,
    ),
    term(
        "gone",
        "A file that is no longer needed, and that the next `hardway create` deletes; or a manifest that was deleted by hand, and stays deleted. A worker: removed.",
        STATUS,
    ),
    term("broken", "An asset that cannot be made, because a file it is made from is damaged.", STATUS),
    term("finished", "A phase whose result was verified.", STATUS),
    term("running", "A phase that is being worked on.", STATUS),
    term(
        "interrupted",
        "A phase that was stopped by a person. `hardway create cluster` continues it.",
        STATUS,
    ),
    term("untouched", "A phase that was never started.", STATUS),
    term("passed", "The check found what it expects.", CHECKS),
    term("warned", "The check found something unusual that does not prevent an install.", CHECKS),
    term(
        "failed",
        "The check found something that must be corrected, or a phase ended with an error.",
        CHECKS,
    ),
    term("skipped", "The check was not run, because it was skipped with --skip-check.", CHECKS),
    term("not-applicable", "The check does not concern this cluster; --all shows why.", CHECKS),
    term("approve", "The verdict on a certificate request that is granted.", REQUESTS),
    term("deny", "The verdict on a certificate request that is refused for good.", REQUESTS),
    term("hold", "The verdict on a certificate request that stays pending until a person decides.", REQUESTS),
    term("leave", "The verdict on a certificate request that is none of hardway's business.", REQUESTS),
    term("holds", "It exists as the inventory asks for it.", INFRA),
    term("missing", "It does not exist, or differs from what the inventory asks for.", INFRA),
    term("extra", "hardway made it earlier; the inventory no longer asks for it.", INFRA),
    term("off", "The machine is switched off, or nothing is known of it yet.", MACHINES),
    term("on", "The machine is switched on.", MACHINES),
    term("seen", "The machine has fetched its config.", MACHINES),
    term("seen by the ignition server", "The machine has fetched its config.", MACHINES),
    term("OS written", "The installer has written the OS to the machine's disk.", MACHINES),
    term("rebooted", "The machine has started from its disk.", MACHINES),
    term("kubelet up", "The machine's kubelet runs and got a certificate.", MACHINES),
    term("joined", "The machine is a node, with both of its certificates.", MACHINES),
    term("planned", "A worker that is wanted, and not booted yet.", WORKERS),
    term("booted", "A worker whose machine was switched on.", WORKERS),
    term("fetched", "A worker that has fetched its config.", WORKERS),
    term("asked", "A worker whose kubelet has requested a certificate.", WORKERS),
    term("ready", "A worker whose node is Ready.", WORKERS),
    term("draining", "A worker whose pods are being moved away.", WORKERS),
    term("removing", "A worker whose machine is being removed.", WORKERS),
    term("healthy", "The member answers, has a leader and reports no alarm.", ETCD),
    term("unhealthy", "The member does not answer, has no leader, or reports an alarm.", ETCD),
    term("leader", "The voting member that all writes go through.", ETCD),
    term("follower", "A voting member that is not the leader.", ETCD),
    term("voter", "A member that counts for the quorum.", ETCD),
    term("learner", "A new member that catches up with the others and has no vote yet.", ETCD),
    term(
        "quorum",
        "The majority of etcd's voting members, two of three. Without it nothing can be written.",
        ETCD,
    ),
    term(
        "NOSPACE",
        "An alarm: the database has reached its limit, and only reads and deletes are allowed. `hardway etcd defrag` frees space.",
        ETCD,
    ),
    term("CORRUPT", "An alarm: the member's data differs from the others'. Replace the master.", ETCD),
    term(
        "kube-system/hardway-etcd",
        "The Lease that `hardway etcd backup` holds, so that only one backup is made at a time.",
        "hardway etcd backup",
    ),
    term(
        "sample",
        "The example release built into hardway, for trying things out offline. Its images do not exist, so no machine can boot with it.",
        "hardway init",
    ),
    term(
        "infra id",
        "The cluster's name with five random letters. It is in the names of everything made outside the folder, and never changes.",
        "metadata.json, hardway plan",
    ),
    term(
        "api",
        "The name api.CLUSTER.DOMAIN: the API as users reach it, port 6443 of the load balancer.",
        "hardway check",
    ),
    term(
        "api-int",
        "The name api-int.CLUSTER.DOMAIN: the API and, on port 22623, the machine-config-server as nodes reach them.",
        "hardway check",
    ),
    term(
        "bootstrap-in-place",
        "A single node that installs itself, without a bootstrap host: bootstrapInPlace in install-config.yaml.",
        "hardway create single-node-ignition-config",
    ),
    term(
        "if-served",
        "A new node must have fetched its config from `hardway serve`, as soon as any host has: the default of --ignition.",
        "hardway approve --help",
    ),
    term(
        "stock pointer",
        "master.ign or worker.ign as openshift-install makes them, the same for all machines of a role.",
        "hardway approve",
    ),
];

/// The kinds of lines in the journal.
const FACTS: &[Term] = &[
    term("action-finished", "An action on this host or a machine is done.", JOURNAL),
    term(
        "action-started",
        "An action on this host or a machine begins. Written first, so that it can be undone whatever happens.",
        JOURNAL,
    ),
    term("action-undone", "An action on this host or a machine was undone.", JOURNAL),
    term("any-address-allowed", "From here on, hosts could fetch their configs at any address.", JOURNAL),
    term(
        "assets-seen",
        "Which assets of the folder were stale, why, and which were edited, whenever hardway planned or made files.",
        JOURNAL,
    ),
    term("bootstrap-complete", "Bootstrapping is complete, and the bootstrap host's token ends.", JOURNAL),
    term(
        "certificates-seen",
        "The certificates in the folder with their ends, whenever some were made, renewed or removed.",
        JOURNAL,
    ),
    term(
        "cluster-started",
        "The cluster was switched on again: every node is Ready and takes pods as before.",
        JOURNAL,
    ),
    term("cluster-stopped", "Every machine of the cluster is off.", JOURNAL),
    term(
        "cluster-stopping",
        "The cluster is about to be switched off, and which nodes are closed for it.",
        JOURNAL,
    ),
    term("csr-decided", "A certificate request was decided: verdict, reason and evidence.", JOURNAL),
    term(
        "csr-intended",
        "A certificate request is about to be decided. Written first, so that no decision goes unrecorded.",
        JOURNAL,
    ),
    term("day2-applied", "Every object of a step of day two is as the step wants it.", JOURNAL),
    term(
        "day2-begun",
        "A step of day two is about to change objects, and whether each was there before.",
        JOURNAL,
    ),
    term("day2-undone", "A step of day two was undone.", JOURNAL),
    term(
        "etcd-restore-begun",
        "A person agreed to restore etcd from a backup: which one, and on which master.",
        JOURNAL,
    ),
    term("etcd-restore-step", "A step of restoring etcd is done.", JOURNAL),
    term("etcd-seen", "The members of etcd, whenever they changed while an install waited.", JOURNAL),
    term("host-seen", "What was seen of a machine: power, disk, console or kubelet.", JOURNAL),
    term("hosted-machine", "The pool of the hosted cluster that a machine was made for.", JOURNAL),
    term("hosted-step", "A step in the life of a hosted worker, and its error if it failed.", JOURNAL),
    term("ignition-offered", "A host's config can be fetched.", JOURNAL),
    term(
        "ignition-pool-served",
        "Somebody fetched the config of a pool, which is the same for all its machines.",
        JOURNAL,
    ),
    term("ignition-redeemed", "A host fetched its config in exchange for its token.", JOURNAL),
    term("install-begun", "A host's installer fetched its config.", JOURNAL),
    term("install-interrupted", "A person stopped the install during a phase.", JOURNAL),
    term("machine-gone", "A host's machine was removed, or is being replaced.", JOURNAL),
    term("machine-retired", "A machine has done its part and is about to be removed.", JOURNAL),
    term("medium-read", "A host's install medium was read over HTTP.", JOURNAL),
    term("node-joined", "A host has become a node.", JOURNAL),
    term("node-seen", "Whether a node is Ready, whenever that changed while an install waited.", JOURNAL),
    term(
        "operator-seen",
        "The conditions of a ClusterOperator, whenever they changed while an install waited, and what it waits for.",
        JOURNAL,
    ),
    term("phase-failed", "A phase ended with an error: code, evidence and fix.", JOURNAL),
    term("phase-finished", "A phase is done, and how that was verified.", JOURNAL),
    term("phase-reset", "A phase is to be done again.", JOURNAL),
    term("phase-started", "A phase begins, and why.", JOURNAL),
];

/// Steps in the life of a hosted worker.
const STEPS: &[Term] = &[
    term("boot", "A worker's machine gets a fresh pointer and is switched on.", JOURNAL),
    term("cordon", "A worker's node takes no more pods.", JOURNAL),
    term("delete-node", "A worker's node is deleted.", JOURNAL),
    term("drain", "A worker's pods are moved away.", JOURNAL),
    term("dress", "A worker's node gets the labels and taints of its pool.", JOURNAL),
    term("end-upgrade", "A worker's upgrade in place is over.", JOURNAL),
    term("forget", "A worker's record is deleted.", JOURNAL),
    term("record", "What was seen of a worker is written to its record.", JOURNAL),
    term("remove-machine", "A worker's machine is removed.", JOURNAL),
    term("request", "A worker is requested, because its NodePool wants one more.", JOURNAL),
    term("retire", "A worker is to go, because its NodePool wants one fewer.", JOURNAL),
    term("settle", "What only a worker's first boot needed is removed.", JOURNAL),
    term("upgrade", "A worker's upgrade in place begins.", JOURNAL),
];

/// Steps of restoring etcd from a backup.
const RESTORE_STEPS: &[Term] = &[
    term("allow-fewer", "The etcd operator accepts fewer members for a while.", JOURNAL),
    term("await-api", "The API server reads and writes what was restored.", JOURNAL),
    term(
        "insist-on-all",
        "All masters are members of etcd again, and its operator insists on that.",
        JOURNAL,
    ),
    term("redeploy", "Operators write the static pods of the control plane anew.", JOURNAL),
    term("return-others", "Masters that are still there join etcd again, without their old data.", JOURNAL),
    term("send-data", "The restored data are copied to the recovery host.", JOURNAL),
    term("start-etcd", "etcd starts on the recovery host, as its only member.", JOURNAL),
    term("stop-etcd", "etcd is stopped on every master that can be reached.", JOURNAL),
    term("swap-data", "The restored data take the place of etcd's old ones, which are kept.", JOURNAL),
];

/// Every term.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    [TERMS, FACTS, STEPS, RESTORE_STEPS].into_iter().flatten().map(|term| term.word)
}

/// The term of that name, or the gate of a hosted cluster.
pub(super) fn find(word: &str) -> Option<(&'static str, &'static str)> {
    // `OS written` for people is `os-written` for programs.
    let plain = |text: &str| text.replace('-', " ");
    let is_it = |known: &str| plain(known).eq_ignore_ascii_case(&plain(word));
    if let Some(term) =
        [TERMS, FACTS, STEPS, RESTORE_STEPS].into_iter().flatten().find(|term| is_it(term.word))
    {
        return Some((term.what, term.shown_by));
    }
    let gate = GateName::ALL.into_iter().find(|gate| gate.name() == word)?;
    Some((gate.about(), "hardway hosted nodepool status"))
}

#[cfg(test)]
mod tests {
    use hardway_base::Verdict;
    use hardway_journal::{CsrVerdict, Event, RestoreStep, WorkerStep};
    use hardway_machines::host_progress::HostProgress;

    use super::*;

    #[test]
    fn every_state_is_a_term() {
        let verdicts =
            [Verdict::Failed, Verdict::NotApplicable, Verdict::Passed, Verdict::Skipped, Verdict::Warned];
        for verdict in verdicts {
            assert!(find(verdict.name()).is_some(), "{verdict}");
        }
        for state in [
            HostProgress::Off,
            HostProgress::On,
            HostProgress::Seen,
            HostProgress::OsWritten,
            HostProgress::Rebooted,
            HostProgress::KubeletUp,
            HostProgress::Joined,
        ] {
            assert!(find(&state.to_string()).is_some(), "{state}");
        }
        for verdict in [CsrVerdict::Approve, CsrVerdict::Deny, CsrVerdict::Hold, CsrVerdict::Leave] {
            assert!(find(verdict.word()).is_some(), "{verdict}");
        }
        for gate in GateName::ALL {
            assert!(find(gate.name()).is_some(), "{gate}");
        }
    }

    #[test]
    fn every_kind_of_line_and_every_step_in_the_journal_is_a_term() {
        let facts: Vec<&str> = FACTS.iter().map(|term| term.word).collect();
        let mut kinds = Event::KINDS.to_vec();
        kinds.sort_unstable();
        assert_eq!(facts, kinds);
        let steps: Vec<&str> = STEPS.iter().map(|term| term.word).collect();
        let mut names: Vec<&str> = WorkerStep::ALL.iter().map(|step| step.name()).collect();
        names.sort_unstable();
        assert_eq!(steps, names);
        let steps: Vec<&str> = RESTORE_STEPS.iter().map(|term| term.word).collect();
        let mut names: Vec<&str> = RestoreStep::ALL.iter().map(|step| step.word()).collect();
        names.sort_unstable();
        assert_eq!(steps, names);
    }
}
