//! What people expect of every program: help in groups, quiet and loud, errors that programs can read, a question before something goes.

use std::process::{Command, Stdio};

use hardway_journal::{ActionFinished, ActionStarted, Entry, IgnitionOffered, Journal, NodeJoined, Step};
use hardway_testing::{Ran, Work};
use serde_json::Value;

use crate::work;

#[test]
fn help_is_in_groups_and_begins_with_what_people_want() {
    let help = work::empty().ok(&["--help"]).stdout;
    let place = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text:?} is not in\n{help}"));
    assert!(place("\nBegin:\n  init ") < place("\nInstall:\n  check "));
    assert!(place("\n  create cluster ") < place("\nLook at a cluster:\n  verify "));
    assert!(place("\nThis program:\n") < place("\nOptions of every command:\n"));
    assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
}

#[test]
fn the_version_is_told_to_people_and_programs() {
    let work = work::empty();
    let told = work.ok(&["version"]).stdout;
    assert_eq!(told, work.ok(&["--version"]).stdout);
    let value = work.ok(&["version", "-o", "json"]).json();
    assert_eq!(format!("{} {}\n", value["name"].as_str().unwrap(), value["version"].as_str().unwrap()), told);
}

#[test]
fn quiet_and_verbose_are_log_levels() {
    let work = work::made();
    let said = |flags: &[&str]| work.ok(&[&["create", "ignition-configs"], flags].concat()).stderr;
    assert_eq!(said(&["-q"]), said(&["--log-level", "warn"]));
    assert_eq!(said(&["-v"]), said(&["--log-level", "debug"]));
    assert!(said(&["-q"]).len() < said(&[]).len());
    work.refused(2, &["status", "-q", "-v"]);
    work.refused(2, &["status", "-q", "--log-level", "info"]);
}

#[test]
fn the_folder_may_come_from_the_environment_and_the_command_line_wins() {
    let (named, other) = (work::made(), work::empty());
    let run = |args: &[&str]| {
        let mut command = Command::new(work::PROGRAM);
        command.args(args).env("HARDWAY_DIR", named.root()).current_dir(other.root());
        Ran::of(command)
    };
    run(&["validate"]).expect(0);
    run(&["validate", "--dir", "."]).expect(3);
}

#[test]
fn an_error_is_told_in_the_form_of_the_data_too() {
    let work = work::empty();
    let ran = work.run(&["status", "-o", "json", "--dir", "not there"]).expect(2);
    let error: Value = serde_json::from_str(ran.stderr.lines().last().unwrap()).unwrap();
    assert_eq!(error["error"]["code"], "usage", "{error:#}");
    assert_eq!(error["error"]["exit"], 2);
    assert_eq!(error["error"]["what"], "not there is not a folder");
    assert_eq!(
        error["error"]["fix"],
        "check --dir; for a new cluster: mkdir -p 'not there' && hardway init --dir 'not there'"
    );
    assert_eq!(error["error"]["more"], "hardway explain usage");
    assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    ran.says("error[usage]: not there is not a folder\n");
    work.run(&["status", "--dir", "not there"]).expect(2).says("error[usage]: not there is not a folder\n");
}

#[test]
fn a_script_can_ask_whether_something_is_stale() {
    let work = work::made();
    work.ok(&["status", "--exit-code"]);
    work.edit("install-config.yaml", "hostPrefix: 23", "hostPrefix: 24");
    work.ok(&["status"]);
    assert_eq!(work.run(&["status", "--exit-code"]).code, Some(1));
}

#[test]
fn the_sample_release_can_be_looked_at_without_a_registry() {
    let work = work::empty();
    assert!(work.ok(&["release", "info", "sample"]).stdout.contains("machine-config-operator"));
    let value = work.ok(&["release", "info", "sample", "-o", "json"]).json();
    assert_eq!(value["isSample"], true, "{value:#}");
    for verb in [&["extract", "sample", "--to", "x"][..], &["mirror", "sample", "--to-dir", "x"]] {
        work.refused(2, &[&["release"], verb].concat()).says("the sample release is built into hardway");
    }
}

