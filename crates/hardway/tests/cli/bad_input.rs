//! Mistakes: which code they end with, where they are said to be, and that nothing is touched.

use hardway_testing::{INSTALL_CONFIG, INVENTORY};

use crate::work;

/// The heads of all findings, each with its place.
fn findings(stderr: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut head = "";
    for line in stderr.lines() {
        if line.starts_with("error: ") || line.starts_with("warning: ") {
            head = line;
        } else if let Some((_, place)) = line.split_once("--> ") {
            found.push(format!("{place} {head}"));
        }
    }
    found
}

#[test]
fn every_mistake_of_both_files_is_said_in_one_run() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    work.edit("install-config.yaml", "name: ocp4", "name: ocp_4");
    work.edit("install-config.yaml", "hostPrefix: 23", "hostPrefix: 99");
    work.edit("install-config.yaml", "replicas: 3", "replicas: three");
    work.edit("install-config.yaml", "compute:", "fip: true\ncompute:");
    work.edit("inventory.yaml", "name: master-0, role: master,", "name: master-0, role: boss,");
    work.edit("inventory.yaml", "192.168.126.110", "192.168.126.101");
    work.edit("inventory.yaml", "provider: bare-metal", "provider: cloud");

    let ran = work.refused(3, &["create", "ignition-configs"]);
    assert_eq!(ran.stdout, "");
    let found = findings(&ran.stderr);
    for expected in [
        "install-config.yaml:4:9 error: metadata.name: Invalid value: \"ocp_4\": ",
        "install-config.yaml:11:17 error: networking.clusterNetwork[0].hostPrefix: Invalid value: 99: ",
        "install-config.yaml:18:13 error: controlPlane.replicas: Invalid value: \"three\": must be a whole number, found a string",
        "install-config.yaml:19:1 error: fip: Unknown field: install-config.yaml has no such field",
        "inventory.yaml:6:13 error: machines.provider: Unsupported value: \"cloud\": supported values: \"bare-metal\", ",
        "inventory.yaml:16:26 error: hosts[1].role: Unsupported value: \"boss\": supported values: \"bootstrap\", \"master\", \"worker\"",
        "inventory.yaml:19:38 error: hosts[4].ip: Duplicate value: \"192.168.126.101\"",
    ] {
        assert!(found.iter().any(|line| line.starts_with(expected)), "{expected} is not in {found:#?}");
    }
    ran.says(
        "18 |   replicas: three\n   |             ^^^^^\n  more: hardway explain controlPlane.replicas\n",
    )
    .says("  more: hardway explain networking.clusterNetwork.hostPrefix\n")
    .says("fix: did you mean fips?")
    .says(&format!(
        "error[config-invalid]: {} mistakes in install-config.yaml and inventory.yaml",
        found.iter().filter(|line| line.contains(" error: ")).count()
    ))
    .says("more: hardway explain config-invalid");
}

