//! The rest of a working directory: credentials, metadata, and what only one of the two tools keeps.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::Difference;
use super::kubeconfig;
use super::meaning::Meaning;
use super::reader::Reader;
use super::side::{IGNITION_FILES, Side};
use super::walk::walk;
use crate::pki::KNOWN_HOSTS;

/// Notes the differences outside objects and Ignition configs.
pub(super) fn compare(ours: &Side<'_>, theirs: &Side<'_>, found: &mut Vec<Difference>) {
    for (file, why) in &ours.unreadable {
        found.push(Difference::new(file.clone(), Some(format!("cannot be read: {why}")), None));
    }
    for (file, why) in &theirs.unreadable {
        found.push(Difference::new(file.clone(), None, Some(format!("cannot be read: {why}"))));
    }
    if ours.has_ignition() != theirs.has_ignition() {
        let said = |side: &Side<'_>| side.has_ignition().then(|| "present".to_owned());
        found.push(Difference::new("Ignition configs", said(ours), said(theirs)));
    }
    for (path, read) in FILES {
        let meaning = |side: &Side<'_>| side.tree.get(path).map(|bytes| read(side, bytes));
        let (a, b) = (meaning(ours), meaning(theirs));
        // An input may have been consumed, as openshift-install does, or left out by the caller; the rest is made with the Ignition configs.
        let comparable = match path {
            INSTALL_CONFIG => a.is_some() && b.is_some(),
            _ => ours.has_ignition() == theirs.has_ignition(),
        };
        if comparable {
            walk(path, a.as_ref(), b.as_ref(), found);
        }
    }
    compare_others(&others(ours), &others(theirs), found);
}

fn compare_others(ours: &Others, theirs: &Others, found: &mut Vec<Difference>) {
    let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    for name in names.into_iter().filter(|name| ours.contains_key(*name) != theirs.contains_key(*name)) {
        let said = |files: &Others| files.get(name).map(|number| files_said(*number));
        found.push(Difference::new(name.clone(), said(ours), said(theirs)));
    }
}

const INSTALL_CONFIG: &str = "install-config.yaml";

/// The files that are read, and how. All but the first come with the Ignition configs.
const FILES: [(&str, Reading); 5] = [
    (INSTALL_CONFIG, yaml),
    ("auth/kubeadmin-password", password),
    ("auth/kubeconfig", admin_kubeconfig),
    (KNOWN_HOSTS, known_hosts),
    ("metadata.json", yaml),
];

type Reading = fn(&Side<'_>, &[u8]) -> Meaning;

/// Inputs, secrets and bookkeeping: not products of either tool.
const NOT_PRODUCTS: [&str; 7] =
    [".hardway.lock", "assets.lock", "inventory.yaml", "journal.jsonl", "logs", "release", "secrets"];

/// Files and top folders that are not compared, with the number of files in each.
type Others = BTreeMap<String, usize>;

fn password(_: &Side<'_>, bytes: &[u8]) -> Meaning {
    Meaning::Random(format!("password of {} characters", bytes.trim_ascii_end().len()))
}

/// Of whom there are keys; the keys are drawn.
fn known_hosts(_: &Side<'_>, bytes: &[u8]) -> Meaning {
    let text = String::from_utf8_lossy(bytes);
    let hosts = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split(' ').next());
    Meaning::List(hosts.map(Meaning::text).collect())
}

fn admin_kubeconfig(_: &Side<'_>, bytes: &[u8]) -> Meaning {
    kubeconfig::meaning(&json(bytes))
}

fn yaml(side: &Side<'_>, bytes: &[u8]) -> Meaning {
    Reader::new(&side.masks).document(&json(bytes)).unwrap_or_else(|| Meaning::text("empty"))
}

fn json(bytes: &[u8]) -> Json {
    let text = String::from_utf8_lossy(bytes);
    crate::yaml::read(&text).map(|node| node.to_json()).unwrap_or_default()
}

fn others(side: &Side<'_>) -> Others {
    let mut others = Others::new();
    for (path, _) in side.tree.iter().filter(|(path, _)| !is_known(path)) {
        let name = match path.split_once('/') {
            Some((folder, _)) => format!("{folder}/"),
            None => path.to_owned(),
        };
        *others.entry(name).or_insert(0) += 1;
    }
    others
}

fn is_known(path: &str) -> bool {
    let top = path.split('/').next().unwrap_or_default();
    FILES.iter().any(|(known, _)| *known == path)
        || IGNITION_FILES.contains(&path)
        || NOT_PRODUCTS.contains(&top)
}

fn files_said(number: usize) -> String {
    if number == 1 { "1 file".to_owned() } else { format!("{number} files") }
}
