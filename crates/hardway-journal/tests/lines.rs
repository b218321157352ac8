//! The bytes of a journal, pinned: what older releases wrote is read, and what this one writes is what others will read.
//!
//! A new kind is one more row. A row that changes is a new meaning of an old line: raise `VERSION`, or think again.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test stops at the first surprise")]

use std::collections::BTreeSet;
use std::path::Path;

use hardway_journal::{
    ActionFinished, ActionStarted, ActionUndone, AnyAddressAllowed, AssetSeen, AssetsSeen, BootstrapComplete,
    CertificateSeen, CertificatesSeen, ChainLink, ClusterStarted, ClusterStopped, ClusterStopping,
    CsrDecided, CsrIntended, CsrVerdict, DayTwoApplied, DayTwoBegun, DayTwoObject, DayTwoUndone, Entry,
    EtcdMember, EtcdRestoreBegun, EtcdRestoreStep, EtcdRole, EtcdSeen, Event, Face, Fact, Former, History,
    HostSeen, HostedMachine, HostedStep, IgnitionOffered, IgnitionRedeemed, InstallBegun, Interrupted,
    Journal, JournalError, MachineGone, MachineRetired, MediumRead, NodeJoined, NodeSeen, OperatorCondition,
    OperatorSeen, PhaseFailed, PhaseFinished, PhaseName, PhaseReset, PhaseStarted, PoolServed, Program,
    Reason, Record, RestoreStep, Sight, Step, VERSION, WorkerStep, read,
};
use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

const BEFORE_VERSIONS: &str = include_str!("journals/before-versions.jsonl");