/// A block with a mistake of every kind in it.
const BAD_METAL: &str = "provider: bare-metal
  bare-metal:
    boot: usb
    mediaURL: http://192.168.126.2:8080
    hosts:
      master-0: {bmc: {address: \"ipmi://10.0.0.5\", user: admin, password: hush-hush}}
      master-9: {}";

#[test]
fn mistakes_in_a_providers_settings_are_said_by_every_command() {
    let work = work::with_inputs(INSTALL_CONFIG, &INVENTORY.replace("provider: bare-metal", BAD_METAL));
    work.edit("inventory.yaml", "dns: [192.168.126.1]", "dns: [nobody]");
    let commands = [
        &["create", "manifests"][..],
        &["create", "cluster"],
        &["plan"],
        &["status"],
        &["graph"],
        &["check"],
        &["infra", "plan"],
    ];
    for command in commands {
        let ran = work.refused(3, command);
        let found = findings(&ran.stderr);
        for expected in [
            "inventory.yaml:8:11 error: machines.bare-metal.boot: Unsupported value: \"usb\": supported values: \"iso\", \"pxe\"",
            "inventory.yaml:9:5 error: machines.bare-metal.mediaURL: Unknown field: machines.bare-metal has no such field",
            "inventory.yaml:11:33 error: machines.bare-metal.hosts.master-0.bmc.address: Invalid value: <redacted>: is not Redfish",
            "machines.bare-metal.hosts.master-0.bmc.passwordFile: Required value: the file with the controller's password",
            "machines.bare-metal.hosts.master-0.bmc.password: Forbidden: passwords are not allowed in this file",
            "machines.bare-metal.hosts.master-9: Invalid value: \"master-9\": no host of the inventory has this name",
            "error: network.dns[0]: Invalid value: \"nobody\"",
        ] {
            assert!(
                found.iter().any(|line| line.contains(expected)),
                "{command:?}: {expected} is not in {found:#?}"
            );
        }
        // What is no secret is seen.
        let ran = ran
            .says("fix: did you mean mediaUrl?")
            .says("8 |     boot: usb\n")
            .says("user: admin, password: *********}}");
        assert_eq!(ran.stderr.matches("machines.bare-metal.boot:").count(), 1, "{command:?}: {}", ran.stderr);
    }
}

#[test]
fn settings_of_every_provider_are_looked_at_before_they_are_used() {
    for (settings, said) in [
        (
            "provider: lab\n  lab: {name: My Lab, disk: 7}",
            &["machines.lab.name: Invalid value", "machines.lab.disk: Unknown field"][..],
        ),
        (
            "provider: libvirt\n  libvirt: {accelerator: kvmm, poolPath: images, uri: 5}",
            &[
                "machines.libvirt.accelerator: Unsupported value: \"kvmm\"",
                "machines.libvirt.poolPath: Invalid value",
                "machines.libvirt.uri: Invalid value: 5: must be a string",
            ],
        ),
        (
            "provider: gce\n  gce: {zones: [us-central1-a, nowhere], externalAddresses: perhaps}",
            &[
                "machines.gce.project: Required value",
                "machines.gce.zones[1]: Invalid value",
                "machines.gce.externalAddresses: Invalid value: \"perhaps\": must be true or false, found a string",
                "machines.gce.image: Required value",
            ],
        ),
    ] {
        let work = work::with_inputs(INSTALL_CONFIG, &INVENTORY.replace("provider: bare-metal", settings));
        let ran = work.refused(3, &["create", "manifests"]);
        for part in said {
            assert_eq!(ran.stderr.matches(part).count(), 1, "{part}: {}", ran.stderr);
        }
    }
}

#[test]
fn what_only_machines_need_does_not_keep_files_from_being_made() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    work.ok(&["create", "manifests", "--dry-run"])
        .says("but not to boot machines: hosts[0].installDisk: Required value")
        .says("(and 4 more); `hardway check` lists all");
    let ran = work.refused(2, &["check", "--only", "inventory-complete"]);
    assert!(ran.stdout.contains("hosts[4].installDisk: Required value"), "{}", ran.stdout);
    assert_eq!(
        ran.stdout.matches("fix: name the disk, such as installDisk: /dev/sda").count(),
        1,
        "{}",
        ran.stdout
    );
    work.refused(3, &["create", "cluster"]).says("error[inventory-invalid]: 5 mistakes in inventory.yaml");
}

#[test]
fn both_files_can_be_looked_at_alone() {
    let work = work::with_inputs(INSTALL_CONFIG, &INVENTORY.replace("provider: bare-metal", BAD_METAL));
    let ran = work
        .refused(3, &["validate"])
        .says("machines.bare-metal.boot: Unsupported value")
        .says("hosts[0].installDisk");
    assert_eq!(ran.stdout, "");
    let told = work.refused(3, &["validate", "-o", "json"]).stdout;
    let told: Vec<serde_json::Value> = serde_json::from_str(&told).unwrap();
    let unknown = told.iter().find(|row| row["field"] == "machines.bare-metal.mediaURL").unwrap();
    let place =
        (&unknown["severity"], &unknown["file"], &unknown["line"], &unknown["column"], &unknown["fix"]);
    let file = "inventory.yaml".into();
    assert_eq!(place, (&"error".into(), &file, &9.into(), &5.into(), &"did you mean mediaUrl?".into()));

    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    work.refused(0, &["validate"])
        .says("warning: hosts[4].installDisk: Required value")
        .says("no mistakes in install-config.yaml and inventory.yaml, 6 warnings");
    let told = work.refused(0, &["validate", "-o", "yaml"]).stdout;
    assert_eq!(told.matches("severity: warning").count(), 6, "{told}");
    work::empty().refused(3, &["validate"]).says("error[config-missing]");
}

#[test]
fn who_leaves_out_what_everybody_needs_is_told_what_it_is_and_where_it_comes_from() {
    let secret = INSTALL_CONFIG.lines().last().unwrap();
    let bare = INSTALL_CONFIG
        .replace("baseDomain: example.com\n", "")
        .replace("  name: ocp4\n", "")
        .replace(secret, "");
    let work = work::with_inputs(&bare, INVENTORY);
    let ran = work.refused(3, &["create", "manifests"]);
    let ran = ran
        .says("error: metadata.name: Invalid value: \"\": a lowercase RFC 1123 subdomain must")
        .says("fix: the cluster's name is missing")
        .says("name: ocp4; with baseDomain example.com its API is then api.ocp4.example.com")
        .says("error: baseDomain: Invalid value: \"\": a lowercase RFC 1123 subdomain must")
        .says("fix: the DNS domain that the cluster's own is made in is missing")
        .says("such as baseDomain: example.com")
        .says("error: pullSecret: Invalid value: <redacted>: unexpected end of JSON input")
        .says("fix: the logins for the registries that the release's images come from are missing")
        .says("https://console.redhat.com/openshift/install/pull-secret")
        .says("for OKD, whose images need no login");
    let mistakes = findings(&ran.stderr).into_iter().filter(|line| line.contains(" error: "));
    assert_eq!(mistakes.count(), 3, "{}", ran.stderr);
}

#[test]
fn comments_are_left_out_of_excerpts() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    work.edit("install-config.yaml", "name: ocp4", "name: OCP_4   # hush-hush, über alles");
    work.refused(3, &["validate"]).says("4 |   name: OCP_4\n  |         ^^^^^\n  fix: did you mean ocp-4?");
}