/// A folder from which one thing was done: a folder was made.
fn with_something_done() -> (Work, std::path::PathBuf) {
    let work = work::made().with_real_clock();
    let made = work.path("made-on-this-host");
    fs_err::create_dir(&made).unwrap();
    let started = ActionStarted {
        action: "network/files".to_owned(),
        why: "for this test".to_owned(),
        does: Vec::new(),
        undo: vec![Step::RemoveEmptyFolder { path: made.clone() }],
    };
    let now = jiff::Timestamp::now();
    let finished = ActionFinished { action: "network/files".to_owned() };
    let journal = Journal::open(&work.path("journal.jsonl")).unwrap();
    journal.append(&[Entry::of(now, &started), Entry::of(now, &finished)]).unwrap();
    (work, made)
}

#[test]
fn what_would_go_is_listed_and_stays() {
    let (work, made) = with_something_done();
    for verb in
        [&["destroy", "--dry-run"][..], &["destroy", "cluster", "--dry-run"], &["infra", "down", "--dry-run"]]
    {
        let ran = work.ok(verb);
        let journal = "the journal would be moved to logs/: the next install starts a new one\n";
        let journal = if verb[0] == "destroy" { journal } else { "" };
        assert_eq!(ran.stdout, format!("1 change would be undone:\n  network/files\n{journal}"));
        assert!(made.exists(), "{verb:?}");
    }
    work.ok(&["destroy", "cluster", "--yes"]).says("1 change undone");
    assert!(!made.exists());
}

/// `ssh host hardway destroy`, cron and pipelines.
#[test]
fn where_nobody_can_be_asked_nothing_goes_without_yes() {
    let (work, made) = with_something_done();
    let before = hardway_testing::Snapshot::of(work.root());
    for verb in [
        &["destroy"][..],
        &["infra", "down"],
        &["node", "remove", "worker-0"],
        &["hosted", "cluster", "delete", "guest"],
        &["hosted", "nodepool", "delete", "pool", "--cluster", "guest"],
        &["hosted", "workers", "remove", "worker-0", "--cluster", "guest"],
    ] {
        work.refused(2, verb)
            .says("there is no terminal to ask on, and --yes was not given: nothing was removed")
            .says("fix: pass --yes");
    }
    assert!(made.exists());
    before.assert_untouched(&hardway_testing::Snapshot::of(work.root()));
}

/// What the journal alone knows: who fetched a config. Machines of one's own with a load balancer of one's own leave nothing else.
#[test]
fn a_journal_is_put_away_only_for_something_and_never_unasked() {
    let work = work::made().with_real_clock();
    let journal = Journal::open(&work.path("journal.jsonl")).unwrap();
    let now = jiff::Timestamp::now();
    let offered = IgnitionOffered { host: "master-0".to_owned(), digest: "d".to_owned() };
    journal.append(&[Entry::of(now, &offered)]).unwrap();
    let before = hardway_testing::Snapshot::of(work.root());
    for verb in [&["destroy"][..], &["destroy", "--dry-run"], &["destroy", "--yes"]] {
        work.ok(verb).says("nothing to undo").does_not_say("was renamed to");
    }
    before.assert_untouched(&hardway_testing::Snapshot::of(work.root()));

    let joined = NodeJoined { host: "master-0".to_owned() };
    journal.append(&[Entry::of(now, &joined)]).unwrap();
    let before = hardway_testing::Snapshot::of(work.root());
    let ran = work.ok(&["destroy", "--dry-run"]);
    assert!(ran.stdout.contains("the journal would be moved to logs/"), "{}", ran.stdout);
    assert!(ran.stdout.contains("would be forgotten: master-0. "), "{}", ran.stdout);
    work.refused(2, &["destroy"]);
    typed(&work, "destroy", "no").expect(8);
    before.assert_untouched(&hardway_testing::Snapshot::of(work.root()));
    work.ok(&["destroy", "--yes"]).says("the journal was renamed to logs/journal-");
    assert!(!work.exists("journal.jsonl"));
}

/// Runs it at a terminal, where this is typed.
fn typed(work: &Work, verb: &str, answer: &str) -> Ran {
    let mut command = Command::new("bash");
    let script = "printf '%s\\n' \"$1\" | script --quiet --return --command \"$2\" /dev/null";
    command.args(["-c", script, "bash", answer, &format!("{} {verb}", work::PROGRAM)]);
    command.current_dir(work.root()).stdin(Stdio::null());
    Ran::of(command)
}

