//! What can be wrong with names and addresses: a real dnsmasq with one line changed.

use super::fault::{Fault, fault, show, show_good};
use super::world::World;

/// A site with everything, of which the balancer is not looked at: it takes its time.
fn site() -> World {
    let mut world = World::with_services("bare-metal");
    world.haproxy = None;
    for check in
        ["balancer-api", "balancer-machine-config-server", "balancer-ingress-https", "balancer-ingress-http"]
    {
        world.arguments.extend(["--skip-check", check]);
    }
    world
}

/// The same where this host resolves by a file what the name server should say.
fn site_with_hosts_file() -> World {
    let mut world = site();
    let names = "192.168.126.10 api.ocp4.example.com api-int.ocp4.example.com\n192.168.126.11 hardway-check.apps.ocp4.example.com\n";
    world.files.insert("/etc/hosts", format!("127.0.0.1 localhost\n{names}"));
    world
}

#[test]
fn good_names_and_addresses() {
    let passed = [
        "names-server",
        "names-records",
        "names-apps",
        "names-reverse",
        "names-search",
        "names-outside",
        "names-host",
        "addresses",
        "bmc",
        "ports",
        "virtual-addresses",
    ];
    show_good(&site(), &passed);
}

#[test]
fn every_fault_of_names_is_found_and_nothing_else() {
    show(faults());
}

pub(crate) fn faults() -> Vec<Fault> {
    let edit = |from: &'static str, to: &'static str| {
        move |world: &mut World| World::edit(&mut world.dnsmasq, from, to)
    };
    vec![
        fault(
            "names-server",
            "192.168.126.1 does not answer: Connection refused",
            site_with_hosts_file(),
            |world| {
                world.dnsmasq = None;
            },
        ),
        fault(
            "names-records",
            "master-1.ocp4.example.com A: 192.168.126.1 answers 192.168.126.99, expected 192.168.126.102",
            site(),
            edit(
                "host-record=master-1.ocp4.example.com,192.168.126.102\n",
                "address=/master-1.ocp4.example.com/192.168.126.99\nptr-record=102.126.168.192.in-addr.arpa,master-1.ocp4.example.com\n",
            ),
        ),
        fault(
            "names-records",
            "api-int.ocp4.example.com A: 192.168.126.1 answers: no such name (NXDOMAIN)",
            site_with_hosts_file(),
            edit("host-record=api-int.ocp4.example.com,192.168.126.10\n", ""),
        ),
        fault(
            "names-apps",
            "*.apps.ocp4.example.com A: 192.168.126.1 answers: ",
            site_with_hosts_file(),
            edit("address=/apps.ocp4.example.com/192.168.126.11\n", ""),
        ),
        fault(
            "names-reverse",
            "192.168.126.101 PTR: 192.168.126.1 answers: ",
            site(),
            edit(
                "host-record=master-0.ocp4.example.com,192.168.126.101\n",
                "address=/master-0.ocp4.example.com/192.168.126.101\n",
            ),
        ),
        fault(
            "names-search",
            "a wildcard below ocp4.example.com answers for names that do not exist",
            site(),
            edit("local=/ocp4.example.com/\n", "address=/ocp4.example.com/192.168.126.11\n"),
        ),
        fault(
            "names-outside",
            "192.168.126.1 answers for registry.example.net: ",
            site(),
            edit("address=/registry.example.net/192.168.126.1\n", ""),
        ),
        fault("names-host", "api.ocp4.example.com does not resolve here", site(), |world| {
            world.files.insert("/etc/resolv.conf", "nameserver 127.0.0.1\n".to_owned());
        }),
        fault("virtual-addresses", "192.168.126.10 is not an address of this host", site(), |world| {
            world.set_up = world.set_up.replace("ip addr add 192.168.126.10/32 dev hw0\n", "");
        }),
        fault("bmc", "master-0: redfish+http://192.168.126.1:8001: connection refused", site(), |world| {
            world.inventory = world.inventory.replace("126.1:8000", "126.1:8001");
        }),
        fault(
            "bmc",
            "others than its owner can read ./secrets/bmc: its permissions are 0644",
            site(),
            |world| {
                world.set_up += "chmod 644 @/work/secrets/bmc\n";
            },
        ),
        fault(
            "bmc",
            "cannot read the password of admin at redfish+http://192.168.126.1:8000",
            site(),
            |world| {
                world.set_up += "rm @/work/secrets/bmc\n";
            },
        ),
        fault("ports", "TCP port 8080, for install media, is used at 0.0.0.0 by busybox", site(), |world| {
            world.set_up +=
                "busybox httpd -f -p 0.0.0.0:8080 &\nuntil_true \"grep -q ':1F90 .* 0A ' /proc/net/tcp\"\n";
        }),
        fault(
            "addresses",
            "192.168.126.102 of master-1 is used by 02:00:00:00:00:99, expected 52:54:00:7e:00:66",
            site(),
            |world| {
                world.set_up += "unshare --net sleep infinity &\nother=$!\n\
                    until_true \"[ \\\"\\$(readlink /proc/$other/ns/net)\\\" != \\\"\\$(readlink /proc/self/ns/net)\\\" ]\"\n\
                    ip link set hw1 netns $other\nin_other='nsenter --net=/proc/'$other'/ns/net ip'\n\
                    $in_other link set hw1 address 02:00:00:00:00:99 up\n$in_other addr add 192.168.126.102/24 dev hw1\n";
            },
        ),
    ]
}
