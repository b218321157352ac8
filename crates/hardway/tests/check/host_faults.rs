//! What can be wrong with the host, for the lab and for all providers.

use super::fault::{Fault, fault, show, show_good};
use super::world::World;

fn lab() -> World {
    World::of("lab")
}

fn gce() -> World {
    World::of("gce")
}

#[test]
fn a_good_host_for_the_lab() {
    let passed = [
        "inventory-complete",
        "root",
        "programs",
        "container-runtime",
        "inotify",
        "kernel",
        "lab-files",
        "clock",
        "memory",
        "processors",
        "disk-space",
        "disk-latency",
    ];
    show_good(&lab(), &passed);
}

#[test]
fn a_good_host_for_gce() {
    show_good(&gce(), &["inventory-complete", "programs", "gcloud", "clock", "machine-sizes"]);
}

#[test]
fn certificates_of_today() {
    show_good(&made("2026-11-15T01:00:00Z"), &["certificates"]);
}

#[test]
fn every_fault_of_the_host_is_found_and_nothing_else() {
    show(faults());
}

pub(crate) fn faults() -> Vec<Fault> {
    vec![
        fault("inventory-complete", "ignitionServer.url: Required value", gce(), |world| {
            world.inventory =
                world.inventory.replace("ignitionServer: {url: \"https://192.168.126.2\"}\n", "");
        }),
        fault("root", "running as user 65534", lab(), |world| {
            world.through = "/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups".to_owned();
            world.set_up += "chown -R 65534 @/pool\n";
        }),
        fault("programs", "mmdebstrap is missing", lab(), |world| _ = world.programs.remove("mmdebstrap")),
        fault("programs", "gcloud is missing", gce(), |world| _ = world.programs.remove("gcloud")),
        fault("container-runtime", "database is locked", lab(), |world| {
            world.programs.insert("podman", "echo 'Error: database is locked' >&2; exit 125".to_owned());
        }),
        fault("inotify", "6 machines need 192", lab(), |world| {
            world.files.insert("/proc/sys/fs/inotify/max_user_instances", "128\n".to_owned());
            // Where it can be written, build-infra raises it.
            world.set_up += "mount -o remount,bind,ro /proc/sys/fs/inotify/max_user_instances\n";
        }),
        fault("kernel", "veth: Error: Unknown device type.", lab(), |world| {
            let refusing = r#"case "$*" in *veth*) echo 'Error: Unknown device type.' >&2; exit 2 ;; esac; exec /sbin/ip "$@""#;
            world.programs.insert("ip", refusing.to_owned());
        }),
        fault("lab-files", "not found", lab(), |world| {
            world.environment.insert("HARDWAY_LAB_FILES", "@/nothing".to_owned());
        }),
        fault("processors", "one processor", lab(), |world| {
            world.through = "/usr/bin/taskset --cpu-list 0".to_owned();
        }),
        fault("clock", "timedatectl reports that the clock is not synchronized", lab(), |world| {
            world.programs.insert("timedatectl", "echo no".to_owned());
        }),
        fault("gcloud", "not logged in", gce(), |world| {
            world.programs.insert("gcloud", "exit 0".to_owned());
        }),
        fault("machine-sizes", "master-1: memoryGiB is 8, a master needs 16", gce(), |world| {
            let lines = world.inventory.lines().map(|line| match line.contains("master-1") {
                true => line.replace("memoryGiB: 16", "memoryGiB: 8") + "\n",
                false => format!("{line}\n"),
            });
            world.inventory = lines.collect();
        }),
        fault("certificates", "ended at 2026-11-16T00:00:00Z", made("2026-11-17T00:00:00Z"), |_| {}),
    ]
}

/// A working folder whose files were made at midnight of 2026-11-15, looked at later.
fn made(now: &str) -> World {
    let mut world = lab();
    world.set_up += "(cd @/work && HARDWAY_NOW=2026-11-15T00:00:00Z @/hardway create ignition-configs >&2)\n";
    world.environment.insert("HARDWAY_NOW", now.to_owned());
    world
}
