//! What is measured and drawn, and judged by nobody here: `cargo xtask bench page`, `cargo xtask screenshots`.

use std::path::PathBuf;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_journal::{Entry, Journal, NodeJoined};
use hardway_testing::Browser;
use serde_json::json;

use super::http::serve;
use super::recording::{long, whole_install, write};
use crate::work::made;

const MOMENTS: usize = 10_000;

/// The memory of a process, in megabytes.
fn megabytes(process: u32) -> f64 {
    let status = fs_err::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
}

#[test]
#[ignore = "a measurement: cargo xtask bench page"]
fn bench_page() {
    let Some(browser) = Browser::start() else { return };
    let work = made();
    write(&work, &[]);
    let empty = serve(&work);
    browser.open(&format!("http://{}/", empty.address));
    let before = megabytes(empty.running.id());
    write(&work, &long(MOMENTS));
    let served = serve(&work);
    browser.open(&format!("http://{}/", served.address));
    browser.until(&format!("document.body.dataset.count === '{MOMENTS}'"));
    let paint = browser.run(
        "return performance.getEntriesByType('paint').find((e) => e.name === 'first-contentful-paint').startTime",
    );
    // What a person sees first is what happened, not an empty frame.
    let all = browser.run("return performance.now()");
    let step = |name: &str| {
        browser.click(&format!("[data-key='tab {name}']"));
        let script = format!(
            "const slider = document.getElementById('slider'); const steps = 40; const begin = performance.now(); \
             for (let step = 0; step < steps; step += 1) {{ slider.value = Math.floor(({MOMENTS} * (step * 7 % steps)) / steps); \
             slider.dispatchEvent(new Event('input')); document.body.offsetHeight; }} return (performance.now() - begin) / steps;"
        );
        browser.run(&script)
    };
    let (install, cluster) = (step("Install"), step("Cluster"));
    browser.click("#latest");
    browser.click("[data-key='tab Install']");
    let (begin, host) = (Instant::now(), "worker-0".to_owned());
    let joined = Entry::of("2026-11-16T07:00:00Z".parse().unwrap(), &NodeJoined { host });
    Journal::open(&work.path("journal.jsonl")).unwrap().append(&[joined]).unwrap();
    browser.until(&format!("document.body.dataset.count === '{}'", MOMENTS + 1));
    let news = begin.elapsed().as_millis();
    eprintln!("page-moments {MOMENTS}");
    eprintln!("page-first-paint-milliseconds {paint}");
    eprintln!("page-all-there-milliseconds {all}");
    eprintln!("page-step-install-milliseconds {install}");
    eprintln!("page-step-cluster-milliseconds {cluster}");
    eprintln!("page-news-milliseconds {news}");
    eprintln!("page-more-memory-megabytes {:.1}", megabytes(served.running.id()) - before);
}

#[test]
#[ignore = "draws pictures: cargo xtask screenshots"]
fn screenshots() {
    let Some(browser) = Browser::start() else { return };
    let folder =
        PathBuf::from(std::env::var_os("HARDWAY_SCREENSHOTS").expect("HARDWAY_SCREENSHOTS names a folder"));
    let (work, entries) = (made(), whole_install());
    write(&work, &entries);
    let served = serve(&work);
    let size = json!({"width": 1280, "height": 860, "deviceScaleFactor": 1, "mobile": false});
    browser.devtools("Emulation.setDeviceMetricsOverride", &size);
    let features = json!([{"name": "prefers-reduced-motion", "value": "reduce"}]);
    browser.devtools("Emulation.setEmulatedMedia", &json!({"features": features}));
    browser.open(&format!("http://{}/", served.address));
    browser.until(&format!("document.body.dataset.count === '{}'", entries.len()));
    for (name, part, file) in [("Install", 6, "page-install.png"), ("Cluster", 8, "page-cluster.png")] {
        browser.click(&format!("[data-key='tab {name}']"));
        let count = entries.len() * part / 10;
        browser.run(&format!(
            "const slider = document.getElementById('slider'); slider.value = {count}; slider.dispatchEvent(new Event('input')); \
             document.activeElement.blur();"
        ));
        fs_err::write(folder.join(file), STANDARD.decode(browser.screenshot()).unwrap()).unwrap();
    }
}
