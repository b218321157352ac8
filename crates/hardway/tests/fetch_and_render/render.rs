//! Phase render-nodes: what makes it run again, what keeps it from running, and who else may have run it.

use std::path::PathBuf;
use std::process::Command;

use fs_err as fs;
use hardway_testing::Snapshot;

use super::site::{CREATE, Site, validate};
use crate::containers::said;

const MINE: &str = "\
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  name: 99-worker-mine
  labels: {machineconfiguration.openshift.io/role: worker}
spec:
  config:
    ignition: {version: 3.4.0}
    storage:
      files:
      - {path: /etc/mine, mode: 420, contents: {source: \"data:,mine\"}}
";

#[test]
fn a_changed_manifest_is_rendered_and_nothing_else_is() {
    let Some(site) = Site::new() else { return };
    site.create(&[]).expect(0);
    let (master, worker) = (site.rendered("master"), site.rendered("worker"));
    let before = Snapshot::of(site.work.root());
    site.work.write("openshift/99_mine.yaml", MINE);

    let status = site.without_podman(&["status"]).expect(0).stdout;
    let lines: Vec<Vec<&str>> = status.lines().map(|line| line.split_whitespace().collect()).collect();
    for line in [
        "stale render-nodes rendered-nodes openshift/99_mine.yaml was added",
        "stale make-ignition node-worker-0 waits for rendered-nodes",
    ] {
        assert!(lines.iter().any(|words| words.join(" ") == line), "no {line} in:\n{status}");
    }
    let dry = site.without_podman(&[&CREATE[..], &["--dry-run"]].concat()).expect(0).stdout;
    assert!(
        dry.contains("would render nodes (openshift/99_mine.yaml was added)\nwould run podman run "),
        "{dry}"
    );

    site.create(&[]).expect(0);
    assert_eq!(site.rendered("master"), master);
    assert_ne!(site.rendered("worker"), worker);
    let changes = before.changes(&Snapshot::of(site.work.root()));
    assert!(changes.contains(&"ignition/worker-0.ign".to_owned()), "{changes:?}");
    assert!(!changes.iter().any(|path| path.starts_with("ignition/master")), "{changes:?}");
    validate(&site.work);
    site.assert_settled();

    site.work.remove("openshift/99_mine.yaml");
    site.create(&[]).expect(0);
    assert_eq!(site.rendered("worker"), worker);
}

#[test]
fn manifests_can_be_looked_at_first() {
    let Some(site) = Site::new() else { return };
    let ran = site.without_podman(&["create", "manifests", "--plain-http"]).expect(0);
    assert!(!ran.stderr.contains("rendering") && !site.work.exists("ignition"), "{}", ran.stderr);
    site.work.write("openshift/99_mine.yaml", MINE);
    site.create(&[]).expect(0);
    assert!(site.work.read("ignition/worker-0.ign").contains("\"/etc/mine\""));
    site.assert_settled();
}

#[test]
fn what_the_commands_would_stop_at_is_told_before_they_run() {
    let Some(site) = Site::new() else { return };
    site.run(&["create", "manifests", "--plain-http"]).expect(0);
    site.work.write("manifests/notes.txt", "not a manifest");
    site.work.write("openshift/mine.yaml", MINE.replace("MachineConfig\n", "MachineConfigPool\n"));
    for args in [&[][..], &["--dry-run"]] {
        site.without_podman(&[&CREATE[..], args].concat())
            .expect(1)
            .says("error[render-refused]")
            .says("manifests/notes.txt: neither YAML nor JSON")
            .says("openshift/mine.yaml: pool 99-worker-mine selects the MachineConfigs of neither");
    }
    assert!(!site.work.exists("ignition/master-0.ign"));
}

#[test]
fn without_podman_the_work_can_be_done_elsewhere() {
    let Some(site) = Site::new() else { return };
    let ran = site.without_podman(&[&CREATE[..], &["--plain-http"]].concat()).expect(2);
    let ran = ran.says("error[podman-missing]: podman is not installed here").says("--rendered-dir");
    assert!(site.work.exists("bootstrap.ign") && !site.work.exists("ignition/master-0.ign"));
    assert_eq!(site.work.mode("render-nodes"), 0o700);

    // Elsewhere, as printed.
    for line in ran.stderr.lines().filter(|line| line.contains(" podman run ")) {
        let output = Command::new("sh").args(["-c", line]).output().unwrap();
        assert!(output.status.success(), "{line}: {}", said(&output));
    }
    let rendered = site.work.path("render-nodes/assets/rendered");
    assert!(ran.stderr.contains(&format!("--rendered-dir {}", rendered.display())), "{}", ran.stderr);
    let elsewhere = site.home.path("rendered");
    fs::rename(&rendered, &elsewhere).unwrap();
    let hand_in = |dir: &PathBuf| {
        site.without_podman(&[&CREATE[..], &["--rendered-dir", dir.to_str().unwrap()]].concat())
    };
    hand_in(&elsewhere).expect(0).says(&format!("node configs as rendered in {}", elsewhere.display()));
    validate(&site.work);
    site.assert_settled();

    // Of another cluster.
    let before = Snapshot::of(site.work.root());
    let told = elsewhere.join("controller-config/machine-config-controller.yaml");
    let text = fs::read_to_string(&told).unwrap();
    let name = text.lines().find_map(|line| line.trim().strip_prefix("infrastructureName: ")).unwrap();
    fs::write(&told, text.replace(name, "other-x7k2p")).unwrap();
    hand_in(&elsewhere).expect(2).says("error[rendered-dir-unusable]").says("infrastructureName");
    hand_in(&site.home.path("nothing")).expect(2).says("error[rendered-dir-unusable]");
    before.assert_untouched(&Snapshot::of(site.work.root()));
}

#[test]
fn a_rendered_config_edited_by_hand_stays_and_goes_to_the_nodes() {
    let Some(site) = Site::new() else { return };
    site.create(&[]).expect(0);
    let path = "release/rendered/worker.yaml";
    let text = site.work.read(path);
    site.work.write(path, text.replace("fips: false", "fips: true"));
    site.work.write("openshift/99_mine.yaml", MINE);
    let ran = site.without_podman(&CREATE).expect(0);
    ran.says(&format!("{path} was edited by hand and is kept")).says("openshift/99_mine.yaml was added");
    assert!(site.work.read(path).contains("fips: true"));
    // Taken away, it is rendered again.
    site.work.remove(path);
    site.create(&[]).expect(0);
    assert!(site.work.read(path).contains("fips: false"));
    assert!(site.work.read("ignition/worker-0.ign").contains("\"/etc/mine\""));
}

#[test]
fn a_command_that_fails_leaves_what_it_worked_on() {
    let Some(site) = Site::new() else { return };
    let ran = site.create(&["--podman-option=--no-such-option"]).expect(1);
    let ran = ran
        .says("error[render-failed]")
        .says("--no-such-option")
        .says("the command was: ")
        .says("check --podman-option");
    assert!(site.work.exists("render-nodes/assets/image-references"), "{}", ran.stderr);
    site.create(&[]).expect(0);
    assert!(!site.work.exists("render-nodes"));
}
