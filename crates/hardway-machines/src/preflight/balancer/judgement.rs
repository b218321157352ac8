//! What came through the balancer, judged.

use super::balancer_seen::{BalancerSeen, Bringer, PortSeen};
use crate::check::{Reachability, is_for, shown};
use crate::preflight::Judged;

/// The worst of a service's addresses.
pub(super) fn judge(seen: &BalancerSeen, service: &str) -> Judged {
    let ports = seen.ports.iter().filter(|port| port.name == service);
    let judged = ports.map(|port| judge_port(port, seen.bringer));
    judged
        .max_by_key(|judged| judged.verdict)
        .unwrap_or_else(|| Judged::not_applicable("the inventory has no address for it"))
}

fn judge_port(port: &PortSeen, bringer: Bringer) -> Judged {
    if let Some(host) = port.is_of_host.as_ref().filter(|_| port.members == 1) {
        return Judged::not_applicable(format!(
            "{} is {host}'s own address: there is no load balancer",
            port.at.ip()
        ));
    }
    if port.stand_ins.is_empty() { without_stand_ins(port, bringer) } else { with_stand_ins(port) }
}

/// A member is well, and known to be: its answer must come.
fn with_stand_ins(port: &PortSeen) -> Judged {
    let at = port.at;
    let who = port
        .stand_ins
        .iter()
        .map(|(name, address)| format!("{name} ({address})"))
        .collect::<Vec<_>>()
        .join(", ");
    let fix = format!(
        "configure the load balancer to pass TCP port {} through to all members unchanged, with the health check described in \
         `hardway explain balancer-{}`",
        at.port(),
        port.name
    );
    match &port.reached {
        Reachability::Answered { .. } if port.has_our_words && port.has_our_certificate != Some(false) => {
            Judged::passed(format!("{at} passes through to {who}"))
        }
        Reachability::Answered { certificate: Some(certificate), .. } if port.has_our_words => {
            Judged::refused(
                format!("{at} passes through to {who}, but terminates TLS: it shows {}", shown(certificate)),
                fix,
            )
        }
        Reachability::Answered { certificate, .. } if port.stand_ins.len() < port.members => {
            if let Some(stranger) = stranger(certificate.as_deref(), &port.names) {
                return Judged::refused(format!("{at} {stranger}"), fix);
            }
            Judged::passed(format!("{at} passes through to a running member"))
        }
        Reachability::Answered { .. } => {
            Judged::refused(format!("{at} is answered by another server than {who}"), fix)
        }
        other => {
            Judged::refused(format!("{at}: {who} is healthy, but cannot be reached through it: {other}"), fix)
        }
    }
}

/// What there is to say of a certificate that no member of this cluster would show.
fn stranger(certificate: Option<&[u8]>, names: &[String]) -> Option<String> {
    let certificate = certificate.filter(|certificate| !is_for(certificate, names))?;
    Some(format!(
        "is answered by another server: it shows {}, which is not for {}",
        shown(certificate),
        names[0]
    ))
}

/// No member can be asked for: all that can be seen is whether somebody takes connections.
fn without_stand_ins(port: &PortSeen, bringer: Bringer) -> Judged {
    let at = port.at;
    let to_come = || {
        Judged::not_applicable(format!(
            "{} does not exist yet: build-infra creates the load balancer",
            at.ip()
        ))
    };
    let seen = format!("{at}: {}", port.reached);
    let fix = format!(
        "give the load balancer the address {}, and have it listen on TCP port {}",
        at.ip(),
        at.port()
    );
    match &port.reached {
        // Whoever answers then is not ours.
        _ if bringer == Bringer::HardwayHere && !port.is_here => to_come(),
        Reachability::Answered { certificate, .. } => match stranger(certificate.as_deref(), &port.names) {
            Some(stranger) => Judged::refused(format!("{at} {stranger}"), fix),
            None => Judged::passed(seen),
        },
        Reachability::Closed(_) => {
            Judged::passed(format!("{at} accepts connections; there are no members yet"))
        }
        _ if bringer == Bringer::Hardway && !port.is_here => to_come(),
        Reachability::Nobody(_) => Judged::refused(seen, fix),
        // Some balancers let go of a port while no member is well.
        Reachability::Refused | Reachability::Silent if bringer == Bringer::SomebodyElse => {
            Judged::warned(vec![seen], fix)
        }
        Reachability::Refused | Reachability::Silent => Judged::refused(seen, fix),
    }
}

