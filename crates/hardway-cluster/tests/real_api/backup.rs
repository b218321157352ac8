//! A backup of a real etcd with a real API server's objects: read, proven by restoring it, and refused where it is not whole.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use hardway_base::error_sentence;
use hardway_cluster::age::Identity;
use hardway_cluster::etcd::database::Contents;
use hardway_cluster::etcd::{
    BackupManifest, EtcdStatus, Programs, ask_status, open_backup, prove, snapshot_source, take_snapshot,
    write_backup,
};
use hardway_testing::{ControlPlane, succeed, tools};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::members::access;

fn described(status: &EtcdStatus, contents: &Contents, snapshot: &File) -> BackupManifest {
    BackupManifest {
        format: BackupManifest::FORMAT,
        made: Timestamp::UNIX_EPOCH,
        cluster: "ocp4-x2b7k".to_owned(),
        etcd_cluster_id: status.cluster_id.clone(),
        member: "default".to_owned(),
        etcd_version: "3.5.21".to_owned(),
        revision: contents.revision,
        hash: format!("{:x}", contents.hash),
        keys: contents.keys.len(),
        size: snapshot.metadata().unwrap().len(),
        static_pods_of: None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_backup_is_proven_by_restoring_it_and_refused_where_it_is_not_whole() {
    let plane = tokio::task::spawn_blocking(ControlPlane::shared).await.unwrap();
    let map = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}, "data": {"of": name}});
    ["kept", "deleted", "changed"].iter().for_each(|name| plane.apply(&map(name)));
    succeed(plane.kubectl().args(["delete", "configmap", "deleted"]));
    plane.apply(&json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "changed", "namespace": "default"}, "data": {"of": "another"}}));

    let access = access(&plane);
    let status = ask_status(&access).await.unwrap();
    let mut snapshot = tempfile::tempfile().unwrap();
    let contents = take_snapshot(&access, snapshot_source(&status).unwrap(), &mut snapshot).await.unwrap();
    let key = |name: &str| format!("/registry/configmaps/default/{name}").into_bytes();
    assert!(contents.keys.contains_key(&key("kept")) && !contents.keys.contains_key(&key("deleted")));
    let version = plane.get(&["configmap", "changed"])["metadata"]["resourceVersion"].clone();
    assert_eq!(json!(contents.keys[&key("changed")].revision.to_string()), version);

    let manifest = described(&status, &contents, &snapshot);
    let [ours, other] = [(); 2].map(|()| Identity::draw().unwrap());
    let mut file = Vec::new();
    write_backup(&mut file, &[ours.recipient()], &manifest, &mut snapshot, None).unwrap();
    for secret in [&b"/registry/configmaps"[..], b"backup.json"] {
        assert!(!file.windows(secret.len()).any(|part| part == secret), "it is encrypted");
    }

    // What is not whole, not ours or of another cluster is refused by its own name.
    let refused = |bytes: &[u8], identity: &Identity, cluster: Option<&str>| {
        let folder = tempfile::tempdir().unwrap();
        error_sentence(&open_backup(bytes, identity, folder.path(), cluster).unwrap_err())
    };
    assert!(refused(&file, &other, None).contains("encrypted for somebody else"));
    for end in [file.len() - 1, file.len() - 100_000, file.len() / 2, 300] {
        let said = refused(&file[..end], &ours, None);
        assert!(said.contains("truncated"), "{end}: {said}");
    }
    let mut changed = file.clone();
    changed[file.len() / 2] ^= 1;
    assert!(refused(&changed, &ours, None).contains("damaged"));
    let said = refused(&file, &ours, Some("ocp5-aaaaa"));
    assert_eq!(said, "it is a backup of cluster ocp4-x2b7k, but this folder belongs to ocp5-aaaaa");
    let lying = BackupManifest { revision: 1, ..manifest.clone() };
    let mut lie = Vec::new();
    write_backup(&mut lie, &[ours.recipient()], &lying, &mut snapshot, None).unwrap();
    assert!(refused(&lie, &ours, None).contains("backup.json says revision 1 "));
    let newer = BackupManifest { format: 99, ..manifest.clone() };
    let mut new = Vec::new();
    write_backup(&mut new, &[ours.recipient()], &newer, &mut snapshot, None).unwrap();
    assert!(refused(&new, &ours, None).contains("format 99"));

    let folder = tempfile::tempdir().unwrap();
    let opened = open_backup(&file[..], &ours, folder.path(), Some("ocp4-x2b7k")).unwrap();
    assert_eq!((&opened.manifest, &opened.contents), (&manifest, &contents));
    let bin = tokio::task::spawn_blocking(|| tools(&["etcd", "etcdutl", "kube-apiserver"])).await.unwrap();
    // etcd's own program reads the same from it.
    let told = Command::new(bin.join("etcdutl"))
        .args(["snapshot", "status", "-w", "json"])
        .arg(&opened.snapshot)
        .output()
        .unwrap();
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!(
        (&told["hash"], &told["revision"], &told["totalKey"]),
        (&json!(contents.hash), &json!(contents.revision), &json!(contents.entries))
    );

    let programs = Programs::find(Some(&bin)).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let proof = prove(&opened, &programs, scratch.path()).await.unwrap();
    assert_eq!((proof.keys, proof.revision, proof.has_api), (contents.keys.len(), contents.revision, true));
    let maps = proof.kinds["configmaps"];
    assert!(maps.objects >= 3 && maps.served == maps.objects, "{proof:?}");
    assert!(proof.kinds.contains_key("clusterroles"), "{proof:?}");

    // Without an API server it is proven in etcd alone.
    let alone = Programs { kube_apiserver: None, ..programs.clone() };
    let scratch = tempfile::tempdir().unwrap();
    assert!(!prove(&opened, &alone, scratch.path()).await.unwrap().has_api);

    // Whoever restores something else is found out.
    let mut other = opened;
    let key = key("kept");
    let mut live = other.contents.keys[&key];
    live.hash[0] ^= 1;
    other.contents.keys.insert(key, live);
    let scratch = tempfile::tempdir().unwrap();
    let said = error_sentence(&prove(&other, &programs, scratch.path()).await.unwrap_err());
    assert!(said.contains("/registry/configmaps/default/kept has another value"), "{said}");
}

