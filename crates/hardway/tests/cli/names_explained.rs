//! Everything that the program prints as a name, it can explain.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::Stdio;

use hardway_testing::{INSTALL_CONFIG, INVENTORY, Snapshot, Work, with_hardware};
use serde_json::Value;

use crate::work;

/// Verbs that say what there is, with the fields of their data that are names.
const TOLD: [(&str, &[&str]); 11] = [
    ("status --all", &["asset", "phase", "path", "name"]),
    ("graph", &["id", "asset", "phase", "from", "to"]),
    ("phase list", &["name"]),
    ("check --list", &["check", "group"]),
    ("verify --list", &["check"]),
    ("diagnose --list", &["code", "id", "link"]),
    ("plan", &["phase", "action"]),
    ("infra plan", &["action"]),
    ("media limits", &["platform", "host", "config"]),
    ("approve declared", &["host", "name"]),
    ("approve simulate requests.yaml", &["rule", "reason", "verdict"]),
];

/// The other verbs with data of their own, and where the names in it come from.
const ELSEWHERE: [(&str, &str); 41] = [
    ("approve", "rules and reasons, as approve simulate"),
    ("bmc status", "words of the management controller"),
    ("certs", "certificates, as status"),
    ("check images", "kinds of findings: a test beside `explain`"),
    ("check manifests", "the test of complaints below"),
    ("day2 check", "objects of Kubernetes, operators and pools"),
    ("day2 list", "steps: a test beside the catalogue, and explanations of the same names"),
    ("day2 plan", "objects of Kubernetes, and fields of them"),
    ("diff", "paths and reasons, as status"),
    ("etcd backup", "backup.json"),
    ("etcd defrag", "nodes"),
    ("etcd members", "nodes and roles: STATES"),
    ("etcd prove", "kinds of Kubernetes objects"),
    ("etcd status", "nodes and roles: STATES"),
    ("explain", "what is asked about"),
    ("gather bootstrap", "paths of logs"),
    ("hosted cluster status", "conditions of HyperShift"),
    ("hosted doctor", "diagnoses: each has an explanation"),
    ("hosted leftovers", "machines and pools"),
    ("hosted nodepool list", "gates: a test beside `explain`"),
    ("hosted nodepool status", "gates: a test beside `explain`"),
    ("hosted plan", "machines and actions, as infra plan"),
    ("hosted up", "checks, as verify"),
    ("hosted verify", "checks, as verify"),
    ("hosted workers list", "states of workers: a test beside `explain`"),
    ("infra status", "actions, as infra plan"),
    ("lab release", "images of the release, as release info"),
    ("media show", "files of a live ISO"),
    ("media urls", "hosts, as media limits"),
    ("node replace", "actions and etcd's members, as plan"),
    ("certs recover", "nodes and rules, as approve simulate"),
    ("release bundle", "images of the release, as release info"),
    ("release extract", "files of the release"),
    ("release info", "images of the release: the keys of its data, walked with the others"),
    ("release media", "platforms of the CoreOS stream"),
    ("release mirror", "images of the release, as release info"),
    ("serve", "hosts, as media limits"),
    ("validate", "the test of complaints below"),
    ("version", "the program"),
    ("wait-for bootstrap-complete", "stages of bootstrapping and operators"),
    ("wait-for install-complete", "operators: the test of the page"),
];

