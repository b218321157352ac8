//! A machine with a controller, the whole way: plan, first boot, again, after it joined, taken back.

use hardway_journal::NodeJoined;
use hardway_machines::actions::ActionOutcome;
use hardway_machines::providers::{Provider as _, is_of_machine};
use hardway_testing::{REDFISH_PASSWORD, REDFISH_USER, Ran, RedfishEmulator};
use serde_json::Value;

use super::site::{MediaServe, Outcomes, PASSWORD_FILE, Site};

fn settings(emulator: &RedfishEmulator, media: &str, more: &str) -> String {
    format!(
        "{{mediaUrl: \"{media}\", hosts: {{master-0: {{bmc: {{address: \"redfish+{}\", user: {REDFISH_USER}, passwordFile: {PASSWORD_FILE}{more}}}}}}}}}",
        emulator.address
    )
}

fn set_settings(site: &Site, settings: &str) {
    let text = site.read("inventory.yaml");
    let line = text.lines().find(|line| line.starts_with("  bare-metal: ")).unwrap().to_owned();
    site.write("inventory.yaml", text.replace(&line, &format!("  bare-metal: {settings}")));
}

#[test]
fn a_machine_is_installed_through_its_controller_and_given_back() {
    let Some(emulator) = RedfishEmulator::start(1, true) else { return };
    let site = Site::new("{}");
    let media = MediaServe::start(&site);
    let certificate = format!(", caFile: {}", emulator.certificate().display());
    set_settings(&site, &settings(&emulator, &media.url, &certificate));
    site.password(REDFISH_PASSWORD, 0o600);
    let status = || -> Value { site.ok(&["bmc", "status", "--host", "master-0", "-o", "json"]).json() };
    assert_eq!(status()["power"], "off");

    let cluster = site.cluster();
    let provider = site.provider(&cluster);
    let host = &cluster.inventory.hosts[1];
    let infrastructure = provider.infrastructure();
    site.with_executor(|executor| executor.up(&infrastructure, &mut ())).unwrap();
    let first_boot = provider.first_boot(host);
    let mut outcomes = Outcomes::default();
    site.with_executor(|executor| executor.up(&first_boot, &mut outcomes)).unwrap();
    assert_eq!(outcomes.0, [ActionOutcome::Done; 2]);
    let after = status();
    assert_eq!(after["power"], "on");
    assert_eq!(after["medium"], format!("{}/<redacted>/master-0.iso", media.url));
    let urls: Value = site.ok(&["media", "urls", "-o", "json"]).json();
    let iso = urls["hosts"][1]["iso"].as_str().unwrap().to_owned();
    let secret = iso.strip_prefix(&format!("{}/", media.url)).unwrap().strip_suffix("/master-0.iso").unwrap();
    assert!(secret.len() == 32 && curl(&iso) == 200, "{iso}");
    assert_eq!(curl(&iso.replace(secret, &"0".repeat(32))), 404);
    assert_eq!(curl(&iso.replace(&format!("{secret}/"), "")), 404);
    assert!(after["boot"].as_str().unwrap().starts_with("Cd"), "{after}");
    let power = provider.power(host).ask(&hardway_machines::actions::Host::default()).unwrap();
    assert_eq!(power, Some(hardway_machines::providers::Power::On));
    let shown =
        site.ok(&["media", "show", site.path("media/master-0.iso").to_str().unwrap(), "-o", "json"]).stdout;
    assert!(shown.contains("ignition"), "{shown}");
    assert!(site.journal().contains("\"medium-read\""), "the server wrote down who read it");

    let mut outcomes = Outcomes::default();
    site.with_executor(|executor| executor.up(&first_boot, &mut outcomes)).unwrap();
    assert_eq!(outcomes.0, [ActionOutcome::AlreadyHeld; 2], "once it is booted it is not booted again");

    // Once it has joined, what was its URL leads nowhere, and nobody can insert the medium again.
    site.tell(&NodeJoined { host: "master-0".to_owned() });
    assert_eq!(curl(&iso), 404);
    let Ran { code, stderr, .. } = site.run(&["bmc", "insert", "--host", "master-0"]);
    assert!(code == Some(4) && stderr.contains("media iso --host master-0"), "{stderr}");
    site.with_executor(|executor| executor.up(&provider.after_join(host), &mut ())).unwrap();
    assert_eq!(status()["medium"], Value::Null);

    // Somebody pulls the plug: the controller knows, and nobody is sent to read a journal on that node.
    let diagnosed = || site.run(&["diagnose"]).expect(1).stdout;
    let told = diagnosed();
    assert!(!told.contains("E-H19"), "{told}");
    site.ok(&["bmc", "power-off", "--host", "master-0"]);
    let told = diagnosed();
    assert!(told.starts_with("E-H19 (host) A node is NotReady or never registered"), "{told}");
    assert!(told.contains("the machine of master-0 is off (bmc: ") && told.contains("power: off"), "{told}");

    site.with_executor(|executor| executor.take_back(|action| is_of_machine(action, "master-0"), &mut ()))
        .unwrap();
    assert_eq!(status()["power"], "off");
    assert!(
        !site.path("bare-metal/first-boot/master-0").exists() && !site.path("media/master-0.iso").exists()
    );
    let journal = site.journal();
    assert!(!journal.contains(REDFISH_PASSWORD) && !journal.contains(secret));
    let Ran { stdout, stderr, .. } = media.end();
    assert!(!stdout.contains(secret) && !stderr.contains(secret), "{stderr}");
}