/// An API server on a copy has the webhooks and API servers of the cluster that it is a copy of, and would ask them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_proof_asks_nobody_whom_the_backup_names() {
    let asked = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = asked.local_addr().unwrap().port();
    asked.set_nonblocking(true).unwrap();
    let plane = tokio::task::spawn_blocking(ControlPlane::start).await.unwrap();
    plane.apply(
        &json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "other", "namespace": "default"},
        "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]}}),
    );
    plane.apply(&json!({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.other.example"},
        "spec": {"group": "other.example", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10,
            "insecureSkipTLSVerify": true, "service": {"namespace": "default", "name": "other", "port": port}}}));
    let until = Instant::now() + Duration::from_secs(60);
    while asked.accept().is_err() {
        assert!(Instant::now() < until, "the cluster itself asks it");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let access = access(&plane);
    let status = ask_status(&access).await.unwrap();
    let mut snapshot = tempfile::tempfile().unwrap();
    let contents = take_snapshot(&access, snapshot_source(&status).unwrap(), &mut snapshot).await.unwrap();
    tokio::task::spawn_blocking(move || drop(plane)).await.unwrap();
    while asked.accept().is_ok() {}

    let manifest = described(&status, &contents, &snapshot);
    let ours = Identity::draw().unwrap();
    let mut file = Vec::new();
    write_backup(&mut file, &[ours.recipient()], &manifest, &mut snapshot, None).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let opened = open_backup(&file[..], &ours, folder.path(), None).unwrap();
    let bin = tokio::task::spawn_blocking(|| tools(&["etcd", "etcdutl", "kube-apiserver"])).await.unwrap();
    let proof = prove(&opened, &Programs::find(Some(&bin)).unwrap(), folder.path()).await.unwrap();
    assert!(proof.unlisted.contains_key("/apis/other.example/v1"), "{:?}", proof.unlisted);
    assert!(proof.has_api && proof.kinds["apiservices.apiregistration.k8s.io"].served > 0, "{proof:?}");
    assert!(asked.accept().is_err(), "a copy asked for what the cluster has");
    for name in ["tokens.csv", "accounts.key"] {
        let mode = fs_err::metadata(folder.path().join(name)).unwrap().mode();
        assert_eq!(mode & 0o7777, 0o600, "{name}");
    }
}

