//! What holds for every request and every world.

use hardway_cluster::csr_policy::{CsrVerdict, Examined, IgnitionEvidence, Request, is_sound};
use hardway_cluster::declared::HostIdentity;
use proptest::prelude::*;

use crate::csr::support::key::{GOOD, STRANGERS};
use crate::csr::support::pkcs10::{CN, O, dns, ip};
use crate::csr::support::request::{
    ADDRESS, BOOTSTRAPPER, BOOTSTRAPPER_GROUPS, Draft, HOST_GROUPS, NODE, ago,
};

fn base(which: usize) -> Draft {
    [Draft::first_client, Draft::client_renewal, Draft::serving][which]()
}

/// Whoever may ask for anything, with the groups that go with it.
fn anybody() -> impl Strategy<Value = (String, Vec<String>)> {
    let hosts = ["worker-0", "worker-1", "master-0", "worker-0.ocp4.example.com", "", "worker-0:1", "w"];
    let host = (prop::sample::select(hosts.to_vec()), "[+-]?0{0,2}[0-9]{0,10}");
    let identity =
        host.prop_map(|(host, number)| (format!("hardway:host:{host}:{number}"), HOST_GROUPS.to_vec()));
    let node = prop::sample::select(vec![NODE, "worker-1.ocp4.example.com", ""])
        .prop_map(|node| (format!("system:node:{node}"), vec!["system:nodes", "system:authenticated"]));
    let shared = Just((BOOTSTRAPPER.to_owned(), BOOTSTRAPPER_GROUPS.to_vec()));
    let token =
        Just(("system:bootstrap:abc123".to_owned(), vec!["system:bootstrappers", "system:authenticated"]));
    let other = "[a-z:]{0,30}".prop_map(|user| (user, HOST_GROUPS.to_vec()));
    prop_oneof![identity, node, shared, token, other]
        .prop_map(|(user, groups)| (user, groups.into_iter().map(str::to_owned).collect()))
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("system:nodes".to_owned()),
        Just("system:masters".to_owned()),
        Just("system:authenticated".to_owned()),
        Just("digital signature".to_owned()),
        Just("client auth".to_owned()),
        Just("server auth".to_owned()),
        Just("key encipherment".to_owned()),
        "[a-z:. ]{0,20}",
    ]
}

