//! Nobody approves certificate requests but the policy. Programs of ours cannot (clippy.toml bans the API's ways to do so); scripts, units,
//! manifests and templates could, and a second approver with fewer rules is the one that an attacker asks.

use std::path::{Path, PathBuf};

/// Everything that is run, applied or put on a host, and is not Rust.
const PLACES: [&str; 6] = ["lab", "deploy", "tools", "crates/hardway-assets/templates", "demo.sh", "test.sh"];

/// How a request is approved, in a text without quotes and with single spaces: by oc and kubectl; by Go; by the API; by the roles with which
/// Kubernetes' own controller says yes to whoever has the right identity; and by that controller, which must not be switched on by name.
const WAYS: [&str; 6] = [
    "certificate approve",
    "approvecsr",
    "/approval",
    "csr approve",
    "certificatesigningrequests:",
    "csrapproving",
];

/// Where one of them may stand, and why.
const ALLOWED: [(&str, &str, &str); 2] = [
    ("deploy/approver/rbac.yaml", "/approval", "the right of `hardway approve`, which runs the policy"),
    ("deploy/hosted/hosted-cluster/rbac.yaml", "/approval", "the same of `hardway hosted controller`"),
];

#[test]
fn no_script_or_manifest_approves_past_the_policy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut found, mut files) = (Vec::new(), 0);
    for place in PLACES {
        for path in files_in(&root.join(place)) {
            // An image or an archive is no text, and nothing is run from it unread.
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            files += 1;
            let name = path.strip_prefix(&root).unwrap().display().to_string();
            found.extend(ways_in(&text).into_iter().map(|way| (name.clone(), way)));
        }
    }
    assert!(files > 100, "{files} files are not all of them");
    found.sort_unstable();
    let allowed: Vec<_> = ALLOWED.iter().map(|(file, way, _)| ((*file).to_owned(), *way)).collect();
    assert_eq!(found, allowed, "to the left what is there, to the right what may be");
}

/// It can fail: each way is seen, however it is written.
#[test]
fn every_way_to_approve_is_seen() {
    for (text, way) in [
        ("oc adm certificate approve csr-1", "certificate approve"),
        ("oc get csr -o name | xargs kubectl certificate \\\n    approve", "certificate approve"),
        (r#"["kubectl", "certificate", "approve", name]"#, "certificate approve"),
        (
            "client.CertificatesV1().CertificateSigningRequests().UpdateApproval // approveCSR(csr)",
            "approvecsr",
        ),
        (
            "curl -X PUT $API/apis/certificates.k8s.io/v1/certificatesigningrequests/$name/approval",
            "/approval",
        ),
        (
            "name: system:certificates.k8s.io:certificatesigningrequests:nodeclient",
            "certificatesigningrequests:",
        ),
        ("--controllers=*,csrapproving", "csrapproving"),
    ] {
        assert_eq!(ways_in(text), [way], "{text}");
    }
    assert!(ways_in("oc get certificatesigningrequests").is_empty());
}

fn ways_in(text: &str) -> Vec<&'static str> {
    let plain: String = text.chars().map(|c| if "\\\"',[]".contains(c) { ' ' } else { c }).collect();
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    WAYS.into_iter().filter(|way| plain.contains(way)).collect()
}

fn files_in(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    entries.flat_map(|entry| files_in(&entry.unwrap().path())).collect()
}
