//! The page in a real browser.

use hardway_journal::{Entry, Journal, NodeJoined, PhaseName, PhaseStarted};
use hardway_testing::{Browser, BrowserLog, ESCAPE, RETURN, TAB, Work, needed};
use serde_json::{Value, json};

use super::http::serve;
use super::recording::{whole_install, write};
use crate::work::made;

/// Rows of the page as their attributes tell them, by the keys that `status -o json` has.
pub(super) const ROWS: &str = r"
    const all = (selector, row) => [...document.querySelectorAll(selector)].map((element) => row(element.dataset));
    return {
        phases: all('[data-phase]', (d) => [d.phase, d.state, d.detail, d.seconds]),
        hosts: all('[data-host]', (d) => [d.host, d.state, d.sentence, d.ready]),
        workers: all('[data-worker]', (d) => [d.worker, d.step]),
        etcd: all('[data-role]', (d) => [d.member, d.role, d.healthy]),
        requests: all('[data-request]', (d) => [d.request, d.verdict, d.reason]),
        operators: all('[data-operator]', (d) => [d.operator, d.available, d.progressing, d.degraded]),
    };";

fn texts(row: &Value, keys: &[&str]) -> Value {
    let text = |key: &&str| match &row[*key] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    keys.iter().map(text).collect()
}

/// The same from what `status` says, in any order.
pub(super) fn told(status: &Value, section: &str, keys: &[&str]) -> Vec<Value> {
    sorted(status[section].as_array().unwrap().iter().map(|row| texts(row, keys)).collect())
}

pub(super) fn sorted(mut rows: Vec<Value>) -> Vec<Value> {
    rows.sort_by_key(ToString::to_string);
    rows
}

pub(super) const INSTALL: &[(&str, &[&str])] = &[
    ("phases", &["phase", "state", "detail", "seconds"]),
    ("hosts", &["host", "state", "sentence", "isReady"]),
    ("workers", &["worker", "step"]),
];
const CLUSTER: &[(&str, &[&str])] = &[
    ("etcd", &["name", "role", "isHealthy"]),
    ("requests", &["request", "verdict", "reason"]),
    ("operators", &["operator", "available", "progressing", "degraded"]),
];

pub(super) fn tab(browser: &Browser, name: &str) {
    browser.click(&format!("[data-key='tab {name}']"));
}

/// As a person who drags the slider there.
pub(super) fn go_to(browser: &Browser, count: usize) {
    browser.run(&format!(
        "const slider = document.getElementById('slider'); slider.value = {count}; slider.dispatchEvent(new Event('input'));"
    ));
}

/// Nothing went wrong in the page, and nobody but loopback was asked.
pub(super) fn is_clean(browser: &Browser) {
    assert_eq!(browser.log(BrowserLog::Console), Vec::<Value>::new());
    let mut requests = 0;
    for entry in browser.log(BrowserLog::Events) {
        let event: Value = serde_json::from_str(entry["message"].as_str().unwrap()).unwrap();
        if event["message"]["method"] != "Network.requestWillBeSent" {
            continue;
        }
        let url = event["message"]["params"]["request"]["url"].as_str().unwrap();
        let is_ours = ["http://127.0.0.1:", "https://127.0.0.1:", "file:///", "data:"];
        assert!(is_ours.iter().any(|ours| url.starts_with(ours)), "{url}");
        requests += 1;
    }
    assert!(requests > 0, "not one request was seen");
}

fn is_at_work(work: &Work) -> fs_err::File {
    let lock = fs_err::File::create(work.path(".hardway.lock")).unwrap();
    lock.file().lock().unwrap();
    lock
}

#[test]
fn real_browser_shows_what_status_says_at_ten_moments() {
    let Some(browser) = Browser::start() else { return };
    let (work, entries) = (made(), whole_install());
    write(&work, &entries);
    let _lock = is_at_work(&work);
    let served = serve(&work);
    browser.open(&format!("http://{}/", served.address));
    browser.until(&format!("document.body.dataset.count === '{}'", entries.len()));
    let other = work.copy(&["install-config", "inventory", "release", "secrets", "pki", "assets"]);
    let _other_lock = is_at_work(&other);
    for step in 1..=10 {
        let count = entries.len() * step / 10;
        write(&other, &entries[..count]);
        let status = other.ok(&["status", "-o", "json"]).json();
        for (name, sections) in [("Install", INSTALL), ("Cluster", CLUSTER)] {
            tab(&browser, name);
            go_to(&browser, count);
            let shown = browser.run(ROWS);
            let text = browser.run("return document.body.textContent");
            for word in ["[object ", "undefined", "NaN", "null"] {
                assert!(!text.as_str().unwrap().contains(word), "{word} in {name} after {count} lines");
            }
            for (section, keys) in sections {
                let shown = sorted(shown[section].as_array().unwrap().clone());
                assert_eq!(shown, told(&status, section, keys), "{section} after {count} lines");
            }
        }
    }
    is_clean(&browser);
}

