use std::collections::BTreeSet;

use hardway_assets::example;

use super::*;
use crate::actions::shell;

fn lab(cluster: &Cluster, stage: InstallStage, watches: u32) -> Lab {
    Lab {
        cluster: cluster.clone(),
        site: LabSite { lab: "try".to_owned(), files: "/src/lab".into(), has_real_operators: false },
        program: "/bin/hardway".into(),
        folder: "/work".into(),
        stage,
        watches,
        podman_options: vec!["--ulimit=nofile=20000:20000".to_owned()],
    }
}

#[test]
fn every_action_has_a_name_of_its_own_and_machines_come_last() {
    let cluster = example::cluster();
    let actions = lab(&cluster, InstallStage::Bootstrapping, 8192).infrastructure();
    let names: BTreeSet<&str> = actions.iter().map(|action| action.id.as_str()).collect();
    assert_eq!(names.len(), actions.len());
    let first = actions.iter().position(|action| action.id.starts_with("machine/")).unwrap();
    assert!(actions[first..].iter().all(|action| action.id.ends_with("/defined")));
    assert_eq!(actions.len() - first, cluster.inventory.hosts.len());
}

#[test]
fn watches_are_raised_only_where_they_are_too_few_and_given_back() {
    let cluster = example::cluster();
    assert!(lab(&cluster, InstallStage::Bootstrapping, 8192).watches().is_none());
    let action = lab(&cluster, InstallStage::Bootstrapping, 100).watches().unwrap();
    assert!(action.undo[0].to_string().ends_with("=100"), "{action:?}");
}

/// `hardway plan` prints all that is run, and the scripts find out nothing by themselves.
#[test]
fn what_podman_needs_here_is_handed_to_whoever_starts_containers() {
    let script = shell(&lab(&example::cluster(), InstallStage::Bootstrapping, 8192).infrastructure());
    let starts = |line: &&str| line.contains("define.sh try") || line.contains("service.sh try");
    let starts: Vec<&str> = script.lines().filter(starts).collect();
    assert!(starts.len() > 3, "{script}");
    for line in starts {
        assert!(line.contains(" --podman --ulimit=nofile=20000:20000"), "{line}");
    }
}

#[test]
fn without_the_bootstrap_host_nothing_speaks_of_it() {
    let cluster = example::cluster();
    let before = shell(&lab(&cluster, InstallStage::Bootstrapping, 8192).infrastructure());
    let after = shell(&lab(&cluster, InstallStage::Installed, 8192).infrastructure());
    assert!(before.contains("server bootstrap ") && before.contains("define.sh try bootstrap"));
    assert!(!after.contains("server bootstrap ") && !after.contains("define.sh try bootstrap"));
}

#[test]
fn with_real_operators_no_release_is_built() {
    let cluster = example::cluster();
    let mut lab = lab(&cluster, InstallStage::Bootstrapping, 8192);
    assert!(!shell(&[lab.images()]).contains("--operators"));
    lab.site.has_real_operators = true;
    assert!(
        shell(&[lab.images()])
            .contains("build.sh --registry 192.168.126.1:5000 --hardway /bin/hardway --operators real")
    );
}

#[test]
fn the_release_has_the_operators_that_are_asked_for() {
    let mut cluster = example::cluster();
    let mut said = |operators: &str, tag: &str| {
        cluster.inventory.machines.settings = serde_json::json!({"operators": operators});
        cluster.inventory.release.image = format!("192.168.126.1:5000/hardway-lab/release:{tag}");
        let read = LabSettings::read(&cluster);
        read.map(|settings| settings.has_real_operators).map_err(|wrong| wrong[0].to_string())
    };
    assert_eq!((said("real", "real"), said("stand-ins", "lab")), (Ok(true), Ok(false)));
    assert!(said("real", "lab").unwrap_err().contains("the release of stand-ins"));
    assert!(said("stand-ins", "real").unwrap_err().contains("has real operators"));
    assert!(said("some", "lab").unwrap_err().contains("machines.lab.operators"));
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
