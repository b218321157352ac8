//! Whoever names a file answers for it: the command line with 2, the folder with 3.

use hardway_testing::{INSTALL_CONFIG, INVENTORY, Snapshot};

use crate::work;

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
        .says("error[gather-failed]: there is no key for the bootstrap host");
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
