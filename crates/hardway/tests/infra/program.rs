//! The command as a person meets it.

use hardway_testing::{Ran, Work, inside_with_libvirt};

use super::site::{host, inventory, on_libvirt};

#[test]
fn every_mistake_is_told_at_once_and_in_its_place() {
    let wrong = inventory()
        .replace("{pool: ocp4, accelerator: tcg}", "{uri: \"qemu:///session\", network: a-network-with-a-long-name, poolPath: images, haproxy: podman}")
        .replace("/dev/vda, cpus: 1, memoryGiB: 1, diskGiB: 2}\n- ", "/dev/sda}\n- ");
    let folder = on_libvirt(&wrong);
    for verb in ["plan", "up", "status"] {
        let Ran { code, stdout, stderr } = folder.run(&["infra", verb]);
        assert_eq!((code, stdout.as_str()), (Some(3), ""), "{stderr}");
        for said in [
            "machines.libvirt.uri",
            "must end in /system",
            "machines.libvirt.network",
            "at most 15 characters",
            "machines.libvirt.poolPath",
            "must be an absolute path",
            "machines.libvirt.haproxyImage: Required value",
            "hosts[0].installDisk",
            "5 mistakes in",
        ] {
            assert!(stderr.contains(said), "{verb}: {said}\n{stderr}");
        }
    }
}

#[test]
fn somebody_elses_load_balancer_is_told_and_not_made() {
    let external = inventory().replace("  ingressVIP", "  loadBalancer: external\n  ingressVIP");
    let folder = on_libvirt(&external);
    let text = folder.ok(&["infra", "plan"]).stdout;
    assert!(
        text.contains("your load balancer:\nBEFORE PHASE") && !text.contains("balancer/haproxy"),
        "{text}"
    );
    let plan = folder.ok(&["infra", "plan", "-o", "json"]).json();
    assert_eq!(plan["loadBalancerChanges"][0]["port"], 6443);
    assert!(
        !plan.to_string().contains("<ip family='ipv4' address='192.168.126.10'"),
        "not ours to put there"
    );
}

#[test]
fn what_a_silent_libvirt_has_is_not_called_missing() {
    let folder = on_libvirt(&inventory());
    let complaint = "error: Failed to connect socket to '/var/run/libvirt/libvirt-sock': No such file";
    let script = format!("#!/bin/sh\necho \"{complaint}\" >&2\nexit 1\n");
    folder.write_program("bin/virsh", &script);
    let folder = folder.with_programs_of("bin");
    for verb in ["status", "up"] {
        let Ran { code, stdout, stderr } = folder.run(&["infra", verb]);
        assert_eq!((code, stdout.as_str()), (Some(4), ""), "{verb}: {stderr}");
        for said in ["cannot find out", complaint, "fix: libvirt is not running on the host"] {
            assert!(stderr.contains(said), "{verb}: {said}: {stderr}");
        }
    }
    // Nothing was begun, so that nothing of somebody else's is taken back.
    assert!(!folder.path("journal.jsonl").exists());
}

#[test]
fn the_script_does_what_up_does_and_status_says_so() {
    if !inside_with_libvirt() {
        return;
    }
    let states = |folder: &Work| -> Vec<(String, bool)> {
        let rows = folder.ok(&["infra", "status", "-o", "json"]).json();
        rows.as_array()
            .unwrap()
            .iter()
            .map(|row| (row["state"].as_str().unwrap().to_owned(), row["ours"].as_bool().unwrap()))
            .collect()
    };
    let all = |state: &str, is_ours: bool, rows: &[(String, bool)]| {
        !rows.is_empty() && rows.iter().all(|row| *row == (state.to_owned(), is_ours))
    };
    let (folder, before) = (on_libvirt(&inventory()), host());
    assert!(folder.ok(&["infra", "plan"]).stdout.contains("network/definition: "));
    assert!(all("missing", false, &states(&folder)), "{:?}", states(&folder));
    assert_eq!(host(), before, "looking changes nothing");
    let names: Vec<_> = fs_err::read_dir(folder.path("")).unwrap().collect();
    assert_eq!(names.len(), 2, "neither here: {names:?}");
    let script = folder.ok(&["infra", "plan", "--script"]).stdout;
    assert!(folder.exists("secrets/identity.json"), "what the script makes is named after it");

    folder.ok(&["infra", "up"]);
    let built = host();
    assert!(all("holds", true, &states(&folder)), "{:?}", states(&folder));
    folder.ok(&["infra", "down", "--yes"]);
    assert_eq!(host(), before);

    let by_hand = std::process::Command::new("bash").arg("-c").arg(&script).output().unwrap();
    assert!(by_hand.status.success(), "{}", String::from_utf8_lossy(&by_hand.stderr));
    assert_eq!(host(), built);
    assert!(all("holds", false, &states(&folder)), "{:?}", states(&folder));
    let said = folder.run(&["infra", "up"]).stderr;
    assert!(said.contains("0 created now"), "{said}");
    folder.ok(&["infra", "down", "--yes"]);
    assert_eq!(host(), built, "what a person made is theirs");
}
