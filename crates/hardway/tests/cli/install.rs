//! The install's commands, as far as they go without a machine.

use std::process::Command;

use hardway_assets::Phase;
use hardway_testing::{INSTALL_CONFIG, INVENTORY, Snapshot, Work, inside, succeed};

use crate::work;

fn lab() -> Work {
    let inventory = INVENTORY
        .replace("provider: bare-metal", "provider: lab\n  lab: {name: never-built}")
        .replace("192.168.126.100}", "192.168.126.100, mac: \"52:54:00:00:00:01\"}")
        .replace("192.168.126.101}", "192.168.126.101, mac: \"52:54:00:00:00:02\"}")
        .replace("192.168.126.102}", "192.168.126.102, mac: \"52:54:00:00:00:03\"}")
        .replace("192.168.126.103}", "192.168.126.103, mac: \"52:54:00:00:00:04\"}")
        .replace("192.168.126.110}", "192.168.126.110, mac: \"52:54:00:00:00:05\"}");
    work::with_inputs(INSTALL_CONFIG, &inventory)
}

#[test]
fn a_plan_names_every_phase_in_order_with_its_commands_and_writes_nothing() {
    let work = lab();
    let before = Snapshot::of(work.root());
    let text = work.ok(&["plan", "--all"]).says("built-in sample release").stdout;
    let mut rest = text.as_str();
    for phase in Phase::ALL {
        let found =
            rest.find(&format!("{phase}\n")).unwrap_or_else(|| panic!("{phase} is missing or out of order"));
        rest = &rest[found..];
    }
    for command in
        ["ip netns add hardway-never-built", "define.sh never-built master-0", "boot.sh never-built worker-0"]
    {
        assert!(text.contains(command), "{command} is missing:\n{text}");
    }
    let value: serde_json::Value = serde_json::from_str(&work.ok(&["plan", "-o", "json"]).stdout).unwrap();
    assert_eq!(value.as_array().unwrap().len(), Phase::ALL.len());
    before.assert_untouched(&Snapshot::of(work.root()));
}

#[test]
fn a_plan_begins_with_a_summary_and_fits_a_screen_or_two() {
    let work = lab();
    let text = work.ok(&["plan"]).stdout;
    let mut lines = text.lines();
    let first = lines.next().unwrap();
    assert!(
        first.starts_with("ocp4: ")
            && first.contains(&format!(" steps in {} phases, with ", Phase::ALL.len())),
        "{text}"
    );
    assert_eq!(lines.next().unwrap(), "machines: 1 bootstrap host, 3 masters, 1 worker, by provider lab");
    assert!(text.lines().count() < 100, "{} lines:\n{text}", text.lines().count());
    assert!(!text.contains("ip netns add"), "{text}");
    assert!(text.contains("machine/<host>/") && text.contains("master-0, master-1, master-2"), "{text}");
    let all = work.ok(&["plan", "--all"]).stdout;
    assert_eq!(all.lines().next(), Some(first));
    assert!(all.lines().count() > 150 && !all.contains("machine/<host>"), "{all}");
    let value = work.ok(&["plan", "-o", "json"]).json();
    // A computer whose limits are too low has them raised first.
    let mut actions = value[1]["effects"].as_array().unwrap().iter().map(|effect| &effect["action"]);
    assert_eq!(actions.find(|action| *action != "host/watches").unwrap(), "images/built", "{value:#}");
}

#[test]
fn a_phase_that_is_too_early_says_what_is_missing() {
    let work = lab();
    let ran = work.refused(2, &["phase", "run", "make-ignition"]);
    ran.says("phase-too-early").says("make-ignition needs make-kubeconfigs first");
    work.refused(2, &["phase", "run", "make-coffee"]).says("no such phase: \"make-coffee\"");
}

