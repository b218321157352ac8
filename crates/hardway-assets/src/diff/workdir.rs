//! The rest of a working directory: credentials, metadata, and what only one of the two tools keeps.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::Difference;
use super::kubeconfig;
use super::meaning::Meaning;
use super::reader::Reader;
use super::side::{IGNITION_FILES, Side};
use super::walk::walk;

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
        if path == INSTALL_CONFIG || ours.has_ignition() == theirs.has_ignition() {
            walk(path, meaning(ours).as_ref(), meaning(theirs).as_ref(), found);
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
const FILES: [(&str, Reading); 4] = [
    (INSTALL_CONFIG, yaml),
    ("auth/kubeadmin-password", password),
    ("auth/kubeconfig", admin_kubeconfig),
    ("metadata.json", yaml),
];

type Reading = fn(&Side<'_>, &[u8]) -> Meaning;

/// Files and top folders that are not compared, with the number of files in each.
type Others = BTreeMap<String, usize>;

fn password(_: &Side<'_>, bytes: &[u8]) -> Meaning {
    Meaning::Random(format!("password of {} characters", bytes.trim_ascii_end().len()))
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
    let compared =
        |path: &str| FILES.iter().any(|(known, _)| *known == path) || IGNITION_FILES.contains(&path);
    for (path, _) in side.tree.iter().filter(|(path, _)| !compared(path)) {
        let name = match path.split_once('/') {
            Some((folder, _)) => format!("{folder}/"),
            None => path.to_owned(),
        };
        *others.entry(name).or_insert(0) += 1;
    }
    others
}

fn files_said(number: usize) -> String {
    if number == 1 { "1 file".to_owned() } else { format!("{number} files") }
}
