//! What came through the balancer, judged.

use hardway_assets::{pem, pki};

use super::balancer_seen::{BalancerSeen, PortSeen};
use super::reached::Reached;
use crate::preflight::check_result::Judged;

/// The worst of a service's addresses.
pub(super) fn judge(seen: &BalancerSeen, service: &str) -> Judged {
    let ports = seen.ports.iter().filter(|port| port.name == service);
    let judged = ports.map(|port| judge_port(port, seen.is_ours));
    judged
        .max_by_key(|judged| judged.verdict)
        .unwrap_or_else(|| Judged::not_applicable("the inventory names no address for it"))
}

fn judge_port(port: &PortSeen, is_ours: bool) -> Judged {
    if let Some(host) = port.is_of_host.as_ref().filter(|_| port.members == 1) {
        return Judged::not_applicable(format!(
            "{} is {host}'s own address: there is no balancer",
            port.at.ip()
        ));
    }
    if port.stand_ins.is_empty() { without_stand_ins(port, is_ours) } else { with_stand_ins(port) }
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
        "let the balancer pass TCP port {} through to all members, unchanged, and check their health as `hardway explain balancer-{}` says",
        at.port(),
        port.name
    );
    match &port.reached {
        Reached::Answered { .. } if port.has_our_words && port.has_our_certificate != Some(false) => {
            Judged::passed(format!("{at} passes through to {who}"))
        }
        Reached::Answered { certificate: Some(certificate), .. } if port.has_our_words => Judged::refused(
            format!("{at} passes through to {who}, but ends TLS on the way: it shows {}", shown(certificate)),
            fix,
        ),
        Reached::Answered { .. } if port.stand_ins.len() < port.members => {
            Judged::passed(format!("{at} passes through to a member that runs already"))
        }
        Reached::Answered { .. } => {
            Judged::refused(format!("{at} is answered by somebody else than {who}"), fix)
        }
        other => {
            Judged::refused(format!("{at}: {who} is well, but does not come through: {}", words(other)), fix)
        }
    }
}

/// No member can be asked for: all that can be seen is whether somebody takes connections.
fn without_stand_ins(port: &PortSeen, is_ours: bool) -> Judged {
    let at = port.at;
    let seen = format!("{at}: {}", words(&port.reached));
    let fix = format!("let the balancer have {} and listen at TCP port {}", at.ip(), at.port());
    match &port.reached {
        Reached::Answered { .. } => Judged::passed(format!("{at} answers")),
        Reached::Closed(_) => Judged::passed(format!("{at} takes connections; no member is there yet")),
        _ if is_ours && !port.is_here => Judged::not_applicable(format!(
            "{} is not on this host yet: build-infra brings the balancer",
            at.ip()
        )),
        Reached::Nobody(_) => Judged::refused(seen, fix),
        Reached::Refused | Reached::Silent if is_ours => Judged::refused(seen, fix),
        // Some balancers let go of a port while no member is well.
        Reached::Refused | Reached::Silent => Judged::warned(vec![seen], fix),
    }
}

fn words(reached: &Reached) -> String {
    match reached {
        Reached::Answered { .. } => "answered".to_owned(),
        Reached::Closed(how) => how.clone(),
        Reached::Nobody(why) => format!("cannot be reached ({why})"),
        Reached::Refused => "connection refused".to_owned(),
        Reached::Silent => "no answer to a connection".to_owned(),
    }
}

fn shown(certificate: &[u8]) -> String {
    let facts = pki::inspect(&pem::encode("CERTIFICATE", certificate))
        .ok()
        .and_then(|facts| facts.into_iter().next());
    facts.map_or_else(
        || "a certificate that cannot be read".to_owned(),
        |facts| format!("the certificate of {}", facts.subject),
    )
}

#[cfg(test)]
mod tests {
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
            reached: Reached::Answered { certificate: Some(vec![1]), text: "ours".to_owned() },
            has_our_words: true,
            has_our_certificate: Some(true),
        }
    }

    fn judged(port: PortSeen, is_ours: bool) -> Judged {
        judge(&BalancerSeen { ports: vec![port], is_ours }, "api")
    }

    #[test]
    fn what_a_stand_in_says_must_come_through() {
        assert_eq!(judged(port(), false).verdict, Verdict::Passed);
        let ended = judged(PortSeen { has_our_certificate: Some(false), ..port() }, false);
        assert!(
            ended.verdict == Verdict::Failed && ended.seen[0].contains("ends TLS on the way"),
            "{ended:?}"
        );
        let lost = judged(PortSeen { reached: Reached::Refused, has_our_words: false, ..port() }, false);
        assert_eq!(
            lost.seen,
            [
                "192.168.126.10:6443: master-0 (192.168.126.101) is well, but does not come through: connection refused"
            ]
        );
        let other = PortSeen { has_our_words: false, ..port() };
        assert_eq!(judged(other.clone(), false).verdict, Verdict::Failed);
        assert_eq!(judged(PortSeen { members: 4, ..other }, false).verdict, Verdict::Passed);
    }

    #[test]
    fn without_a_member_a_port_that_takes_connections_will_do() {
        let reached = |reached: Reached| PortSeen { stand_ins: Vec::new(), members: 4, reached, ..port() };
        let verdict = |how: Reached, is_ours| judged(reached(how), is_ours).verdict;
        assert_eq!(verdict(Reached::Closed("closed".to_owned()), false), Verdict::Passed);
        assert_eq!(verdict(Reached::Refused, false), Verdict::Warned);
        assert_eq!(verdict(Reached::Nobody("no route to host".to_owned()), false), Verdict::Failed);
        assert_eq!(verdict(Reached::Refused, true), Verdict::NotApplicable);
        let here = PortSeen { is_here: true, ..reached(Reached::Refused) };
        assert_eq!(judged(here, true).seen, ["192.168.126.10:6443: connection refused"]);
    }

    #[test]
    fn the_only_node_needs_no_balancer() {
        let own = PortSeen { is_of_host: Some("master-0".to_owned()), ..port() };
        assert_eq!(judged(own, true).verdict, Verdict::NotApplicable);
    }
}
