//! Everything on the page opens what it is.

use hardway_testing::{Browser, Work};
use serde_json::{Value, json};

use super::chromium::{go_to, is_clean, tab};
use super::recording::{whole_install, write};
use crate::work::made;

/// Clicks on everything that has a name, and gives what opened: its key, its title, its text, whether there is a way to the guide
/// from it, and what its buttons would copy. And whatever is a thing of the page and has nothing to click on.
const WALK: &str = r"
    const dialog = document.getElementById('explanation');
    const found = [];
    const keys = [...document.querySelectorAll('main button[data-key]')]
        .map((button) => button.dataset.key)
        .filter((key) => !key.startsWith('moment ') && !key.startsWith('copy '));
    for (const key of keys) {
        const button = document.querySelector(`main [data-key='${CSS.escape(key)}']`);
        button.click();
        const isOpen = dialog.open;
        const text = document.getElementById('explanation-text');
        const title = document.getElementById('explanation-title').textContent;
        const phases = [...text.querySelectorAll('[data-key^=guide]')].map((link) => link.dataset.key.slice(6));
        const isGuide = [...text.querySelectorAll('h3')].some((head) => head.textContent === 'What happens');
        const commands = [...text.querySelectorAll('.command')].map((it) => [it.querySelector('code').textContent, it.querySelector('.copy')?.getAttribute('aria-label')]);
        found.push({key, title, isOpen, text: text.textContent, phases, isGuide, heads: [...text.querySelectorAll('h3')].map((head) => head.textContent), commands,
            hollow: [...text.querySelectorAll('dt')].filter((it) => (it.nextElementSibling?.textContent ?? '') === '').map((it) => it.textContent)});
        dialog.close();
    }
    const things = ['phase', 'host', 'node', 'member', 'request', 'operator', 'certificate', 'port', 'name', 'asset', 'worker', 'pool', 'finding', 'problem', 'moment'];
    const mute = things.flatMap((thing) => [...document.querySelectorAll(`main [data-${thing}]`)]
        .filter((element) => element.querySelector(thing === 'moment' ? '[data-key^=about]' : 'button[data-key]') === null)
        .map((element) => `${thing} ${element.getAttribute('data-' + thing)}`));
    mute.push(...[...document.querySelectorAll('main [data-request]')]
        .filter((element) => element.querySelector('[data-key^=reason]') === null)
        .map((element) => `reason ${element.dataset.reason}`));
    return {found, mute};";

const VIEWS: [&str; 5] = ["Install", "Cluster", "Network", "Certificates", "Assets"];

fn open(browser: &Browser, work: &Work, count: usize) {
    work.ok(&["page", "--export", "install.html"]);
    browser.open(&format!("file://{}", work.path("install.html").display()));
    browser.until(&format!("document.body.dataset.count === '{count}'"));
}

/// The page of the guide opens from there.
fn has_guide(found: &Value) -> bool {
    !found["phases"].as_array().unwrap().is_empty()
        || found["text"].as_str().unwrap().contains("hardway explain ")
}

fn is_mistake(found: &Value) -> bool {
    let key = found["key"].as_str().unwrap();
    key.starts_with("error ") || key.starts_with("problem ")
}

