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
    folder.ok(&["infra", "down"]);
    assert_eq!(host(), before);
}
