//! An API that takes connections and never says a word: said soon, once, and by whom.

use std::net::TcpListener;

use super::folder::Folder;

/// A folder whose API never answers. The listener is held: connections wait in its queue for ever.
fn folder() -> (Folder, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let folder = Folder::empty();
    let kubeconfig = serde_json::json!({"apiVersion": "v1", "kind": "Config", "current-context": "x",
        "clusters": [{"name": "x", "cluster": {"server": url}}],
        "users": [{"name": "x", "user": {"token": "x"}}],
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}]});
    folder.write("auth/kubeconfig", kubeconfig.to_string());
    (folder, listener)
}

#[test]
fn waiting_says_so_soon_and_can_be_interrupted() {
    let (folder, _held) = folder();
    for target in ["bootstrap-complete", "install-complete"] {
        let ran = folder.interrupt_after(&["wait-for", target], "no answer for");
        assert_eq!(ran.code, Some(8), "{}", ran.stderr);
        assert!(ran.stderr.contains("The API at https://localhost:"), "{}", ran.stderr);
    }
}

#[test]
fn verifying_says_so_soon_and_can_be_interrupted() {
    let (folder, _held) = folder();
    let ran = folder.interrupt_after(&["verify"], "no answer from the API at https://localhost:");
    assert_eq!(ran.code, Some(8), "{}", ran.stderr);
    assert!(ran.stderr.contains("error[interrupted]: interrupted while verifying"), "{}", ran.stderr);
}

#[test]
fn diagnosing_says_so_soon_and_can_be_interrupted() {
    let (folder, _held) = folder();
    let ran = folder.interrupt_after(&["diagnose"], "still collecting evidence");
    assert_eq!(ran.code, Some(8), "{}", ran.stderr);
}

#[test]
fn one_cause_is_told_once() {
    let folder = Folder::empty();
    let (other, listener) = self::folder();
    drop(listener);
    folder.write("auth/kubeconfig", other.read("auth/kubeconfig"));
    let ran = folder.run(&["verify", "--skip-check", "certificates"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("1 of 19 checks failed: api"), "{}", ran.stderr);
    assert_eq!(ran.stdout.matches("refused").count(), 1, "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("workload").count(), 1, "{}", ran.stdout);
}
