//! The fold over a journal: what it says, what it refuses, and that it refuses nothing that really happens.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test stops at the first surprise")]

use std::collections::{BTreeMap, BTreeSet};

use hardway_journal::{
    ActionFinished, ActionStarted, ActionUndone, AnyAddressAllowed, BootstrapComplete, CsrDecided,
    CsrIntended, CsrVerdict, Entry, EtcdRestoreBegun, EtcdRestoreStep, Face, Fact, History, HostSeen,
    HostedMachine, HostedStep, IgnitionOffered, IgnitionRedeemed, Impossible, InstallBegun, Interrupted,
    Journal, JournalError, LiveHistory, MachineGone, MachineOwner, MachineRetired, MediumRead, NodeJoined,
    PhaseFailed, PhaseFinished, PhaseName, PhaseReset, PhaseStarted, PhaseState, PoolServed, Reason, Record,
    RestoreStep, Sight, Step, WorkerStep,
};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::json;

const PHASE: PhaseName = PhaseName::MakePki;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn entry<F: Fact>(fact: &F) -> Entry {
    Entry::of(at(0), fact)
}

fn record<F: Fact>(second: i64, fact: &F) -> Record {
    Record::numbered(u64::try_from(second).unwrap(), &Entry::of(at(second), fact))
}

fn started(second: i64) -> Record {
    record(second, &PhaseStarted { phase: PHASE, why: String::new() })
}

fn finished(second: i64) -> Record {
    record(second, &PhaseFinished { phase: PHASE, evidence: "made".into() })
}

fn failed(second: i64) -> Record {
    record(
        second,
        &PhaseFailed { phase: PHASE, code: "c".into(), what: "w".into(), evidence: Vec::new(), fix: None },
    )
}

fn begin(action: &str) -> Entry {
    let path = format!("/{action}").into();
    let undo = vec![Step::RemoveFile { path }];
    entry(&ActionStarted { action: action.into(), why: "Why.".into(), does: Vec::new(), undo })
}

fn finish(action: &str) -> Entry {
    entry(&ActionFinished { action: action.into() })
}

fn undo(action: &str) -> Entry {
    entry(&ActionUndone { action: action.into() })
}

fn decided(uid: &str, verdict: CsrVerdict) -> CsrDecided {
    CsrDecided {
        request: format!("csr-{uid}"),
        uid: uid.into(),
        node: "n".into(),
        signer: "s".into(),
        key_id: "k".into(),
        username: String::new(),
        verdict,
        reason: Reason::new("first-client"),
        evidence: Vec::new(),
        more: 0,
    }
}

fn numbered(entries: &[Entry]) -> Vec<Record> {
    entries.iter().zip(1..).map(|(entry, seq)| Record::numbered(seq, entry)).collect()
}

/// As a hardway before versions wrote it.
fn unversioned(mut record: Record) -> Record {
    record.version = 0;
    record
}

#[test]
fn the_last_word_about_a_phase_counts() {
    let reset = record(9, &PhaseReset { phase: PHASE });
    let mut stranger = reset.clone();
    stranger.body["phase"] = "make-coffee".into();
    let done = PhaseState::Finished { at: at(8), evidence: "made".into() };
    for (records, state) in [
        (vec![], PhaseState::Untouched),
        (vec![started(1)], PhaseState::Begun { since: at(1) }),
        (
            vec![started(1), failed(3)],
            PhaseState::Failed {
                at: at(3),
                code: "c".into(),
                what: "w".into(),
                evidence: Vec::new(),
                fix: None,
            },
        ),
        (vec![started(1), failed(3), started(5), finished(8)], done.clone()),
        (vec![started(5), finished(8), stranger], done),
        (vec![started(5), finished(8), reset], PhaseState::Untouched),
    ] {
        assert_eq!(History::fold(&records).unwrap().phases.state(PHASE), &state, "{records:?}");
    }
}

#[test]
fn a_machine_that_was_retired_stays_so() {
    let retired = [record(5, &MachineRetired { host: "bootstrap".into() }), started(7)];
    let history = History::fold(&retired).unwrap();
    assert!(history.hosts.is_retired("bootstrap") && !history.hosts.is_retired("master-0"));
}

/// By the order of lines, and not by a clock that was set back in between.
#[test]
fn what_was_on_offer_is_over_once_its_host_has_joined_or_is_gone() {
    let offered = IgnitionOffered { host: "w".into(), digest: "1".into() };
    let ends: [fn() -> Entry; 3] = [
        || entry(&NodeJoined { host: "w".into() }),
        || entry(&MachineGone { host: "w".into() }),
        || entry(&BootstrapComplete { host: "w".into() }),
    ];
    for end in ends {
        let end = Record { time: at(500), ..Record::numbered(2, &end()) };
        let hosts = History::fold(&[record(4_000, &offered), end]).unwrap().hosts;
        let over = hosts.joined("w").max(hosts.ended("w"));
        assert!(over >= hosts.offered("w", "1"), "{hosts:?}");
    }
}

