//! Whoever names a file answers for it: the command line with 2, the folder with 3.

use std::net::TcpListener;

use hardway_testing::{INSTALL_CONFIG, INVENTORY, Running, Snapshot};

use crate::work;

/// What a verb reads of a folder.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reads {
    /// Nothing, or only what the command line names.
    Nothing,
    /// What is there; both input files may be missing or wrong.
    Folder,
    /// Other things, or it makes them: that the folder is not as wanted is a wrong command line.
    Makes,
    /// Both input files, sooner or later.
    Inputs,
}
use Reads::{Folder, Inputs, Makes, Nothing};

/// Every verb, and what it has to be given.
const VERBS: &[(&str, &str, Reads)] = &[
    ("approve", "", Inputs),
    ("bmc boot-once-cd", "--host master-0", Inputs),
    ("bmc boot-once-pxe", "--host master-0", Inputs),
    ("bmc by-hand", "", Inputs),
    ("bmc eject", "--host master-0", Inputs),
    ("bmc insert", "--host master-0", Inputs),
    ("bmc power-off", "--host master-0", Inputs),
    ("bmc power-on", "--host master-0", Inputs),
    ("bmc seen", "--host master-0", Inputs),
    ("bmc status", "--host master-0", Inputs),
    ("check", "--only names-apps", Inputs),
    ("completion", "bash", Nothing),
    ("create cluster", "", Inputs),
    ("create ignition-configs", "", Inputs),
    ("create install-config", "", Makes),
    ("create manifests", "", Inputs),
    ("create single-node-ignition-config", "", Inputs),
    ("csr declared", "", Inputs),
    ("csr simulate", "requests.yaml", Inputs),
    ("destroy", "", Folder),
    ("diagnose", "", Inputs),
    ("diff", "--against .", Makes),
    ("explain", "pki", Nothing),
    ("gather bootstrap", "", Inputs),
    ("graph", "", Inputs),
    ("hosted cluster create", "guest", Nothing),
    ("hosted cluster delete", "guest", Nothing),
    ("hosted cluster kubeconfig", "guest", Nothing),
    ("hosted cluster render", "guest", Nothing),
    ("hosted cluster status", "guest", Nothing),
    ("hosted controller", "--cluster guest", Inputs),
    ("hosted doctor", "--cluster guest", Nothing),
    ("hosted nodepool create", "pool --cluster guest", Nothing),
    ("hosted nodepool delete", "pool --cluster guest", Nothing),
    ("hosted nodepool list", "--cluster guest", Nothing),
    ("hosted nodepool status", "pool --cluster guest", Nothing),
    ("hosted ovn", "--cluster guest", Nothing),
    ("hosted stand-in", "--cluster guest", Nothing),
    ("hosted token", "", Nothing),
    ("hosted workers add", "--cluster guest", Nothing),
    ("hosted workers list", "--cluster guest", Nothing),
    ("hosted workers remove", "worker --cluster guest", Nothing),
    ("hosted workers replace", "worker --cluster guest", Nothing),
    ("hosted workers scale", "1 --cluster guest", Nothing),
    ("infra down", "", Folder),
    ("infra plan", "", Inputs),
    ("infra status", "", Inputs),
    ("infra up", "", Inputs),
    ("init", "", Makes),
    ("lab logs", "master-0", Inputs),
    ("lab run", "-- true", Inputs),
    ("lab shell", "master-0", Inputs),
    ("man", "", Nothing),
    ("media embed", "no.iso", Nothing),
    ("media iso", "--all", Inputs),
    ("media limits", "", Inputs),
    ("media pxe", "--url http://192.0.2.2:8080", Inputs),
    ("media remove", "no.iso", Nothing),
    ("media serve", "--listen 127.0.0.1:0", Inputs),
    ("media show", "no.iso", Nothing),
    ("media urls", "--url http://192.0.2.2:8080", Inputs),
    ("node add", "worker-0", Inputs),
    ("node remove", "worker-0", Inputs),
    ("node replace", "master-1", Inputs),
    ("phase explain", "make-pki", Nothing),
    ("phase list", "", Nothing),
    ("phase redo", "make-pki", Inputs),
    ("phase run", "make-pki", Inputs),
    ("plan", "", Inputs),
    ("recover certs", "", Inputs),
    ("release extract", "127.0.0.1:1/a:1 --file x", Nothing),
    ("release info", "127.0.0.1:1/a:1", Nothing),
    ("release media", "", Inputs),
    ("release mirror", "127.0.0.1:1/a:1 --to-dir x", Nothing),
    ("schema", "inventory", Nothing),
    ("serve", "--listen 127.0.0.1:0", Inputs),
    ("status", "", Inputs),
    ("validate", "", Inputs),
    ("verify", "", Inputs),
    ("version", "", Nothing),
    ("wait-for bootstrap-complete", "", Inputs),
    ("wait-for install-complete", "", Inputs),
];

