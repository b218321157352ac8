//! A good server, and one change to it at a time.

use std::net::IpAddr;
use std::time::Duration;

use hardway_assets::example;

use super::host_resolver::{HostLookup, Unresolved, judge_host};
use super::judgement::*;
use super::message::{DnsAnswer, Question};
use super::names_seen::{NamesSeen, WantedNames, searched_in};
use super::server_seen::ServerSeen;
use crate::preflight::Judged;
use crate::preflight::Verdict;

fn ip(n: u8) -> IpAddr {
    [192, 168, 126, n].into()
}

/// Everything is as declared.
fn good() -> NamesSeen {
    let mut cluster = example::cluster();
    cluster.inventory.release.image = "quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64".to_owned();
    let wanted = WantedNames::of(&cluster, &["lan.example".to_owned()]);
    let mut server = ServerSeen { address: ip(1), answers: [].into(), trouble: None };
    let known = |addresses: Vec<IpAddr>| DnsAnswer { addresses, ..DnsAnswer::default() };
    for name in wanted.names.names.iter().chain([&wanted.route]) {
        for address in &name.addresses {
            server.answers.insert(Question::address(&name.name, *address), known(name.addresses.clone()));
            let names = vec![name.name.clone()];
            server
                .answers
                .entry(Question::reverse(*address))
                .or_insert(DnsAnswer { names, ..DnsAnswer::default() });
        }
    }
    for nobody in &wanted.nobody {
        server
            .answers
            .insert(Question::address(&nobody.name, ip(0)), DnsAnswer { code: 3, ..DnsAnswer::default() });
    }
    server.answers.insert(Question::address("quay.io", ip(0)), known(vec![[192, 0, 2, 7].into()]));
    NamesSeen { wanted, servers: vec![server] }
}

type Judge = fn(&NamesSeen) -> Judged;

const JUDGES: [(&str, Judge); 6] = [
    ("server", judge_server),
    ("records", judge_records),
    ("apps", judge_apps),
    ("reverse", judge_reverse),
    ("search", judge_search),
    ("outside", judge_outside),
];

/// What is said of a changed server, by the one judge that does not let it pass.
fn only_complaint(change: impl FnOnce(&mut ServerSeen)) -> (String, Verdict, Vec<String>) {
    let mut seen = good();
    change(&mut seen.servers[0]);
    let judged = JUDGES.map(|(name, judge)| (name, judge(&seen)));
    let mut complaints: Vec<_> =
        judged.into_iter().filter(|(_, judged)| judged.verdict >= Verdict::Warned).collect();
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    let (name, judged) = complaints.remove(0);
    assert!(judged.fix.is_some());
    (name.to_owned(), judged.verdict, judged.seen)
}

#[test]
fn good_names_pass() {
    for (name, judge) in JUDGES {
        assert_eq!(judge(&good()).verdict, Verdict::Passed, "{name}: {:?}", judge(&good()));
    }
}

#[test]
fn a_lost_record_is_named() {
    let gone = |name: &str, n: u8| {
        let question = Question::address(name, ip(n));
        only_complaint(|server| {
            _ = server.answers.insert(question, DnsAnswer { code: 3, ..DnsAnswer::default() })
        })
    };
    let (check, verdict, seen) = gone("api-int.ocp4.example.com", 10);
    assert_eq!((check.as_str(), verdict), ("records", Verdict::Failed));
    assert_eq!(
        seen,
        [
            "api-int.ocp4.example.com A: 192.168.126.1 answers: no such name (NXDOMAIN); expected 192.168.126.10"
        ]
    );
    let (check, _, seen) = gone("hardway-check.apps.ocp4.example.com", 11);
    assert_eq!(check, "apps");
    assert!(seen[0].starts_with("*.apps.ocp4.example.com A: 192.168.126.1 answers:"), "{seen:?}");
    let (check, _, seen) = gone("quay.io", 0);
    assert_eq!((check.as_str(), seen[0].contains("quay.io: no such name")), ("outside", true), "{seen:?}");
}

