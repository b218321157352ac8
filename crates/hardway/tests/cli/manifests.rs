//! Manifests are tried before anything boots: what the API server would refuse stops every command that makes files.

use crate::work;

const BAD: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: Mine\n  namespace: nowhere\ndta:\n  a: b\n";

#[test]
fn a_bad_manifest_is_told_with_its_lines_and_nothing_is_written() {
    let work = work::made();
    work.write("manifests/mine.yaml", BAD);
    let before = work.read("bootstrap.ign");
    for verb in [
        &["validate"][..],
        &["check", "manifests"],
        &["create", "ignition-configs"],
        &["create", "manifests", "--dry-run"],
    ] {
        work.refused(3, verb)
            .says("error[manifests-refused]")
            .says("manifests/mine.yaml:4:9")
            .says("manifests/mine.yaml:5:14")
            .says("nothing creates this namespace")
            .says("dta: Unknown field")
            .says("did you mean \"data\"?");
    }
    assert!(work.read("bootstrap.ign") == before, "nothing is written");
    work.write(
        "manifests/mine.yaml",
        BAD.replace("Mine", "mine").replace("nowhere", "default").replace("dta", "data"),
    );
    work.ok(&["validate"])
        .says("objects checked: the API server would accept all of them")
        .says("could not be checked");
    work.ok(&["create", "ignition-configs"]);
}

#[test]
fn pipelines_read_what_was_found() {
    let work = work::made();
    let found = work.ok(&["check", "manifests", "-o", "json"]).json();
    assert_eq!(found["findings"], serde_json::json!([]));
    assert!(found["judged"].as_u64().unwrap() > 20, "{found}");
    assert!(!found["unchecked"].as_array().unwrap().is_empty(), "the sample's CRDs say nothing about fields");
    work.write("manifests/mine.yaml", BAD);
    let found = work.refused(3, &["check", "manifests", "-o", "json"]).json();
    let first = &found["findings"][0];
    assert_eq!(
        (&first["file"], &first["line"], &first["column"]),
        (&"manifests/mine.yaml".into(), &4.into(), &9.into())
    );
    let rows = work.refused(3, &["validate", "-o", "json"]).json();
    let of_manifests = rows.as_array().unwrap().iter().filter(|row| row["file"] == "manifests/mine.yaml");
    assert_eq!(of_manifests.count(), 3, "{rows}");
    work.edit("install-config.yaml", "hostPrefix: 23", "hostPrefix: 9");
    let sarif = work.refused(3, &["validate", "-o", "sarif"]).json();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "input/invalid-value", "{sarif}");
    let junit = work.refused(3, &["validate", "-o", "junit"]).stdout;
    assert!(
        junit.contains("name=\"install-config.yaml\"") && junit.contains("install-config.yaml:11:17"),
        "{junit}"
    );
    work.edit("install-config.yaml", "hostPrefix: 9", "hostPrefix: 23");
    let junit = work.refused(3, &["validate", "-o", "junit"]).says("could not be checked").stdout;
    assert!(junit.contains("failures=\"1\"") && junit.contains("manifests/mine.yaml:4:9"), "{junit}");
    let sarif = work.refused(3, &["check", "manifests", "-o", "sarif"]).json();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 3);
    let junit = work.refused(3, &["check", "manifests", "-o", "junit"]).stdout;
    assert!(junit.contains("failures=\"1\"") && junit.contains("manifests/mine.yaml:4:9"), "{junit}");
}

#[test]
fn of_secrets_only_the_place_is_told() {
    let work = work::made();
    work.write(
        "manifests/mine.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: default}\ndata:\n  password: hush-hush!\n",
    );
    let told = work.refused(3, &["create", "manifests"]).says("manifests/mine.yaml:5:13");
    told.says("must be base64").does_not_say("hush");
}
