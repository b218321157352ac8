//! Records as the bootstrap host writes them, and what is made of them.

use hardway_assets::ignition::bootstrap_files::STAGES;

use super::*;

fn line(phase: &str, stage: &str, result: &str, error: &str) -> String {
    serde_json::json!({"service": "bootkube", "timestamp": "2026-11-15T07:00:00Z", "phase": phase, "stage": stage,
        "result": result, "errorLine": "bootkube.sh:7", "errorMessage": error})
    .to_string()
        + "\n"
}

fn start(stage: &str) -> String {
    line("stage start", stage, "", "")
}

fn end(stage: &str) -> String {
    serde_json::json!({"phase": "stage end", "stage": stage, "result": "success"}).to_string() + "\n"
}

fn states(stream: &str) -> Vec<(String, State, u32)> {
    let known = ["one", "two", "three"];
    stages(&known, &entries(stream)).into_iter().map(|stage| (stage.name, stage.state, stage.tries)).collect()
}

#[test]
fn a_record_becomes_stages() {
    use State::{Done, Failed, Running, Waiting};
    let service = |phase: &str| line(phase, "", "", "");
    let failed = line("stage end", "two", "failure", "no route\nto host");
    for (what, stream, expected) in [
        ("nothing yet", String::new(), [(Waiting, 0), (Waiting, 0), (Waiting, 0)]),
        ("at work", start("one") + &end("one") + &start("two"), [(Done, 1), (Running, 1), (Waiting, 0)]),
        ("failed", start("two") + &failed, [(Waiting, 0), (Failed, 1), (Waiting, 0)]),
        (
            "tried again",
            start("two") + &failed + &service("service start") + &start("two"),
            [(Waiting, 0), (Running, 2), (Waiting, 0)],
        ),
        ("cut off", start("one") + &service("service start"), [(Failed, 1), (Waiting, 0), (Waiting, 0)]),
        (
            "a torn line",
            start("one") + "{\"phase\": \"stage e\n" + &end("one"),
            [(Done, 1), (Waiting, 0), (Waiting, 0)],
        ),
    ] {
        let names = ["one", "two", "three"].map(str::to_owned);
        let expected: Vec<_> =
            names.into_iter().zip(expected).map(|(name, (state, tries))| (name, state, tries)).collect();
        assert_eq!(states(&stream), expected, "{what}");
    }
    let stages = stages(&["two"], &entries(&(start("two") + &failed + &start("two"))));
    assert_eq!(
        stages[0].error.as_deref(),
        Some("bootkube.sh:7: no route | to host"),
        "kept while it is tried again"
    );
}

#[test]
fn a_stage_nobody_knows_is_shown_at_the_end() {
    assert_eq!(states(&start("four")).last().unwrap().0, "four");
}

#[test]
fn every_stage_of_the_script_has_its_sentence_or_says_its_name() {
    let report = BootstrapReport::new(STAGES, std::collections::BTreeMap::new());
    assert!(report.sentences().iter().all(|sentence| sentence.state == State::Waiting));
    assert_eq!(report.sentences().len(), STAGES.len() + 2);
    let unnamed: Vec<String> = report
        .sentences()
        .into_iter()
        .map(|sentence| sentence.what)
        .filter(|what| what.starts_with("stage "))
        .collect();
    assert_eq!(
        unnamed,
        [
            "stage stop-machine-config-server is over",
            "stage check-api-url is over",
            "stage check-api-int-url is over"
        ]
    );
}

#[test]
fn an_answer_is_read_in_any_state_of_completeness() {
    assert_eq!(read("").current().unwrap().what, "the release image is pulled");
    let answer = format!(
        "== clock\n2026-11-15T07:00:05Z\n== record bootkube\n{}{}{}\n== manifests\n120\n30\nNode a/b: no such namespace \n\
         == static-pods\netcd-member-pod.yaml\n== containers\netcd (etcd-0): CONTAINER_EXITED\n",
        start("create-crds"),
        end("create-crds"),
        start("create-manifests"),
    );
    let report = read(&answer);
    assert_eq!(report.clock.unwrap().to_string(), "2026-11-15T07:00:05Z");
    assert_eq!(report.current().unwrap().what, "the cluster's first objects exist (30 of 120)");
    assert_eq!(report.manifests.as_ref().unwrap().errors, ["Node a/b: no such namespace"]);
    assert_eq!(report.static_pods, ["etcd-member-pod.yaml"]);
    assert_eq!(report.containers, ["etcd (etcd-0): CONTAINER_EXITED"]);
    assert_eq!(report.facts(), ["the first CRDs exist"]);
    assert_eq!(
        report.current().unwrap().to_string(),
        "running  the cluster's first objects exist (30 of 120), since 2026-11-15T07:00:00Z"
    );
}
