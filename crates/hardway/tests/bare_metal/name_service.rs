//! Names and DHCP as files for servers that people have, by the real program: made, seen, and taken back.

use std::process::Command;

use hardway_testing::{INSTALL_CONFIG, INVENTORY, succeed, with_hardware};

use crate::work;

const BOOT: &str = "bare-metal/kea-boot.json";

#[test]
fn real_files_for_bind_and_kea_come_and_go_and_boot_urls_stay_secret() {
    let settings = "  provider: bare-metal\n  bare-metal: {boot: pxe, mediaUrl: \"http://192.168.126.2:8080\", names: bind, dhcp: kea}\n";
    let inventory = with_hardware(INVENTORY, "")
        .replace("  provider: bare-metal\n", settings)
        .replace("  apiVIP:", "  loadBalancer: external\n  apiVIP:");
    let work = work::with_inputs(INSTALL_CONFIG, &inventory);
    let path = work.path(BOOT).display().to_string();
    let check = ["media", "dhcp", "--format", "kea", "--to", &path, "--check"];
    work.refused(4, &check).says("is not as it would be written");
    assert!(!work.exists(BOOT), "looking writes nothing");
    let plan = work.ok(&["infra", "plan"]).stdout;
    for part in ["dns/boot", "media dhcp --format kea", "dns/zone/ocp4.example.com"] {
        assert!(plan.contains(part), "{plan}");
    }

    work.ok(&["infra", "up"]);
    work.ok(&check);
    assert_eq!(work.mode(BOOT), 0o600);
    let text = work.read(BOOT);
    let url = text.split("http://192.168.126.2:8080/").nth(1).unwrap();
    let secret = url.split('/').next().unwrap().to_owned();
    assert!(secret.len() > 20 && url.contains("/boot.ipxe"), "{text}");
    succeed(Command::new("kea-dhcp4").arg("-t").arg(work.path("bare-metal/kea-dhcp4.conf")));
    succeed(
        Command::new("named-checkzone")
            .arg("ocp4.example.com")
            .arg(work.path("bare-metal/ocp4.example.com.zone")),
    );
    assert!(!work.read("journal.jsonl").contains(&secret), "a secret is in the journal");
    let work = work.may_show_secrets();
    let urls = work.ok(&["media", "urls"]).stdout;
    assert!(urls.contains(&secret), "DHCP names what the server answers at: {urls}");

    let status = work.ok(&["infra", "status"]).stdout;
    assert!(
        status.contains("dns/boot") && status.contains("dns/dhcp4") && !status.contains(&secret),
        "{status}"
    );
    // What a person changes is seen, and put right.
    work.write(BOOT, "[]\n");
    work.refused(4, &check);
    work.ok(&["infra", "up"]);
    assert_eq!(work.read(BOOT), text);
    work.ok(&["infra", "down", "--yes"]);
    for file in
        [BOOT, "bare-metal/kea-dhcp4.conf", "bare-metal/named.conf", "bare-metal/ocp4.example.com.zone"]
    {
        assert!(!work.exists(file), "{file} was left");
    }
}

#[test]
fn boot_options_are_for_machines_that_are_there() {
    let inventory = with_hardware(INVENTORY, "");
    let work = work::with_inputs(INSTALL_CONFIG, &inventory);
    let args = ["media", "dhcp", "--format", "dnsmasq", "--to", "boot.conf"];
    work.refused(2, &args).says("mediaUrl is not set");
    assert!(!work.exists("boot.conf"));
}
