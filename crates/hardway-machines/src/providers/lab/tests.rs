use std::collections::BTreeSet;

use hardway_assets::example;

use super::*;
use crate::actions::shell;

fn lab(cluster: &Cluster, stage: Stage, watches: u32) -> Lab {
    Lab {
        cluster: cluster.clone(),
        place: Place { lab: "try".to_owned(), files: "/src/lab".into() },
        program: "/bin/hardway".into(),
        folder: "/work".into(),
        stage,
        watches,
    }
}

#[test]
fn every_action_has_a_name_of_its_own_and_machines_come_last() {
    let cluster = example::cluster();
    let actions = lab(&cluster, Stage::Bootstrapping, 8192).infrastructure();
    let names: BTreeSet<&str> = actions.iter().map(|action| action.id.as_str()).collect();
    assert_eq!(names.len(), actions.len());
    let first = actions.iter().position(|action| action.id.starts_with("machine/")).unwrap();
    assert!(actions[first..].iter().all(|action| action.id.ends_with("/defined")));
    assert_eq!(actions.len() - first, cluster.inventory.hosts.len());
}

#[test]
fn watches_are_raised_only_where_they_are_too_few_and_given_back() {
    let cluster = example::cluster();
    assert!(lab(&cluster, Stage::Bootstrapping, 8192).watches().is_none());
    let action = lab(&cluster, Stage::Bootstrapping, 100).watches().unwrap();
    assert!(action.undo[0].to_string().ends_with("=100"), "{action:?}");
}

#[test]
fn without_the_bootstrap_host_nothing_speaks_of_it() {
    let cluster = example::cluster();
    let before = shell(&lab(&cluster, Stage::Bootstrapping, 8192).infrastructure());
    let after = shell(&lab(&cluster, Stage::Installed, 8192).infrastructure());
    assert!(before.contains("server bootstrap ") && before.contains("define.sh try bootstrap"));
    assert!(!after.contains("server bootstrap ") && !after.contains("define.sh try bootstrap"));
}

#[test]
fn settings_are_checked_all_at_once() {
    let mut cluster = example::cluster();
    assert_eq!(LabSettings::read(&cluster).unwrap().name, cluster.config.metadata.name);
    cluster.inventory.machines.settings = serde_json::json!({"name": "My Lab", "disk": 7});
    cluster.inventory.hosts[1].mac = None;
    let paths: Vec<String> =
        LabSettings::read(&cluster).unwrap_err().into_iter().map(|violation| violation.path).collect();
    assert_eq!(paths, ["machines.lab.disk", "machines.lab.name", "hosts[1].mac"]);
}
