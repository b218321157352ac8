//! Inventories of 100, 1,000 and 10,000 hosts, side by side: whatever reads one must grow as it does.
//!
//! The provider is libvirt; keys are ECDSA-P256, because how long RSA keys take is a matter of luck.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use tempfile::TempDir;

use super::measure::{peak_megabytes, wall};

const SIZES: [usize; 3] = [100, 1_000, 10_000];
/// What a person waits for at 10,000 hosts, in seconds.
const VERBS: [(&[&str], Option<f64>); 10] = [
    (&["validate"], Some(1.0)),
    (&["plan"], Some(5.0)),
    (&["infra", "plan"], Some(5.0)),
    (&["graph"], Some(5.0)),
    (&["create", "ignition-configs"], None),
    (&["create", "ignition-configs"], None),
    (&["status"], Some(5.0)),
    (&["explain", "worker-42"], Some(5.0)),
    (&["media", "limits"], Some(5.0)),
    (&["approve", "declared"], Some(1.0)),
];

/// A line for each verb: how long it took and how much memory it held, at each size.
pub(super) fn measure(hardway: &Path) -> Result<String> {
    let folders = SIZES.map(folder);
    let mut text = format!("{:32}", "hosts");
    for size in SIZES {
        let _ = write!(text, " {size:>18}");
    }
    text.push_str("     bar\n");
    let mut seen: Vec<&[&str]> = Vec::new();
    for (verb, bar) in VERBS {
        let again = if seen.contains(&verb) { ", again" } else { "" };
        seen.push(verb);
        let _ = write!(text, "{:32}", verb.join(" ") + again);
        let mut last = f64::NAN;
        for folder in &folders {
            let dir = folder.as_ref().map_err(|error| anyhow::anyhow!("{error:#}"))?.path();
            let mut command = Command::new(hardway);
            command.args(verb).arg("--dir").arg(dir);
            // What is made once is measured once.
            let (seconds, megabytes) = match again.is_empty() && verb[0] == "create" {
                true => timed_with_peak(&mut command)?,
                false => (wall(&mut command)?, peak_megabytes(&mut command)?),
            };
            let _ = write!(text, " {:>8} {:>9}", format!("{seconds:.2} s"), format!("{megabytes:.0} MB"));
            last = seconds;
        }
        let bar = bar.map_or(String::new(), |bar| {
            format!("  {:>6}  {}", format!("{bar} s"), if last <= bar { "ok" } else { "miss" })
        });
        let _ = writeln!(text, "{bar}");
    }
    Ok(text)
}

fn timed_with_peak(command: &mut Command) -> Result<(f64, f64)> {
    let start = std::time::Instant::now();
    let megabytes = peak_megabytes(command)?;
    Ok((start.elapsed().as_secs_f64(), megabytes))
}

/// A working folder whose inventory has so many hosts.
fn folder(hosts: usize) -> Result<TempDir> {
    let dir = tempfile::tempdir()?;
    let workers = hosts - 4;
    let config = format!(
        "apiVersion: v1\nbaseDomain: example.com\nmetadata:\n  name: ocp4\nnetworking:\n  networkType: OVNKubernetes\n  \
         machineNetwork:\n  - cidr: 10.0.0.0/16\n  clusterNetwork:\n  - cidr: 10.128.0.0/9\n    hostPrefix: 23\n  \
         serviceNetwork:\n  - 172.30.0.0/16\nplatform:\n  none: {{}}\ncontrolPlane:\n  name: master\n  replicas: 3\n\
         compute:\n- name: worker\n  replicas: {workers}\npullSecret: '{{\"auths\":{{\"quay.io\":{{\"auth\":\"dXNlcjpwYXNz\"}}}}}}'\n"
    );
    let mut inventory = "apiVersion: hardway.dev/v1alpha1\nkind: Inventory\nrelease:\n  image: sample\nmachines:\n  provider: \
                         libvirt\nnetwork:\n  gateway: 10.0.0.1\n  dns: [10.0.0.1]\n  apiVIP: 10.0.0.2\n  ingressVIP: 10.0.0.3\n\
                         pki:\n  keyAlgorithm: ECDSA-P256\nhosts:\n"
        .to_owned();
    for i in 0..hosts {
        let (name, role) = match i {
            0 => ("bootstrap".to_owned(), "bootstrap"),
            1..=3 => (format!("master-{}", i - 1), "master"),
            _ => (format!("worker-{}", i - 4), "worker"),
        };
        let [high, low] = u16::try_from(i + 256)?.to_be_bytes();
        let _ = writeln!(
            inventory,
            "- {{name: {name}, role: {role}, ip: 10.0.{high}.{low}, mac: \"52:54:00:00:{high:02x}:{low:02x}\"}}"
        );
    }
    fs_err::write(dir.path().join("install-config.yaml"), config)?;
    fs_err::write(dir.path().join("inventory.yaml"), inventory)?;
    Ok(dir)
}
