//! What is seen of a cluster and its machines right now, and what a bundle brings.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;

use hardway_journal::{Entry, Journal, PhaseFinished, PhaseName, PhaseStarted};
use hardway_testing::{
    AUTH, Browser, ControlPlane, INSTALL_CONFIG, INVENTORY, Work, inside, inside_with_units, until,
    with_hardware,
};
use serde_json::{Value, json};

use super::http::{Served, serve_live};
use crate::cli::diagnose::bundle;
use crate::gce::create_cluster::site as gce_site;
use crate::live::folder::Folder;
use crate::work::{self, made};

/// The next look that is as wanted.
pub(crate) fn look(served: &Served, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let seen = served.stream().find(|(name, seen)| name == "seen" && is_wanted(seen));
    seen.expect("the stream ended").1
}

/// The infrastructure is built, and machines are booting.
pub(crate) fn machines_boot(work: &Work) {
    let time = "2026-11-15T06:00:00Z".parse().unwrap();
    let why = "it does not hold yet".to_owned();
    let (phase, evidence) = (PhaseName::BuildInfra, "built".to_owned());
    Journal::open(&work.path(hardway_journal::FILE_NAME))
        .unwrap()
        .append(&[
            Entry::of(time, &PhaseStarted { phase, why: why.clone() }),
            Entry::of(time, &PhaseFinished { phase, evidence }),
            Entry::of(time, &PhaseStarted { phase: PhaseName::InstallOs, why }),
        ])
        .unwrap();
}

#[test]
fn a_console_is_shown_where_the_provider_keeps_one() {
    if !inside() {
        return;
    }
    let work = gce_site();
    let said = format!("printf '\\033[0;32mOK\\033[0m Started kubelet of %s.\\r\\n{AUTH}\\n' \"$*\"");
    work.write_program(
        "cloud/gcloud",
        &format!("#!/bin/sh\ncase \"$*\" in *serial*) {said};; *) exit 1;; esac\n"),
    );
    machines_boot(&work);
    let served = serve_live(&work);
    let seen = look(&served, |seen| !seen["consoles"].as_array().unwrap_or(&Vec::new()).is_empty());
    let consoles = seen["consoles"].as_array().unwrap();
    assert_eq!(consoles.len(), 5, "{seen:#}");
    let lines = consoles[1]["lines"].as_array().unwrap();
    assert_eq!(consoles[1]["host"], "master-0");
    assert!(lines[0].as_str().unwrap().starts_with("OK Started kubelet of "), "{lines:?}");
    assert!(consoles[1]["command"].as_str().unwrap().starts_with("gcloud"), "{seen:#}");
    assert!(!seen.to_string().contains(AUTH), "a secret is on the console, and not on the page");
}

#[test]
fn members_are_as_well_as_haproxy_says() {
    if !inside_with_units() {
        return;
    }
    let work = work::with_inputs(INSTALL_CONFIG, &with_hardware(INVENTORY, ""));
    machines_boot(&work);
    // Named after the infra id, which nobody has drawn yet.
    fs_err::create_dir_all("/run/hardway/ocp4-later").unwrap();
    let listener = UnixListener::bind("/run/hardway/ocp4-later/haproxy.sock").unwrap();
    let _haproxy = std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (mut asked, mut answer) = (String::new(), stream.try_clone().unwrap());
            BufReader::new(stream).read_line(&mut asked).unwrap();
            let rows = "3 api 1 bootstrap 192.168.126.100 2 0 1\n3 api 2 master-0 192.168.126.101 0 0 1\n3 api 3 master-1 192.168.126.102 0 1 1\n";
            write!(
                answer,
                "1\n# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state more\n{rows}\n"
            )
            .unwrap();
        }
    });
    let served = serve_live(&work);
    let seen = look(&served, |seen| !seen["members"].as_array().unwrap_or(&Vec::new()).is_empty());
    let told: Vec<Value> = seen["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| json!([row["port"], row["host"], row["isWell"]]))
        .collect();
    assert_eq!(
        told,
        [
            json!([6443, "bootstrap", true]),
            json!([6443, "master-0", false]),
            json!([6443, "master-1", false])
        ],
        "{seen:#}"
    );
    // There is no name server in here, and no cluster yet: that is said, and holds nothing up.
    assert_eq!(seen["names"][0]["isAsDeclared"], false, "{seen:#}");
    assert_eq!(seen.get("api"), None, "no kubeconfig was made yet: {seen:#}");
}

#[test]
fn whoever_wants_to_be_left_alone_is_not_asked() {
    if !inside() {
        return;
    }
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    machines_boot(&work);
    let served = super::http::serve(&work);
    assert_eq!(served.json("/document.json")["title"], "ocp4.example.com");
    assert_eq!(child_of(served.running.id()), None, "with --offline nobody looks");
    let looking = serve_live(&work);
    until("somebody looks", || child_of(looking.running.id()).is_some());
    let child = child_of(looking.running.id()).unwrap();
    looking.running.signal("KILL");
    until("the looker ends with its page", || !std::path::Path::new(&format!("/proc/{child}")).exists());
}

/// A process that this one started, from whichever of its threads.
fn child_of(process: u32) -> Option<u32> {
    let threads = fs_err::read_dir(format!("/proc/{process}/task")).ok()?;
    let children =
        threads.filter_map(|thread| fs_err::read_to_string(thread.ok()?.path().join("children")).ok());
    children.filter_map(|children| children.split_whitespace().next()?.parse().ok()).next()
}

