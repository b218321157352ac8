//! The certificate `ovn-control-plane-metrics-cert`, without which the network of a hosted cluster does not start.
//!
//! Facts: openshift/hypershift `control-plane-operator/controllers/hostedcontrolplane/pki/ovn_control_plane_metrics.go`, openshift/
//! cluster-network-operator `bindata/network/ovn-kubernetes/managed/ovnkube-control-plane.yaml`. The control-plane-operator makes it, unless a
//! Service is marked for OpenShift's service-ca; where the management cluster has none, nobody makes it.

mod certificate;

use jiff::{SignedDuration, Timestamp};

pub use certificate::OvnError;

/// The Secret.
pub const SECRET: &str = "ovn-control-plane-metrics-cert";
/// On a Secret that hardway made: only such a one is made anew before it ends.
pub const MADE_BY: &str = "hardway.dev/made-by";
/// On the Service: whom it waits for.
pub const SERVING_CERT: [&str; 2] = [
    "service.beta.openshift.io/serving-cert-secret-name",
    "service.alpha.openshift.io/serving-cert-secret-name",
];
/// The control-plane-operator makes a certificate anew when less than this is left.
const RENEWAL: SignedDuration = SignedDuration::from_hours(30 * 24);

/// What bears on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OvnFacts {
    /// Deployment `ovnkube-control-plane` is there.
    pub has_deployment: bool,
    /// An event says that its pod cannot mount the Secret.
    pub failed_mount: Option<String>,
    /// The Secret is there.
    pub has_secret: bool,
    /// hardway made it, and it ends then.
    pub ours_until: Option<Timestamp>,
    /// Service `ovn-kubernetes-control-plane` waits for the service-ca.
    pub is_marked: bool,
    /// The management cluster has a service-ca.
    pub has_service_ca: bool,
    /// The HostedCluster is paused.
    pub is_paused: bool,
    /// The HostedCluster says that certificates are not to be made.
    pub is_pki_disabled: bool,
}

/// What to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OvnVerdict {
    /// It is there.
    Fine,
    /// Nobody needs it yet.
    NotNeeded,
    /// Somebody else makes it, once this is out of the way.
    Wait(String),
    /// Nobody else will.
    Make(String),
    /// It is hardway's own, and ends soon.
    Renew(String),
}

/// Judges.
pub fn judge(facts: &OvnFacts, now: Timestamp) -> OvnVerdict {
    if facts.has_secret {
        let ends_soon = facts.ours_until.filter(|until| until.duration_since(now) < RENEWAL);
        return ends_soon.map_or(OvnVerdict::Fine, |until| {
            OvnVerdict::Renew(format!("Secret {SECRET}, created by hardway, expires at {until}"))
        });
    }
    if !facts.has_deployment {
        return OvnVerdict::NotNeeded;
    }
    let mount = match &facts.failed_mount {
        Some(event) => format!("ovnkube-control-plane waits for Secret {SECRET}: {event}"),
        None => {
            return OvnVerdict::Wait(format!(
                "Secret {SECRET} does not exist yet; no pod has reported it missing so far"
            ));
        }
    };
    if facts.is_paused {
        return OvnVerdict::Wait(format!(
            "{mount}; the HostedCluster is paused, so the control-plane-operator does not create it"
        ));
    }
    if facts.is_marked && facts.has_service_ca {
        return OvnVerdict::Wait(format!("{mount}; the service-ca of the management cluster creates it"));
    }
    if facts.is_marked {
        return OvnVerdict::Make(format!(
            "{mount}; its Service is annotated for a service-ca, but this management cluster has none"
        ));
    }
    if facts.is_pki_disabled {
        return OvnVerdict::Make(format!(
            "{mount}; the annotation disable-pki-reconciliation prevents the control-plane-operator from creating it"
        ));
    }
    OvnVerdict::Wait(format!(
        "{mount}; the control-plane-operator creates it after all other certificates: check its log"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_made_only_where_nobody_else_will() {
        let now: Timestamp = "2026-11-15T00:00:00Z".parse().unwrap();
        let waiting = OvnFacts {
            has_deployment: true,
            failed_mount: Some("FailedMount".into()),
            ..OvnFacts::default()
        };
        let word = |facts: OvnFacts| match judge(&facts, now) {
            OvnVerdict::Fine => "fine",
            OvnVerdict::NotNeeded => "not needed",
            OvnVerdict::Wait(_) => "wait",
            OvnVerdict::Make(_) => "make",
            OvnVerdict::Renew(_) => "renew",
        };
        let marked = OvnFacts { is_marked: true, ..waiting.clone() };
        assert_eq!(word(OvnFacts::default()), "not needed");
        assert_eq!(
            word(OvnFacts { failed_mount: None, ..marked.clone() }),
            "wait",
            "no pod has reported it missing"
        );
        assert_eq!(word(waiting.clone()), "wait", "the operator will");
        assert_eq!(word(marked.clone()), "make");
        assert_eq!(word(OvnFacts { has_service_ca: true, ..marked.clone() }), "wait");
        assert_eq!(word(OvnFacts { is_paused: true, ..marked.clone() }), "wait");
        assert_eq!(word(OvnFacts { is_pki_disabled: true, ..waiting }), "make");
        assert_eq!(word(OvnFacts { has_secret: true, ..marked.clone() }), "fine", "never written over");
        let until = |days: i64| OvnFacts {
            has_secret: true,
            ours_until: Some(now + SignedDuration::from_hours(24 * days)),
            ..marked.clone()
        };
        assert_eq!((word(until(31)), word(until(29))), ("fine", "renew"));
    }
}