/// The status of an answer.
fn curl(url: &str) -> u16 {
    let words = ["--silent", "--output", "/dev/null", "--write-out", "%{http_code}", url];
    let output = std::process::Command::new("curl").args(words).output().unwrap();
    String::from_utf8(output.stdout).unwrap().parse().unwrap()
}

#[test]
fn what_a_controller_refuses_is_told_without_the_password() {
    let Some(emulator) = RedfishEmulator::start(1, false) else { return };
    let site = Site::new("{}");
    set_settings(&site, &settings(&emulator, "http://127.0.0.1:1", ""));
    site.write("media/master-0.iso", "an image");
    let ask = |verb: &str| site.run(&["bmc", verb, "--host", "master-0"]);

    let Ran { code, stderr, .. } = ask("status");
    assert_eq!(code, Some(3), "{stderr}");
    assert!(stderr.contains("error[bmc-failed]") && stderr.contains(PASSWORD_FILE), "{stderr}");
    site.password(REDFISH_PASSWORD, 0o644);
    let Ran { code, stderr, .. } = ask("status");
    assert!(code == Some(3) && stderr.contains("fix: chmod 600"), "{stderr}");
    site.password("wrong-password", 0o600);
    let Ran { code, stderr, .. } = ask("status");
    assert!(code == Some(4) && stderr.contains("rejects the login"), "{stderr}");
    assert!(!stderr.contains("wrong-password"), "{stderr}");
    site.password(REDFISH_PASSWORD, 0o600);
    let Ran { code, stderr, .. } = ask("insert");
    assert!(code == Some(4) && stderr.contains("the controller of master-0: POST /redfish/v1/"), "{stderr}");
    assert!(ask("eject").code == Some(0) && ask("boot-once-pxe").code == Some(0));
    let Ran { code, stderr, .. } = site.run(&["bmc", "status", "--host", "master-1"]);
    assert!(code == Some(2) && stderr.contains("has no management controller"), "{stderr}");
    let Ran { code, stderr, .. } = site.run(&["bmc", "status", "--host", "nobody"]);
    assert!(code == Some(2) && stderr.contains("hosts in the inventory: bootstrap, master-0"), "{stderr}");
    let mistakes = settings(&emulator, "http://127.0.0.1:1", ", insecure: maybe, password: hush-hush");
    set_settings(&site, &mistakes);
    let Ran { code, stderr, .. } = ask("status");
    assert!(code == Some(3) && stderr.contains("error[inventory-invalid]: 2 mistakes"), "{stderr}");
    assert!(stderr.contains("bmc.password: Forbidden") && !stderr.contains("hush-hush"), "{stderr}");
}