/// Half a gigabyte of ConfigMaps. Judges nothing but the proof: `cargo test -p hardway-cluster --release --test it -- --ignored --nocapture half_a_gigabyte`
/// prints what it took.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "writes two gigabytes, and takes minutes"]
async fn real_proof_of_half_a_gigabyte() {
    use base64::Engine as _;
    use std::io::Write as _;
    const BATCHES: usize = 500;
    const IN_ONE: usize = 100;
    let plane = tokio::task::spawn_blocking(ControlPlane::start).await.unwrap();
    let access = access(&plane);
    let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    let body = plane.folder().join("batch.json");
    for batch in 0..BATCHES {
        let put = |number: usize| {
            let name = format!("big-{batch}-{number}");
            // Not the same everywhere: what is the same would be found again in a cache.
            let filling = name.repeat(9_800 / name.len());
            let object = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name, "namespace": "default",
                "uid": format!("00000000-0000-4000-8000-{batch:06}{number:06}")}, "data": {"filling": filling}});
            let key = format!("/registry/configmaps/default/{name}");
            json!({"requestPut": {"key": encode(&key), "value": encode(&object.to_string())}})
        };
        let puts: Vec<Value> = (0..IN_ONE).map(put).collect();
        fs_err::write(&body, json!({"success": puts}).to_string()).unwrap();
        let mut curl = Command::new("curl");
        curl.args(["-fsS", "--noproxy", "*", "-o", "/dev/null"]);
        for (flag, file) in [("--cacert", "ca.crt"), ("--cert", "admin.crt"), ("--key", "admin.key")] {
            curl.arg(flag).arg(plane.folder().join(file));
        }
        curl.arg("--data-binary").arg(format!("@{}", body.display()));
        succeed(curl.arg(format!("https://127.0.0.1:{}/v3/kv/txn", access.port)));
    }
    let status = ask_status(&access).await.unwrap();
    let mut snapshot = tempfile::tempfile().unwrap();
    let began = Instant::now();
    let contents = take_snapshot(&access, snapshot_source(&status).unwrap(), &mut snapshot).await.unwrap();
    let taken = began.elapsed();
    tokio::task::spawn_blocking(move || drop(plane)).await.unwrap();
    let manifest = described(&status, &contents, &snapshot);
    assert!(manifest.size >= 500_000_000, "{}", manifest.size);
    let (ours, folder) = (Identity::draw().unwrap(), tempfile::tempdir().unwrap());
    let path = folder.path().join("backup.tar.age");
    let began = Instant::now();
    write_backup(File::create(&path).unwrap(), &[ours.recipient()], &manifest, &mut snapshot, None).unwrap();
    let written = began.elapsed();
    let bin = tokio::task::spawn_blocking(|| tools(&["etcd", "etcdutl", "kube-apiserver"])).await.unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let source = std::io::BufReader::new(File::open(&path).unwrap());
    let opened = open_backup(source, &ours, scratch.path(), None).unwrap();
    let read = began.elapsed();
    let proof = prove(&opened, &Programs::find(Some(&bin)).unwrap(), scratch.path()).await.unwrap();
    let proven = began.elapsed();
    assert_eq!(proof.kinds["configmaps"].served, proof.kinds["configmaps"].objects);
    assert!(proof.kinds["configmaps"].objects >= BATCHES * IN_ONE);
    let mut out = std::io::stderr();
    writeln!(
        out,
        "{} MB, {} keys: snapshot {:.1} s, encrypted {:.1} s; proven in {:.1} s, {:.1} s of that decrypting and reading",
        manifest.size / 1_000_000,
        proof.keys,
        taken.as_secs_f32(),
        written.as_secs_f32(),
        proven.as_secs_f32(),
        read.as_secs_f32(),
    )
    .unwrap();
}

#[test]
fn without_etcd_nothing_is_proven() {
    let folder = tempfile::tempdir().unwrap();
    let error = Programs::find(Some(folder.path())).unwrap_err();
    assert_eq!(error.name, "etcd");
}
