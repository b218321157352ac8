//! Whatever reads an inventory grows as the inventory does. How long each takes at 10,000 hosts is measured by `cargo xtask bench scale`.

use std::fmt::Write as _;
use std::process::Command;

use hardway_testing::{Ran, Work};

use crate::work;

const VERBS: [&[&str]; 8] = [
    &["validate"],
    &["plan"],
    &["infra", "plan"],
    &["graph"],
    &["status"],
    &["approve", "declared"],
    &["explain", "worker-42"],
    &["media", "limits"],
];

/// Four times the hosts: four times as long if it is linear, sixteen times if it is not.
#[test]
fn four_times_the_hosts_take_about_four_times_as_long() {
    let (small, large) = (folder(1_000), folder(4_000));
    for verb in VERBS {
        let (before, after) = (seconds(&small, verb), seconds(&large, verb));
        assert!(after < 8.0 * before, "{verb:?}: {before} s for 1,000 hosts, {after} s for 4,000");
    }
}

/// Time on a processor, which does not depend on what else runs.
fn seconds(work: &Work, verb: &[&str]) -> f64 {
    let mut command = Command::new("bash");
    command.args(["-c", "\"$@\" > /dev/null 2> said && times || cat said", "bash", work::PROGRAM]).args(verb);
    command.current_dir(work.root());
    let told = Ran::of(command);
    let of_children = told.stdout.lines().nth(1).and_then(|line| line.split(' ').next());
    let (minutes, seconds) =
        of_children.and_then(|text| text.strip_suffix('s')?.split_once('m')).unwrap_or_else(|| {
            panic!("{verb:?}: {}", told.stdout);
        });
    minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
}

fn folder(hosts: usize) -> Work {
    let config = format!(
        "apiVersion: v1\nbaseDomain: example.com\nmetadata:\n  name: ocp4\nnetworking:\n  networkType: OVNKubernetes\n  \
         machineNetwork:\n  - cidr: 10.0.0.0/16\n  clusterNetwork:\n  - cidr: 10.128.0.0/9\n    hostPrefix: 23\n  \
         serviceNetwork:\n  - 172.30.0.0/16\nplatform:\n  none: {{}}\ncontrolPlane:\n  name: master\n  replicas: 3\n\
         compute:\n- name: worker\n  replicas: {}\npullSecret: '{{\"auths\":{{\"quay.io\":{{\"auth\":\"dXNlcjpwYXNz\"}}}}}}'\n",
        hosts - 4
    );
    let mut inventory = "apiVersion: hardway.dev/v1alpha1\nkind: Inventory\nrelease:\n  image: sample\nmachines:\n  provider: \
                         libvirt\nnetwork:\n  gateway: 10.0.0.1\n  dns: [10.0.0.1]\n  apiVIP: 10.0.0.2\n  ingressVIP: 10.0.0.3\n\
                         hosts:\n"
        .to_owned();
    for number in 0..hosts {
        let (name, role) = match number {
            0 => ("bootstrap".to_owned(), "bootstrap"),
            1..=3 => (format!("master-{}", number - 1), "master"),
            _ => (format!("worker-{}", number - 4), "worker"),
        };
        let [high, low] = u16::try_from(number + 256).unwrap().to_be_bytes();
        let mac = format!("52:54:00:00:{high:02x}:{low:02x}");
        let _ =
            writeln!(inventory, "- {{name: {name}, role: {role}, ip: 10.0.{high}.{low}, mac: \"{mac}\"}}");
    }
    work::with_inputs(&config, &inventory)
}
