//! What can be wrong with a host of virtual machines.

use super::fault::{Fault, fault, show, show_good};
use super::world::World;

fn libvirt() -> World {
    World::of("libvirt")
}

#[test]
fn a_good_host_for_virtual_machines() {
    let passed = [
        "libvirt",
        "kvm",
        "processor",
        "libvirt-pool",
        "ports",
        "subnet",
        "memory",
        "disk-space",
        "disk-latency",
        "machine-sizes",
    ];
    show_good(&libvirt(), &passed);
}

#[test]
fn every_fault_of_virtual_machines_is_found_and_nothing_else() {
    show(faults());
}

/// A virsh that fails at one verb, and says why.
fn virsh(world: &mut World, verb: &str, says: &str) {
    let good = world.programs["virsh"].clone();
    let script = format!("case \"$*\" in *{verb}*) echo 'error: {says}' >&2; exit 1 ;; esac\n{good}");
    world.programs.insert("virsh", script);
}

pub(crate) fn faults() -> Vec<Fault> {
    vec![
        fault("libvirt", "Failed to connect socket to '/var/run/libvirt/libvirt-sock'", libvirt(), |world| {
            let says = r"failed to connect to the hypervisor; Failed to connect socket to '\''/var/run/libvirt/libvirt-sock'\''";
            virsh(world, "", says);
        }),
        fault("kvm", "/dev/kvm is missing", libvirt(), |world| {
            world.set_up += "umount @/dev/kvm 2>/dev/null || true; rm @/dev/kvm\n";
        }),
        fault("kvm", "KVM is not supported by qemu", libvirt(), |world| {
            virsh(world, "domcapabilities", "invalid argument: KVM is not supported by qemu on this host");
        }),
        fault("processor", "lacks popcnt of x86-64-v2", libvirt(), |world| {
            let text = world.files["/proc/cpuinfo"].replace(" popcnt", "");
            world.files.insert("/proc/cpuinfo", text);
        }),
        fault("libvirt-pool", "/pool (mode 700) keeps the qemu user out", libvirt(), |world| {
            world.set_up += "chmod 700 @/pool\n";
        }),
        fault("ports", "TCP port 6443, for api, is used at :: by busybox", libvirt(), |world| {
            world.set_up +=
                "busybox httpd -f -p 6443 &\nuntil_true \"grep -q ':192B .* 0A ' /proc/net/tcp6\"\n";
        }),
        fault(
            "subnet",
            "192.168.126.0/24 overlaps 192.168.126.128/25 of interface virbr7",
            libvirt(),
            |world| {
                world.set_up += "ip link add virbr7 type bridge\nip addr add 192.168.126.129/25 dev virbr7\nip link set virbr7 up\n";
            },
        ),
        fault("memory", "the machines need 64.0 GiB, 31.0 GiB are available", libvirt(), |world| {
            world.files.insert("/proc/meminfo", "MemAvailable:   32505856 kB\n".to_owned());
        }),
        fault("disk-space", "/pool/images has 0 GiB free, the machines need 150 GiB", libvirt(), |world| {
            world.set_up += "mount -t tmpfs -o size=64m,mode=755 tmpfs @/pool/images\n";
        }),
        fault("disk-latency", "/pool/images: fdatasync takes ", libvirt(), |world| {
            world.through = "/usr/bin/strace --follow-forks --output=/dev/null --trace=fdatasync \
                             --inject=fdatasync:delay_enter=15000"
                .to_owned();
        }),
    ]
}
