//! Who waits for whom. A table, because the operators do not say it of themselves.
//!
//! From the order in which operators settle on platform none (docs/guide/16-await-operators.md) and from what their
//! conditions complain about when the one before them is missing.

/// What an operator cannot work without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Another operator, Available.
    Operator(&'static str),
    /// A master that has registered; it need not be Ready, since that is what the network brings.
    AnyMaster,
    /// Every declared master Ready.
    AllMasters,
    /// A Ready node that runs ordinary pods: a worker, or a master where no worker is declared.
    AnyWorker,
}

use Need::{AllMasters, AnyMaster, AnyWorker, Operator};

/// In the order in which they usually settle; needs in the order in which they are looked at.
const TABLE: &[(&str, &[Need])] = &[
    ("network", &[AnyMaster]),
    ("dns", &[Operator("network")]),
    ("service-ca", &[Operator("network")]),
    ("machine-config", &[AllMasters]),
    ("etcd", &[Operator("network"), AllMasters]),
    ("kube-apiserver", &[Operator("etcd")]),
    ("kube-controller-manager", &[Operator("kube-apiserver")]),
    ("kube-scheduler", &[Operator("kube-apiserver")]),
    ("openshift-apiserver", &[Operator("kube-apiserver"), Operator("network")]),
    ("openshift-controller-manager", &[Operator("openshift-apiserver")]),
    ("operator-lifecycle-manager-packageserver", &[Operator("operator-lifecycle-manager")]),
    ("openshift-samples", &[Operator("openshift-apiserver")]),
    ("marketplace", &[Operator("operator-lifecycle-manager")]),
    ("ingress", &[AnyWorker, Operator("dns"), Operator("service-ca")]),
    ("image-registry", &[AnyWorker, Operator("openshift-apiserver")]),
    ("authentication", &[Operator("ingress"), Operator("openshift-apiserver")]),
    ("console", &[Operator("authentication"), Operator("ingress")]),
    ("monitoring", &[AnyWorker, Operator("service-ca")]),
];

/// Every operator whose needs are known.
pub fn usual_operators() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(name, _)| *name)
}

/// What an operator usually waits for, in words. None for one that is not in the table.
pub fn usual_needs(operator: &str) -> Option<Vec<&'static str>> {
    let (_, needs) = TABLE.iter().find(|(name, _)| *name == operator)?;
    let words = needs.iter().map(|need| match *need {
        Operator(other) => other,
        AnyMaster => "a master that has joined",
        AllMasters => "every master to be Ready",
        AnyWorker => "a Ready node for ordinary pods",
    });
    Some(words.collect())
}

/// What an operator needs. One that is not in the table needs a pod network, as all pods do.
pub(super) fn needs(operator: &str) -> &'static [Need] {
    let row = TABLE.iter().find(|(name, _)| *name == operator);
    row.map_or(&[Operator("network")], |(_, needs)| *needs)
}

/// Where an operator stands in the usual order; what is not in the table comes last.
pub(super) fn rank(operator: &str) -> usize {
    TABLE.iter().position(|(name, _)| *name == operator).unwrap_or(TABLE.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_one_that_comes_later() {
        for (place, (name, needs)) in TABLE.iter().enumerate() {
            for need in *needs {
                if let Operator(other) = need {
                    let earlier = TABLE[..place].iter().any(|(before, _)| before == other);
                    let outside = TABLE.iter().all(|(row, _)| row != other);
                    assert!(earlier || outside, "{name} waits for {other}, which is not before it");
                }
            }
        }
    }
}