#[test]
fn places_are_named_from_where_the_user_stands() {
    let work = work::empty();
    fs_err::create_dir(work.path("site")).unwrap();
    work.write("site/install-config.yaml", INSTALL_CONFIG.replace("hostPrefix: 23", "hostPrefix: 99"));
    work.write("site/inventory.yaml", INVENTORY);
    work.refused(3, &["--dir", "site", "status"])
        .says("--> site/install-config.yaml:11:17")
        .says("1 mistake in site/install-config.yaml");
    work.write("site/install-config.yaml", INSTALL_CONFIG);
    work.write("site/inventory.yaml", INVENTORY.replace("Inventory", "Inventur"));
    work.refused(3, &["graph", "--dir", "site"])
        .says("error[inventory-invalid]: 1 mistake in site/inventory.yaml");
}

#[test]
fn warnings_are_no_errors_and_say_where_they_are() {
    let work = work::made();
    let sources = "imageContentSources:\n- source: quay.io/a\n  mirrors: [m.example.com/a]\n";
    work.write("install-config.yaml", INSTALL_CONFIG.to_owned() + sources);
    let ran = work.ok(&["create", "manifests", "--dry-run"]);
    let found = findings(&ran.stderr);
    assert!(found[0].starts_with("install-config.yaml:23:1 warning: imageContentSources"), "{found:#?}");
    ran.does_not_say("error");
    work.ok(&["create", "manifests", "--dry-run", "--log-level", "error"]).does_not_say("warning");
}

#[test]
fn missing_files_are_named() {
    let work = work::empty();
    work.refused(3, &["create", "manifests"])
        .says("error[config-missing]: install-config.yaml and inventory.yaml do not exist")
        .says("hardway init");
    work.write("install-config.yaml", INSTALL_CONFIG);
    work.refused(3, &["status"]).says("error[config-missing]: inventory.yaml does not exist");
}

