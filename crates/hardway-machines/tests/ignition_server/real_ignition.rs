//! What the real Ignition 2.24 makes of each face, and of each thing that can go wrong.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_assets::ignition::{ConfigDigest, host_pointer};
use hardway_journal::IgnitionRedeemed;
use hardway_machines::ignition_server::Happened;
use hardway_testing::{FirstBoot, Stage, eventually};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::site::{MADE, Site, TOKEN};

async fn fetch(machine: FirstBoot, pointer: Value) -> (FirstBoot, Stage) {
    tokio::task::spawn_blocking(move || {
        let stage = machine.fetch(&pointer);
        (machine, stage)
    })
    .await
    .unwrap()
}

fn with_ca(source: &str, headers: &Value) -> Value {
    let ca = format!("data:text/plain;charset=utf-8;base64,{}", STANDARD.encode(MADE.ca()));
    json!({"ignition": {
        "version": "3.2.0",
        "config": {"merge": [{"source": source, "httpHeaders": headers}]},
        "security": {"tls": {"certificateAuthorities": [{"source": ca}]}},
    }})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_becomes_what_was_generated_for_it() {
    let Some(machine) = FirstBoot::new() else { return };
    let site = Site::start().await;
    let (machine, stage) = fetch(machine, site.pointer("worker-0")).await;
    assert!(stage.succeeded, "{}", stage.log);
    let stage = machine.files();
    assert!(stage.succeeded, "{}", stage.log);

    let config: Value = serde_json::from_slice(MADE.config("worker-0")).unwrap();
    let files = config["storage"]["files"].as_array().unwrap();
    assert!(files.len() > 10);
    for file in files {
        let path = file["path"].as_str().unwrap();
        let written = machine.path(path);
        let source = file["contents"]["source"].as_str().unwrap();
        if let Some(body) = source.split_once("base64,").map(|(_, body)| body) {
            assert_eq!(std::fs::read(&written).unwrap(), STANDARD.decode(body).unwrap(), "{path}");
        }
        let mode = std::fs::metadata(&written).unwrap().permissions().mode() & 0o7777;
        assert_eq!(u64::from(mode), file["mode"].as_u64().unwrap(), "{path}");
    }
    for unit in config["systemd"]["units"].as_array().unwrap() {
        if let Some(text) = unit["contents"].as_str() {
            let path = format!("/etc/systemd/system/{}", unit["name"].as_str().unwrap());
            assert_eq!(std::fs::read_to_string(machine.path(&path)).unwrap(), text, "{path}");
        }
    }
    let user = &config["passwd"]["users"][0];
    assert!(std::fs::read_to_string(machine.path("/etc/passwd")).unwrap().contains("\ncore:"));
    let keys = std::fs::read_to_string(machine.path("/home/core/.ssh/authorized_keys.d/ignition")).unwrap();
    assert!(keys.contains(user["sshAuthorizedKeys"][0].as_str().unwrap().trim()));

    let records = hardway_journal::read(&site.journal()).unwrap();
    let facts: Vec<IgnitionRedeemed> = records
        .iter()
        .filter_map(hardway_journal::Record::fact::<IgnitionRedeemed>)
        .map(Result::unwrap)
        .collect();
    assert_eq!(facts.len(), 1, "{records:?}");
    assert_eq!((facts[0].host.as_str(), facts[0].face.word()), ("worker-0", "host"));
    assert_eq!(facts[0].digest, ConfigDigest::of(MADE.config("worker-0")).as_str());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bootstrap_host_fetches_what_fits_on_no_medium() {
    let Some(machine) = FirstBoot::new() else { return };
    let site = Site::start().await;
    let (machine, stage) = fetch(machine, site.pointer("bootstrap")).await;
    assert!(stage.succeeded, "{}", stage.log);
    let config: Value = serde_json::from_slice(MADE.config("bootstrap")).unwrap();
    assert!(MADE.config("bootstrap").len() > 262_144);
    let count = |config: &Value| config["storage"]["files"].as_array().unwrap().len();
    assert_eq!(count(&machine.merged()), count(&config));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stock_pointer_gets_its_pool() {
    let Some(machine) = FirstBoot::new() else { return };
    let site = Site::start().await;
    let (machine, stage) =
        fetch(machine, with_ca(&format!("{}/config/worker", site.url()), &json!([]))).await;
    assert!(stage.succeeded, "{}", stage.log);
    let files = machine.merged()["storage"]["files"].as_array().unwrap().clone();
    let last = "/etc/ignition-machine-config-encapsulated.json";
    assert!(files.iter().any(|file| file["path"] == last));
    assert!(machine.files().succeeded, "{}", machine.log());
    assert!(machine.path(last).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hosted_worker_gets_its_payload() {
    let Some(machine) = FirstBoot::new() else { return };
    let mut site = Site::start().await;
    let headers = json!([
        {"name": "Authorization", "value": format!("Bearer {}", STANDARD.encode(TOKEN))},
        {"name": "NodePool", "value": "clusters/demo"},
        {"name": "TargetConfigVersionHash", "value": "a2b27c3f"},
    ]);
    let (machine, stage) = fetch(machine, with_ca(&format!("{}/ignition", site.url()), &headers)).await;
    assert!(stage.succeeded, "{}", stage.log);
    assert!(machine.files().succeeded, "{}", machine.log());
    assert!(machine.path("/etc/hostname").exists());
    assert_eq!(site.reached.recv().await.unwrap(), "token-demo-a2b27c3f");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_another_ca_is_never_trusted() {
    let Some(machine) = FirstBoot::new() else { return };
    let mut site = Site::start().await;
    let made = &*MADE;
    let other = made.file("pki/kubelet-signer.crt");
    let pointer = host_pointer(&site.url(), "worker-0", made.config("worker-0"), &made.key(), Some(other));
    let mut child = machine.start_fetch(&serde_json::from_slice(&pointer).unwrap());
    eventually("Ignition complains and tries again", async || {
        machine.log().contains("x509") && machine.log().contains("attempt #2")
    })
    .await;
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(site.events.try_recv().is_err(), "not even a request was made");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_token_ends_the_boot() {
    let Some(machine) = FirstBoot::new() else { return };
    let mut site = Site::start().await;
    let mut pointer = site.pointer("worker-0");
    pointer["ignition"]["config"]["merge"][0]["httpHeaders"][0]["value"] =
        json!(format!("Bearer {}", "0".repeat(64)));
    let (_, stage) = fetch(machine, pointer).await;
    assert!(!stage.succeeded && stage.log.contains("GET result: Unauthorized"), "{}", stage.log);
    assert!(!stage.log.contains("attempt #2"), "{}", stage.log);
    assert!(matches!(site.events.recv().await.unwrap().what, Happened::Refused { status: 401, .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pointer_of_another_generation_ends_the_boot_and_both_are_named() {
    let Some(machine) = FirstBoot::new() else { return };
    let mut site = Site::start().await;
    let made = &*MADE;
    let old = b"{\"ignition\":{\"version\":\"3.2.0\"}}";
    let pointer = host_pointer(&site.url(), "worker-0", old, &made.key(), Some(made.ca()));
    let (_, stage) = fetch(machine, serde_json::from_slice(&pointer).unwrap()).await;
    assert!(!stage.succeeded && stage.log.contains("GET result: Conflict"), "{}", stage.log);
    let Happened::Refused { status, reason } = site.events.recv().await.unwrap().what else {
        panic!("served")
    };
    assert_eq!(status, 409);
    for config in [&old[..], made.config("worker-0")] {
        assert!(reason.contains(ConfigDigest::of(config).as_str()), "{reason}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_config_that_is_not_made_yet_is_waited_for() {
    let Some(machine) = FirstBoot::new() else { return };
    let site = Site::start().await;
    let ready = (*site.hosts.table()).clone();
    let mut unready = ready.clone();
    unready.get_mut("worker-0").unwrap().config = None;
    site.hosts.replace(unready);
    let pointer = site.pointer("worker-0");
    let child = machine.start_fetch(&pointer);
    eventually("Ignition is told to wait", async || machine.log().contains("Service Unavailable")).await;
    site.hosts.replace(ready);
    let stage = tokio::task::spawn_blocking(move || machine.wait(child)).await.unwrap();
    assert!(stage.succeeded && stage.log.contains("GET result: OK"), "{}", stage.log);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_cut_off_is_not_applied_and_can_be_fetched_again() {
    let (Some(machine), Some(again)) = (FirstBoot::new(), FirstBoot::new()) else { return };
    let site = Site::start().await;
    let cutter = cutter(site.address()).await;
    let made = &*MADE;
    let mut url = site.url();
    url.port = cutter.port();
    let pointer = host_pointer(&url, "bootstrap", made.config("bootstrap"), &made.key(), Some(made.ca()));
    let (machine, stage) = fetch(machine, serde_json::from_slice(&pointer).unwrap()).await;
    assert!(!stage.succeeded, "{}", stage.log);
    assert!(!machine.path("/etc/hostname").exists());
    // The next boot is as good as the first.
    let (_, stage) = fetch(again, site.pointer("bootstrap")).await;
    assert!(stage.succeeded, "{}", stage.log);
}

/// Passes connections on and cuts each off after 100 KB of answer.
async fn cutter(to: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let server = TcpStream::connect(to).await.unwrap();
                let ((mut from_client, mut to_client), (from_server, mut to_server)) =
                    (client.into_split(), server.into_split());
                let upward =
                    tokio::spawn(async move { tokio::io::copy(&mut from_client, &mut to_server).await });
                let mut part = from_server.take(100_000);
                let _ = tokio::io::copy(&mut part, &mut to_client).await;
                let _ = to_client.shutdown().await;
                upward.abort();
            });
        }
    });
    address
}