fn words(verb: &str, arguments: &str, first: &[&'static str]) -> Vec<String> {
    let given = verb.split(' ').chain(arguments.split(' ')).filter(|word| !word.is_empty());
    first.iter().copied().chain(given).map(str::to_owned).collect()
}

/// Verb by verb, whatever the reason: a wrong word, a folder that is not there, files in it that cannot be read.
#[test]
fn every_verb_ends_with_the_code_of_its_reason() {
    let pages = work::empty();
    pages.ok(&["man", "--to", "."]);
    let all: Vec<String> = Snapshot::of(pages.root()).paths().map(str::to_owned).collect();
    let mut leaves = all.clone();
    let stem = |page: &String| page.trim_end_matches(".1").to_owned();
    leaves.retain(|page| !all.iter().any(|other| other.starts_with(&format!("{}-", stem(page)))));
    let mut known: Vec<String> =
        VERBS.iter().map(|(verb, ..)| format!("hardway-{}.1", verb.replace(' ', "-"))).collect();
    leaves.sort();
    known.sort();
    assert_eq!(leaves, known, "a verb without a row, or a row without a verb");

    for (verb, arguments, reads) in VERBS {
        let run = |first: &[&'static str], work: &hardway_testing::Work| {
            let words = words(verb, arguments, first);
            work.run(&words.iter().map(String::as_str).collect::<Vec<_>>()).code
        };
        let wrong = work::empty().run(&[verb.split(' ').collect::<Vec<_>>(), vec!["--cucumber"]].concat());
        assert_eq!(wrong.code, Some(2), "{verb}: a wrong word");
        if *reads == Nothing {
            continue;
        }
        if *reads != Makes {
            assert_eq!(run(&["--dir", "nowhere"], &work::empty()), Some(2), "{verb}: no folder");
        }
        let work = work::empty();
        work.write("install-config.yaml", INSTALL_CONFIG);
        work.write("inventory.yaml/file", "");
        let expected = match reads {
            Inputs => 3,
            Makes => 2,
            Folder | Nothing => 0,
        };
        assert_eq!(run(&[], &work), Some(expected), "{verb}: inventory.yaml is a folder");
    }
}

/// Also what never looks for it: drawing keys, and a registry that says nothing.
#[test]
fn a_person_who_presses_ctrl_c_gets_eight_everywhere() {
    let work = work::with_inputs(INSTALL_CONFIG, &INVENTORY.replace("ECDSA-P256", "RSA-2048"));
    for verb in [&["create", "ignition-configs"][..], &["create", "manifests"]] {
        let mut run = Running::start(work.command(verb));
        run.until_so("Ctrl-C is looked for", {
            let status = format!("/proc/{}/status", run.id());
            move || is_caught(&fs_err::read_to_string(&status).unwrap_or_default())
        });
        assert_eq!(run.interrupt(), Some(8), "{verb:?}: {}", run.said());
        assert!(run.said().contains("error[interrupted]"), "{}", run.said());
        assert!(!work.exists("bootstrap.ign"));
    }
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let image = format!("{}/release:1", silent.local_addr().unwrap());
    for verb in [
        &["release", "info", &image][..],
        &["release", "extract", &image, "--file", "x"],
        &["release", "mirror", &image, "--to-dir", "x"],
    ] {
        let mut run = Running::start(work::empty().with_real_clock().command(verb));
        let asked = silent.accept().unwrap();
        assert_eq!(run.interrupt(), Some(8), "{verb:?}: {}", run.said());
        drop(asked);
    }
}

/// Whether a process has a handler for SIGINT.
fn is_caught(status: &str) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    line.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 0b10 != 0))
}

#[test]
fn a_pull_secret_that_is_none_is_the_mistake_of_who_names_it() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    work.write("passwd", "root:x:0:0::/root:/bin/bash\n");
    let ran = work.refused(2, &["release", "info", "127.0.0.1:1/a:1", "--pull-secret", "passwd"]);
    ran.says("error[pull-secret-invalid]: passwd").does_not_say("/bin/bash");
}

#[test]
fn a_file_that_the_command_line_names_and_that_is_not_there_is_a_wrong_command_line() {
    let work = work::made();
    for arguments in [
        &["approve", "--kubeconfig", "nothing"][..],
        &["approve", "--declared", "nothing"],
        &["csr", "simulate", "nothing"],
        &["diagnose", "--bundle", "nothing"],
        &["diagnose", "--log", "nothing", "--kubeconfig", "nothing"],
        &["create", "manifests", "--release-dir", "nothing"],
        &["diff", "--against", "nothing"],
        &["gather", "bootstrap", "--bootstrap", "127.0.0.1", "--key", "nothing"],
        &["hosted", "cluster", "status", "guest", "--kubeconfig", "nothing"],
        &["hosted", "nodepool", "list", "--cluster", "guest", "--kubeconfig", "nothing"],
        &["man", "--to", "nothing"],
        &["media", "iso", "--all", "--iso", "nothing"],
        &["media", "show", "nothing"],
        &["recover", "certs", "--declared", "nothing"],
        &["recover", "certs", "--kubeconfig", "nothing"],
        &["verify", "--kubeconfig", "nothing"],
        &["wait-for", "bootstrap-complete", "--kubeconfig", "nothing"],
        &["wait-for", "install-complete", "--kubeconfig", "nothing"],
    ] {
        work.refused(2, arguments).says("nothing");
    }
}