fn row<F: Fact>(fact: F, body: &str) -> (Entry, Event, String) {
    let entry = Entry::of("2026-11-15T06:00:00Z".parse::<Timestamp>().unwrap(), &fact);
    let kind = F::KIND;
    (entry, fact.into(), format!(r#""kind":"{kind}","body":{body}"#))
}

fn decided() -> CsrDecided {
    CsrDecided {
        request: "csr-1".into(),
        uid: "u".into(),
        node: "n".into(),
        signer: "s".into(),
        key_id: "k".into(),
        username: String::new(),
        verdict: CsrVerdict::Approve,
        reason: Reason::new("first-client"),
        evidence: vec!["e".into()],
        more: 0,
    }
}

fn rows() -> Vec<(Entry, Event, String)> {
    let (host, phase, action) = (|| "h".to_owned(), PhaseName::MakePki, || "a".to_owned());
    let (digest, source) = (|| "g".to_owned(), [10, 0, 0, 7].into());
    let undo = vec![
        Step::MakeFolder { path: "/f".into() },
        Step::RemoveEmptyFolder { path: "/f".into() },
        Step::RemoveFolder { path: "/f".into() },
        Step::RemoveFile { path: "/f".into() },
        Step::RestoreFile { path: "/f".into(), from: "/g".into() },
        Step::Run(Program::words("ip link").reading("i")),
        Step::Run(Program::words("ip")),
        Step::WriteFile { path: "/f".into(), mode: 0o644, content: "c".into() },
    ];
    let operator = OperatorSeen {
        operator: "o".into(),
        available: OperatorCondition::True,
        progressing: OperatorCondition::False,
        degraded: OperatorCondition::Unknown,
        waits_for: vec![ChainLink { subject: "s".into(), what: "w".into(), fix: Some("f".into()) }],
    };
    let seen = |sight| HostSeen { host: host(), sight, by: "bmc".into() };
    let request = r#"{"request":"csr-1","uid":"u","node":"n","signer":"s","keyId":"k","verdict":"approve","reason":"first-client","evidence":["e"]}"#;
    let undo_text = r#"[{"make-folder":{"path":"/f"}},{"remove-empty-folder":{"path":"/f"}},{"remove-folder":{"path":"/f"}},{"remove-file":{"path":"/f"}},{"restore-file":{"path":"/f","from":"/g"}},{"run":{"program":"ip","arguments":["link"],"input":"i"}},{"run":{"program":"ip","arguments":[]}},{"write-file":{"path":"/f","mode":420,"content":"c"}}]"#;
    let begun = format!(r#"{{"action":"a","why":"w","does":["d"],"undo":{undo_text}}}"#);
    let step = HostedStep { cluster: "c".into(), worker: "w".into(), step: WorkerStep::Label, error: None };
    let wrong = HostedStep { error: Some("e".into()), step: WorkerStep::RemoveMachine, ..step.clone() };
    vec![
        row(ActionStarted { action: action(), why: "w".into(), does: vec!["d".into()], undo }, &begun),
        row(ActionFinished { action: action() }, r#"{"action":"a"}"#),
        row(ActionUndone { action: action() }, r#"{"action":"a"}"#),
        row(CsrIntended(decided()), request),
        row(decided(), request),
        row(
            CsrDecided { username: "hardway:host:w:2".into(), ..decided() },
            &request.replace(r#","verdict""#, r#","username":"hardway:host:w:2","verdict""#),
        ),
        row(
            CsrDecided { more: 7, ..decided() },
            &request.replace(r#""evidence":["e"]"#, r#""evidence":["e"],"more":7"#),
        ),
        row(
            DayTwoBegun {
                step: "s".into(),
                objects: vec![
                    DayTwoObject { object: "v1/Secret n/a".into(), was: Former::Absent },
                    DayTwoObject { object: "v1/Secret n/b".into(), was: Former::Present },
                ],
            },
            r#"{"objects":[{"object":"v1/Secret n/a","was":"absent"},{"object":"v1/Secret n/b","was":"present"}],"step":"s"}"#,
        ),
        row(DayTwoApplied { step: "s".into() }, r#"{"step":"s"}"#),
        row(DayTwoUndone { step: "s".into() }, r#"{"step":"s"}"#),
        row(ClusterStopping { cordoned: vec!["n".into()], until: None }, r#"{"cordoned":["n"]}"#),
        row(
            ClusterStopping { cordoned: Vec::new(), until: Some("2027-01-02T00:00:00Z".parse().unwrap()) },
            r#"{"cordoned":[],"until":"2027-01-02T00:00:00Z"}"#,
        ),
        row(ClusterStopped {}, "{}"),
        row(ClusterStarted {}, "{}"),
        row(
            EtcdRestoreBegun { restore: "r".into(), hash: "1f".into(), revision: 7, host: host() },
            r#"{"hash":"1f","host":"h","restore":"r","revision":7}"#,
        ),
        row(
            EtcdRestoreStep { restore: "r".into(), step: RestoreStep::SwapData },
            r#"{"restore":"r","step":"swap-data"}"#,
        ),
        row(
            EtcdSeen {
                members: vec![
                    EtcdMember { name: "m".into(), role: EtcdRole::Leader, is_healthy: true },
                    EtcdMember { name: String::new(), role: EtcdRole::Learner, is_healthy: false },
                ],
            },
            r#"{"members":[{"isHealthy":true,"name":"m","role":"leader"},{"isHealthy":false,"name":"","role":"learner"}]}"#,
        ),
        row(
            OperatorSeen { waits_for: Vec::new(), ..operator.clone() },
            r#"{"available":"true","degraded":"unknown","operator":"o","progressing":"false"}"#,
        ),
        row(
            operator,
            r#"{"available":"true","degraded":"unknown","operator":"o","progressing":"false","waitsFor":[{"fix":"f","subject":"s","what":"w"}]}"#,
        ),
        row(NodeSeen { node: "n.d".into(), is_ready: true }, r#"{"isReady":true,"node":"n.d"}"#),
        row(seen(Sight::On), r#"{"by":"bmc","host":"h","sight":"on"}"#),
        row(
            seen(Sight::Writing { megabytes: 7 }),
            r#"{"by":"bmc","host":"h","sight":{"writing":{"megabytes":7}}}"#,
        ),
        row(seen(Sight::OsWritten), r#"{"by":"bmc","host":"h","sight":"os-written"}"#),
        row(
            HostedMachine { machine: "m".into(), cluster: "n/c".into(), node_pool: "p".into() },
            r#"{"cluster":"n/c","machine":"m","nodePool":"p"}"#,
        ),
        row(step, r#"{"cluster":"c","step":"dress","worker":"w"}"#),
        row(wrong, r#"{"cluster":"c","error":"e","step":"remove-machine","worker":"w"}"#),
        row(IgnitionOffered { host: host(), digest: digest() }, r#"{"generation":"g","host":"h"}"#),
        row(
            IgnitionRedeemed { host: host(), digest: digest(), source, face: Face::Host },
            r#"{"face":"host","generation":"g","host":"h","source":"10.0.0.7"}"#,
        ),
        row(
            IgnitionRedeemed { host: host(), digest: digest(), source, face: Face::Hosted },
            r#"{"face":"hosted","generation":"g","host":"h","source":"10.0.0.7"}"#,
        ),
        row(
            PoolServed { pool: "worker".into(), digest: digest(), source, more: 0 },
            r#"{"generation":"g","pool":"worker","source":"10.0.0.7"}"#,
        ),
        row(
            PoolServed { pool: "worker".into(), digest: digest(), source, more: 3 },
            r#"{"generation":"g","more":3,"pool":"worker","source":"10.0.0.7"}"#,
        ),
        row(InstallBegun { host: host(), source }, r#"{"host":"h","source":"10.0.0.7"}"#),
        row(MediumRead { host: host(), source, more: 0 }, r#"{"host":"h","source":"10.0.0.7"}"#),
        row(MediumRead { host: host(), source, more: 3 }, r#"{"host":"h","more":3,"source":"10.0.0.7"}"#),
        row(
            AssetsSeen {
                assets: vec![AssetSeen { asset: "a".into(), reasons: Vec::new(), edited: Vec::new() }],
                gone: Vec::new(),
            },
            r#"{"assets":[{"asset":"a"}]}"#,
        ),
        row(
            AssetsSeen {
                assets: vec![AssetSeen {
                    asset: "a".into(),
                    reasons: vec!["r".into()],
                    edited: vec!["f".into()],
                }],
                gone: vec!["b".into()],
            },
            r#"{"assets":[{"asset":"a","edited":["f"],"reasons":["r"]}],"gone":["b"]}"#,
        ),
        row(
            CertificatesSeen {
                certificates: vec![CertificateSeen {
                    certificate: "c".into(),
                    not_after: "2026-11-16T06:00:00Z".parse().unwrap(),
                    due_from: "2026-11-16T01:12:00Z".parse().unwrap(),
                }],
                gone: vec!["d".into()],
            },
            r#"{"certificates":[{"certificate":"c","dueFrom":"2026-11-16T01:12:00Z","notAfter":"2026-11-16T06:00:00Z"}],"gone":["d"]}"#,
        ),
        row(BootstrapComplete { host: host() }, r#"{"host":"h"}"#),
        row(AnyAddressAllowed {}, "{}"),
        row(MachineGone { host: host() }, r#"{"host":"h"}"#),
        row(MachineRetired { host: host() }, r#"{"host":"h"}"#),
        row(NodeJoined { host: host() }, r#"{"host":"h"}"#),
        row(PhaseStarted { phase, why: "w".into() }, r#"{"phase":"make-pki","why":"w"}"#),
        row(PhaseFinished { phase, evidence: "e".into() }, r#"{"evidence":"e","phase":"make-pki"}"#),
        row(
            PhaseFailed { phase, code: "c".into(), what: "w".into(), evidence: Vec::new(), fix: None },
            r#"{"code":"c","phase":"make-pki","what":"w"}"#,
        ),
        row(
            PhaseFailed {
                phase,
                code: "c".into(),
                what: "w".into(),
                evidence: vec!["e".into()],
                fix: Some("f".into()),
            },
            r#"{"code":"c","evidence":["e"],"fix":"f","phase":"make-pki","what":"w"}"#,
        ),
        row(Interrupted { phase }, r#"{"phase":"make-pki"}"#),
        row(PhaseReset { phase }, r#"{"phase":"make-pki"}"#),
    ]
}

fn with_sum(line: &str) -> String {
    let digest = Sha256::digest(line.as_bytes());
    let sum: String = digest[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{},\"sum\":\"{sum}\"}}\n", &line[..line.len() - 1])
}

fn in_folder<T>(text: &str, look: impl FnOnce(&Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    fs_err::write(&path, text).unwrap();
    look(&path)
}

#[test]
fn every_kind_is_written_and_read_in_these_words() {
    let rows = rows();
    let kinds: BTreeSet<&str> = rows.iter().map(|(_, event, _)| event.kind()).collect();
    assert_eq!(
        kinds,
        Event::KINDS.iter().copied().collect::<BTreeSet<_>>(),
        "one row at least for each kind"
    );
    let entries: Vec<Entry> = rows.iter().map(|(entry, ..)| entry.clone()).collect();
    let written = in_folder("", |path| {
        Journal::open(path).unwrap().append(&entries).unwrap();
        fs_err::read_to_string(path).unwrap()
    });
    for ((line, (entry, event, body)), seq) in written.lines().zip(&rows).zip(1..) {
        assert_eq!(Event::of(&Record::numbered(seq, entry)).as_ref(), Some(event));
        assert!(
            line.starts_with(&format!(r#"{{"v":1,"seq":{seq},"time":"2026-11-15T06:00:00Z","kind":"#)),
            "{line}"
        );
        let mut found: Value = serde_json::from_str(line).unwrap();
        let expected = format!(r#"{{"v":1,"seq":{seq},"time":"2026-11-15T06:00:00Z",{body}}}"#);
        found.as_object_mut().unwrap().remove("sum");
        assert_eq!(found, serde_json::from_str::<Value>(&expected).unwrap());
    }
}

#[test]
fn a_journal_from_before_versions_is_read_and_written_on() {
    in_folder(BEFORE_VERSIONS, |path| {
        let records = read(path).unwrap();
        assert!(records.iter().all(|record| record.version == 0 && !record.continues));
        assert!(records.iter().all(|record| Event::of(record).is_some()), "every line says something");
        let before = History::read(path).unwrap();
        assert!(before.hosts.is_retired("bootstrap") && before.hosts.joined("master-0").is_some());
        assert_eq!(before.actions.iter().map(|owned| owned.action.as_str()).collect::<Vec<_>>(), ["network"]);
        let joined = row(NodeJoined { host: "master-1".into() }, "").0;
        Journal::open(path).unwrap().append(&[joined]).unwrap();
        let after = History::read(path).unwrap();
        assert!(after.hosts.joined("master-1").is_some() && after.actions == before.actions);
        assert_eq!(
            fs_err::read_to_string(path).unwrap().find(BEFORE_VERSIONS),
            Some(0),
            "not a byte is changed"
        );
    });
}

#[test]
fn a_newer_version_is_refused_with_its_line_and_nothing_is_written_behind_it() {
    let line =
        with_sum(r#"{"seq":1,"time":"2026-11-15T06:00:00Z","kind":"node-joined","body":{"host":"a"}}"#);
    for newer in [
        r#"{"v":2,"seq":2,"time":"2026-11-15T06:00:00Z","kind":"node-joined","body":{"host":"a"}}"#,
        // Of a shape that nobody knows yet.
        r#"{"v":2,"number":2,"facts":[]}"#,
    ] {
        let text = line.clone() + &with_sum(newer);
        in_folder(&text, |path| {
            for error in [read(path).unwrap_err(), Journal::open(path).unwrap_err()] {
                assert!(matches!(error, JournalError::Newer { line: 2, version: 2, .. }), "{error}");
                let said =
                    format!("line 2 has version 2, but this hardway reads journals up to version {VERSION}");
                assert!(error.to_string().contains(&said), "{error}");
                assert!(error.fix().contains("hardway that wrote it"));
            }
            assert_eq!(fs_err::read_to_string(path).unwrap(), text);
        });
    }
}