#[test]
fn a_file_that_is_not_yaml_does_not_hide_the_mistakes_of_the_other() {
    let work = work::with_inputs(&INSTALL_CONFIG.replace("  name: ocp4", "\tname: ocp4"), INVENTORY);
    work.edit("inventory.yaml", "role: worker", "role: wroker");
    let ran = work.refused(3, &["create", "manifests"]);
    let found = findings(&ran.stderr);
    assert!(
        found[0].starts_with("install-config.yaml:4:") && found[0].contains("error: Syntax error: "),
        "{found:#?}"
    );
    assert!(found.iter().any(|line| line.contains("hosts[4].role: Unsupported value")), "{found:#?}");

    work.write("install-config.yaml", INSTALL_CONFIG);
    work.write("inventory.yaml", INVENTORY.replace("hosts:", "hosts: ["));
    work.refused(3, &["create", "manifests"]).says("error[inventory-invalid]").says("Syntax error: ");
    work.write("inventory.yaml", b"kind: Inventory\nname: \xff\n");
    work.refused(3, &["create", "manifests"])
        .says("error[inventory-invalid]: inventory.yaml:2: not UTF-8 text");
    work.write("install-config.yaml", b"\xff");
    work.refused(3, &["create", "manifests"])
        .says("error[config-invalid]: install-config.yaml:1: not UTF-8 text");
}

#[test]
fn a_wrong_command_line_is_code_two() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    for args in [
        &[][..],
        &["nonsense"],
        &["create"],
        &["create", "nothing"],
        &["status", "--output", "xml"],
        &["status", "--color", "blue"],
        &["status", "--etcd-prefix"],
        &["explain"],
        &["diff"],
    ] {
        let ran = work.refused(2, args);
        assert_eq!(ran.stdout, "", "{args:?}");
        assert!(ran.stderr.contains("Usage: ") || ran.stderr.contains("error: "), "{args:?}: {}", ran.stderr);
    }
    work.refused(2, &["--dir", "nowhere", "create", "manifests"])
        .says("error[usage]: nowhere is not a folder")
        .says("fix: check --dir; for a new cluster: mkdir -p nowhere && hardway init --dir nowhere");
    work.refused(2, &["--dir", "inventory.yaml", "status"]).says("inventory.yaml is not a folder");
    work.refused(2, &["diff", "--against", "nowhere"]).says("nowhere does not exist");
    let ran = work.run_at("tomorrow", &["create", "manifests"]).expect(2);
    ran.says("error[usage]: HARDWAY_NOW is not a valid time: \"tomorrow\"");
    assert!(!work.exists("secrets"));
}

#[test]
fn a_release_that_cannot_be_had_is_said() {
    // Nobody listens there.
    let image = "127.0.0.1:9/ocp:4.18.1";
    let work =
        work::with_inputs(INSTALL_CONFIG, &INVENTORY.replace("image: sample", &format!("image: {image}")));
    work.refused(1, &["graph"])
        .says(&format!("error[release-not-fetched]: {image} is not kept in release/ (not made yet)"));
    let status = work.refused(0, &["status"]).says("the rest needs the release").stdout;
    assert!(status.starts_with("stale  fetch-release"), "{status}");
    work.refused(2, &["create", "manifests", "--release-dir", "nowhere"]).says("nowhere does not exist");
    work.refused(2, &["create", "manifests", "--release-dir", "."]).says("image-references");
}

#[test]
fn a_folder_where_a_file_should_be_is_named() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    work.remove("inventory.yaml");
    fs_err::create_dir(work.path("inventory.yaml")).unwrap();
    work.refused(3, &["create", "manifests"]).says("error[inventory-invalid]: ").says("inventory.yaml");
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    work.write("manifests", "");
    work.run(&["create", "manifests"]).expect(1).says("error[workdir-unusable]: ").says("manifests");
    assert!(!work.exists("secrets"));
}

#[test]
fn a_misspelt_network_plugin_is_a_mistake_and_warnings_are_told_beside_mistakes() {
    let work = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    work.edit("install-config.yaml", "OVNKubernetes", "OVNKubernets");
    work.refused(3, &["validate"])
        .says("error: networking.networkType: Invalid value: \"OVNKubernets\"")
        .says("options: {networkPlugin: OVNKubernets}");
    work.edit("inventory.yaml", "hosts:", "options: {networkPlugin: OVNKubernets}\nhosts:");
    work.ok(&["validate"]).says("warning: networking.networkType");
    work.edit("inventory.yaml", "role: bootstrap", "role: bootstap");
    for verb in [&["validate"][..], &["create", "manifests"]] {
        work.refused(3, verb).says("error: hosts[0].role").says("warning: networking.networkType");
    }
    let told = work.run(&["validate", "-o", "json"]).stdout;
    assert!(told.contains("\"severity\": \"warning\""), "{told}");
}
