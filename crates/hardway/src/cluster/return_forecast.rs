//! Whether a cluster that is switched off comes back by itself: which certificates end meanwhile, and who renews them then.

use std::fmt::Write as _;

use hardway_cluster::certificates::{CertificatePlace, KnownCertificate};
use jiff::Timestamp;

/// What will have ended, and what that means.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ReturnForecast {
    /// The first to end, and when. Those of the folder do not count: no machine needs them once there is a cluster.
    pub(crate) first: Option<(String, Timestamp)>,
    /// Kubelets: they ask for new ones, and somebody has to approve that.
    pub(crate) kubelets: Vec<String>,
    /// Operators renew them, as soon as a control plane runs.
    pub(crate) by_operators: Vec<String>,
    /// Nobody renews them.
    pub(crate) by_nobody: Vec<String>,
}

impl ReturnForecast {
    /// Of what is known now, on that day; without a day, of what ends at all.
    pub(crate) fn of(known: &[KnownCertificate], now: Timestamp, until: Option<Timestamp>) -> Self {
        let mut forecast = Self::default();
        let of_cluster =
            known.iter().filter(|one| one.place != CertificatePlace::Folder && one.not_after > now);
        for one in of_cluster {
            if forecast.first.as_ref().is_none_or(|(_, end)| one.not_after < *end) {
                forecast.first = Some((one.name.clone(), one.not_after));
            }
            if until.is_none_or(|until| one.not_after > until) {
                continue;
            }
            match (one.place, &one.renewer) {
                (CertificatePlace::Node, _) => forecast.kubelets.push(one.name.clone()),
                (_, Some(_)) => forecast.by_operators.push(one.name.clone()),
                (_, None) => forecast.by_nobody.push(one.name.clone()),
            }
        }
        forecast
    }

    /// Whether nothing has to be done but to switch the machines on.
    pub(crate) fn is_by_itself(&self) -> bool {
        self.kubelets.is_empty() && self.by_nobody.is_empty()
    }

    /// For people.
    pub(crate) fn text(&self, until: Option<Timestamp>) -> String {
        let mut text = String::new();
        match &self.first {
            Some((name, end)) => _ = writeln!(text, "the first certificate to expire is {name}, at {end}"),
            None => text += "it is not known when the cluster's certificates expire\n",
        }
        let Some(until) = until else {
            text += "without --until there is no forecast for the day of its return\n";
            return text;
        };
        if self.is_by_itself() && self.first.is_some() {
            let _ = writeln!(text, "on {until} it comes back by itself once its machines are on");
        }
        if !self.kubelets.is_empty() {
            let _ = writeln!(
                text,
                "by {until} kubelet certificates will have expired ({}): the cluster does not come back by itself, only with `hardway power on`, \
                 which approves new ones by policy",
                self.kubelets.join(", ")
            );
        }
        if !self.by_operators.is_empty() {
            let _ = writeln!(
                text,
                "{} certificates of the control plane will have expired: their operators renew them when it runs again",
                self.by_operators.len()
            );
        }
        if !self.by_nobody.is_empty() {
            let _ = writeln!(
                text,
                "nobody renews these, and they will have expired: {}",
                self.by_nobody.join(", ")
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(place: CertificatePlace, name: &str, renewer: Option<&str>, end: &str) -> KnownCertificate {
        KnownCertificate {
            place,
            name: name.to_owned(),
            signer: None,
            renewer: renewer.map(str::to_owned),
            not_before: None,
            not_after: end.parse().unwrap(),
        }
    }

    #[test]
    fn who_renews_decides_whether_it_comes_back_by_itself() {
        let now: Timestamp = "2026-11-15T00:00:00Z".parse().unwrap();
        let all = [
            known(CertificatePlace::Folder, "pki/old.crt", None, "2026-11-16T00:00:00Z"),
            known(CertificatePlace::Cluster, "a/etcd", Some("Etcd"), "2026-12-01T00:00:00Z"),
            known(CertificatePlace::Node, "m-0 kubelet client", Some("its kubelet"), "2026-12-15T00:00:00Z"),
            known(CertificatePlace::Cluster, "a/own", None, "2027-01-15T00:00:00Z"),
        ];
        let on = |day: &str| ReturnForecast::of(&all, now, Some(day.parse().unwrap()));
        assert!(on("2026-11-20T00:00:00Z").is_by_itself());
        let soon = on("2026-12-10T00:00:00Z");
        assert!(soon.is_by_itself() && soon.by_operators == ["a/etcd"], "{soon:?}");
        assert_eq!(soon.first.as_ref().unwrap().0, "a/etcd");
        let late = on("2027-02-01T00:00:00Z");
        assert!(!late.is_by_itself(), "{late:?}");
        assert_eq!((late.kubelets.len(), late.by_nobody.len()), (1, 1));
        let said = late.text(Some("2027-02-01T00:00:00Z".parse().unwrap()));
        assert!(said.contains("with `hardway power on`") && said.contains("nobody renews these"), "{said}");
    }
}
