//! `hardway lab release`: what is given is looked at before anything is built.

use hardway_testing::{Ran, Work};

use crate::work;

/// A program as good as any.
const SCRIPT: &str = "#!/bin/sh\n";

/// A lab's folder, with scripts that only write down how they were called.
fn lab() -> Work {
    let work = work::empty();
    work.ok(&["init", "--provider", "lab"]);
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab/release/real.txt");
    work.write("lab/release/real.txt", fs_err::read(table).unwrap());
    work.write_program("lab/node/build.sh", SCRIPT);
    work.write_program(
        "lab/compose.sh",
        "#!/bin/sh\necho \"$*\" >\"${0%/*}/called\"\necho 192.168.126.1:5000/hardway-lab/release@sha256:1\n",
    );
    work
}

fn run(work: &Work, words: &[&str]) -> Ran {
    let mut command = work.command(&[&["lab", "release"], words].concat());
    command.env("HARDWAY_LAB_FILES", work.path("lab"));
    Ran::of(command)
}

#[test]
fn programs_are_handed_to_the_scripts() {
    let work = lab();
    work.write_program("bin/etcd/usr/bin/etcd", SCRIPT);
    work.write_program("bin/pod/usr/bin/pod", SCRIPT);
    let bin = work.path("bin").display().to_string();
    let ran = run(&work, &["--programs", &bin, "--stand-in", "pod", "--version", "4.20.99-lab"]).expect(0);
    assert_eq!(ran.stdout, "192.168.126.1:5000/hardway-lab/release@sha256:1\n");
    ran.says("real: etcd; everything else")
        .says("machines.lab.operators to real")
        .says("192.168.126.1:5000/hardway-lab/release:real");
    let called = work.read("lab/called");
    assert!(called.starts_with("--registry 192.168.126.1:5000 --hardway "), "{called}");
    let end = format!(" --programs {bin} --version 4.20.99-lab --stand-in pod\n");
    assert!(called.ends_with(&end), "{called}");
}

#[test]
fn whatever_is_wrong_with_programs_is_told_at_once() {
    let work = lab();
    work.write("bin/etcd/usr/bin/etcd", "no program");
    work.write_program("bin/ovn-kubernetes/usr/bin/ovn", SCRIPT);
    let bin = work.path("bin").display().to_string();
    run(&work, &["--programs", &bin])
        .expect(2)
        .says("2 things are wrong with the programs")
        .says("bin/etcd: no program in usr/bin")
        .says("bin/ovn-kubernetes: not a component that the lab's nodes can run")
        .says("lab/release/README.md");
    assert!(!work.exists("lab/called"));
}

#[test]
fn an_operator_needs_what_it_runs() {
    let work = lab();
    work.write_program("bin/cluster-etcd-operator/usr/bin/cluster-etcd-operator", SCRIPT);
    work.write("bin/cluster-etcd-operator/manifests/0000_20.yaml", "{}");
    work.write("bin/cluster-etcd-operator/manifests/image-references", "{}");
    let bin = work.path("bin").display().to_string();
    run(&work, &["--programs", &bin])
        .expect(2)
        .says("cluster-etcd-operator needs etcd, which would be a stand-in")
        .says("--stand-in");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let work = lab();
    run(&work, &[]).expect(2).says("--from").says("--programs");
    run(&work, &["--from", "x", "--stand-in", "ovn-kubernetes"])
        .expect(2)
        .says("nothing to keep")
        .says("cluster-etcd-operator");
    run(&work, &["--from", &work.path("lab").display().to_string()]).says("hardway release mirror --to-dir");
    run(&work, &["--from", "not a pull spec"]).expect(2);
    let here = work.path("lab").display().to_string();
    run(&work, &["--from", &here, "--keyring", &here]).expect(2).says("checked when it is written");
    let elsewhere = work::empty();
    elsewhere.ok(&["init"]);
    elsewhere.refused(2, &["lab", "release", "--from", "x"]).says("not in a lab");
}

/// The inventory says which of both releases it means, and both say so where they do not fit.
#[test]
fn operators_and_release_fit_together() {
    let work = lab();
    work.edit("inventory.yaml", "provider: lab\n", "provider: lab\n  lab: {operators: real}\n");
    let mut command = work.command(&["validate"]);
    command.env("HARDWAY_LAB_FILES", work.path("lab"));
    Ran::of(command)
        .expect(3)
        .says("release.image")
        .says("the release of stand-ins")
        .says("hardway lab release");
}
