//! `hardway diff --against DIR`

use hardway_testing::{INSTALL_CONFIG, INVENTORY};
use serde_json::Value;

use crate::work;

#[test]
fn what_means_the_same_is_the_same() {
    let ours = work::made();
    // Other secrets, other names, other certificates; the same cluster.
    let theirs = work::with_inputs(&format!("# mine\n{INSTALL_CONFIG}"), INVENTORY);
    theirs.run_at("2026-11-16T00:00:00Z", &["create", "ignition-configs"]).expect(0);
    let against = theirs.root().to_str().unwrap();
    let ran = ours.ok(&["diff", "--against", against]);
    assert_eq!(ran.stdout, "No differences in meaning.\n");
    let json: Value =
        serde_json::from_str(&ours.ok(&["diff", "--against", against, "-o", "json"]).stdout).unwrap();
    assert_eq!(json, serde_json::json!([]));
}

#[test]
fn a_difference_is_code_one_and_named() {
    let ours = work::made();
    let theirs = ours.copy(&[""]);
    theirs.edit("manifests/cluster-dns-02-config.yml", "type: \"\"", "type: AWS");
    let against = theirs.root().to_str().unwrap();
    let ran = ours.run(&["diff", "--against", against]).expect(1);
    assert!(ran.stdout.contains("1 difference without an explanation:"), "{}", ran.stdout);
    assert!(ran.stdout.contains("DNS"), "{}", ran.stdout);
    let ran = ours.run(&["diff", "--against", against, "-o", "json"]).expect(1);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json[0]["reason"], Value::Null);
    assert_eq!(json.as_array().unwrap().len(), 1, "{json:#}");
}

#[test]
fn large_files_and_version_control_are_not_in_the_way() {
    let ours = work::made();
    let theirs = ours.copy(&[""]);
    fs_err::create_dir(theirs.path(".git")).unwrap();
    theirs.write(".git/config", "x");
    let medium =
        std::fs::OpenOptions::new().create_new(true).write(true).open(theirs.path("rhcos.iso")).unwrap();
    medium.set_len(1 << 40).unwrap();
    ours.ok(&["diff", "--against", theirs.root().to_str().unwrap()]);
}