#[test]
fn real_browser_is_told_of_what_is_new_and_of_the_end() {
    let Some(browser) = Browser::start() else { return };
    let work = made();
    let path = work.path("journal.jsonl");
    write(&work, &whole_install()[..2]);
    let lock = is_at_work(&work);
    let served = serve(&work);
    browser.open(&format!("http://{}/", served.address));
    browser.until("document.body.dataset.count === '2'");
    // What stays the same is not drawn anew: a person may have the focus, a selection or something open in it.
    browser.run("document.querySelector('[data-host=master-0]').mark = 'mine'");
    let journal = Journal::open(&path).unwrap();
    let time = "2026-11-15T07:00:00Z".parse().unwrap();
    let news = [
        Entry::of(time, &NodeJoined { host: "worker-0".into() }),
        Entry::of(time, &PhaseStarted { phase: PhaseName::BuildInfra, why: "w".into() }),
    ];
    journal.append(&news).unwrap();
    browser.until("document.querySelector('[data-host=worker-0]').dataset.state === 'joined'");
    let state =
        |word: &str| format!("document.querySelector('[data-phase=build-infra]').dataset.state === '{word}'");
    browser.until(&state("running"));
    assert_eq!(browser.run("return document.querySelector('[data-host=master-0]').mark"), "mine");
    // Whoever worked there was killed.
    drop(lock);
    browser.until(&state("interrupted"));
    // Another install begins in this folder.
    write(&work, &whole_install()[..1]);
    browser.until("document.body.dataset.count === '1'");
    is_clean(&browser);
    // The server ends, and the page says so and stays.
    served.running.signal("TERM");
    browser.until(
        "document.getElementById('summary').textContent.startsWith('When hardway page last answered')",
    );
}

#[test]
fn real_browser_finds_it_usable_for_everybody() {
    let (Some(browser), Some(axe)) = (Browser::start(), needed("HARDWAY_AXE")) else { return };
    let axe = fs_err::read_to_string(axe.join("axe.min.js")).unwrap();
    let (work, entries) = (made(), whole_install());
    write(&work, &entries);
    let served = serve(&work);
    browser.open(&format!("http://{}/", served.address));
    browser.until(&format!("document.body.dataset.count === '{}'", entries.len()));
    tab_order(&browser);
    // By the browser's own protocol: the page's policy allows no script from elsewhere, and should not have to.
    browser.devtools("Runtime.evaluate", &json!({"expression": axe}));
    for scheme in ["light", "dark"] {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}]);
        browser.devtools("Emulation.setEmulatedMedia", &json!({"features": features}));
        for width in [390, 1280] {
            let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
            browser.devtools("Emulation.setDeviceMetricsOverride", &size);
            for name in ["Install", "Cluster", "Network", "Certificates", "Assets"] {
                tab(&browser, name);
                // In the middle something is wrong and something is at work.
                go_to(&browser, entries.len() * 3 / 5);
                let found = browser.run(
                    "return axe.run(document, {resultTypes: ['violations']}).then((found) => \
                     found.violations.map((v) => [v.id, v.impact, v.nodes.slice(0, 3).map((n) => n.html)]))",
                );
                assert_eq!(found, json!([]), "{scheme} {width} {name}");
                let is_wide = browser.run("return document.documentElement.scrollWidth > innerWidth");
                assert_eq!(is_wide, false, "{scheme} {width} {name} is wider than its window");
            }
        }
    }
    tab(&browser, "Install");
    let failed = entries.iter().position(|entry| entry.kind == "phase-failed").unwrap();
    go_to(&browser, failed + 1);
    browser.click("[data-key='error render-nodes']");
    let text = browser.run("return document.getElementById('explanation-text').textContent");
    for part in ["podman could not start", "no space left on device", "podman system prune --all"] {
        assert!(text.as_str().unwrap().contains(part), "{part} in {text}");
    }
    assert_eq!(
        browser.run("return document.querySelector('dialog .copy').getAttribute('aria-label')"),
        "Copy podman system prune --all"
    );
    let found = browser.run(
        "return axe.run(document.querySelector('dialog')).then((found) => found.violations.map((v) => v.id))",
    );
    assert_eq!(found, json!([]));
    browser.press(ESCAPE);
    browser.until("!document.getElementById('explanation').open");
    is_clean(&browser);
}

