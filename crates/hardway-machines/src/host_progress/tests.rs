use hardway_journal::{
    ActionUndone, Appended, CsrDecided, CsrVerdict, Entry, Face, Fact, HostSeen, IgnitionRedeemed,
    InstallBegun, Journal, MachineGone, MediumRead, NodeJoined, NodeSeen, Reason, Record, Sight,
};
use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::providers::Installs;

fn hosts(installs: Installs) -> Vec<TrackedHost> {
    let tracked = |host: &str| TrackedHost {
        host: host.to_owned(),
        node: format!("{host}.ocp4.example.com"),
        installs,
    };
    vec![tracked("master-0"), tracked("master-1")]
}

fn at(minute: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minute)
}

fn entry<F: Fact>(minute: i64, fact: &F) -> Entry {
    Entry::of(at(minute), fact)
}

fn seen(minute: i64, sight: Sight) -> Entry {
    entry(minute, &HostSeen { host: "master-0".to_owned(), sight, by: "bmc".to_owned() })
}

fn redeemed(minute: i64) -> Entry {
    let (host, digest, face) = ("master-0".to_owned(), "g".to_owned(), Face::Host);
    entry(minute, &IgnitionRedeemed { host, digest, source: [10, 0, 0, 7].into(), face })
}

fn begun(minute: i64) -> Entry {
    entry(minute, &InstallBegun { host: "master-0".to_owned(), source: [10, 0, 0, 7].into() })
}

fn asked(minute: i64, verdict: CsrVerdict) -> Entry {
    let decided = CsrDecided {
        request: "csr-1".to_owned(),
        uid: "1".to_owned(),
        node: "master-0.ocp4.example.com".to_owned(),
        signer: "kubernetes.io/kube-apiserver-client-kubelet".to_owned(),
        key_id: "k".to_owned(),
        username: String::new(),
        verdict,
        reason: Reason::new("newer-than-this-hardway"),
        evidence: vec!["no token was shown".to_owned()],
        more: 0,
    };
    entry(minute, &decided)
}

fn joined(minute: i64) -> Entry {
    entry(minute, &NodeJoined { host: "master-0".to_owned() })
}

/// Through a real journal: the bodies are read as they were written.
fn records(entries: &[Entry]) -> Vec<Record> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    Journal::open(&path).unwrap().append(entries).unwrap();
    hardway_journal::read(&path).unwrap()
}

fn state(entries: &[Entry], installs: Installs) -> HostReport {
    let states = fold(&records(entries), &hosts(installs));
    assert_eq!(states[1].progress, HostProgress::Off, "nobody else moves");
    assert_eq!(states[1].heard, None);
    states.into_iter().next().unwrap()
}

#[test]
fn what_is_seen_from_outside_counts_until_the_machine_speaks_for_itself() {
    let entries = [
        seen(1, Sight::On),
        seen(2, Sight::Live),
        seen(3, Sight::Writing { megabytes: 900 }),
        seen(4, Sight::OsWritten),
        seen(5, Sight::Rebooted),
        redeemed(6),
    ];
    let after = |count: usize| state(&entries[..count], Installs::FromMedia);
    assert!(after(2).sentence.contains("from its medium") && !after(2).is_news(Sight::Live));
    assert!(after(3).sentence.contains("900 MB"), "{}", after(3).sentence);
    assert_eq!(
        (after(3).progress, after(3).since, after(3).heard),
        (HostProgress::On, Some(at(1)), Some(at(3)))
    );
    assert_eq!((after(4).progress, after(4).has_config), (HostProgress::OsWritten, false));
    assert!(!after(4).is_news(Sight::Writing { megabytes: 901 }) && !after(4).is_news(Sight::Live));
    assert_eq!(
        (after(5).progress, after(5).has_config),
        (HostProgress::Rebooted, false),
        "only its token says who it is"
    );
    assert_eq!(
        (after(6).progress, after(6).since, after(6).has_config),
        (HostProgress::Rebooted, Some(at(5)), true)
    );
}