#[cfg(test)]
mod tests {
    use super::Bringer::{Hardway, HardwayHere, SomebodyElse};
    use super::*;
    use crate::preflight::Verdict;

    fn port() -> PortSeen {
        PortSeen {
            name: "api",
            at: "192.168.126.10:6443".parse().unwrap(),
            is_here: false,
            is_of_host: None,
            stand_ins: vec![("master-0".to_owned(), [192, 168, 126, 101].into())],
            members: 1,
            reached: Reachability::Answered { certificate: Some(vec![1]), text: "ours".to_owned() },
            has_our_words: true,
            has_our_certificate: Some(true),
            names: vec!["api.ocp4.example.com".to_owned()],
        }
    }

    /// Of somebody, for this name.
    fn certificate(name: &str) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let (certificate, _) =
            hardway_testing::self_signed_leaf(folder.path(), "some", &format!("DNS:{name}"));
        let text = fs_err::read_to_string(certificate).unwrap();
        hardway_base::pem::decode(&text).unwrap().remove(0).der
    }

    fn judged(port: PortSeen, bringer: Bringer) -> Judged {
        judge(&BalancerSeen { ports: vec![port], bringer }, "api")
    }

    #[test]
    fn what_a_stand_in_says_must_come_through() {
        assert_eq!(judged(port(), SomebodyElse).verdict, Verdict::Passed);
        let ended = judged(PortSeen { has_our_certificate: Some(false), ..port() }, SomebodyElse);
        assert!(ended.verdict == Verdict::Failed && ended.seen[0].contains("terminates TLS"), "{ended:?}");
        let lost =
            judged(PortSeen { reached: Reachability::Refused, has_our_words: false, ..port() }, SomebodyElse);
        assert_eq!(
            lost.seen,
            [
                "192.168.126.10:6443: master-0 (192.168.126.101) is healthy, but cannot be reached through it: connection refused"
            ]
        );
        let other = PortSeen { has_our_words: false, ..port() };
        assert_eq!(judged(other.clone(), SomebodyElse).verdict, Verdict::Failed);
        let member = |certificate| {
            let reached = Reachability::Answered { certificate: Some(certificate), text: String::new() };
            judged(PortSeen { members: 4, reached, ..other.clone() }, SomebodyElse)
        };
        assert_eq!(member(certificate("api.ocp4.example.com")).verdict, Verdict::Passed);
        let stranger = member(certificate("www.example.com"));
        assert_eq!(stranger.verdict, Verdict::Failed);
        assert!(stranger.seen[0].contains("which is not for api.ocp4.example.com"), "{stranger:?}");
    }

    #[test]
    fn without_a_member_a_port_that_takes_connections_will_do() {
        let reached =
            |reached: Reachability| PortSeen { stand_ins: Vec::new(), members: 4, reached, ..port() };
        let verdict = |how: Reachability, bringer| judged(reached(how), bringer).verdict;
        assert_eq!(verdict(Reachability::Closed("closed".to_owned()), SomebodyElse), Verdict::Passed);
        assert_eq!(verdict(Reachability::Refused, SomebodyElse), Verdict::Warned);
        assert_eq!(
            verdict(Reachability::Nobody("no route to host".to_owned()), SomebodyElse),
            Verdict::Failed
        );
        assert_eq!(verdict(Reachability::Refused, Hardway), Verdict::NotApplicable);
        let answered =
            || Reachability::Answered { certificate: None, text: "HTTP/1.1 403 Forbidden\r\n".to_owned() };
        let other = judged(reached(answered()), Hardway);
        assert_eq!(other.seen, ["192.168.126.10:6443: answers \"HTTP/1.1 403 Forbidden\""]);
        assert_eq!(verdict(answered(), HardwayHere), Verdict::NotApplicable);
        let by_name = |name: &str| Reachability::Answered {
            certificate: Some(certificate(name)),
            text: "HTTP/1.1 200 OK\r\n".to_owned(),
        };
        assert_eq!(verdict(by_name("api.ocp4.example.com"), SomebodyElse), Verdict::Passed);
        assert_eq!(verdict(by_name("www.example.com"), SomebodyElse), Verdict::Failed);
        let here = PortSeen { is_here: true, ..reached(Reachability::Refused) };
        assert_eq!(judged(here, Hardway).seen, ["192.168.126.10:6443: connection refused"]);
    }

    #[test]
    fn the_only_node_needs_no_balancer() {
        let own = PortSeen { is_of_host: Some("master-0".to_owned()), ..port() };
        assert_eq!(judged(own, Hardway).verdict, Verdict::NotApplicable);
    }
}
