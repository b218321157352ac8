//! What is drawn, and not only listed.

use hardway_journal::EtcdSeen;
use hardway_testing::Browser;
use serde_json::{Value, json};

use super::chromium::{go_to, is_clean, tab};
use super::recording::{whole_install, write};
use crate::work::made;

#[test]
fn real_browser_draws_etcd_while_it_moves() {
    let Some(browser) = Browser::start() else { return };
    let (work, entries) = (made(), whole_install());
    write(&work, &entries);
    work.ok(&["page", "--export", "install.html"]);
    browser.open(&format!("file://{}#view=Cluster", work.path("install.html").display()));
    browser.until(&format!("document.body.dataset.count === '{}'", entries.len()));
    let ring = "return [[...document.querySelectorAll('.ring circle:not(.track)')].map((it) => it.getAttribute('class')), \
                document.querySelector('[data-quorum]').dataset.quorum]";
    let mut roles = std::collections::BTreeSet::new();
    for (place, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.kind == "etcd-seen") {
        let EtcdSeen { members } = serde_json::from_value(entry.body.clone()).unwrap();
        go_to(&browser, place + 1);
        let mut wanted: Vec<String> = members
            .iter()
            .map(|member| {
                let role = json!(member.role).as_str().unwrap().to_owned();
                roles.insert(role.clone());
                format!("{role} {}", if member.is_healthy { "well" } else { "ill" })
            })
            .collect();
        let drawn = browser.run(ring);
        let mut shown: Vec<&str> = drawn[0].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        shown.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(shown, wanted, "after {} lines", place + 1);
        // One that only learns does not count.
        assert_eq!(drawn[1], "true", "after {} lines", place + 1);
    }
    assert_eq!(roles.into_iter().collect::<Vec<_>>(), ["leader", "learner", "voter"]);
    is_clean(&browser);
}

#[test]
fn real_browser_shows_what_is_stuck_first_with_its_chain() {
    let Some(browser) = Browser::start() else { return };
    let (work, entries) = (made(), whole_install());
    write(&work, &entries);
    work.ok(&["page", "--export", "install.html"]);
    browser.open(&format!("file://{}#view=Cluster", work.path("install.html").display()));
    browser.until(&format!("document.body.dataset.count === '{}'", entries.len()));
    assert_eq!(
        browser.run("return document.querySelector('.stuck')"),
        Value::Null,
        "nothing is stuck at the end"
    );
    let awaiting = entries.iter().position(|entry| entry.body["phase"] == "await-operators").unwrap();
    go_to(&browser, awaiting + 13);
    let chain = "return [...document.querySelectorAll('.stuck .chain li')].map((it) => it.textContent)";
    let links = browser.run(chain);
    assert_eq!(links.as_array().unwrap().last().unwrap(), "node worker-0", "{links}");
    assert!(links[0].as_str().unwrap().starts_with("operator "), "{links}");
    let text = browser.run("return document.querySelector('.stuck').textContent");
    assert!(text.as_str().unwrap().contains("(12 operators wait for it)"), "{text}");
    assert_eq!(
        browser.run("return document.querySelector('.stuck .copy').getAttribute('aria-label')"),
        "Copy hardway approve"
    );
    is_clean(&browser);
}

#[test]
fn real_browser_draws_the_network_and_finds_assets() {
    let Some(browser) = Browser::start() else { return };
    let (work, entries) = (made(), whole_install());
    write(&work, &entries);
    work.ok(&["page", "--export", "install.html"]);
    browser.open(&format!("file://{}#view=Network", work.path("install.html").display()));
    browser.until(&format!("document.body.dataset.count === '{}'", entries.len()));
    // At first the bootstrap host answers for the API; in the end only masters do.
    let members = "return [...document.querySelectorAll('[data-port=\"6443\"] [data-member]')].map(({dataset: d}) => [d.member, d.up])";
    go_to(&browser, 1);
    let before = browser.run(members);
    assert_eq!(before[0], json!(["bootstrap", "false"]), "{before}");
    go_to(&browser, entries.len() - 1);
    assert_eq!(
        browser.run(members),
        json!([["master-0", "true"], ["master-1", "true"], ["master-2", "true"]])
    );
    let drawn = "return [document.querySelectorAll('.network path.up').length > 0, document.querySelector('.network').textContent]";
    let drawn = browser.run(drawn);
    assert_eq!(drawn[0], true);
    for part in ["api.ocp4.example.com", "*.apps.ocp4.example.com", ":6443", "master-2", "worker-0"] {
        assert!(drawn[1].as_str().unwrap().contains(part), "{part}: {drawn}");
    }
    tab(&browser, "Assets");
    browser.click("#latest");
    let count = "document.querySelectorAll('[data-asset]').length";
    let all = browser.run(&format!("return {count}"));
    browser.click("#search");
    browser.press("etcd-signer");
    browser.until(&format!("{count} > 0 && {count} < {all}"));
    let found =
        "return [...document.querySelectorAll('[data-asset]')].every((it) => it.textContent.length > 0)";
    assert_eq!(browser.run(found), true);
    is_clean(&browser);
}