#[test]
fn a_kubeconfig_that_is_not_there_is_told_once() {
    let ran = work::empty().refused(2, &["hosted", "cluster", "status", "guest", "--kubeconfig", "nothing"]);
    let ran = ran.says("error[kubeconfig-unusable]");
    assert_eq!(ran.stderr.matches("nothing cannot be used as a kubeconfig").count(), 1, "{}", ran.stderr);
}

#[test]
fn an_install_that_is_named_what_is_not_there_does_not_begin() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    let before = Snapshot::of(work.root());
    for command in [&["plan"][..], &["create", "cluster"]] {
        for flag in ["--release-dir", "--pull-secret", "--keyring", "--rendered-dir", "--trust-bundle"] {
            let ran = work.refused(2, &[command, &[flag, "nothing"]].concat());
            ran.says("error[usage]: nothing is not there");
        }
        let ran = work.refused(2, &[command, &["--skip-check", "nothing"]].concat());
        ran.says("there is no check \"nothing\"").says("release-image");
    }
    before.assert_untouched(&Snapshot::of(work.root()));
}

#[test]
fn a_file_that_belongs_to_the_folder_and_is_not_there_is_a_wrong_configuration() {
    let work = work::empty();
    for arguments in [
        &["approve"][..],
        &["create", "ignition-configs"],
        &["diagnose"],
        &["recover", "certs"],
        &["status"],
        &["verify"],
        &["wait-for", "bootstrap-complete"],
        &["wait-for", "install-complete"],
    ] {
        work.refused(3, arguments);
    }
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    work.refused(3, &["verify"])
        .says("error[kubeconfig-unusable]: there is no kubeconfig ./auth/kubeconfig\n");
    work.refused(3, &["gather", "bootstrap"])
        .says("error[gather-failed]: the ssh key of bootstrap.ocp4.example.com is not known");
}

#[test]
fn advice_names_the_folder_and_unknown_words_get_some() {
    let work = work::empty();
    let folder = work.root().display().to_string();
    work.refused(3, &["verify", "--dir", &folder])
        .says(&format!("`hardway --dir {folder} create ignition-configs`"));
    work.refused(2, &["explain", "make-pkl"]).says("near: make-pki");
    work.refused(2, &["explain", "kubeapiserver"]).says("near: kube-apiserver");
    work.refused(2, &["explain", "cucumber"]).says("hardway phase list");
    let help = work.ok(&["--help"]);
    assert!(help.stdout.contains("8  a person ended it"), "{}", help.stdout);
}

#[test]
fn who_leaves_out_one_of_two_is_told_of_both() {
    let work = work::empty();
    for (arguments, both) in [
        (&["media", "iso"][..], "<--host <NAME>|--all>"),
        (&["release", "extract", "a.example.com/b:1"], "<--to <DIR>|--file <NAME>|--command <NAME>>"),
        (&["release", "mirror", "--to", "a.example.com/b"], "<PULL_SPEC|--from-dir <DIR>>"),
        (&["release", "mirror", "a.example.com/b:1"], "<--to <REGISTRY/REPO>|--to-dir <DIR>>"),
    ] {
        work.refused(2, arguments).says(both);
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let work = work::empty();
    let page = work.ok(&["man", "csr", "simulate"]).stdout;
    assert!(page.contains(".TH hardway-csr-simulate 1") && page.contains("\\-\\-node"), "{page}");
    assert!(work.ok(&["man"]).stdout.contains(".TH hardway 1"));
    for text in [
        work.ok(&["man", "node", "add"]).stdout.replace("\\-", "-"),
        work.ok(&["node", "add", "--help"]).stdout,
    ] {
        assert!(
            text.contains("hardway node add worker-2 --dir demo") && text.contains("9  something waits"),
            "{text}"
        );
    }
    work.refused(2, &["man", "cucumber"]).says("one of approve, ");
    work.ok(&["man", "--to", "."]);
    let page = work.read("hardway-hosted-workers-add.1");
    assert!(page.contains("EXAMPLES AND EXIT CODES") && !work.exists("hardway-help.1"), "{page}");
    for name in ["hardway.1", "hardway-approve.1", "hardway-gather-bootstrap.1"] {
        assert!(work.exists(name), "{name}");
    }
}