/// A request that nobody made, for the names of all rules.
const REQUEST: &str = "\
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: a}
spec: {request: \"\", signerName: kubernetes.io/kubelet-serving, usages: []}
";

/// Words that stand for states, in the texts of `status`, `check`, `infra status` and `hosted`.
const STATES: &[&str] = &[
    "fresh",
    "stale",
    "kept",
    "gone",
    "broken",
    "passed",
    "warned",
    "failed",
    "skipped",
    "not-applicable",
    "holds",
    "missing",
    "extra",
    "untouched",
    "finished",
    "running",
    "interrupted",
    "healthy",
    "unhealthy",
    "leader",
    "follower",
    "voter",
    "learner",
    "NOSPACE",
    "backups/etcd-20261115T120000Z-r4711.tar.age",
    "config-at-rest",
    "user-data",
    "sample",
    "infra id",
    "exit-codes",
    "if-served",
    "api-int",
    "bootstrap-in-place",
];

/// What is found under these fields, however deep.
pub(crate) fn collect(value: &Value, fields: &[&str], found: &mut BTreeSet<String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect(value, fields, found)),
        Value::Object(map) => {
            for (field, value) in map {
                match value.as_str().filter(|_| fields.contains(&field.as_str())) {
                    Some(name) => drop(found.insert(name.to_owned())),
                    None => collect(value, fields, found),
                }
            }
        }
        _ => {}
    }
}

/// Commands, flags and variables of the help of a command and of all below it.
fn of_help(work: &Work, path: &[&str], found: &mut BTreeSet<String>) {
    let help = work.ok(&[path, &["--help"]].concat()).stdout;
    for below in commands_in(&help) {
        let path = [path, &[below]].concat();
        found.insert(format!("hardway {}", path.join(" ")));
        of_help(work, &path, found);
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    for word in help.split(|c: char| !is_name(c)) {
        let is_flag =
            word.strip_prefix("--").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()));
        let is_variable = word.starts_with("HARDWAY_") || word == "KUBECONFIG" || word == "NO_COLOR";
        // An example of what podman may be told.
        let is_podmans = word == "--runtime";
        if (is_flag || is_variable) && !is_podmans {
            found.insert(word.to_owned());
        }
    }
}

/// The first word of each row above the options; `create cluster` is also found below `create`.
fn commands_in(help: &str) -> BTreeSet<&str> {
    let rows = help.lines().take_while(|line| !line.starts_with("Options") && !line.starts_with("Arguments"));
    let names = rows.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()) && *name != "help").collect()
}

/// Those that `explain` knows nothing about.
pub(crate) fn unknown(work: &Work, names: &BTreeSet<String>) -> String {
    let mut child = work
        .command(&["explain", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: String = names.iter().map(|name| format!("{name}\n")).collect();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(lines.as_bytes()).unwrap());
        let output = child.wait_with_output().unwrap();
        match output.status.success() {
            true => String::new(),
            false => String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    })
}

#[test]
fn every_name_that_a_verb_prints_is_explained() {
    let work = work::with_inputs(INSTALL_CONFIG, &with_hardware(INVENTORY, ""));
    work.ok(&["create", "ignition-configs"]);
    work.write("requests.yaml", REQUEST);
    let mut names = BTreeSet::new();
    for (verb, fields) in TOLD {
        let mut args: Vec<&str> = verb.split(' ').collect();
        args.extend(["-o", "json"]);
        let mut found = BTreeSet::new();
        // A request that is denied is no success.
        collect(&work.run(&args).json(), fields, &mut found);
        assert!(!found.is_empty(), "{verb} told nothing");
        names.extend(found);
    }
    // Files are told by `create`, in its own words.
    let made = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    for line in made.ok(&["create", "ignition-configs", "--dry-run"]).stdout.lines() {
        let path = line.strip_prefix("would write ").and_then(|rest| rest.split(" (").next());
        names.extend(path.map(str::to_owned));
    }
    let release = work.ok(&["release", "info", "sample", "-o", "json"]).json();
    let images = release["images"].as_object().unwrap().keys();
    assert!(images.len() > 180, "{}", images.len());
    names.extend(images.cloned());
    of_help(&work, &[], &mut names);
    names.extend(STATES.iter().map(|state| (*state).to_owned()));
    // Files as messages name them, from outside the folder.
    let paths = [
        "auth",
        "auth/kubeconfig",
        "auth/kubeadmin-password",
        "secrets",
        "secrets/ignition-token-key",
        "ignition",
    ];
    names.extend(paths.map(|path| format!("demo/{path}")));
    names.extend(["logs/journal-20261115T120000Z.jsonl", ".assets.lock.next"].map(str::to_owned));
    names.insert("installconfig.platform.none".to_owned());
    of_node_configs(&work, &mut names);
    assert!(names.len() > 800, "{}", names.len());
    assert_eq!(unknown(&work, &names), "");
}

