//! A cluster that is switched off and on again: a real API server, and a stand-in for libvirt whose machines are files. The API server
//! goes on while its machines are off, which no real one does.

use hardway_testing::{ControlPlane, INVENTORY, Work, succeed, with_hardware};
use serde_json::{Value, json};

use crate::work;

const VIRSH: &str = r#"#!/bin/sh
folder=$(dirname "$0")/..
echo "$3 $4" >> "$folder/virsh.log"
case "$3" in
domstate) if [ -e "$folder/off-$4" ]; then echo "shut off"; else echo running; fi ;;
shutdown)
  if [ -e "$folder/refused-$4" ]; then echo "error: not today" >&2; exit 1; fi
  touch "$folder/off-$4" ;;
start) rm -f "$folder/off-$4" ;;
esac
"#;

const NODES: [&str; 4] = ["master-0", "master-1", "master-2", "worker-0"];

fn site(plane: &ControlPlane) -> Work {
    let folder = work::made().with_real_clock().from_outside();
    work::lead_to(&folder, plane);
    folder.write("inventory.yaml", with_hardware(&INVENTORY.replace("bare-metal", "libvirt"), ""));
    folder.write_program("bin/virsh", VIRSH);
    for name in NODES {
        let role = format!("node-role.kubernetes.io/{}", name.split('-').next().unwrap());
        let name = format!("{name}.ocp4.example.com");
        plane.apply(
            &json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {role: ""}}}),
        );
        let ready = json!({"type": "Ready", "status": "True", "reason": "Played", "message": "as played", "lastHeartbeatTime": "2026-11-15T00:00:00Z", "lastTransitionTime": "2026-11-15T00:00:00Z"});
        let patch = json!({"status": {"conditions": [ready]}}).to_string();
        succeed(plane.kubectl().args([
            "patch",
            "node",
            &name,
            "--subresource=status",
            "--type=merge",
            "--patch",
            &patch,
        ]));
    }
    folder.with_programs_of("bin")
}

fn closed(plane: &ControlPlane) -> Vec<String> {
    let nodes = plane.get(&["nodes"]);
    let is_closed = |node: &&Value| node["spec"]["unschedulable"] == true;
    let short =
        |node: &Value| node["metadata"]["name"].as_str().unwrap().split('.').next().unwrap().to_owned();
    nodes["items"].as_array().unwrap().iter().filter(is_closed).map(short).collect()
}

#[test]
fn real_cluster_is_switched_off_and_on_in_order_and_opens_what_was_closed_for_it() {
    let plane = ControlPlane::start();
    let folder = site(&plane);
    // A person has closed one before: that one stays closed.
    succeed(plane.kubectl().args(["cordon", "master-1.ocp4.example.com"]));

    let off = ["off", "--without-backup", "--until", "2027-01-07"];
    let plan = folder.ok(&[&off[..], &["--dry-run"]].concat());
    let order: Vec<(String, String)> = plan
        .stdout
        .lines()
        .filter_map(|line| {
            let (name, program) = line.split_once(" (")?;
            let uuid = program.split(" shutdown ").nth(1)?.split(' ').next()?;
            Some((name.to_owned(), uuid.to_owned()))
        })
        .collect();
    let names: Vec<&str> = order.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["worker-0", "master-0", "master-1", "master-2"], "{}", plan.stdout);
    assert!(!folder.exists("virsh.log") || !folder.read("virsh.log").contains("shutdown"));
    assert_eq!(closed(&plane), ["master-1"]);
    folder.run(&off).expect(2).says("nothing was switched off");

    // One that refuses ends it; the next run goes on, and knows what the first has closed.
    let refused = format!("refused-{}", order[2].1);
    folder.write(&refused, "");
    folder.run(&[&off[..], &["--yes"]].concat()).expect(4).says("error[switch-failed]").says("not today");
    assert_eq!(closed(&plane).len(), 4);
    folder.remove(&refused);
    folder.ok(&[&off[..], &["--yes"]].concat()).says("every machine is off");
    let asked: Vec<String> = folder
        .read("virsh.log")
        .lines()
        .filter_map(|line| line.strip_prefix("shutdown "))
        .map(str::to_owned)
        .collect();
    // Those that are off are not told again.
    let wanted = [&order[0].1, &order[1].1, &order[2].1, &order[2].1, &order[3].1];
    assert_eq!(asked.iter().collect::<Vec<_>>(), wanted);

    folder.ok(&["on", "--dry-run"]);
    folder.write("virsh.log", "");
    folder.ok(&["on", "--without-verify"]).says("the cluster is back");
    let begun: Vec<String> = folder
        .read("virsh.log")
        .lines()
        .filter_map(|line| line.strip_prefix("start "))
        .map(str::to_owned)
        .collect();
    assert_eq!(begun.iter().collect::<Vec<_>>(), [&order[1].1, &order[2].1, &order[3].1, &order[0].1]);
    assert_eq!(closed(&plane), ["master-1"], "only what was closed for it is open again");
    // A second time there is nothing to open, and nothing to start.
    folder.ok(&["on", "--without-verify"]);
    assert_eq!(closed(&plane), ["master-1"]);
}

#[test]
fn machines_that_only_a_person_can_switch_are_told() {
    let folder = work::made();
    folder.write("inventory.yaml", with_hardware(INVENTORY, ""));
    folder
        .refused(9, &["on", "--dry-run"])
        .says("nothing here can switch master-0, master-1, master-2, worker-0");
}
