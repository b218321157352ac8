//! What somebody meets who has just begun: folders with spaces, nothing made yet, something broken.

use hardway_testing::{INSTALL_CONFIG, INVENTORY, Ran};

use crate::work;

#[test]
fn a_folder_with_spaces_is_quoted_in_advice() {
    let work = work::empty();
    work.ok(&["init", "--dir", "my cluster", "--provider", "bare-metal"])
        .says("hardway create cluster --dir 'my cluster'");
    work.refused(2, &["status", "--dir", "no such"])
        .says("mkdir -p 'no such' && hardway init --dir 'no such'");
}

#[test]
fn help_without_colours_has_none() {
    let work = work::empty();
    for arguments in [&["--color", "never", "--help"][..], &["status", "--color=never", "--help"]] {
        assert!(!work.ok(arguments).stdout.contains('\u{1b}'), "{arguments:?}");
    }
    assert!(work.ok(&["--color", "always", "--help"]).stdout.contains('\u{1b}'));
}

/// A look draws no keys: that is for whoever writes them down. Forty RSA keys take more than five seconds of a processor, all the rest one.
#[test]
fn whoever_only_looks_draws_no_keys() {
    let work = work::with_inputs(INSTALL_CONFIG, &INVENTORY.replace("ECDSA-P256", "RSA-2048"));
    for (verb, code) in [
        (&["status"][..], 0),
        (&["media", "limits"], 0),
        (&["create", "ignition-configs", "--dry-run"], 0),
        (&["media", "iso", "--all", "--iso", "nothing"], 2),
    ] {
        let mut timed = std::process::Command::new("bash");
        timed.args(["-c", "TIMEFORMAT='user %U'; time \"$@\"", "bash", work::PROGRAM]).args(verb);
        let ran = Ran::of({
            timed.current_dir(work.root());
            timed
        })
        .expect(code);
        let user = ran.stderr.lines().find_map(|line| line.strip_prefix("user ")).unwrap();
        assert!(user.parse::<f64>().unwrap() < 3.0, "{verb:?} took {user} s of a processor");
        assert!(!work.exists("secrets"), "{verb:?}");
    }
}

#[test]
fn a_plan_begins_names_with_the_same_id_at_every_look_and_says_so() {
    let work = work::empty();
    work.ok(&["init", "--provider", "gce"]);
    let plan = |verb: &[&str]| work.run(verb).says("names begin with ocp4-later here").stdout;
    for verb in [&["infra", "plan"][..], &["plan"]] {
        let first = plan(verb);
        assert!(first.contains("ocp4-later"), "{first}");
        assert_eq!(first, plan(verb), "{verb:?}");
    }
}

#[test]
fn a_broken_file_or_key_is_named_and_everything_else_is_told() {
    let work = work::made();
    work.write("secrets/etcd-signer.key", "no key\n");
    let ran = work.refused(1, &["status"]);
    assert!(ran.stdout.contains("broken "), "{}", ran.stdout);
    assert!(ran.stdout.contains("assets are fresh"), "{}", ran.stdout);
    let ran = work.run(&["status", "-o", "json"]).expect(1);
    let value = ran.json();
    assert!(value["broken"][0]["error"].as_str().unwrap().contains("etcd-signer"), "{value:#}");
    assert!(value["assets"].as_array().unwrap().len() > 20, "{value:#}");
}

#[test]
fn watching_where_nobody_works_says_so() {
    work::with_inputs(INSTALL_CONFIG, INVENTORY)
        .ok(&["status", "--watch"])
        .says("nothing was installed from here yet: `hardway create cluster` begins it");
}

#[test]
fn advice_fits_what_was_typed() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    work.write("file", "");
    work.refused(2, &["diff", "--against", "file"]).says("file is not a folder").does_not_say("mkdir");
    let gce = work::empty();
    gce.ok(&["init", "--provider", "gce"]);
    let plan = gce.ok(&["plan"]).stdout;
    assert!(
        plan.contains("the sample release that is built in") && !plan.contains("sample from its registry"),
        "{plan}"
    );
    work::empty().refused(3, &["release", "media"]).says("there is no inventory.yaml that names a release");
}

#[test]
fn names_that_are_printed_are_explained() {
    let work = work::made();
    for (what, told) in [
        (&["infrastructure"][..], "infrastructure (asset)"),
        (&["node-worker-0"], "node-worker-0 (asset)"),
        (&[".hardway.lock"], "holds a lock on"),
        (&["exit", "code", "3"], "inventory-invalid"),
        (&["T1"], "etcd prefix"),
        (&["pivot"], "guide"),
    ] {
        let ran = work.ok(&[&["explain"], what].concat());
        assert!(ran.stdout.contains(told), "{what:?}: {}", ran.stdout);
    }
    let whole = work.path("manifests/cluster-dns-02-config.yml");
    work.ok(&["explain", whole.to_str().unwrap()]);
}
