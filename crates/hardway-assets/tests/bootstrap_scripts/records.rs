//! `bootstrap-service-record.sh`: what a service leaves behind about itself.

use hardway_testing::{run, succeed};
use serde_json::{Value, json};

use super::host::Host;

/// A service with two stages, the second of which fails if told so.
const SERVICE: &str = r#"#!/usr/bin/env bash
set -Eeuo pipefail
. "$1/bootstrap-common.sh"
. "$1/bootstrap-service-record.sh"
second() { [[ $2 != fail ]]; }
run_stage one true
run_stage two second "$@"
"#;

fn service(host: &Host, how: &str) -> (bool, Vec<Value>) {
    host.program("bin/some-service", SERVICE);
    let mut command = host.script("../../../bin/some-service");
    command.env("SERVICE_NAME", "some").arg(host.path("usr/local/bin")).arg(how);
    let (success, _) = run(&mut command);
    (success, host.json("records/some.json").as_array().unwrap().clone())
}

/// Entries without what differs from run to run.
fn shape(entries: &[Value]) -> Vec<Value> {
    let mut entries = entries.to_vec();
    for entry in &mut entries {
        let time = entry.as_object_mut().unwrap().remove("timestamp").unwrap();
        let time = time.as_str().unwrap().to_owned();
        assert!(time.len() == 20 && time.ends_with('Z'), "{time}");
    }
    entries
}

#[test]
fn stages_are_recorded_as_analyze_reads_them() {
    let host = Host::new();
    let (success, entries) = service(&host, "work");
    assert!(success);
    let expected = [
        json!({"phase": "service start"}),
        json!({"phase": "stage start", "stage": "one"}),
        json!({"phase": "stage end", "stage": "one", "result": "success"}),
        json!({"phase": "stage start", "stage": "two"}),
        json!({"phase": "stage end", "stage": "two", "result": "success"}),
        json!({"phase": "service end", "result": "success"}),
    ];
    assert_eq!(shape(&entries), expected);
}

#[test]
fn a_failure_names_its_stage_and_line_and_a_restart_goes_on() {
    let host = Host::new();
    let (success, entries) = service(&host, "fail");
    assert!(!success);
    let [.., stage, end] = entries.as_slice() else { panic!("{entries:?}") };
    assert_eq!([&stage["phase"], &stage["stage"], &stage["result"]], ["stage end", "two", "failure"]);
    assert_eq!(stage["errorLine"], "some-service:5");
    assert!(!stage["errorMessage"].as_str().unwrap().is_empty());
    assert_eq!([&end["phase"], &end["result"]], ["service end", "failure"]);

    let (success, entries) = service(&host, "work");
    assert!(success);
    let again: Vec<&Value> = entries[6..].iter().map(|entry| &entry["stage"]).collect();
    assert_eq!(
        again,
        [&Value::Null, &json!("two"), &json!("two"), &Value::Null],
        "stage one is not done again"
    );
}

#[test]
fn the_stream_holds_the_same_and_mends_the_array() {
    let host = Host::new();
    let (_, entries) = service(&host, "work");
    let stream = host.read("records/some.stream.jsonl");
    let lines: Vec<Value> = stream.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), entries.len());
    assert!(lines.iter().all(|line| line["service"] == "some"));

    // A power cut: half a line in the stream, nothing in the array.
    host.write("records/some.stream.jsonl", &format!("{stream}{{\"service\":\"so"));
    host.write("records/some.json", "");
    let (_, mended) = service(&host, "work");
    assert_eq!(mended[..entries.len()], entries);
    assert_eq!(mended.len(), entries.len() + 2, "start and end of the second run");
}

#[test]
fn commands_before_the_service_are_told_apart() {
    let host = Host::new();
    host.set(&[("IMAGE_POD", "quay.io/x/pod@sha256:1")]);
    succeed(host.script("kubelet-pause-image.sh").env("SERVICE_NAME", "kubelet"));
    let entries = host.json("records/kubelet.json");
    let expected = [
        json!({"preCommand": "kubelet-pause-image", "phase": "pre-command start"}),
        json!({"preCommand": "kubelet-pause-image", "phase": "pre-command end", "result": "success"}),
    ];
    assert_eq!(shape(entries.as_array().unwrap()), expected);
    let image = host.read("etc/kubernetes/kubelet-pause-image-override");
    assert_eq!(image, "MACHINE_CONFIG_INFRA_IMAGE=quay.io/x/pod@sha256:1\n");
}

#[test]
fn the_journal_holds_the_same_and_is_not_taken_for_what_the_service_said() {
    let host = Host::new();
    let journal = host.path("journal");
    host.program(
        "bin/logger",
        &format!("#!/bin/sh\nfor last; do :; done\necho \"$last\" >>{}\n", journal.display()),
    );
    // What journald makes of both: the lines of the unit, whoever of it wrote them.
    host.program("bin/journalctl", &format!("#!/bin/sh\necho the disk is full\ncat {}\n", journal.display()));
    let (_, entries) = service(&host, "fail");
    let lines: Vec<Value> =
        host.read("journal").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), entries.len());
    for (line, entry) in lines.iter().zip(&entries) {
        assert_eq!((&line["service"], &line["phase"]), (&json!("some"), &entry["phase"]));
    }
    assert_eq!(entries.last().unwrap()["errorMessage"], "the disk is full");
}
