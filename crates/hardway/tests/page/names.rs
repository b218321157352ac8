//! Everything that the page shows as a name can be explained.

use std::collections::BTreeSet;

use serde_json::Value;

use super::recording::{whole_install, write};
use crate::cli::names_explained::{collect, unknown};
use crate::work::made;

/// Fields of the page's data that are names. Reasons of requests and actions are those of `approve simulate` and `plan`.
const NAMES: [&str; 12] = [
    "asset", "code", "host", "kind", "name", "operator", "path", "phase", "role", "state", "step", "verdict",
];

#[test]
fn every_name_on_the_page_is_explained() {
    let work = made();
    write(&work, &whole_install());
    work.ok(&["page", "--export", "page.html"]);
    let page = work.read("page.html");
    let mut names = BTreeSet::new();
    let document = recorded(&page, "document");
    for part in ["assets", "beginning", "certificates", "hosts", "phases"] {
        collect(&document[part], &NAMES, &mut names);
    }
    collect(&recorded(&page, "moments"), &NAMES, &mut names);
    // Members of etcd are called after their nodes, and one runs on the bootstrap host.
    names.remove("etcd-bootstrap");
    names.remove("");
    assert!(names.len() > 300, "{names:?}");
    for name in ["authentication", "etcd-seen", "learner", "deny", "settle", "render-failed", "master-0"] {
        assert!(names.contains(name), "{name} is not in {names:?}");
    }
    assert_eq!(unknown(&work, &names), "");
}

pub(super) fn recorded(page: &str, part: &str) -> Value {
    let (_, block) = page.split_once(&format!("id=\"recorded-{part}\">")).unwrap();
    serde_json::from_str(block.split("</script>").next().unwrap()).unwrap()
}
