//! A folder whose inventory names its release by a word.

use super::site::{CREATE, Site};
use crate::release::graph_server::GraphServer;

#[test]
fn a_word_is_resolved_once() {
    let Some(site) = Site::new() else { return };
    let server = GraphServer::start(&site.by_digest());
    // A number to YAML, a minor version to people.
    site.name(&format!("4.18\n  graph: {}", server.url()));
    site.create(&[]).expect(0).says(&format!("4.18.99 is {}, by channel stable-4.18", site.by_digest()));
    assert_eq!(server.take_seen().len(), 1);
    let lock = site.work.read("assets.lock");
    assert!(lock.contains(&format!("release 4.18 {}\nresolved 20", site.by_digest())), "{lock}");
    // From then on it is a digest, and nobody is asked.
    site.assert_settled();
    site.create(&[]).expect(0).says("as kept in release/");
    site.run(&["status"])
        .expect(0)
        .says("release 4.18 was resolved at 20")
        .says("by channel stable-4.18 of http://127.0.0.1");
    assert!(server.take_seen().is_empty());
    assert_eq!(site.work.read("assets.lock"), lock);
    // Unless somebody wants to.
    site.create(&["--refetch-release"]).expect(0).says("by channel stable-4.18");
    assert_eq!(server.take_seen().len(), 1);
    site.assert_settled();
    // Another word is another release.
    site.name(&format!("stable-4.19\n  graph: {}", server.url()));
    site.run(&[&CREATE[..], &["--plain-http"]].concat())
        .expect(1)
        .says("knows no channel \"stable-4.19\" for amd64");
}
