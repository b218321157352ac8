//! Files of hardway's own that somebody damaged, and two hardways at once.

use std::process::Command;

use crate::work;

const CREATE: [&str; 2] = ["create", "ignition-configs"];

#[test]
fn only_one_works_in_a_folder() {
    let work = work::made();
    // Not this process: what a hardway starts works in a folder that its parent holds.
    let mut other = Command::new("flock")
        .arg("--no-fork")
        .arg(work.path(".hardway.lock"))
        .args(["sleep", "600"])
        .spawn()
        .unwrap();
    let lock = std::fs::OpenOptions::new().write(true).open(work.path(".hardway.lock")).unwrap();
    while lock.try_lock().is_ok() {
        lock.unlock().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let who = other.id();
    work.refused(1, &CREATE)
        .says(&format!("error[workdir-locked]: another hardway (process {who}) is working in ./\n"))
        .says("fix: wait until it has finished");
    // Whoever only looks is let in.
    work.ok(&["status"]);
    work.ok(&["create", "ignition-configs", "--dry-run"]);
    other.kill().unwrap();
    other.wait().unwrap();
    work.ok(&CREATE);
}

#[test]
fn a_damaged_lock_file_is_named_with_its_line() {
    let work = work::made();
    let lock = work.read("assets.lock");
    let (first, rest) = lock.split_once('\n').unwrap();
    for damaged in [format!("{first}\nfile a b\n{rest}"), format!("{first}\n<<<<<<< HEAD\n{rest}")] {
        work.write("assets.lock", damaged);
        work.refused(1, &CREATE)
            .says("error[lock-damaged]: assets.lock:2: not a line of a lock file")
            .says("restore");
        work.refused(1, &["status"]).says("assets.lock:2");
    }
    work.write("assets.lock", [first.as_bytes(), b"\n\xff\xfe\n"].concat());
    work.refused(1, &CREATE).says("error[lock-damaged]: assets.lock:2");
    work.write("assets.lock", &lock[..lock.len() / 2]);
    work.refused(1, &CREATE).says("error[lock-damaged]: assets.lock:");
    work.write("assets.lock", &lock);
    work.write(".assets.lock.next", "nonsense\n");
    work.refused(1, &CREATE).says("error[lock-damaged]: .assets.lock.next:1");
}

#[test]
fn without_a_lock_file_what_is_as_we_would_write_it_is_ours() {
    let work = work::made();
    let lock = work.read("assets.lock");
    work.remove("assets.lock");
    work.write("metadata.json", "{}");
    work.ok(&CREATE)
        .says("metadata.json was not written by hardway and is kept")
        .says("1 kept as edited")
        .does_not_say("root-ca.crt");
    work.remove("metadata.json");
    work.ok(&CREATE);
    assert_eq!(work.read("assets.lock"), lock);
    work.edit("install-config.yaml", "172.30.0.0/16", "172.31.0.0/16");
    work.ok(&CREATE).does_not_say("is kept");
    assert!(work.read("manifests/cluster-network-02-config.yml").contains("172.31.0.0/16"));
}

#[test]
fn a_damaged_identity_is_named_with_its_line() {
    let work = work::made();
    let identity = work.read("secrets/identity.json");
    for damaged in
        [identity.replace("\"created\": \"", "\"created\": \"x"), identity.replace("infraID", "infra")]
    {
        assert_ne!(damaged, identity);
        work.write("secrets/identity.json", damaged);
        work.refused(1, &CREATE)
            .says("error[secrets-damaged]: secrets/identity.json: line ")
            .says("not the identity of a cluster")
            .says("fix: restore the file from a backup");
    }
    for damaged in ["", "{", "[]", "\u{0}"] {
        work.write("secrets/identity.json", damaged);
        work.refused(1, &CREATE).says("secrets/identity.json: line ");
        work.refused(1, &["graph"]).says("secrets/identity.json: line ");
    }
}

#[test]
fn a_damaged_key_is_named_and_not_shown() {
    let work = work::made();
    let key = work.read("secrets/etcd-signer.key");
    let body = key.lines().nth(1).unwrap();
    for damaged in [
        String::new(),
        key[..key.len() / 2].to_owned(),
        key.replace(body, &body.to_lowercase()),
        "hush".into(),
    ] {
        work.write("secrets/etcd-signer.key", &damaged);
        let ran = work
            .refused(1, &CREATE)
            .says(
                "error[secrets-damaged]: making etcd-signer: secrets/etcd-signer.key: not a PEM private key",
            )
            .does_not_say("hush");
        assert!(!ran.stderr.to_lowercase().contains(&body.to_lowercase()));
    }
    work.write("secrets/etcd-signer.key", key);
    work.ok(&CREATE).says("0 files made");
}

#[test]
fn a_damaged_journal_hides_nothing_else_and_is_not_to_be_thrown_away() {
    let work = work::made();
    work.write("journal.jsonl", "no line of a journal\nanother\n");
    let ran = work.refused(1, &["status"]);
    assert!(ran.stdout.contains(" assets are fresh\n"), "{}", ran.stdout);
    ran.says("error[journal-damaged]: ")
        .says("fix: restore the file from a backup. Moving it away is the last resort")
        .says("`hardway serve` hands out every config once more");
}