/// A lab's names and addresses are known in its own network only: whoever asks its cluster goes on in there.
#[test]
fn whoever_asks_the_cluster_of_a_lab_goes_into_its_network() {
    if !inside() {
        return;
    }
    let work = lab().with_programs_of("bin");
    let script =
        "mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns && touch /run/netns/hardway-never-built";
    succeed(Command::new("sh").args(["-ec", script]));
    work.write("bin/nsenter", "#!/bin/sh\necho \"entered with $*\"\n");
    work.set_mode("bin/nsenter", 0o755);
    let commands = [
        "approve",
        "diagnose",
        "gather bootstrap",
        "node add worker-0",
        "node remove worker-0 --yes",
        "node replace worker-0",
        "phase run await-bootstrap",
        "certs recover",
        "verify",
        "wait-for install-complete",
    ];
    for command in commands {
        let ran = work.ok(&command.split(' ').collect::<Vec<_>>());
        let begins = ran.stdout.starts_with("entered with --net=/run/netns/hardway-never-built");
        assert!(begins && ran.stdout.contains(command), "{command}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn mistakes_in_the_labs_settings_are_placed_in_the_file() {
    let work = lab();
    let text = work.read("inventory.yaml").replace("name: never-built", "name: Never Built, size: 3");
    work.write("inventory.yaml", text);
    let ran = work.refused(3, &["create", "cluster"]);
    ran.says("inventory-invalid")
        .says("machines.lab.size")
        .says("machines.lab.name")
        .says("inventory.yaml:7:");
    assert!(!work.exists("journal.jsonl"));
}

#[test]
fn a_controller_of_two_hosts_is_placed_in_the_file() {
    let bmc = "{bmc: {address: \"redfish://10.0.0.5\", user: admin, passwordFile: secrets/bmc}}";
    let settings =
        format!("provider: bare-metal\n  bare-metal: {{hosts: {{master-0: {bmc}, master-1: {bmc}}}}}");
    let work = work::with_inputs(INSTALL_CONFIG, &INVENTORY.replace("provider: bare-metal", &settings));
    let ran = work.refused(3, &["create", "cluster"]);
    ran.says("inventory-invalid")
        .says("machines.bare-metal.hosts.master-1.bmc.address: Duplicate value: \"redfish+https://10.0.0.5\"")
        .says("master-0 has the same one");
    assert!(!work.exists("journal.jsonl"));
}

#[test]
fn there_is_nothing_to_destroy_where_nothing_was_done() {
    let work = lab();
    let before = Snapshot::of(work.root());
    work.ok(&["destroy"]).says("has no journal");
    before.assert_untouched(&Snapshot::of(work.root()));
}

#[test]
fn after_a_start_that_did_nothing_there_is_nothing_to_take_back_and_that_is_said() {
    for command in [&["infra", "down", "--yes"][..], &["destroy"]] {
        let work = lab();
        work.write("journal.jsonl", "");
        work.ok(command)
            .says("nothing to undo")
            .says("the journal records no changes to this host")
            .does_not_say("0 things");
    }
}

#[test]
fn a_cluster_that_does_not_answer_is_told_with_what_to_do() {
    let work = work::made();
    // Nobody listens there.
    let kubeconfig = work.read("auth/kubeconfig");
    let server = kubeconfig.lines().find(|line| line.contains("server: ")).unwrap();
    work.edit("auth/kubeconfig", server, "    server: https://127.0.0.1:9");
    let ran = work.run(&["node", "add", "worker-0"]).expect(1);
    ran.says("error[node-kept]: ")
        .says("fix: make sure that the cluster runs and this computer reaches its API")
        .says("hardway diagnose");
}

#[test]
fn a_lab_that_is_not_there_is_said_so() {
    let work = lab();
    work.refused(4, &["lab", "run", "--", "true"]).says("the lab never-built does not exist");
    work.refused(2, &["lab", "shell", "master-9"]).says("one of bootstrap, master-0");
    let metal = work::with_inputs(INSTALL_CONFIG, INVENTORY);
    metal.refused(2, &["lab", "shell", "master-0"]).says("not in a lab");
}