#[test]
fn a_machine_is_whose_who_was_first_until_it_is_gone() {
    let made = |cluster: &str| HostedMachine {
        machine: "w".into(),
        cluster: cluster.to_owned(),
        node_pool: "p".into(),
    };
    let fetched =
        |face| IgnitionRedeemed { host: "w".into(), digest: "1".into(), source: [10, 0, 0, 1].into(), face };
    let owner = |entries: &[Entry]| History::fold(&numbered(entries)).unwrap().owners.of("w").cloned();
    let hosted = |cluster: &str| Some(MachineOwner::Hosted(made(cluster)));
    let gone = entry(&MachineGone { host: "w".into() });
    assert_eq!(owner(&[]), None);
    assert_eq!(owner(&[entry(&made("a/one")), entry(&made("b/two"))]), hosted("a/one"));
    assert_eq!(owner(&[entry(&made("a/one")), gone, entry(&made("b/two"))]), hosted("b/two"));
    assert_eq!(owner(&[entry(&fetched(Face::Host)), entry(&made("a/one"))]), Some(MachineOwner::Folder));
    assert_eq!(owner(&[entry(&made("a/one")), entry(&fetched(Face::Host))]), hosted("a/one"));
    assert_eq!(owner(&[entry(&fetched(Face::Hosted))]), None, "its host is a pool");
}

#[test]
fn how_long_it_took_is_of_the_last_time_it_worked() {
    let took = |records: &[Record]| History::fold(records).unwrap().phases.took(PHASE);
    let found_again = [started(5), finished(8), finished(100)];
    assert_eq!(took(&found_again), Some(SignedDuration::from_secs(3)));
    assert_eq!(took(&[finished(8)]), None);
}

#[test]
fn the_ledger_has_what_is_not_taken_back_in_its_order() {
    let names = |entries: &[Entry]| -> Vec<(String, bool)> {
        let history = History::fold(&numbered(entries)).unwrap();
        history.actions.iter().map(|owned| (owned.action.clone(), owned.is_finished)).collect()
    };
    let own = |name: &str, is_finished| (name.to_owned(), is_finished);
    let all =
        [begin("a"), finish("a"), begin("b"), begin("c"), finish("c"), undo("a"), begin("a"), begin("b")];
    assert_eq!(names(&all[..5]), [own("a", true), own("b", false), own("c", true)]);
    assert_eq!(names(&all), [own("b", false), own("c", true), own("a", false)]);
}

#[test]
fn a_later_way_back_is_added_to_the_first() {
    let with = |path: &str| {
        let undo = vec![Step::RemoveFile { path: path.into() }];
        entry(&ActionStarted { action: "a".into(), why: String::new(), does: Vec::new(), undo })
    };
    let history = History::fold(&numbered(&[with("/x"), with("/y"), with("/x")])).unwrap();
    let paths: Vec<String> = history.actions.get("a").unwrap().undo.iter().map(ToString::to_string).collect();
    assert_eq!(paths, ["rm -f /x", "rm -f /y"]);
}

#[test]
fn what_cannot_have_happened_is_refused_with_both_events() {
    let decided = |verdict| entry(&decided("u", verdict));
    let joined = entry(&NodeJoined { host: "a".into() });
    for (entries, says) in [
        (
            vec![joined.clone(), finish("net")],
            "line 2 has action-finished for net, but no line before it has action-started for it",
        ),
        (
            vec![undo("net")],
            "line 1 has action-undone for net, but no line before it has action-started for it",
        ),
        (
            vec![joined, entry(&Interrupted { phase: PHASE })],
            "line 2 has install-interrupted for make-pki, but no line before it has phase-started for it",
        ),
        (
            vec![entry(&PhaseFailed {
                phase: PHASE,
                code: "c".into(),
                what: "w".into(),
                evidence: Vec::new(),
                fix: None,
            })],
            "line 1 has phase-failed for make-pki, but no line before it has phase-started for it",
        ),
        (
            vec![decided(CsrVerdict::Deny), decided(CsrVerdict::Hold), decided(CsrVerdict::Approve)],
            "line 3 has approve for certificate request u, but line 1 has deny for it",
        ),
    ] {
        let mut records = numbered(&entries);
        assert_eq!(History::fold(&records).unwrap_err().to_string(), says);
        let last = records.len() - 1;
        // Nothing is refused where the beginning may be elsewhere.
        let mut continued = records.clone();
        continued[last].continues = true;
        History::fold(&continued).unwrap();
        let mut newer = records.clone();
        let unknown = json!({"action": "net", "undo": [{"teleport": {}}]});
        newer.insert(0, Record { kind: ActionStarted::KIND.into(), body: unknown, ..newer[0].clone() });
        History::fold(&newer).unwrap();
        records[last] = unversioned(records[last].clone());
        History::fold(&records).unwrap();
    }
}

