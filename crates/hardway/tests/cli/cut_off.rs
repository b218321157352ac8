//! A run that is killed at any instant leaves nothing that the next run does not put right.

use std::time::{Duration, Instant};

use crate::snapshot::Snapshot;
use crate::work::{CONFIG, INVENTORY, Work};

const CREATE: [&str; 2] = ["create", "ignition-configs"];

/// Starts a run and kills it after a part of the time that it would take.
fn cut_off(work: &Work, whole: Duration, part: f64) {
    let mut child = work.command(&CREATE).stderr(std::process::Stdio::null()).spawn().unwrap();
    std::thread::sleep(whole.mul_f64(part));
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Numbers between 0 and 1 that look random and are the same on every run.
fn parts() -> impl Iterator<Item = f64> {
    let next = |seed: &u32| Some(seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(7), next).map(|seed| f64::from(seed >> 8) / f64::from(1 << 24))
}

/// What a run that nobody disturbs makes of the same inputs and secrets.
fn undisturbed(work: &Work) -> Snapshot {
    let clean = work.copy(&["install-config.yaml", "inventory.yaml", "secrets/"]);
    clean.ok(&CREATE);
    Snapshot::of(clean.root())
}

#[test]
fn a_first_run_that_was_killed_is_finished_by_the_next() {
    let started = Instant::now();
    Work::with_inputs(CONFIG, INVENTORY).ok(&CREATE);
    let whole = started.elapsed();
    for part in parts().take(8) {
        let work = Work::with_inputs(CONFIG, INVENTORY);
        cut_off(&work, whole, part);
        work.ok(&CREATE).does_not_say("edited by hand");
        undisturbed(&work).assert_same(&Snapshot::of(work.root()));
    }
}

#[test]
fn any_number_of_killed_runs_with_changing_inputs_is_finished_by_the_next() {
    let work = Work::made();
    let started = Instant::now();
    work.edit("install-config.yaml", "name: ocp4", "name: ocp5");
    work.ok(&CREATE);
    let whole = started.elapsed();
    let mirrors = "imageDigestSources:\n- {source: quay.io/a, mirrors: [m.example.com/a]}\n";
    let inputs =
        [CONFIG.to_owned(), CONFIG.replace("ocp4", "ocp6"), CONFIG.replace("ocp4", "ocp7") + mirrors];
    for (i, part) in parts().take(20).enumerate() {
        work.write("install-config.yaml", &inputs[i % inputs.len()]);
        cut_off(&work, whole, part);
    }
    for config in &inputs {
        work.write("install-config.yaml", config);
        work.ok(&CREATE).does_not_say("edited by hand");
        undisturbed(&work).assert_same(&Snapshot::of(work.root()));
    }
}

#[test]
fn files_of_an_unfinished_run_are_known_as_ours() {
    let before = Work::made();
    let after = before.copy(&[""]);
    after.edit("install-config.yaml", "baseDomain: example.com", "baseDomain: example.org");
    after.ok(&CREATE);
    let (old, new) = (Snapshot::of(before.root()), Snapshot::of(after.root()));
    let changed: Vec<String> = old.changes(&new).into_iter().filter(|path| path != "assets.lock").collect();
    assert!(changed.len() > 20, "{changed:#?}");

    // As if the run had been cut off after so many files.
    for written in [0, 1, changed.len() / 2, changed.len()] {
        let work = before.copy(&[""]);
        work.write("install-config.yaml", after.read("install-config.yaml"));
        work.write(".assets.lock.next", after.read("assets.lock"));
        let done = &changed[..written];
        new.restore(work.root(), |path| path.starts_with("secrets/") || done.iter().any(|one| one == path));
        work.write("manifests/.hardway-Ab12Cd", "unfinished");
        work.write("secrets/.hardway-Ab12Cd", "unfinished");
        let status = work.ok(&["status"]).stdout;
        assert!(!status.contains("edited by hand"), "{status}");
        work.ok(&CREATE).does_not_say("edited by hand");
        new.assert_same(&Snapshot::of(work.root()));
    }
}

#[test]
fn a_run_that_was_cut_off_at_its_very_end_is_finished() {
    let work = Work::made();
    let whole = Snapshot::of(work.root());
    work.write(".assets.lock.next", work.read("assets.lock"));
    work.ok(&CREATE).says("0 files made");
    whole.assert_same(&Snapshot::of(work.root()));
}

#[test]
fn a_file_edited_after_the_cut_is_still_the_users() {
    let work = Work::made();
    let path = "manifests/cluster-dns-02-config.yml";
    work.write(".assets.lock.next", work.read("assets.lock"));
    work.edit(path, "type: \"\"", "type: AWS");
    work.ok(&CREATE).says(&format!("{path} was edited by hand and is kept"));
    assert!(work.read(path).contains("type: AWS"));
}
