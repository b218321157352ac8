//! What can be wrong with the load balancer: a real HAProxy with one line changed.

use super::fault::{Fault, fault, show, show_good};
use super::world::World;

fn site() -> World {
    World::with_services("bare-metal")
}

#[test]
fn what_members_answer_comes_through_a_good_balancer() {
    let passed = [
        "balancer-api",
        "balancer-machine-config-server",
        "balancer-ingress-https",
        "balancer-ingress-http",
        "ports",
    ];
    show_good(&site(), &passed);
}

#[test]
fn every_fault_of_the_balancer_is_found_and_nothing_else() {
    show(faults());
}

/// Members are well, as their health checks say, but what is passed on goes elsewhere.
fn astray(check: &'static str, says: &'static str, member: &'static str, right: &'static str) -> Fault {
    fault(check, says, site(), move |world| {
        World::edit(
            &mut world.haproxy,
            &format!("server {member}{right}\n"),
            &format!("server {member}:9\n"),
        );
    })
}

pub(crate) fn faults() -> Vec<Fault> {
    vec![
        astray(
            "balancer-api",
            "192.168.126.10:6443: master-0 (192.168.126.101) is healthy, but cannot be reached through it",
            "master-0 192.168.126.101",
            ":6443",
        ),
        astray(
            "balancer-machine-config-server",
            "192.168.126.10:22623: master-0 (192.168.126.101) is healthy, but cannot be reached through it",
            "master-0 192.168.126.101",
            ":22623",
        ),
        astray(
            "balancer-ingress-https",
            "192.168.126.11:443: worker-0 (192.168.126.110) is healthy, but cannot be reached through it",
            "worker-0 192.168.126.110",
            ":443",
        ),
        astray(
            "balancer-ingress-http",
            "192.168.126.11:80: worker-0 (192.168.126.110) is healthy, but cannot be reached through it",
            "worker-0 192.168.126.110",
            ":80",
        ),
        fault(
            "balancer-api",
            "terminates TLS: it shows the certificate of CN=proxy.example.net",
            site(),
            |world| {
                world.set_up += "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=proxy.example.net \
                             -keyout @/proxy.pem.key -out @/proxy.pem 2>/dev/null\n";
                World::edit(
                    &mut world.haproxy,
                    "bind 192.168.126.10:6443",
                    "bind 192.168.126.10:6443 ssl crt @/proxy.pem",
                );
                World::edit(
                    &mut world.haproxy,
                    "server master-0 192.168.126.101:6443\n",
                    "server master-0 192.168.126.101:6443 ssl verify none\n",
                );
            },
        ),
    ]
}
