//! Whatever is missing or wrong is told before podman is called, and the commands themselves would have stopped at it.

use std::path::Path;

use hardway_release::render::{Podman, RenderCommands, RenderError, check, render_inputs, run, write_inputs};

use super::mistakes::Theirs::{Pass, Stop, StopAtFile};
use super::mistakes::{CASES, INFRASTRUCTURE};
use super::scenario::{Scenario, SetImage as _};
use crate::containers::{Containers, output, said, stand_in};

const CONTROLLER_DIR: &str = "assets/operator/bootstrap/manifests";
const IMAGE: &str = "quay.io/a/b@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

#[test]
fn every_mistake_is_told_before_podman_is_called() {
    let dir = tempfile::tempdir().unwrap();
    let podman = Podman { program: "/no/such/podman".to_owned(), ..Podman::default() };
    let good = Scenario::new("ha", IMAGE);
    for case in &CASES {
        let mut scenario = good.clone();
        (case.make)(&mut scenario);
        let Scenario { cluster, release, tree } = &scenario;
        let error = run(tree, release, cluster, (dir.path(), &podman), &mut |_| {}).unwrap_err();
        assert!(matches!(error, RenderError::Faults(_)), "{}: {error}", case.name);
        assert!(error.to_string().contains(case.ours), "{}: expected {:?} in {error}", case.name, case.ours);
        assert_eq!(fs_err::read_dir(dir.path()).unwrap().count(), 0, "{}: nothing is written", case.name);
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let mut scenario = Scenario::new("ha", IMAGE);
    (CASES[3].make)(&mut scenario);
    (CASES[11].make)(&mut scenario);
    (CASES[21].make)(&mut scenario);
    scenario.tree.insert("manifests/notes.txt", "mine");
    let faults = check(&scenario.tree, &scenario.release, &scenario.cluster).unwrap_err().0;
    let files: Vec<_> = faults.iter().map(|fault| fault.file.as_str()).collect();
    assert_eq!(
        files,
        [
            "release/image-references",
            "manifests/cluster-dns-02-config.yml",
            "manifests/notes.txt",
            INFRASTRUCTURE
        ]
    );
}

#[test]
fn the_trust_bundle_of_the_cluster_may_not_be_left_out() {
    let good = Scenario::new("disconnected", IMAGE);
    check(&good.tree, &good.release, &good.cluster).unwrap();
    let path = "manifests/user-ca-bundle-config.yaml";
    let mut gone = good.clone();
    gone.tree.remove(path);
    let mut empty = good.clone();
    empty.edit(path, "ca-bundle.crt", "other.crt");
    for (scenario, expected) in [(gone, "missing"), (empty, "data[ca-bundle.crt] is missing or malformed")] {
        let error = check(&scenario.tree, &scenario.release, &scenario.cluster).unwrap_err().to_string();
        assert!(error.contains(&format!("{path}: {expected}")), "{error}");
    }
}

#[test]
fn from_4_21_the_registry_image_is_needed() {
    let mut scenario = Scenario::of_version("ha", stand_in().map_or(IMAGE, |built| &built.image), "4.21.0");
    check(&scenario.tree, &scenario.release, &scenario.cluster).unwrap();
    scenario.release.set_image("docker-registry", None);
    let error = check(&scenario.tree, &scenario.release, &scenario.cluster).unwrap_err().to_string();
    assert!(error.contains("the release has no image named docker-registry"), "{error}");
    if let Some(containers) = stand_in() {
        let said = directly(&scenario, containers, |_| {}).unwrap_err();
        assert!(said.contains("Failed to find docker-registry in image references"), "{said}");
    }
}

#[test]
fn the_commands_stop_at_them_too() {
    let Some(containers) = stand_in() else { return };
    let surprises = surprises(containers);
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

/// Gives every mistake to the commands themselves; where they do not do what is said of them here.
pub(crate) fn surprises(containers: &Containers) -> Vec<String> {
    let good = Scenario::new("ha", &containers.image);
    directly(&good, containers, |_| {}).unwrap();
    let mut surprises = Vec::new();
    for case in &CASES {
        let mut scenario = good.clone();
        (case.make)(&mut scenario);
        let (file, expected) = match case.theirs {
            Pass => (None, None),
            Stop(expected) => (None, Some(expected)),
            StopAtFile(file, expected) => (Some(file), Some(expected)),
        };
        let lay_by_hand = |workspace: &Path| {
            if let Some(file) = file {
                let text = scenario.tree.get(&format!("openshift/{file}")).unwrap();
                fs_err::write(workspace.join(CONTROLLER_DIR).join(file), text).unwrap();
            }
        };
        match (directly(&scenario, containers, lay_by_hand), expected) {
            (Ok(()), None) => {}
            (Err(said), Some(expected)) if said.contains(expected) => {}
            (result, expected) => {
                surprises.push(format!("{}: expected {expected:?}, got {result:?}", case.name))
            }
        }
    }
    surprises
}

#[test]
fn the_second_command_stops_without_the_first_and_without_the_version() {
    let Some(containers) = stand_in() else { return };
    let Scenario { cluster, release, tree } = Scenario::new("ha", &containers.image);
    let dir = tempfile::tempdir().unwrap();
    write_inputs(dir.path(), &render_inputs(&tree, &release, &cluster, &Podman::default())).unwrap();
    let commands = RenderCommands::new(dir.path(), &release, &cluster, &containers.podman).unwrap();
    let [operator, controller] = &commands.lines;
    assert!(said(&output(controller)).contains("no controllerconfig found in dir"));
    assert!(output(operator).status.success());
    let mut unversioned = controller.clone();
    unversioned.arguments.retain(|argument| !argument.starts_with("--payload-version"));
    assert!(said(&output(&unversioned)).contains("missing desired version \"0.0.1-snapshot\""));
    let mut odd = operator.clone();
    odd.arguments.push("--no-such-flag=1".to_owned());
    assert!(said(&output(&odd)).contains("unknown flag"));
    let path = dir.path().join(CONTROLLER_DIR).join("machineconfigcontroller-controllerconfig.yaml");
    let text = fs_err::read_to_string(&path)
        .unwrap()
        .replace("generated-by-version: stand-in", "generated-by-version: other");
    fs_err::write(&path, text).unwrap();
    assert!(said(&output(controller)).contains("Ignoring controller config generated from other"));
}

#[test]
fn what_only_the_commands_see_is_explained() {
    let Some(containers) = stand_in() else { return };
    let mut scenario = Scenario::new("ha", &containers.image);
    scenario.tree.insert(
        "manifests/mine.yaml",
        "apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata: {name: mine}\nspec: {kernelArguments: quiet}\n",
    );
    let dir = tempfile::tempdir().unwrap();
    let Scenario { cluster, release, tree } = &scenario;
    let error =
        run(tree, release, cluster, (dir.path(), &containers.podman), &mut |_| {}).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot render one config for each pool: podman ended with exit status: 255"),
        "{error}"
    );
    assert!(error.contains("cause: a manifest does not match its kind\nfix: "), "{error}");
    assert!(error.contains("/mine.yaml"), "{error}");
}

/// Lays the inputs out and runs both commands without any check of ours; what the failing one said.
fn directly(scenario: &Scenario, containers: &Containers, change: impl Fn(&Path)) -> Result<(), String> {
    let Scenario { cluster, release, tree } = scenario;
    let dir = tempfile::tempdir().unwrap();
    write_inputs(dir.path(), &render_inputs(tree, release, cluster, &Podman::default())).unwrap();
    change(dir.path());
    let commands = RenderCommands::new(dir.path(), release, cluster, &containers.podman).unwrap();
    for line in &commands.lines {
        let output = output(line);
        if !output.status.success() {
            return Err(said(&output));
        }
    }
    Ok(())
}
