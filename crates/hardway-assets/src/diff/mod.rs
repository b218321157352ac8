//! Comparing two working directories by meaning: ours, and one made by another tool such as openshift-install.
//!
//! Files are not compared as texts. Objects are found by name, certificates are read, Ignition configs are unpacked;
//! what is random or a date is masked, what is empty counts as absent, and secrets are never shown. Every difference
//! that hardway makes on purpose has a sentence in `reasons`.

mod certificates;
mod ignition;
mod kubeconfig;
mod masks;
mod meaning;
mod objects;
mod reader;
mod reason;
mod reasons;
mod report;
mod side;
#[cfg(test)]
mod tests;
mod walk;
mod workdir;

use std::collections::BTreeSet;

use serde::Serialize;

pub use report::report;

use self::meaning::{Fields, Meaning};
use self::reader::Reader;
use self::side::{Document, IGNITION_FILES, Side, manifest_name};
use crate::Tree;

/// One place where two working directories mean different things. At least one of the two sides has something to show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Where: `ConfigMap kube-system/cluster-config-v1: data.install-config: publish`, `certificate kubelet-client: EKU`,
    /// `bootstrap.ign /etc/motd: content`.
    pub place: String,
    /// What our side says, fit to be shown: secrets are hidden. `None` when it says nothing there.
    pub ours: Option<String>,
    /// What the other side says, in the same way.
    pub theirs: Option<String>,
    /// Why hardway differs on purpose. `None`: nobody has explained it, so it may be a mistake.
    pub reason: Option<&'static str>,
}

impl Difference {
    /// A difference nobody has looked at yet.
    fn new(place: impl Into<String>, ours: Option<String>, theirs: Option<String>) -> Self {
        Self { place: place.into(), ours, theirs, reason: None }
    }
}

/// Every difference in meaning between our working directory and another.
///
/// ```
/// use hardway_assets::{Tree, diff};
///
/// let (mut ours, mut theirs) = (Tree::default(), Tree::default());
/// let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata: {c: d}\n";
/// ours.insert("manifests/a.yaml", object);
/// theirs.insert("manifests/a.yaml", object);
/// assert!(diff::compare(&ours, &theirs).is_empty());
/// theirs.insert("manifests/a.yaml", object.replace("c: d", "c: e"));
/// assert_eq!(diff::compare(&ours, &theirs).len(), 1);
/// ```
pub fn compare(ours: &Tree, theirs: &Tree) -> Vec<Difference> {
    let (ours, theirs) = (Side::read(ours), Side::read(theirs));
    let mut found = Vec::new();
    workdir::compare(&ours, &theirs, &mut found);
    compare_objects(&ours, &theirs, &mut found);
    if ours.has_ignition() && theirs.has_ignition() {
        for name in IGNITION_FILES {
            compare_ignition(name, &ours, &theirs, &mut found);
        }
    }
    let mut differences: Vec<Difference> = Vec::new();
    for mut difference in found {
        difference.reason = reason::find(&difference);
        // A certificate or object that lies in several places is said once.
        if !differences.contains(&difference) {
            differences.push(difference);
        }
    }
    differences
}

/// Folders with folders, Ignition with Ignition; what openshift-install has eaten is found inside its Ignition config.
fn compare_objects(ours: &Side<'_>, theirs: &Side<'_>, found: &mut Vec<Difference>) {
    let pairs = [(&ours.in_folders, &theirs.in_folders), (&ours.in_ignition, &theirs.in_ignition)];
    let crosswise = [(&ours.in_folders, &theirs.in_ignition), (&ours.in_ignition, &theirs.in_folders)];
    let comparable =
        |(ours, theirs): &(&Vec<Document>, &Vec<Document>)| !ours.is_empty() && !theirs.is_empty();
    let is_crosswise = !pairs.iter().any(comparable);
    let pairs = if is_crosswise { crosswise } else { pairs };
    if !pairs.iter().any(comparable) {
        let count = |side: &Side<'_>| side.in_folders.len().max(side.in_ignition.len());
        let said = |side: &Side<'_>| (count(side) > 0).then(|| format!("{} objects", count(side)));
        if count(ours) + count(theirs) > 0 {
            found.push(Difference::new("objects", said(ours), said(theirs)));
        }
    }
    for (our_documents, their_documents) in pairs.into_iter().filter(comparable) {
        let mut our_objects = objects::read(&Reader::new(&ours.masks), our_documents);
        let mut their_objects = objects::read(&Reader::new(&theirs.masks), their_documents);
        if is_crosswise {
            objects::forget_ignition(&mut our_objects);
            objects::forget_ignition(&mut their_objects);
        }
        objects::compare(&our_objects, &their_objects, found);
    }
}

/// The objects inside are left to `compare_objects`.
fn compare_ignition(name: &str, ours: &Side<'_>, theirs: &Side<'_>, found: &mut Vec<Difference>) {
    let fields = |side: &Side<'_>| -> Option<Fields> {
        let config = side.ignition.get(name)?;
        let mut fields = ignition::fields(&Reader::new(&side.masks), config);
        fields.retain(|key, _| manifest_name(key).is_none());
        Some(fields)
    };
    match (fields(ours), fields(theirs)) {
        (Some(ours), Some(theirs)) => {
            let keys: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
            for key in keys {
                compare_part(&place_in(name, key), ours.get(key), theirs.get(key), found);
            }
        }
        (ours, theirs) => {
            let present = |fields: Option<Fields>| fields.map(Meaning::Document);
            walk::walk(name, present(ours).as_ref(), present(theirs).as_ref(), found);
        }
    }
}

/// A file is its content: that has no name of its own, only mode and owner have.
fn compare_part(place: &str, ours: Option<&Meaning>, theirs: Option<&Meaning>, found: &mut Vec<Difference>) {
    match (ours, theirs) {
        (Some(Meaning::Document(ours)), Some(Meaning::Document(theirs))) => {
            let content = |fields: &Fields| fields.get(ignition::CONTENT).cloned();
            walk::walk(place, content(ours).as_ref(), content(theirs).as_ref(), found);
            let rest = |fields: &Fields| {
                fields.iter().filter(|(key, _)| *key != ignition::CONTENT).map(own).collect::<Fields>()
            };
            walk::fields(&rest(ours), &rest(theirs), |key| format!("{place}: {key}"), found);
        }
        (ours, theirs) => walk::walk(place, ours, theirs, found),
    }
}

fn own((key, meaning): (&String, &Meaning)) -> (String, Meaning) {
    (key.clone(), meaning.clone())
}

/// Certificates and kubeconfigs are known by their own names.
fn place_in(ignition: &str, key: &str) -> String {
    let tls = key.strip_prefix("/opt/openshift/tls/").and_then(|file| file.rsplit_once('.'));
    match tls {
        Some((name, "crt")) if name.ends_with("-bundle") => format!("bundle {name}"),
        Some((name, "crt")) => format!("certificate {name}"),
        Some((name, "key")) => format!("private key {name}"),
        Some((name, "pub")) => format!("public key {name}"),
        _ => format!("{ignition} {key}"),
    }
}