fn names() -> impl Strategy<Value = Vec<u8>> {
    let known = ["worker-0.ocp4.example.com", "master-0.ocp4.example.com", "api.ocp4.example.com", "*", "x"];
    let addresses = ["192.168.126.110", "192.168.126.111", "127.0.0.1", "172.30.0.1", "::1", "8.8.8.8"];
    prop_oneof![
        prop::sample::select(known.to_vec()).prop_map(dns),
        prop::sample::select(addresses.to_vec()).prop_map(ip),
        any::<[u8; 4]>().prop_map(|bytes| ip(&std::net::IpAddr::from(bytes).to_string())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Reading never panics and noise is never approved.
    #[test]
    fn noise_is_never_approved(bytes in prop::collection::vec(any::<u8>(), 0..600), which in 0usize..3) {
        let draft = base(which);
        let decision = draft.judge(&Examined::new(Request { pem: bytes, ..draft.request.clone() }));
        prop_assert_ne!(decision.verdict(), CsrVerdict::Approve);
    }

    /// Whatever groups, usages and user names there are: an approved request has exactly the right ones.
    #[test]
    fn only_exact_groups_and_usages_are_approved(
        groups in prop::collection::vec(words(), 0..4),
        usages in prop::collection::vec(words(), 0..4),
        which in 0usize..3,
    ) {
        let mut draft = base(which);
        draft.request.groups = groups.clone();
        draft.request.usages = usages.clone();
        if draft.decide(&GOOD[0].1).verdict() == CsrVerdict::Approve {
            prop_assert!(!groups.iter().any(|group| group == "system:masters"));
            let purpose = if which == 2 { "server auth" } else { "client auth" };
            prop_assert!(usages.iter().all(|usage| [purpose, "digital signature", "key encipherment"].contains(&usage.as_str())));
            prop_assert!(usages.iter().any(|usage| usage == purpose));
        }
    }

    /// A host with an identity of its own is let in with that one, of its current generation, whatever else may be set,
    /// known or permitted.
    #[test]
    fn only_the_hosts_own_identity_is_let_in(
        (user, groups) in anybody(),
        generation in 1u32..4,
        since in prop::option::of(0i64..100_000),
        in_place: bool,
        tokens: bool,
        rejoin: bool,
        evidence in prop::sample::select(vec![IgnitionEvidence::Required, IgnitionEvidence::IfServed, IgnitionEvidence::Ignored]),
    ) {
        let mut draft = Draft::first_client();
        let current = format!("hardway:host:worker-0:{generation}");
        draft.own().identity = Some(HostIdentity { user: current.clone(), since: since.map(ago), in_place });
        draft.settings.bootstrap_tokens = tokens;
        draft.settings.ignition = evidence;
        if rejoin {
            draft.settings.rejoin.insert(NODE.into(), ago(1_000));
        }
        draft.request.username = user.clone();
        draft.request.groups = groups;
        let is_approved = draft.decide(&GOOD[0].1).verdict() == CsrVerdict::Approve;
        prop_assert!(!is_approved || user == current);
        // A later generation needs more: a node that is there, or a config fetched since.
        if since.is_none() && !in_place {
            prop_assert_eq!(is_approved, user == current);
        }
        // And nobody else's request holds the host up: it is no rival.
        let examined = draft.examined(&STRANGERS);
        prop_assert_eq!(is_sound(&examined, &draft.declared, &draft.settings), user == current || user == format!("system:node:{NODE}"));
    }

    /// An approved serving certificate is for this node's name and addresses only; a client's for none.
    #[test]
    fn only_own_names_are_approved(list in prop::collection::vec(names(), 0..5), which in 0usize..3) {
        let mut draft = base(which);
        draft.pkcs10.names = list.clone();
        let own = [dns(NODE), ip(ADDRESS)];
        let right = if which == 2 { !list.is_empty() && list.iter().all(|name| own.contains(name)) } else { list.is_empty() };
        prop_assert_eq!(draft.decide(&GOOD[0].1).verdict() == CsrVerdict::Approve, right);
    }

    /// Any other subject is refused.
    #[test]
    fn only_the_nodes_subject_is_approved(group in words(), name in "(system:node:)?[a-z0-9.-]{0,30}", which in 0usize..3) {
        let mut draft = base(which);
        draft.pkcs10.subject = vec![(O, group.clone()), (CN, name.clone())];
        let right = group == "system:nodes" && name == format!("system:node:{NODE}");
        prop_assert_eq!(draft.decide(&GOOD[0].1).verdict() == CsrVerdict::Approve, right);
    }

    /// The same world gives the same decision, and time alone never turns a refusal of its shape into an approval.
    #[test]
    fn time_excuses_nothing(age in -100_000i64..100_000, which in 0usize..3) {
        let mut draft = base(which);
        draft.request.created = ago(age);
        prop_assert_eq!(draft.decide(&GOOD[0].1), draft.decide(&GOOD[0].1));
        let approved = draft.decide(&GOOD[0].1).verdict() == CsrVerdict::Approve;
        prop_assert!(!approved || (-60..=960).contains(&age));
        draft.request.groups.push("system:masters".into());
        prop_assert_ne!(draft.decide(&GOOD[0].1).verdict(), CsrVerdict::Approve);
    }
}

/// One bit of a good request is changed, each in turn: either it cannot be read, or its signature no longer fits.
#[test]
fn a_flipped_bit_is_never_approved() {
    for (kind, key) in [&GOOD[0], &GOOD[3]] {
        for which in 0..3 {
            let draft = base(which);
            let good = draft.examined(key);
            let text = std::str::from_utf8(&good.request.pem).unwrap();
            let der = hardway_base::pem::decode(text).unwrap().remove(0).der;
            for bit in 0..der.len() * 8 {
                let mut changed = der.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                let pem = hardway_base::pem::encode("CERTIFICATE REQUEST", &changed).into_bytes();
                let decision = draft.judge(&Examined::new(Request { pem, ..draft.request.clone() }));
                assert_ne!(decision.verdict(), CsrVerdict::Approve, "{kind}: bit {bit} of {der:02x?}");
            }
        }
    }
}