#[test]
fn real_cluster_is_shown_as_it_is() {
    let plane = ControlPlane::start();
    let folder = Folder::new(&plane);
    folder.create_crds(&plane);
    folder.operator(&plane, "dns", "True", "False");
    folder.operator(&plane, "ingress", "False", "True");
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-1"}});
    folder.write("node.json", node.to_string());
    hardway_testing::succeed(plane.kubectl().args(["create", "-f"]).arg(folder.path("node.json")));
    let served = serve_live(&folder);
    let seen = look(&served, |seen| seen["api"]["answers"] == true);
    let operators: Vec<Value> = seen["operators"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| json!([row["operator"], row["available"]]))
        .collect();
    assert_eq!(operators, [json!(["dns", "true"]), json!(["ingress", "false"])], "{seen:#}");
    assert_eq!(seen["operators"][1]["waitsFor"][0]["subject"], "operator ingress", "{seen:#}");
    assert_eq!(
        (&seen["nodes"][0]["node"], &seen["nodes"][0]["isReady"]),
        (&json!("worker-1"), &json!(false))
    );
    // What changes there is seen, and who does not answer is said not to.
    folder.operator(&plane, "ingress", "True", "False");
    look(&served, |seen| seen["operators"][1]["available"] == "true");
    drop(plane);
    let silent = look(&served, |seen| seen["api"]["answers"] == false);
    assert!(silent["api"]["sentence"].as_str().unwrap().contains("does not answer"), "{silent:#}");
}

/// A bundle of an install that failed: what its logs say, and a cluster that had got as far as its operators.
fn failed_install(work: &Work) -> String {
    let conditions =
        json!([{"type": "Available", "status": "False", "reason": "NotYet", "message": "no route yet"}]);
    let operators =
        json!({"items": [{"metadata": {"name": "console"}, "status": {"conditions": conditions}}]});
    let request = json!({"items": [{"metadata": {"name": "csr-1", "creationTimestamp": "2026-11-15T06:00:00Z"},
        "spec": {"signerName": "kubernetes.io/kubelet-serving", "username": "system:node:worker-0"}, "status": {}}]});
    let failed =
        r#"{"phase":"stage end","stage":"wait-for-api","result":"failure","errorMessage":"no answer"}"#;
    let journal = format!(
        "Nov 15 bootstrap crio[1]: unauthorized: access to the requested resource is not authorized {AUTH}\n"
    );
    let (operators, request) = (operators.to_string(), request.to_string());
    let files = [
        ("bootstrap/services/bootkube.stream.jsonl", failed),
        ("bootstrap/journals/crio.log", journal.as_str()),
        ("resources/clusteroperators.json", operators.as_str()),
        ("resources/csr.json", request.as_str()),
    ];
    work.write("log-bundle-1.tar.gz", bundle(&files));
    work.path("log-bundle-1.tar.gz").display().to_string()
}

#[test]
fn real_browser_shows_a_bundle_with_what_is_broken() {
    let (work, alone) = (made(), work::empty());
    let path = failed_install(&work);
    for (folder, title) in [(&work, "ocp4.example.com"), (&alone, "log-bundle-1.tar.gz")] {
        let mut running = folder.start(&["page", "--no-browser", "--bundle", &path]);
        let url = running.line_after("the page is at ");
        let served =
            Served { running, address: url.trim_start_matches("http://").trim_end_matches('/').to_owned() };
        let document = served.json("/document.json");
        assert_eq!(document["title"], title);
        assert_eq!(document["bundle"]["findings"][0]["code"], "E-B2", "{document:#}");
        assert_eq!(document["bundle"]["logs"][0]["name"], "crio");
        let (_, seen) = served.stream().find(|(name, _)| name == "seen").unwrap();
        assert_eq!(seen["operators"][0]["operator"], "console");
        assert_eq!(seen["requests"][0]["verdict"], "pending");
        let explanations = served.json("/explanations.json");
        assert_eq!(explanations["E-B2"]["things"][0]["lines"][0][0], "symptom");
    }
    // As one file too, and the login of the pull secret that a log printed is not in it.
    work.ok(&["page", "--bundle", &path, "--export", "bundle.html"]);
    let page = work.read("bundle.html");
    assert!(page.contains("E-B2") && page.contains("no route yet") && page.contains("unauthorized"));
    assert!(!page.contains(AUTH));
    let Some(browser) = Browser::start() else { return };
    browser.open(&format!("file://{}", work.path("bundle.html").display()));
    let shown = "return [document.querySelector('[data-finding=E-B2] .copy').textContent, document.querySelector('[data-finding] h3').textContent]";
    browser.until("document.querySelector('[data-finding=E-B2]') !== null");
    assert_eq!(browser.run(shown)[0], "Copy");
    assert!(browser.run(shown)[1].as_str().unwrap().starts_with("E-B2: The registry refuses the pull"));
    browser.click("[data-key='tab Cluster']");
    let rows = "return [document.querySelector('[data-operator=console]').dataset.available, document.querySelector('[data-request=csr-1]').dataset.verdict, document.querySelector('.logs summary').textContent]";
    assert_eq!(browser.run(rows), json!(["false", "pending", "bootstrap host: crio"]));
}

#[test]
fn what_is_no_bundle_is_refused() {
    let work = made();
    work.write("log-bundle-2.tar.gz", "not an archive");
    work.refused(2, &["page", "--bundle", "log-bundle-2.tar.gz"]).says("error[bundle-unusable]");
    work.refused(2, &["page", "--bundle", "nowhere.tar.gz"]).says("nowhere.tar.gz");
}