#[test]
fn a_person_types_the_name_of_what_goes() {
    for verb in ["destroy", "infra down"] {
        let (work, made) = with_something_done();
        let ran = typed(&work, verb, "something else").expect(8);
        assert!(ran.stdout.contains("Type ocp4 to confirm: "), "{}", ran.stdout);
        assert!(ran.stdout.contains("not confirmed: nothing was removed"), "{}", ran.stdout);
        assert!(made.exists());
        typed(&work, &format!("{verb} --yes"), "").expect(0);
        assert!(!made.exists());
        let (work, made) = with_something_done();
        typed(&work, verb, "ocp4").expect(0);
        assert!(!made.exists());
    }
}

#[test]
fn an_address_to_listen_on_is_shown_by_an_example() {
    let work = work::made();
    for verb in [
        &["page", "--listen", "here"][..],
        &["media", "serve", "--listen", "localhost:80"],
        &["serve", "--listen", ":80"],
        &["serve", "--boot", "80"],
        &["hosted", "controller", "--cluster", "guest", "--metrics", "80"],
    ] {
        work.refused(2, verb).says("expected ADDRESS:PORT, such as 192.168.126.2:8080");
    }
}

#[test]
fn a_page_that_cannot_be_written_is_the_mistake_of_who_names_it() {
    let work = work::made();
    work.refused(2, &["page", "--export", "no/page.html"])
        .says("error[usage]: no is not a folder\n  fix: name a file");
    work.refused(2, &["page", "--export", "auth"]).says("error[usage]: auth is a folder");
}

#[test]
fn where_a_kubeconfig_was_looked_for_is_said_in_a_sentence() {
    let work = work::empty();
    let mut command = work.command(&["hosted", "cluster", "status", "guest"]);
    command.env("HOME", work.root()).env_remove("KUBECONFIG").env_remove("KUBERNETES_SERVICE_HOST");
    let ran = Ran::of(command).expect(2);
    let ran = ran.says("no kubeconfig for the management cluster: KUBECONFIG is not set or names no file, ~/.kube/config does not exist, and this is not a pod");
    let ran = ran.says("fix: name it with --kubeconfig, or set KUBECONFIG");
    ran.does_not_say("in-cluster").does_not_say("incluster");
    work.write(".kube/config", "nonsense: [");
    let mut command = work.command(&["hosted", "cluster", "status", "guest"]);
    command.env("HOME", work.root()).env_remove("KUBECONFIG").env_remove("KUBERNETES_SERVICE_HOST");
    Ran::of(command)
        .expect(2)
        .says("the environment cannot be used as a kubeconfig: ")
        .does_not_say("not a pod");
}

/// Words that look like a command of ours are people's own.
#[test]
fn whoever_says_a_command_that_is_none_gets_an_error_and_nothing_else() {
    let mut command = Command::new(work::PROGRAM);
    command.args(["explain", "hardway create --bogus"]);
    let ran = Ran::of(command).expect(2);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
}

#[test]
fn looking_at_a_removal_writes_nothing() {
    let work = work::with_inputs(hardway_testing::INSTALL_CONFIG, hardway_testing::INVENTORY);
    let before = hardway_testing::Snapshot::of(work.root());
    let ran = work.ok(&["node", "remove", "worker-0", "--dry-run"]);
    assert!(ran.stdout.starts_with("This would drain worker-0"), "{}", ran.stdout);
    let alone = "the load balancer was not set up from this folder and is left alone: take worker-0 out of its backends";
    assert!(ran.stdout.contains(alone), "{}", ran.stdout);
    work.refused(2, &["node", "remove", "master-0", "--dry-run"]).says("can be replaced");
    work.refused(2, &["node", "remove", "worker-9", "--dry-run"])
        .says("no host \"worker-9\" in the inventory");
    before.assert_untouched(&hardway_testing::Snapshot::of(work.root()));
}

#[test]
fn a_load_balancer_that_was_set_up_from_here_is_changed_and_that_is_said_beforehand() {
    let work = work::with_inputs(hardway_testing::INSTALL_CONFIG, hardway_testing::INVENTORY);
    let started = ActionStarted {
        action: "balancer/haproxy".to_owned(),
        why: "for this test".to_owned(),
        does: Vec::new(),
        undo: Vec::new(),
    };
    let journal = Journal::open(&work.path("journal.jsonl")).unwrap();
    journal.append(&[Entry::of(jiff::Timestamp::now(), &started)]).unwrap();
    let ran = work.ok(&["node", "remove", "worker-0", "--dry-run"]);
    assert!(ran.stdout.contains("balancer/haproxy: changed: no longer contains worker-0"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("left alone"), "{}", ran.stdout);
}
