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
    for side in [ours, theirs] {
        for (file, why) in &side.unreadable {
            let said = Some(format!("cannot be read: {why}"));
            let is_ours = std::ptr::eq(side, ours);
            let (ours, theirs) = if is_ours { (said, None) } else { (None, said) };
            found.push(Difference::new(file.clone(), ours, theirs));
        }
    }
    let known: [(&str, Reading); 4] = [
        ("auth/kubeadmin-password", password),
        ("auth/kubeconfig", admin_kubeconfig),
        ("install-config.yaml", yaml),
        ("metadata.json", yaml),
    ];
    for (path, read) in known {
        let meaning = |side: &Side<'_>| side.tree.get(path).map(|bytes| read(side, bytes));
        walk(path, meaning(ours).as_ref(), meaning(theirs).as_ref(), found);
    }
    let (mine, yours) =
        (others(ours, &known.map(|(path, _)| path)), others(theirs, &known.map(|(path, _)| path)));
    for name in mine.keys().chain(yours.keys()).collect::<BTreeSet<_>>() {
        if mine.contains_key(name) != yours.contains_key(name) {
            let said = |files: &BTreeMap<String, usize>| files.get(name).map(|number| files_said(*number));
            found.push(Difference::new(name.clone(), said(&mine), said(&yours)));
        }
    }
}

type Reading = fn(&Side<'_>, &[u8]) -> Meaning;

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

/// Files and top folders that are not compared, with the number of files in each.
fn others(side: &Side<'_>, known: &[&str]) -> BTreeMap<String, usize> {
    let mut others = BTreeMap::new();
    let compared = |path: &str| known.contains(&path) || IGNITION_FILES.contains(&path);
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