/// etcd is as it was once: a request that was denied since then is pending again.
#[test]
fn after_a_restore_a_request_may_be_decided_otherwise() {
    let restore =
        EtcdRestoreBegun { restore: "r".into(), hash: "h".into(), revision: 1, host: "master-0".into() };
    let [deny, approve] =
        [CsrVerdict::Deny, CsrVerdict::Approve].map(|verdict| entry(&decided("u", verdict)));
    History::fold(&numbered(&[deny.clone(), approve.clone()])).unwrap_err();
    History::fold(&numbered(&[deny, entry(&restore), approve])).unwrap();
    History::fold(&numbered(&[entry(&restore), undo("never begun")])).unwrap_err();
}

#[test]
fn a_refused_record_changes_nothing() {
    let mut history = History::fold(&numbered(&[begin("a")])).unwrap();
    let before = history.clone();
    let error = history.next(&Record::numbered(2, &undo("b"))).unwrap_err();
    assert!(matches!(error, Impossible::NeverBegun { line: 2, .. }));
    assert_eq!(history, before);
}

#[test]
fn a_live_history_goes_on_refusing_and_begins_anew_with_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let mut live = LiveHistory::of(&path);
    assert_eq!(live.now().unwrap(), &History::default());
    let journal = Journal::open(&path).unwrap();
    journal.append(&[begin("a")]).unwrap();
    assert!(live.now().unwrap().actions.get("a").is_some());
    // Another writer's, as if by hand: this one never writes it.
    journal.append(&[finish("b")]).unwrap();
    for _ in 0..2 {
        let error = live.now().unwrap_err();
        assert!(matches!(error, JournalError::Impossible { .. }), "{error}");
        let said = error.to_string();
        assert!(said.contains("journal.jsonl: line 2 has action-finished for b"), "{said}");
        assert!(error.fix().contains("action-started"));
    }
    fs_err::rename(&path, folder.path().join("old")).unwrap();
    // The same process goes on, and says that what it ends may have begun elsewhere.
    journal.append(&[finish("a"), begin("c")]).unwrap();
    journal.append(&[finish("c")]).unwrap();
    let continues: Vec<bool> =
        hardway_journal::read(&path).unwrap().iter().map(|record| record.continues).collect();
    assert_eq!(continues, [true, false, false]);
    let history = live.now().unwrap();
    assert!(history.actions.get("a").is_none() && history.actions.get("c").unwrap().is_finished);
}

#[test]
fn whoever_finds_its_lines_replaced_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let (journal, other) = (Journal::open(&path).unwrap(), Journal::open(&path).unwrap());
    journal.append(&[begin("a")]).unwrap();
    other.append(&[finish("a")]).unwrap();
    journal.append(&[begin("b")]).unwrap();
    assert!(hardway_journal::read(&path).unwrap().iter().all(|record| !record.continues));
    // A copy from before, put back in place.
    let text = fs_err::read_to_string(&path).unwrap();
    let first = text.split_inclusive('\n').next().unwrap();
    fs_err::write(&path, first).unwrap();
    journal.append(&[finish("b")]).unwrap();
    History::read(&path).unwrap();
    assert!(hardway_journal::read(&path).unwrap()[1].continues);
}