#[test]
fn a_wrong_record_is_named() {
    let (check, _, seen) = only_complaint(|server| {
        let question = Question::address("master-1.ocp4.example.com", ip(102));
        server.answers.insert(question, DnsAnswer { addresses: vec![ip(101)], ..DnsAnswer::default() });
    });
    assert_eq!(check, "records");
    assert_eq!(
        seen,
        ["master-1.ocp4.example.com A: 192.168.126.1 answers 192.168.126.101, expected 192.168.126.102"]
    );
}

#[test]
fn a_host_called_by_an_alias_is_named() {
    let named = |names: &[&str], n: u8| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        only_complaint(|server| {
            server.answers.insert(Question::reverse(ip(n)), DnsAnswer { names, ..DnsAnswer::default() });
        })
    };
    let (check, verdict, seen) = named(&["etcd-0.ocp4.example.com", "master-0.ocp4.example.com"], 101);
    assert_eq!((check.as_str(), verdict), ("reverse", Verdict::Failed));
    assert_eq!(
        seen,
        [
            "192.168.126.101 PTR: 192.168.126.1 answers etcd-0.ocp4.example.com and master-0.ocp4.example.com, expected master-0.ocp4.example.com"
        ]
    );
    // The balancer's address may have no name: no machine asks for it.
    assert_eq!(named(&[], 10).1, Verdict::Warned);
}

#[test]
fn a_wildcard_in_a_search_domain_is_named() {
    let stray = |below: &str| {
        let question = Question::address(&format!("hardway-check-nobody.{below}"), ip(0));
        only_complaint(|server| {
            _ = server
                .answers
                .insert(question, DnsAnswer { addresses: vec![ip(11)], ..DnsAnswer::default() });
        })
    };
    for below in ["ocp4.example.com", "lan.example"] {
        let (check, verdict, seen) = stray(below);
        assert_eq!((check.as_str(), verdict), ("search", Verdict::Failed));
        assert!(seen[0].contains(&format!("a wildcard below {below} answers")), "{seen:?}");
    }
    assert_eq!(stray("example.com").1, Verdict::Warned);
}

#[test]
fn a_silent_server_is_told_once() {
    let (check, _, seen) = only_complaint(|server| {
        server.answers.clear();
        server.trouble = Some("Connection refused (os error 111)".to_owned());
    });
    assert_eq!(check, "server");
    assert_eq!(seen, ["192.168.126.1 does not answer: Connection refused (os error 111)"]);
}

#[test]
fn names_as_this_host_resolves_them() {
    let name = |name: &str, found: Result<Vec<IpAddr>, Unresolved>, is_needed_here| HostLookup {
        name: format!("{name}.ocp4.example.com"),
        expected: vec![ip(10)],
        found,
        is_needed_here,
    };
    let lost = || Err(Unresolved::Late(Duration::from_secs(1)));
    assert_eq!(judge_host(&[name("api", Ok(vec![ip(10)]), true)]).verdict, Verdict::Passed);
    assert_eq!(judge_host(&[name("api-int", lost(), false)]).verdict, Verdict::Warned);
    let lost = judge_host(&[name("api", lost(), true)]);
    assert!(
        lost.verdict == Verdict::Failed
            && lost.seen[0].starts_with("api.ocp4.example.com does not resolve here")
    );
    let other = judge_host(&[name("api-int", Ok(vec![ip(9)]), false)]);
    assert_eq!(other.seen, ["api-int.ocp4.example.com is 192.168.126.9 here, expected 192.168.126.10"]);
}

#[test]
fn the_last_search_line_counts() {
    let text = "nameserver 10.0.0.1\nsearch one.example\n# search two\nsearch a.example. b.example\n";
    assert_eq!(searched_in(text), ["a.example", "b.example"]);
    assert_eq!(searched_in("domain corp.example\n"), ["corp.example"]);
    assert_eq!(searched_in("search .\n"), [""; 0]);
}
