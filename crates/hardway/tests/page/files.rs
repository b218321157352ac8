//! Files and certificates travel in time.

use hardway_journal::{AssetsSeen, Entry, Journal, NodeSeen, read};
use hardway_testing::{Browser, Work};
use serde_json::{Value, json};

use super::chromium::{go_to, is_clean, sorted, tab};
use super::names::recorded;
use super::recording::{whole_install, write};
use crate::work::made;

/// After so many lines of the journal, the files were so.
struct Moment {
    lines: usize,
    assets: Vec<Value>,
    certificates: Vec<Value>,
}

/// As the page has it of the folder itself.
fn look(work: &Work, now: &str) -> Moment {
    let ran = work.run_at(now, &["page", "--export", "now.html"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document = recorded(&work.read("now.html"), "document");
    let asset = |row: &Value| {
        let reasons: Vec<&str> =
            row["reasons"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        json!([row["asset"], row["stale"].to_string(), reasons.join("; ")])
    };
    let certificate = |row: &Value| json!([row["name"], row["notAfter"]]);
    Moment {
        lines: lines(work),
        assets: sorted(document["assets"].as_array().unwrap().iter().map(asset).collect()),
        certificates: sorted(document["certificates"].as_array().unwrap().iter().map(certificate).collect()),
    }
}

fn lines(work: &Work) -> usize {
    read(&work.path(hardway_journal::FILE_NAME)).unwrap().len()
}

fn create(work: &Work, now: &str) {
    let ran = work.run_at(now, &["create", "ignition-configs"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

const NOON: &str = "2026-11-15T12:00:00Z";
const EVENING: &str = "2026-11-15T20:00:00Z";
const NETWORK: &str = "manifests/cluster-network-02-config.yml";
const MANIFEST: &str = "manifests/cluster-dns-02-config.yml";

#[test]
fn real_browser_shows_files_as_they_were_at_every_moment() {
    let work = made();
    write(&work, &whole_install()[..2]);
    let mut moments = Vec::new();
    // They were made before the install began.
    create(&work, NOON);
    moments.push(look(&work, NOON));
    work.edit("install-config.yaml", "hostPrefix: 23", "hostPrefix: 24");
    let stale = look(&work, NOON);
    assert!(stale.assets.iter().any(|row| row[2].as_str().unwrap().contains("networking.clusterNetwork")));
    let before = lines(&work);
    work.ok(&["create", "ignition-configs", "--dry-run"]);
    assert_eq!(lines(&work), before, "a dry run writes nothing");
    create(&work, NOON);
    // The first line of that run says what was stale.
    moments.push(Moment { lines: before + 1, ..stale });
    moments.push(look(&work, NOON));
    // Somebody has a hand in a file, and later certificates are renewed.
    work.write(MANIFEST, work.read(MANIFEST) + "# mine\n");
    create(&work, NOON);
    moments.push(look(&work, NOON));
    // What is edited stays stale when its sources change.
    work.write(NETWORK, work.read(NETWORK) + "# mine\n");
    work.edit("install-config.yaml", "hostPrefix: 24", "hostPrefix: 22");
    create(&work, NOON);
    moments.push(look(&work, NOON));
    assert!(moments[4].assets.iter().any(|row| row[1] == "true"), "nothing is stale");
    create(&work, EVENING);
    moments.push(look(&work, EVENING));
    let ends: Vec<&Vec<Value>> = moments.iter().map(|moment| &moment.certificates).collect();
    assert!(ends[0] == ends[4] && ends[4] != ends[5], "some are renewed in the evening, and only then");
    let known = read(&work.path(hardway_journal::FILE_NAME)).unwrap();
    let edited =
        known.iter().filter_map(|record| record.fact::<AssetsSeen>()?.ok()).flat_map(|seen| seen.assets);
    assert!(edited.into_iter().any(|asset| asset.edited == [MANIFEST]));
    // Nothing new is seen, and nothing more is written.
    let before = lines(&work);
    create(&work, EVENING);
    assert_eq!(lines(&work), before);
    // From here on all of them are past, and nothing is as it was.
    let seen = NodeSeen { node: "master-0.ocp4.example.com".into(), is_ready: true };
    let last = Entry::of("2026-11-15T21:00:00Z".parse().unwrap(), &seen);
    Journal::open(&work.path(hardway_journal::FILE_NAME)).unwrap().append(&[last]).unwrap();
    work.edit("install-config.yaml", "hostPrefix: 22", "hostPrefix: 25");
    shown(&work, &moments);
}

fn shown(work: &Work, moments: &[Moment]) {
    let Some(browser) = Browser::start() else { return };
    work.ok(&["page", "--export", "install.html"]);
    browser.open(&format!("file://{}", work.path("install.html").display()));
    browser.until(&format!("document.body.dataset.count === '{}'", lines(work)));
    let assets = "return [...document.querySelectorAll('[data-asset]')].map(({dataset: d}) => [d.asset, d.stale, d.reasons])";
    let certificates = "return [...document.querySelectorAll('[data-certificate]')].map(({dataset: d}) => [d.certificate, d.ends])";
    for (number, moment) in moments.iter().enumerate() {
        tab(&browser, "Assets");
        go_to(&browser, moment.lines);
        let shown = sorted(browser.run(assets).as_array().unwrap().clone());
        assert_eq!(shown, moment.assets, "assets at moment {number}");
        tab(&browser, "Certificates");
        let shown = sorted(browser.run(certificates).as_array().unwrap().clone());
        assert_eq!(shown, moment.certificates, "certificates at moment {number}");
    }
    // Before anybody had looked.
    go_to(&browser, 2);
    let text = browser.run("return document.querySelector('main').textContent");
    assert!(text.as_str().unwrap().contains("Nobody had looked at the certificates yet"), "{text}");
    tab(&browser, "Assets");
    browser.click("#latest");
    let stale = "document.querySelector('main').textContent.includes('networking.clusterNetwork')";
    browser.until(stale);
    is_clean(&browser);
}

#[test]
fn real_browser_says_what_an_older_journal_does_not_know() {
    let Some(browser) = Browser::start() else { return };
    let (work, entries) = (made(), whole_install());
    write(&work, &entries);
    work.ok(&["page", "--export", "install.html"]);
    browser.open(&format!("file://{}", work.path("install.html").display()));
    browser.until(&format!("document.body.dataset.count === '{}'", entries.len()));
    for (name, row) in [("Certificates", "[data-certificate]"), ("Assets", "[data-asset]")] {
        tab(&browser, name);
        assert_eq!(browser.run(&format!("return document.querySelector('{row}') !== null")), true, "{name}");
        go_to(&browser, entries.len() - 1);
        let text = browser.run("return document.querySelector('main').textContent");
        assert!(text.as_str().unwrap().contains("The journal does not say what"), "{name}: {text}");
        assert_eq!(browser.run(&format!("return document.querySelector('{row}')")), Value::Null, "{name}");
        browser.click("#latest");
    }
    is_clean(&browser);
}
