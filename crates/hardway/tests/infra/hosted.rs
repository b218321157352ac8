//! The machine of a hosted worker boots from the medium that was made for it, and fetches its config with the token of its pool.
//! HyperShift's operators are a stand-in; the API servers, libvirt, Ignition and everything of hardway's are real.

use hardway_testing::{
    ControlPlane, hosted_control_plane_is_up, inside_with_libvirt, install_hypershift, self_signed, until,
};

use super::boot::base;
use super::site::{host, inventory, on_libvirt, printed};

const WORKER: &str = r#"- {name: worker-0, role: worker, ip: 192.168.126.110, mac: "52:54:00:7e:00:6e", installDisk: /dev/vda, cpus: 1, memoryGiB: 1, diskGiB: 2}
"#;
const SERIAL: &str = "/var/log/libvirt/qemu/ocp4-worker-0-serial.log";
const SERVED_AT: &str = "192.168.126.1:22624";

#[test]
fn a_hosted_worker_installs_itself_and_fetches_with_the_token_of_its_pool() {
    if !inside_with_libvirt() {
        return;
    }
    // An API server wants to know which of its host's addresses others see; without a way out, there is none.
    printed(
        "ip link add out type veth peer name far && ip addr add 10.254.0.1/24 dev out && \
         for end in out far; do ip link set $end addrgenmode none && ip link set $end up; done && ip route add default dev out",
    );
    let (folder, before) = (on_libvirt(&(inventory() + WORKER)).may_show_secrets(), host());
    folder.edit("install-config.yaml", "- name: worker\n  replicas: 0", "- name: worker\n  replicas: 1");
    folder.write("pull-secret.json", r#"{"auths":{}}"#);
    fs_err::create_dir(folder.path("media")).unwrap();
    base(&folder, "media/live.iso");
    // The folder's own cluster has a config for a host of that name, which must not count.
    folder.ok(&["create", "ignition-configs"]);

    let (management, hosted) = (ControlPlane::start(), ControlPlane::start());
    install_hypershift(&management);
    let kubeconfig = management.kubeconfig().display().to_string();
    let create = [
        "hosted",
        "--kubeconfig",
        &kubeconfig,
        "cluster",
        "create",
        "demo",
        "--pull-secret",
        "pull-secret.json",
    ];
    let place = ["--external-api-server-address", "192.168.126.1", "--release-image", "quay.io/x:1"];
    folder.ok(&[&create[..], &place].concat());
    hosted_control_plane_is_up(&management, ("clusters", "demo"), &hosted.kubeconfig(), SERVED_AT);
    // Its own authority, for the address that guests see.
    self_signed(folder.root(), "server", "IP:192.168.126.1");
    folder.write("pool.ign", r#"{"ignition":{"version":"3.2.0"}}"#);
    let publish =
        ["hosted", "--kubeconfig", &kubeconfig, "stand-in", "--once", "--cluster", "demo", "--pool", "demo"];
    let what = ["--config", "pool.ign", "--ignition-server", SERVED_AT, "--ignition-ca", "server.crt"];
    folder.ok(&[&publish[..], &what].concat());
    let tokens = management.get(&["secrets", "-n", "clusters-demo"])["items"].clone();
    let token =
        tokens.as_array().unwrap().iter().find_map(|secret| secret["data"]["token"].as_str()).unwrap();
    let token = printed(&format!("printf %s {token} | base64 -d"));
    folder.ok(&["infra", "up"]);
    let serve = [
        "serve",
        "--face=hosted",
        "--namespace=clusters-demo",
        "--listen",
        SERVED_AT,
        "--kubeconfig",
        &kubeconfig,
    ];
    let serve = [&serve[..], &["--certificate", "server.crt", "--key", "server.key"]].concat();
    let _serving = folder.start(&serve);

    let add = [
        "hosted",
        "--kubeconfig",
        &kubeconfig,
        "workers",
        "add",
        "-n",
        "1",
        "--pool",
        "demo",
        "--cluster",
        "demo",
    ];
    let mut adding = folder.start(&[&add[..], &["--config-rest", "0s"]].concat());
    let console =
        || fs_err::read(SERIAL).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    adding.until_so("the worker is installed", || console().contains("installed: end"));
    let console = console();
    assert!(console.contains("installed: address 192.168.126.110/24 name worker-0"), "{console}");
    assert!(console.contains("installed: config of the host fetched: "), "{console}");
    // Whoever keeps workers true has seen it, by its address: the token is every worker's of the pool.
    let list = ["hosted", "--kubeconfig", &kubeconfig, "workers", "list", "--cluster", "demo", "-o", "json"];
    until("the worker counts as fetched", || folder.ok(&list).json()[0]["stage"] == "fetched");
    let journal = folder.read(hardway_journal::FILE_NAME);
    assert!(
        journal.contains("--config") && !journal.contains(&token),
        "media with the pointer, and no token written down"
    );
    let pointer = folder.path("hosted/worker-0.ign");
    let shown = folder.ok(&["media", "show", "media/worker-0.iso", "--ignition"]).stdout;
    assert!(pointer.exists() && !shown.contains("machine-config-server"), "not this cluster's config");
    drop(adding);
    folder.ok(&["infra", "down", "--yes"]);
    assert_eq!(host(), before);
}

/// The same from an inventory of workers only: nothing of a cluster is in the folder, and whoever makes the first machine makes its network.
#[test]
fn a_worker_of_a_range_installs_itself_from_a_folder_without_a_cluster() {
    if !inside_with_libvirt() {
        return;
    }
    printed(
        "ip link add out type veth peer name far && ip addr add 10.254.0.1/24 dev out && \
         for end in out far; do ip link set $end addrgenmode none && ip link set $end up; done && ip route add default dev out",
    );
    let (folder, before) = (crate::work::empty().with_real_clock().on_disk().may_show_secrets(), host());
    folder.write("hosted-inventory.yaml", HOSTED);
    folder.write("pull-secret.json", r#"{"auths":{}}"#);
    fs_err::create_dir(folder.path("media")).unwrap();
    base(&folder, "media/live.iso");
    let (management, hosted) = (ControlPlane::start(), ControlPlane::start());
    install_hypershift(&management);
    let kubeconfig = management.kubeconfig().display().to_string();
    let on = |words: &[&str]| -> Vec<String> {
        [&["hosted", "--kubeconfig", &kubeconfig], words].concat().into_iter().map(str::to_owned).collect()
    };
    let ok = |words: &[&str]| folder.ok(&on(words).iter().map(String::as_str).collect::<Vec<_>>());
    let place = ["--external-api-server-address", "192.168.126.1", "--release-image", "quay.io/x:1"];
    ok(&[&["cluster", "create", "demo", "--pull-secret", "pull-secret.json"][..], &place].concat());
    hosted_control_plane_is_up(&management, ("clusters", "demo"), &hosted.kubeconfig(), SERVED_AT);
    self_signed(folder.root(), "server", "IP:192.168.126.1");
    folder.write("pool.ign", r#"{"ignition":{"version":"3.2.0"}}"#);
    let publish = ["stand-in", "--once", "--cluster", "demo", "--pool", "demo"];
    let what = ["--config", "pool.ign", "--ignition-server", SERVED_AT, "--ignition-ca", "server.crt"];
    ok(&[&publish[..], &what].concat());

    let scale = on(&["workers", "scale", "1", "--pool", "demo", "--cluster", "demo", "--config-rest", "0s"]);
    let mut scaling = folder.start(&scale.iter().map(String::as_str).collect::<Vec<_>>());
    scaling.until_so("the network is there", || printed("ip -o addr").contains("192.168.126.1/24"));
    let serve = ["serve", "--face=hosted", "--namespace=clusters-demo", "--listen", SERVED_AT];
    let files = ["--kubeconfig", &kubeconfig, "--certificate", "server.crt", "--key", "server.key"];
    let _serving = folder.start(&[&serve[..], &files].concat());
    let serial = "/var/log/libvirt/qemu/site-worker-0-serial.log";
    let console =
        || fs_err::read(serial).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    scaling.until_so("the worker is installed", || console().contains("installed: end"));
    let console = console();
    assert!(console.contains("installed: address 192.168.126.110/24 name worker-0"), "{console}");
    assert!(console.contains("installed: config of the host fetched: "), "{console}");
    until("the worker counts as fetched", || {
        ok(&["workers", "list", "--cluster", "demo", "-o", "json"]).json()[0]["stage"] == "fetched"
    });
    let there = folder.ok(&["hosted", "leftovers", "-o", "json"]).json();
    assert_eq!(there[0]["machine"], "site-worker-0");
    assert_eq!(there[0]["owner"], "pool demo of clusters/demo");
    assert_eq!(there.as_array().unwrap().len(), 1, "of a range, only what is wanted is made");
    drop(scaling);
    folder.ok(&["infra", "down", "--yes"]);
    assert_eq!(host(), before);
}

const HOSTED: &str = r#"apiVersion: hardway.dev/v1alpha1
kind: HostedInventory
name: site
machines:
  provider: libvirt
  libvirt: {pool: ocp4, accelerator: tcg}
network: {machineNetwork: 192.168.126.0/24, gateway: 192.168.126.1, dns: 192.168.126.1}
pools:
- {cluster: demo, nodePool: demo, names: "worker-{n}", addresses: 192.168.126.110-192.168.126.119, macPrefix: "52:54:00:7e:01", installDisk: /dev/vda, cpus: 1, memoryGiB: 1, diskGiB: 2}
"#;