/// What one of the processes of a cluster does next.
#[derive(Clone, Debug)]
enum Deed {
    /// The engine comes to a phase: it is found to hold, or is begun and ends in one of four ways.
    Phase { phase: usize, how: u8 },
    /// Somebody wants a phase done again.
    Reset { phase: usize },
    /// An action is carried out: 0 is killed behind its start, 1 fails, the rest end well.
    Up { action: usize, how: u8 },
    /// What is in the ledger under that name is taken back; killed before it is written down, or not.
    Down { action: usize, is_killed: bool },
    /// The approver decides: holds, or approves or denies once and for all, perhaps killed in between.
    Decide { request: usize, how: u8 },
    /// What machines and servers tell, in any order.
    Told { host: usize, what: u8 },
    /// A hardway from before versions writes an end that it has no beginning for.
    Older { action: usize },
    /// Somebody moves the journal away, and whoever runs goes on.
    Moved,
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => (0usize..4, 0u8..6).prop_map(|(phase, how)| Deed::Phase { phase, how }),
        1 => (0usize..4).prop_map(|phase| Deed::Reset { phase }),
        6 => (0usize..4, 0u8..5).prop_map(|(action, how)| Deed::Up { action, how }),
        3 => (0usize..4, any::<bool>()).prop_map(|(action, is_killed)| Deed::Down { action, is_killed }),
        4 => (0usize..4, 0u8..5).prop_map(|(request, how)| Deed::Decide { request, how }),
        6 => (0usize..3, 0u8..17).prop_map(|(host, what)| Deed::Told { host, what }),
        1 => (0usize..4).prop_map(|action| Deed::Older { action }),
        1 => Just(Deed::Moved),
    ]
}

/// Writes what the real writers write: each looks into the history first where they do.
#[derive(Default)]
struct Writers {
    records: Vec<Record>,
    continues: bool,
    decided: BTreeMap<usize, CsrVerdict>,
}

impl Writers {
    fn write(&mut self, entry: &Entry) {
        let mut record = Record::numbered(self.records.len() as u64 + 1, entry);
        record.continues = std::mem::take(&mut self.continues);
        self.records.push(record);
    }

    fn history(&self) -> Result<History, TestCaseError> {
        History::fold(&self.records)
            .map_err(|error| TestCaseError::fail(format!("{error}: {:?}", self.records)))
    }

    fn take(&mut self, deed: &Deed) -> Result<(), TestCaseError> {
        match *deed {
            Deed::Phase { phase, how } => self.phase(PhaseName::ALL[phase], how)?,
            Deed::Reset { phase } => self.write(&entry(&PhaseReset { phase: PhaseName::ALL[phase] })),
            Deed::Up { action, how } => {
                let name = format!("action/{action}");
                let owned = self.history()?.actions.get(&name).cloned();
                if how > 3 && owned.as_ref().is_some_and(|owned| !owned.is_finished) {
                    // It holds already, and the run that began it was cut off.
                    self.write(&finish(&name));
                } else {
                    self.write(&begin(&name));
                    if how > 1 {
                        self.write(&finish(&name));
                    }
                }
            }
            Deed::Down { action, is_killed } => {
                let name = format!("action/{action}");
                if self.history()?.actions.get(&name).is_some() && !is_killed {
                    self.write(&undo(&name));
                }
            }
            Deed::Decide { request, how } => self.decide(request, how),
            Deed::Told { host, what } => self.told(format!("host-{host}"), what),
            Deed::Older { action } => {
                let seq = self.records.len() as u64 + 1;
                let record = Record::numbered(seq, &undo(&format!("machine/host-{action}/machine")));
                self.records.push(unversioned(record));
            }
            // Actions that were begun there end here.
            Deed::Moved => {
                let open: BTreeSet<String> =
                    self.history()?.actions.iter().map(|owned| owned.action.clone()).collect();
                self.records.clear();
                self.continues = true;
                open.iter().for_each(|action| self.write(&finish(action)));
            }
        }
        Ok(())
    }

    fn phase(&mut self, phase: PhaseName, how: u8) -> Result<(), TestCaseError> {
        let held = PhaseFinished { phase, evidence: "holds".into() };
        if how == 0 {
            if !matches!(self.history()?.phases.state(phase), PhaseState::Finished { .. }) {
                self.write(&entry(&held));
            }
            return Ok(());
        }
        self.write(&entry(&PhaseStarted { phase, why: "missing".into() }));
        match how {
            1 => self.write(&entry(&PhaseFailed {
                phase,
                code: "c".into(),
                what: "w".into(),
                evidence: Vec::new(),
                fix: None,
            })),
            2 => self.write(&entry(&Interrupted { phase })),
            3 => {}
            _ => self.write(&entry(&held)),
        }
        Ok(())
    }

    fn decide(&mut self, request: usize, how: u8) {
        let uid = format!("uid-{request}");
        let verdict = [CsrVerdict::Hold, CsrVerdict::Approve, CsrVerdict::Deny][usize::from(how) % 3];
        if verdict == CsrVerdict::Hold {
            // Also late, by one that no longer leads.
            self.write(&entry(&decided(&uid, verdict)));
            return;
        }
        // The API server takes the first; it may be found there by several, and recorded by each.
        let stands = *self.decided.entry(request).or_insert(verdict);
        self.write(&entry(&CsrIntended(decided(&uid, verdict))));
        if how < 4 {
            self.write(&entry(&decided(&uid, stands)));
        }
    }

