//! `hardway check` as a person meets it: the real binary on a host of the test's own making.
//!
//! Each run has network, mount and process namespaces to itself, in which the host is as wanted: addresses, real name server and
//! load balancer, files of /proc, programs on the path. So a fault is made where it would be in the world, and nowhere else.

mod balancer_faults;
mod command;
mod fault;
mod host_faults;
mod images;
mod libvirt_faults;
mod name_faults;
mod registries;
mod world;

use std::collections::BTreeSet;

use hardway_machines::preflight::CHECKS;

#[test]
fn every_check_is_shown_by_a_fault() {
    let shown: BTreeSet<&str> = fault::all()
        .iter()
        .map(|fault| fault.check)
        .chain(registries::SHOWN.iter().copied())
        .chain([images::SHOWN])
        .collect();
    let checks: BTreeSet<&str> = CHECKS.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(shown, checks);
}
