//! `hardway hosted cluster render`: without any cluster.

use super::place::{base64, folder};

#[test]
fn what_cannot_be_is_told_at_once_and_nothing_is_made() {
    let place = folder();
    let render = ["hosted", "cluster", "render", "demo", "--pull-secret", "pull-secret.json"];
    let ran = place.run(
        &[
            &render[..],
            &[
                "--external-api-server-address",
                "host",
                "--node-port-base",
                "40000",
                "--cluster-cidr",
                "172.31.0.0/17",
                "--release-image",
                "4.18.1",
                "--base-domain",
                "https://example.com",
                "--etcd-storage-size",
                "8 gigabytes",
                "--ssh-key",
                "nowhere.pub",
            ],
        ]
        .concat(),
    );
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    for fault in [
        "10 invalid values",
        "\"4.18.1\" is not a release image",
        "\"https://example.com\" is not valid for the base domain",
        "\"8 gigabytes\" is not a valid size of etcd's volumes",
        "nowhere.pub",
        "\"host\" is not an address",
        "port 40000 of APIServer",
        "cluster network 172.31.0.0/17 and service network 172.31.0.0/16 overlap",
    ] {
        assert!(ran.stderr.contains(fault), "{fault}: {}", ran.stderr);
    }
    let nets = place.run(
        &[
            &render[..],
            &["--external-api-server-address", "10.0.0.5", "--release-image", "quay.io/x:1"],
            &["--cluster-cidr", "pods", "--service-cidr", "172.31.0.1/16", "--machine-cidr", "10.0.0.0/33"],
            &["--infra-id", "Demo", "--arch", "mips"],
        ]
        .concat(),
    );
    assert_eq!((nets.code, nets.stdout.as_str()), (Some(2), ""), "{}", nets.stderr);
    for fault in [
        "cluster network \"pods\" is not a CIDR",
        "service network 172.31.0.1/16 is not a network: use 172.31.0.0/16",
        "machine network \"10.0.0.0/33\" is not a CIDR",
        "\"Demo\" is not a valid infra ID",
        "architecture \"mips\"",
    ] {
        assert!(nets.stderr.contains(fault), "{fault}: {}", nets.stderr);
    }
    let good = [
        &render[..],
        &["--release-image", "quay.io/x:1", "--external-api-server-address", "10.0.0.5"],
        &["--node-pool-replicas", "2"],
    ]
    .concat();
    let ran = place.run(&good);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("--render-sensitive includes them"), "{}", ran.stderr);
    assert_eq!(place.run(&good).stdout, ran.stdout, "the same every time");
    let kinds: Vec<&str> = ran.stdout.lines().filter_map(|line| line.strip_prefix("kind: ")).collect();
    assert_eq!(kinds, ["Namespace", "Secret", "Secret", "HostedCluster", "NodePool"]);
    assert!(!ran.stdout.contains("c2Vjcm"), "secrets are for --render-sensitive");
    let sensitive = place.run(&[&good[..], &["--render-sensitive"]].concat());
    assert!(sensitive.stdout.contains(&base64(&place.read("pull-secret.json"))));
    assert!(!sensitive.stderr.contains("--render-sensitive"), "{}", sensitive.stderr);
    let again = place.run(&[&good[..], &["--render-sensitive"]].concat());
    assert_eq!(again.stdout, sensitive.stdout, "the key that etcd is encrypted with is drawn once");
    let ran = place.run(&["hosted", "cluster", "status", "demo", "--kubeconfig", "nowhere"]);
    assert_eq!(ran.code, Some(2));
    let is_told = ran.stderr.contains("error[kubeconfig-unusable]") && ran.stderr.contains("nowhere");
    assert!(is_told, "{}", ran.stderr);
}