    fn told(&mut self, host: String, what: u8) {
        let (digest, source) = ("g".to_owned(), [10, 0, 0, 1].into());
        let told = match what {
            0 => entry(&IgnitionOffered { host, digest }),
            1 => entry(&IgnitionRedeemed { host, digest, source, face: Face::Host }),
            2 => entry(&IgnitionRedeemed { host, digest, source, face: Face::Hosted }),
            3 => entry(&PoolServed { pool: "worker".into(), digest, source, more: 0 }),
            4 => entry(&NodeJoined { host }),
            5 => entry(&HostSeen { host, sight: Sight::Writing { megabytes: 7 }, by: "bmc".into() }),
            6 => entry(&InstallBegun { host, source }),
            7 => entry(&MediumRead { host, source, more: 0 }),
            8 => entry(&MachineRetired { host }),
            9 => entry(&MachineGone { host }),
            10 => Entry { time: at(0), kind: "of-a-newer-hardway".into(), body: json!({"host": host}) },
            11 => {
                let (cluster, node_pool) = ("clusters/demo".into(), "demo".into());
                entry(&HostedMachine { machine: host, cluster, node_pool })
            }
            12 => entry(&BootstrapComplete { host }),
            13 => entry(&AnyAddressAllowed {}),
            14 => entry(&EtcdRestoreBegun { restore: "r".into(), hash: "h".into(), revision: 1, host }),
            15 => entry(&EtcdRestoreStep { restore: "r".into(), step: RestoreStep::StopEtcd }),
            _ => {
                let (cluster, worker) = ("demo".into(), host);
                entry(&HostedStep { cluster, worker, step: WorkerStep::Boot, error: None })
            }
        };
        self.write(&told);
    }
}

proptest! {
    /// Whatever the writers do, and wherever they are killed, their journal is accepted; and who follows it knows the same
    /// as who reads it anew.
    #[test]
    fn what_really_happens_is_never_refused(deeds in prop::collection::vec(deed(), 0..60)) {
        let mut writers = Writers::default();
        for deed in &deeds {
            writers.take(deed)?;
        }
        let mut history = History::default();
        for (n, record) in writers.records.iter().enumerate() {
            prop_assert!(history.next(record).is_ok(), "{:?}", &writers.records[..=n]);
            prop_assert_eq!(&history, &History::fold(&writers.records[..=n]).unwrap());
        }
    }

    /// Two processes that know nothing of each other, line by line in any order.
    #[test]
    fn two_writers_at_once_are_never_refused(
        first in prop::collection::vec(deed(), 0..20),
        second in prop::collection::vec(deed(), 0..20),
        turns in prop::collection::vec(any::<bool>(), 0..200),
    ) {
        let written = |deeds: &[Deed]| -> Result<Vec<Record>, TestCaseError> {
            let mut writers = Writers::default();
            // One API server, whoever asks it.
            let no_moves = deeds.iter().filter(|deed| !matches!(deed, Deed::Moved | Deed::Decide { .. }));
            no_moves.into_iter().try_for_each(|deed| writers.take(deed))?;
            Ok(writers.records)
        };
        let (mut one, mut other) = (written(&first)?.into_iter(), written(&second)?.into_iter());
        let mut together = Vec::new();
        for turn in turns {
            together.extend(if turn { one.next() } else { other.next() });
        }
        together.extend(one);
        together.extend(other);
        together.iter_mut().zip(1..).for_each(|(record, seq)| record.seq = seq);
        prop_assert!(History::fold(&together).is_ok(), "{together:?}");
    }

    /// With its beginning cut out, an end is refused, and by its own line.
    #[test]
    fn a_beginning_that_was_cut_out_is_missed(deeds in prop::collection::vec(deed(), 0..30), action in 0usize..4) {
        let name = format!("action/{action}");
        let mut writers = Writers::default();
        let legal = deeds.iter().filter(|deed| !matches!(deed, Deed::Moved));
        legal.into_iter().try_for_each(|deed| writers.take(deed))?;
        writers.records.retain(|record| {
            record.kind != ActionStarted::KIND || record.body["action"] != name.as_str()
        });
        let end = writers.records.iter().find(|record| {
            [ActionFinished::KIND, ActionUndone::KIND].contains(&record.kind.as_str())
                && record.body["action"] == name.as_str()
        });
        match (History::fold(&writers.records), end) {
            (Ok(_), None) => {}
            (Err(Impossible::NeverBegun { line, of, .. }), Some(end)) => {
                prop_assert_eq!((line, of), (end.seq, name));
            }
            (found, end) => prop_assert!(false, "{found:?} {end:?}"),
        }
    }
}
