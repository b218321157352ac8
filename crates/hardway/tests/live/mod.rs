//! The commands that talk to a cluster, on a real etcd and kube-apiserver. Nobody acts on what is written there: the
//! operators are played.

mod approvers;
mod certs;
mod day_two;
mod day_two_manifests;
mod diagnosing;
mod ending;
pub(crate) mod folder;
mod pivot;
mod power;
mod silent;

use folder::Folder;
use hardway_testing::ControlPlane;
use serde_json::json;

#[test]
fn real_waiting_ends_with_the_exit_codes_of_openshift_install() {
    let plane = ControlPlane::start();
    let folder = Folder::new(&plane);

    let bare = Folder::empty();
    let ran = bare.run(&["wait-for", "bootstrap-complete"]);
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.stderr.contains("error[kubeconfig-unusable]") && ran.stderr.contains("auth/kubeconfig"),
        "{}",
        ran.stderr
    );

    // 5: nothing has come of bootstrapping.
    let ran = folder.run(&["wait-for", "bootstrap-complete", "--timeout", "3s", "-o", "json"]);
    assert_eq!(ran.code, Some(5), "{}", ran.stderr);
    for line in [
        "Waiting up to 3s (until ",
        "API v1.",
        "for bootstrapping to complete...",
        "error[bootstrap-failed]: Bootstrap failed to complete: ",
    ] {
        assert!(ran.stderr.contains(line), "{line}: {}", ran.stderr);
    }
    assert_eq!((&ran.json()["exitCode"], &ran.json()["complete"]), (&json!(5), &json!(false)));
    assert_eq!(ran.json()["pivot"]["allowed"], "nothing");

    // The same by a stall, on an API that does not answer.
    let nowhere = Folder::new(&plane);
    nowhere.write(
        "auth/kubeconfig",
        folder.read("auth/kubeconfig").replace(&plane.url(), "https://localhost:1"),
    );
    let ran = nowhere.run(&["wait-for", "bootstrap-complete", "--stall-after", "3s"]);
    assert_eq!(ran.code, Some(5), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("first broken link: the API at https://localhost:1 does not answer"),
        "{}",
        ran.stderr
    );
    install(&plane, &folder);
    interrupt(&folder);
}

fn install(plane: &ControlPlane, folder: &Folder) {
    folder.create_crds(plane);
    // 6: not initialized.
    folder.version(
        plane,
        "False",
        "True",
        "Working towards 4.18.1: 455 of 902 done (50% complete), waiting on etcd",
    );
    folder.operator(plane, "etcd", "False", "True");
    let install = ["wait-for", "install-complete", "--stable-for", "1s"];
    let ran = folder.run(&[&install[..], &["--timeout", "4s", "-o", "json"]].concat());
    assert_eq!(ran.code, Some(6), "{}", ran.stderr);
    let said =
        "error[install-failed]: failed to initialize the cluster: Working towards 4.18.1: 455 of 902 done";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("Cluster operator etcd Available is False with Played: as played"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        (&ran.json()["version"]["done"], &ran.json()["operators"][0]["name"]),
        (&json!(455), &json!("etcd"))
    );

    // 7: initialized, and does not rest.
    folder.version(plane, "True", "False", "Cluster version is 4.18.1");
    folder.operator(plane, "etcd", "True", "True");
    let ran = folder.run(&[&install[..], &["--timeout", "4s"]].concat());
    assert_eq!(ran.code, Some(7), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("error[operators-unstable]: These cluster operators were not stable: [etcd]"),
        "{}",
        ran.stderr
    );

    // 0.
    folder.operator(plane, "etcd", "True", "False");
    folder.write("auth/kubeadmin-password", "do-not-say-this");
    let ran = folder.run(&[&install[..], &["-o", "json"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for line in [
        "All cluster operators have completed progressing",
        "Install complete!",
        "export KUBECONFIG=/",
        "Cluster does not have a console",
    ] {
        assert!(ran.stderr.contains(line), "{line}: {}", ran.stderr);
    }
    assert!(!ran.stderr.contains("do-not-say-this") && !ran.stdout.contains("do-not-say-this"));
    assert!(ran.json()["kubeadminPasswordFile"].as_str().unwrap().ends_with("/auth/kubeadmin-password"));
    assert_eq!((&ran.json()["complete"], &ran.json()["exitCode"]), (&json!(true), &json!(0)));
    verify(folder);
}

fn verify(folder: &Folder) {
    let ran = folder.run(&["verify", "--skip-check", "nothing"]);
    assert_eq!(
        (ran.code, ran.stderr.contains("no such check: \"nothing\"")),
        (Some(2), true),
        "{}",
        ran.stderr
    );
    let ran = folder.run(&["verify", "--list"]);
    assert!(ran.code == Some(0) && ran.stdout.lines().count() == 19, "{}", ran.stdout);

    let ran = folder.run(&["verify", "-o", "json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let verdicts: Vec<(String, String)> = ran.json()["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| {
            (check["check"].as_str().unwrap().to_owned(), check["verdict"].as_str().unwrap().to_owned())
        })
        .collect();
    let expected = [
        ("api", "passed"),
        ("names", "passed"),
        ("certificates", "passed"),
        ("nodes", "failed"),
        ("operators", "passed"),
        ("control-plane", "failed"),
        ("masters", "skipped"),
        ("balancer", "skipped"),
        ("etcd", "skipped"),
        ("requests", "passed"),
        ("leftovers", "passed"),
        ("console", "skipped"),
        ("image-registry", "skipped"),
        ("workload", "skipped"),
        ("logs", "skipped"),
        ("exec", "skipped"),
        ("service", "skipped"),
        ("dns", "skipped"),
        ("route", "skipped"),
    ];
    let expected: Vec<(String, String)> =
        expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    assert_eq!(verdicts, expected, "{}", ran.stdout);
    assert!(
        ran.stderr.contains("error[verify-failed]: 2 of 19 checks failed: nodes, control-plane"),
        "{}",
        ran.stderr
    );

    let ran = folder.run(&["verify", "--skip-check", "nodes", "--skip-check", "control-plane"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("6 passed, 0 warned, 13 skipped, 0 failed"), "{}", ran.stdout);
}

/// 8: a person ends it.
fn interrupt(folder: &Folder) {
    let ran = folder.interrupt_after(&["wait-for", "bootstrap-complete"], "for bootstrapping to complete");
    assert_eq!(ran.code, Some(8), "{}", ran.stderr);
    assert!(ran.stderr.contains("error[interrupted]"), "{}", ran.stderr);
}