#[test]
fn every_step_of_a_machine_that_is_installed_from_media() {
    let steps = [
        (seen(1, Sight::Off), HostProgress::Off),
        (seen(2, Sight::On), HostProgress::On),
        (begun(5), HostProgress::Seen),
        (seen(9, Sight::OsWritten), HostProgress::OsWritten),
        (redeemed(12), HostProgress::Rebooted),
        (asked(20, CsrVerdict::Approve), HostProgress::KubeletUp),
        (joined(21), HostProgress::Joined),
    ];
    for n in 1..=steps.len() {
        let entries: Vec<Entry> = steps[..n].iter().map(|(entry, _)| entry.clone()).collect();
        let found = state(&entries, Installs::FromMedia);
        assert_eq!(
            (found.progress, found.since),
            (steps[n - 1].1, Some(entries[n - 1].time)),
            "{}",
            found.sentence
        );
    }
}

#[test]
fn what_a_fetch_proves_depends_on_how_the_disk_is_written() {
    let media = state(&[redeemed(3)], Installs::FromMedia);
    assert_eq!(media.progress, HostProgress::Rebooted);
    assert!(
        media.sentence.contains("10.0.0.7") && media.sentence.contains("the OS is written"),
        "{}",
        media.sentence
    );
    let image = state(&[redeemed(3)], Installs::FromImage);
    assert_eq!(image.progress, HostProgress::Seen);
    assert_eq!(image.is_on, Some(true), "who fetches has power");
}

#[test]
fn since_is_when_it_was_first_so_and_heard_when_it_was_last_seen() {
    let found = state(&[redeemed(3), redeemed(8), seen(9, Sight::On)], Installs::FromMedia);
    assert_eq!((found.since, found.heard), (Some(at(3)), Some(at(9))));
}

#[test]
fn a_machine_that_goes_off_keeps_what_is_on_its_disk() {
    let found = state(&[seen(1, Sight::On), seen(2, Sight::Off)], Installs::FromMedia);
    assert_eq!((found.progress, found.since), (HostProgress::Off, Some(at(2))));
    let found = state(&[redeemed(1), seen(2, Sight::Off)], Installs::FromMedia);
    assert_eq!((found.progress, found.is_on), (HostProgress::Rebooted, Some(false)));
    let stalled = stall(&found, at(0), at(60), PATIENCE).unwrap();
    assert!(stalled.look_at[0].starts_with("it is off"), "{stalled:?}");
}

#[test]
fn a_new_installation_and_a_machine_taken_away_begin_anew() {
    let found = state(&[redeemed(1), joined(2), begun(30)], Installs::FromMedia);
    assert_eq!((found.progress, found.since), (HostProgress::Seen, Some(at(30))));
    let undone = entry(30, &ActionUndone { action: "machine/master-0/disk".to_owned() });
    let found = state(&[redeemed(1), joined(2), undone], Installs::FromImage);
    assert_eq!((found.progress, found.is_on), (HostProgress::Off, None));
    let gone = entry(30, &MachineGone { host: "master-0".to_owned() });
    let found = state(&[redeemed(1), joined(2), gone], Installs::FromImage);
    assert_eq!((found.progress, found.is_on), (HostProgress::Off, None));
    let other = entry(30, &ActionUndone { action: "machine/master-01/disk".to_owned() });
    assert_eq!(state(&[joined(2), other], Installs::FromImage).progress, HostProgress::Joined);
}

#[test]
fn a_request_that_was_not_approved_proves_nothing_but_explains_the_silence() {
    let found = state(&[redeemed(1), asked(5, CsrVerdict::Hold)], Installs::FromMedia);
    assert_eq!((found.progress, found.heard), (HostProgress::Rebooted, Some(at(1))));
    let stalled = stall(&found, at(0), at(60), PATIENCE).unwrap();
    assert!(stalled.look_at[0].contains("no token was shown"), "{stalled:?}");
    let found =
        state(&[redeemed(1), asked(5, CsrVerdict::Hold), asked(6, CsrVerdict::Approve)], Installs::FromMedia);
    assert_eq!(found.progress, HostProgress::KubeletUp);
    assert!(stall(&found, at(0), at(60), PATIENCE).unwrap().look_at[0].contains("second certificate"));
}