#[test]
fn real_browser_opens_an_explanation_of_everything_on_the_page() {
    let Some(browser) = Browser::start() else { return };
    let (work, entries) = (made(), whole_install());
    write(&work, &entries);
    open(&browser, &work, entries.len());
    let failed = entries.iter().position(|entry| entry.kind == "phase-failed").unwrap() + 1;
    let learner = entries.iter().position(|entry| entry.kind == "etcd-seen").unwrap() + 20;
    let counts =
        [1, failed, entries.len() / 3, learner, entries.len() / 2, entries.len() * 3 / 4, entries.len()];
    let mut keys = std::collections::BTreeSet::new();
    for count in counts {
        for view in VIEWS {
            tab(&browser, view);
            go_to(&browser, count);
            let walked = browser.run(WALK);
            assert_eq!(walked["mute"], json!([]), "{view} after {count} lines");
            for found in walked["found"].as_array().unwrap() {
                let (key, text) = (found["key"].as_str().unwrap(), found["text"].as_str().unwrap());
                assert_eq!(found["isOpen"], true, "{key}");
                assert!(text.len() > 60, "{key}: {text}");
                assert_eq!(
                    found["hollow"],
                    json!([]),
                    "{key} after {count} lines has words without a meaning"
                );
                if let Some(operator) = key.strip_prefix("operator ") {
                    assert!(text.contains("A ClusterOperator: a part of OpenShift"), "{operator}: {text}");
                }
                assert!(!found["title"].as_str().unwrap().is_empty(), "{key}");
                for word in ["Nothing more is known", "undefined", "[object", "\u{1b}"] {
                    assert!(!text.contains(word), "{key} after {count} lines: {text}");
                }
                assert!(has_guide(found) || is_mistake(found), "{key} leads to no page of the guide: {text}");
                for command in found["commands"].as_array().unwrap() {
                    let copies = format!("Copy {}", command[0].as_str().unwrap());
                    assert_eq!(command[1], copies.as_str(), "{key}");
                }
                keys.insert(key.to_owned());
            }
        }
    }
    for kind in [
        "explain ",
        "host ",
        "member ",
        "operator ",
        "request ",
        "reason ",
        "certificate ",
        "port ",
        "name ",
        "asset ",
        "worker ",
        "pool ",
        "error ",
        "about ",
        "field ",
    ] {
        assert!(keys.iter().any(|key| key.starts_with(kind)), "nothing of the kind {kind}: {keys:?}");
    }
    assert!(keys.len() > 250, "{}", keys.len());
    is_clean(&browser);
}

#[test]
fn real_browser_leads_from_a_thing_to_its_page_of_the_guide() {
    let Some(browser) = Browser::start() else { return };
    let (work, entries) = (made(), whole_install());
    write(&work, &entries);
    open(&browser, &work, entries.len());
    for (view, key, phase) in [
        ("Install", "host master-0", "install-os"),
        ("Install", "host worker-0", "boot-workers"),
        ("Install", "worker guest-1", "boot-workers"),
        ("Cluster", "operator console", "await-operators"),
        ("Cluster", "request csr-1", "join-control-plane"),
        ("Network", "port 6443", "build-infra"),
        ("Certificates", "certificate etcd-signer", "make-pki"),
    ] {
        tab(&browser, view);
        browser.click(&format!("[data-key='{key}']"));
        browser.click(&format!("#explanation [data-key='guide {phase}']"));
        let text = browser.run("return document.getElementById('explanation-text').textContent");
        assert!(text.as_str().unwrap().contains(&format!("hardway explain {phase}")), "{key}: {text}");
        browser.run("document.getElementById('explanation').close()");
    }
    is_clean(&browser);
}

#[test]
fn real_browser_copies_the_fix_of_an_error() {
    let Some(browser) = Browser::start() else { return };
    let (work, entries) = (made(), whole_install());
    write(&work, &entries);
    // A clipboard is for pages of a server on this computer, and for people who allow it.
    let served = super::http::serve(&work);
    let address = format!("http://{}", served.address);
    let allowed =
        json!({"origin": address, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]});
    browser.devtools("Browser.grantPermissions", &allowed);
    browser.open(&format!("{address}/"));
    browser.until(&format!("document.body.dataset.count === '{}'", entries.len()));
    let failed = entries.iter().position(|entry| entry.kind == "phase-failed").unwrap() + 1;
    go_to(&browser, failed);
    browser.click("[data-key='error render-nodes']");
    browser.click("#explanation .copy");
    browser.until("document.querySelector('#explanation .copied').textContent === 'copied'");
    assert_eq!(browser.run("return navigator.clipboard.readText()"), "podman system prune --all");
    is_clean(&browser);
}

#[test]
fn real_browser_shows_evidence_and_fix_of_what_is_wrong_with_the_folder() {
    let Some(browser) = Browser::start() else { return };
    let work = made();
    write(&work, &whole_install()[..40]);
    work.write("install-config.yaml", "apiVersion: v1\nbaseDomain: [\n");
    open(&browser, &work, 40);
    let walked = browser.run(WALK);
    assert_eq!(walked["mute"], json!([]));
    let of = |found: &&Value| found["key"] == "problem 0";
    let found = walked["found"].as_array().unwrap().iter().find(of).unwrap_or_else(|| panic!("{walked:#}"));
    assert!(found["heads"].as_array().unwrap().contains(&json!("Fix")), "{found:#}");
    assert!(found["text"].as_str().unwrap().contains("install-config.yaml"), "{found:#}");
    is_clean(&browser);
}