/// From the top with the keyboard alone: the skip link, the views, what is shown, and the slider.
fn tab_order(browser: &Browser) {
    let focused = || {
        let name = "const it = document.activeElement; return it.dataset.key ?? (it.id || it.className || it.tagName)";
        browser.run(name).as_str().unwrap().to_owned()
    };
    let mut order = Vec::new();
    for _ in 0..300 {
        browser.press(TAB);
        let name = focused();
        if name == "BODY" {
            break;
        }
        order.push(name);
    }
    let views = ["Install", "Cluster", "Network", "Certificates", "Assets"].map(|name| format!("tab {name}"));
    assert_eq!(order[0], "skip");
    assert_eq!(order[1..6], views);
    assert_eq!(order[6], "explain check-host");
    let place = |name: &str| {
        order.iter().position(|known| known == name).unwrap_or_else(|| panic!("{name}: {order:?}"))
    };
    let way = ["explain check-host", "explain verify-cluster", "host bootstrap", "play", "speed", "slider"];
    assert!(way.map(place).is_sorted(), "{order:?}");
    // A name opens its explanation, and the dialog gives the focus back.
    browser.run("document.querySelector('[data-explain=make-pki]').focus()");
    browser.press(RETURN);
    browser.until("document.getElementById('explanation').open");
    let text = browser.run("return document.getElementById('explanation-text').textContent");
    assert!(text.as_str().unwrap().contains("hardway explain make-pki"), "{text}");
    browser.press(ESCAPE);
    browser.until("!document.getElementById('explanation').open");
    assert_eq!(focused(), "explain make-pki");
    // The slider goes moment by moment.
    browser.run("document.getElementById('slider').focus()");
    browser.press("\u{e012}\u{e012}");
    browser.until("document.body.dataset.count === String(document.getElementById('slider').max - 2)");
}

#[test]
fn real_browser_opens_the_page_as_one_file() {
    let Some(browser) = Browser::start() else { return };
    let (work, entries) = (made(), whole_install());
    write(&work, &entries);
    work.ok(&["page", "--export", "install.html"]);
    browser.open(&format!("file://{}", work.path("install.html").display()));
    browser.until(&format!("document.body.dataset.count === '{}'", entries.len()));
    let summary = browser.run("return document.getElementById('summary').textContent");
    assert!(
        summary.as_str().unwrap().starts_with("At the end of the recording: 17 of 17 phases are done"),
        "{summary}"
    );
    for name in ["Cluster", "Network", "Certificates", "Assets", "Install"] {
        tab(&browser, name);
        assert_eq!(browser.run("return document.querySelector('main h2') !== null"), true, "{name}");
    }
    browser.click("[data-explain='make-pki']");
    browser.until("document.getElementById('explanation-text').textContent.includes('Look closer')");
    browser.press(ESCAPE);
    // A link leads to a moment.
    browser.open("about:blank");
    browser.open(&format!("file://{}#view=Cluster&line=80", work.path("install.html").display()));
    browser
        .until("document.body.dataset.lines === '80' && document.querySelector('[data-operator]') !== null");
    tab(&browser, "Install");
    browser.click("#latest");
    // Played from the beginning, at the highest speed.
    browser.click("#play");
    browser.until("Number(document.body.dataset.count) < 20");
    browser.until("Number(document.body.dataset.count) > 20");
    is_clean(&browser);
}

#[test]
fn real_browser_plays_at_every_speed() {
    let Some(browser) = Browser::start() else { return };
    let (work, entries) = (made(), whole_install());
    write(&work, &entries);
    work.ok(&["page", "--export", "install.html"]);
    // Where ten minutes of the install are played, however fast, and where ten seconds are. The page's clock is the test's.
    let played = |speed: u32, seconds: u32| {
        browser.open("about:blank");
        browser.open(&format!("file://{}", work.path("install.html").display()));
        browser.until(&format!("document.body.dataset.count === '{}'", entries.len()));
        browser.run("window.clock = 0; performance.now = () => window.clock");
        browser.run(&format!("document.getElementById('speed').value = '{speed}'"));
        browser.click("#play");
        browser.until("Number(document.body.dataset.count) < 20");
        let begin = browser.run("return document.body.dataset.count");
        browser.run(&format!("window.clock = {}", seconds * 1000));
        browser.run("return new Promise((done) => setTimeout(done, 1000))");
        let count = browser.run("return document.body.dataset.count");
        assert_ne!(count, begin, "{speed}x for {seconds} s");
        count
    };
    let slowly = played(1, 600);
    assert_ne!(slowly, entries.len().to_string());
    assert_eq!([played(10, 60), played(60, 10)], [slowly.clone(), slowly.clone()]);
    assert_ne!(played(1, 10), slowly);
    is_clean(&browser);
}

#[test]
fn real_browser_needs_the_token_where_others_can_ask() {
    let Some(browser) = Browser::start() else { return };
    let (work, entries) = (made(), whole_install());
    write(&work, &entries);
    let mut running = work.start(&["page", "--no-browser", "--offline", "--listen", "0.0.0.0:0"]);
    let url = running.line_after("the page is at ").replace("0.0.0.0", "127.0.0.1");
    let (page, token) = url.split_once("#token=").unwrap();
    assert!(page.starts_with("https://") && token.len() == 32, "{url}");
    let summary = "document.getElementById('summary').textContent";
    for wrong in ["", "#token=00000000000000000000000000000000"] {
        browser.open("about:blank");
        browser.open(&format!("{page}{wrong}"));
        browser.until(&format!("{summary}.startsWith('The token is missing or wrong')"));
    }
    browser.open("about:blank");
    browser.open(&url);
    browser.until(&format!("document.body.dataset.count === '{}'", entries.len()));
    assert_eq!(browser.run("return document.cookie"), "");
    let asked = browser.run(&format!("return fetch('document.json', {{headers: {{authorization: 'Bearer {token}x'}}}}).then((r) => r.status)"));
    assert_eq!(asked, 403);
}