#[test]
fn a_config_of_a_pool_or_a_hosted_worker_says_nothing_about_a_host() {
    let mut hosted = redeemed(1);
    hosted.body["face"] = "hosted".into();
    assert_eq!(state(&[hosted], Installs::FromImage).progress, HostProgress::Off);
}

#[test]
fn silence_counts_from_the_last_news_and_never_for_who_has_joined() {
    let found = state(&[redeemed(10)], Installs::FromMedia);
    assert_eq!(stall(&found, at(0), at(25), PATIENCE), None, "exactly as long is not longer");
    assert_eq!(stall(&found, at(0), at(26), PATIENCE).unwrap().minutes, 16);
    assert_eq!(stall(&found, at(20), at(26), PATIENCE), None, "waited for since then only");
    let unheard = state(&[], Installs::FromMedia);
    assert_eq!(stall(&unheard, at(0), at(16), PATIENCE).unwrap().minutes, 16);
    let done = state(&[joined(1)], Installs::FromMedia);
    assert_eq!(stall(&done, at(0), at(999), PATIENCE), None);
}

#[test]
fn every_state_says_what_to_look_at() {
    for installs in [Installs::FromImage, Installs::FromMedia] {
        for entry in [
            seen(1, Sight::Off),
            seen(1, Sight::On),
            redeemed(1),
            seen(1, Sight::OsWritten),
            asked(1, CsrVerdict::Approve),
        ] {
            let found = state(&[entry], installs);
            assert!(!stall(&found, at(0), at(60), PATIENCE).unwrap().look_at.is_empty(), "{found:?}");
        }
    }
}

#[test]
fn only_changes_are_worth_a_line() {
    let found = state(&[seen(1, Sight::On)], Installs::FromMedia);
    assert!(!found.is_news(Sight::On) && found.is_news(Sight::Off) && found.is_news(Sight::OsWritten));
    let found = state(&[redeemed(1)], Installs::FromMedia);
    assert!(!found.is_news(Sight::OsWritten) && !found.is_news(Sight::On));
    assert!(found.is_news(Sight::KubeletUp));
}

#[test]
fn a_medium_that_is_read_is_news_but_no_progress() {
    let read = |minute| {
        entry(minute, &MediumRead { host: "master-0".to_owned(), source: [10, 0, 1, 7].into(), more: 0 })
    };
    let found = state(&[seen(1, Sight::On), read(9)], Installs::FromMedia);
    assert_eq!((found.progress, found.since, found.heard), (HostProgress::On, Some(at(1)), Some(at(9))));
    assert!(found.sentence.contains("10.0.1.7"), "{}", found.sentence);
    let found = state(&[redeemed(5), read(9)], Installs::FromMedia);
    assert!(found.sentence.contains("started from its disk"), "{}", found.sentence);
}

#[test]
fn reading_bit_by_bit_tells_the_same_as_reading_all() {
    let entries = [seen(1, Sight::On), begun(2), redeemed(3), asked(4, CsrVerdict::Approve), joined(5)];
    let (records, hosts) = (records(&entries), hosts(Installs::FromMedia));
    let mut states = HostReports::new(&hosts);
    for n in 0..records.len() {
        states.read(&records[n..=n]);
        assert_eq!(states.states(), fold(&records[..=n], &hosts));
    }
    states.follow(&Appended { began_anew: true, records: records[..1].to_vec() });
    assert_eq!(states.states(), fold(&records[..1], &hosts));
}

#[test]
fn whether_its_node_is_ready_is_told_beside_how_far_it_is() {
    let ready = |minute: i64, is_ready: bool| {
        entry(minute, &NodeSeen { node: "master-0.ocp4.example.com".to_owned(), is_ready })
    };
    let entries = [joined(1), ready(2, false), ready(3, true), ready(4, false)];
    let after = |count: usize| state(&entries[..count], Installs::FromImage);
    assert_eq!([1, 2, 3, 4].map(|count| after(count).is_ready), [None, Some(false), Some(true), Some(false)]);
    let last = after(4);
    assert_eq!((last.progress, last.since, last.heard), (HostProgress::Joined, Some(at(1)), Some(at(4))));
    // A machine that is installed anew has said nothing yet.
    assert_eq!(state(&[joined(1), ready(2, true), begun(5)], Installs::FromMedia).is_ready, None);
}