/// What is wrong has a name too: a field of an input file, a rule in a report for pipelines.
#[test]
fn every_name_in_a_complaint_is_explained() {
    let work = work::made();
    let mut names = BTreeSet::new();
    work.edit("install-config.yaml", "hostPrefix: 23", "hostPrefix: 33");
    work.edit("inventory.yaml", "role: worker", "role: wrker");
    collect(&work.refused(3, &["validate", "-o", "json"]).json(), &["field", "file"], &mut names);
    for name in ["networking.clusterNetwork[0].hostPrefix", "hosts[4].role"] {
        assert!(names.contains(name), "{name} is not in {names:?}");
    }

    let work = work::made();
    work.write(
        "manifests/mine.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: nowhere}\ndta: {a: b}\n",
    );
    let mut rules = BTreeSet::new();
    collect(&work.refused(3, &["check", "manifests", "-o", "sarif"]).json(), &["ruleId"], &mut rules);
    assert_eq!(rules, ["manifest/not-found", "manifest/unknown-field"].map(str::to_owned).into());
    names.extend(rules);
    assert_eq!(unknown(&work, &names), "");
}

/// Whoever adds a verb with `-o` says here where its names are looked at.
#[test]
fn every_verb_with_data_is_walked_or_says_where() {
    let pages = work::empty();
    pages.ok(&["man", "--to", "."]);
    let with_data = Snapshot::of(pages.root());
    let with_data: BTreeSet<&str> = with_data
        .files()
        .filter(|(_, _, page)| String::from_utf8_lossy(page).contains("\\-\\-output"))
        .filter_map(|(path, ..)| path.strip_prefix("hardway-")?.strip_suffix(".1"))
        .collect();
    let walked = TOLD.iter().map(|(verb, _)| verb.split(" -").next().unwrap_or(verb));
    let walked = walked.map(|verb| verb.trim_end_matches(" requests.yaml"));
    let known: BTreeSet<String> =
        walked.chain(ELSEWHERE.iter().map(|(verb, _)| *verb)).map(|verb| verb.replace(' ', "-")).collect();
    assert_eq!(with_data, known.iter().map(String::as_str).collect());
}

/// Every file, unit and drop-in that a node gets.
fn of_node_configs(work: &Work, found: &mut BTreeSet<String>) {
    for host in ["master-0", "worker-0"] {
        let config: Value = serde_json::from_str(&work.read(&format!("ignition/{host}.ign"))).unwrap();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let units = list(&config["systemd"]["units"]);
        let dropins = units.iter().flat_map(|unit| list(&unit["dropins"]));
        let files = list(&config["storage"]["files"]).into_iter().map(|file| file["path"].clone());
        let names = files.chain(units.iter().cloned().chain(dropins).map(|unit| unit["name"].clone()));
        found.extend(names.map(|name| name.as_str().unwrap().to_owned()));
    }
}

#[test]
fn nothing_is_not_explained() {
    let work = work::empty();
    work.refused(2, &["explain", ""]).says("the name is empty");
    let none = work.command(&["explain", "-"]).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(none.status.code() == Some(2) && said.contains("no names to explain"), "{said}");
    let told = work.ok(&["explain", "T1"]).stdout;
    assert!(!told.contains("**") && !told.contains('`'), "{told}");
}

#[test]
fn a_name_that_nobody_knows_is_said() {
    let work = work::made();
    let names = ["etcd-signer", "cucumber"].map(str::to_owned).into();
    assert!(unknown(&work, &names).contains("no explanation for cucumber"));
}
