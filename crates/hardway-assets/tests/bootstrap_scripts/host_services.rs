//! The smaller services of the host, with stand-ins for the programs they run.

use std::process::Command;

use hardway_testing::{run, succeed};
use serde_json::Value;

use super::host::Host;

/// Fails twice, then has the image.
const STUBBORN_PODMAN: &str = r#"#!/usr/bin/env bash
case $1 in
  pull) echo "$1" >>pulls; [[ $(wc -l <pulls) -gt 2 ]] || { echo "unauthorized: no such login" >&2; exit 1; } ;;
  image) [[ $2 == inspect ]] && cat architecture ;;
esac
"#;

fn host_architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn stage_results(host: &Host, service: &str) -> Vec<String> {
    let record = host.json(&format!("records/{service}.json"));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let ends = record.as_array().unwrap().iter().filter(|entry| entry["phase"] == "stage end");
    ends.map(|entry| format!("{} {}", text(&entry["stage"]), text(&entry["result"]))).collect()
}

#[test]
fn the_release_image_is_pulled_until_it_is_there() {
    let host = Host::new();
    host.set(&[("RELEASE_IMAGE", "quay.io/x/release@sha256:1")]);
    host.program("bin/podman", STUBBORN_PODMAN);
    host.write("architecture", host_architecture());
    let output = succeed(host.script("release-image-download.sh").env("SERVICE_NAME", "release-image"));
    assert!(
        output.contains("cannot pull quay.io/x/release@sha256:1: unauthorized: no such login"),
        "{output}"
    );
    let expected = ["pull-release-image failure", "pull-release-image failure", "pull-release-image success"];
    assert_eq!(stage_results(&host, "release-image")[..3], expected);
    let failure = &host.json("records/release-image.json")[2];
    assert_eq!(failure["errorMessage"], "unauthorized: no such login");
    assert!(!host.has("etc/issue.d/50_release-image.issue"), "the console complains no more");
}

#[test]
fn a_release_for_another_processor_is_refused() {
    let host = Host::new();
    host.set(&[("RELEASE_IMAGE", "quay.io/x/release@sha256:1")]);
    host.program("bin/podman", STUBBORN_PODMAN);
    host.write("pulls", "1\n2\n");
    host.write("architecture", "s390x");
    let (success, output) =
        run(host.script("release-image-download.sh").env("SERVICE_NAME", "release-image"));
    assert!(!success && output.contains("is for s390x, this host is"), "{output}");
    assert_eq!(stage_results(&host, "release-image").last().unwrap(), "image-metadata-arches-match failure");
    assert!(host.read("etc/issue.d/50_release-image.issue").contains("s390x"));
}

#[test]
fn crio_gets_the_payloads_pause_image() {
    let host = Host::new();
    host.set(&[("IMAGE_POD", "quay.io/x/pod@sha256:1")]);
    succeed(&mut host.script("crio-configure.sh"));
    let dropin = host.read("etc/crio/crio.conf.d/50-bootstrap-override.conf");
    assert!(dropin.contains("pause_image = \"quay.io/x/pod@sha256:1\"\n"), "{dropin}");
}

#[test]
fn the_kubelet_gets_flags_it_knows_and_the_hosts_address() {
    for (help, node_ip, ipv6, expected, absent) in [
        (
            "--pod-infra-container-image",
            "192.168.126.100",
            "false",
            "--node-ip=192.168.126.100",
            "--node-ip=::",
        ),
        ("nothing", "", "true", "--node-ip=::", "--pod-infra-container-image"),
        ("nothing", "", "false", "--anonymous-auth=false", "--node-ip"),
    ] {
        let host = Host::new();
        host.set(&[("IMAGE_POD", "pod"), ("NODE_IP", node_ip), ("IPV6_PRIMARY", ipv6)]);
        let kubelet = format!("#!/bin/bash\n[[ $1 == --help ]] && echo '{help}' || printf '%s\\n' \"$@\"\n");
        host.program("bin/some-kubelet", &kubelet);
        let mut script = host.script("kubelet.sh");
        script
            .env("KUBELET", host.path("bin/some-kubelet"))
            .env("KUBELET_EXTRA_ARGS", "--cgroup-driver=cgroupfs -v=4");
        let flags = succeed(&mut script);
        let has = |flag: &str| flags.lines().any(|line| line.starts_with(flag));
        assert!(has(expected) && !has(absent), "{flags}");
        assert_eq!(has("--pod-infra-container-image=pod"), help != "nothing");
        assert!(flags.ends_with("--cgroup-driver=cgroupfs\n-v=4\n"), "what is given goes last: {flags}");
        assert!(!has("--kubeconfig") && !has("--bootstrap-kubeconfig"), "this kubelet belongs to no cluster");
    }
}

#[test]
fn oc_is_found_wherever_it_is() {
    let host = Host::new();
    host.set(&[("IMAGE_CLI", "quay.io/x/cli@sha256:1")]);
    for tool in ["bash", "chmod", "env", "mv", "rm", "touch"] {
        host.program(&format!("tools/{tool}"), &format!("#!/bin/sh\nexec /usr/bin/{tool} \"$@\"\n"));
    }
    let oc = || {
        let mut script = host.script("oc-or-container.sh");
        script.env("PATH", host.path("tools")).env("OC_COPY", host.path("copied-oc")).args(["get", "x"]);
        succeed(&mut script)
    };
    let program = |name: &str| format!("#!/bin/bash\necho {name} \"$@\"\n");

    // A copy that cannot be made leaves no container behind, however often it is tried.
    let calls = "#!/bin/bash\necho $1 >>podman-calls\ncase $1 in create) echo c1;; cp) exit 1;; esac\n";
    host.program("tools/podman", calls);
    let mut script = host.script("oc-or-container.sh");
    script.env("PATH", host.path("tools")).env("OC_COPY", host.path("copied-oc"));
    assert!(!run(&mut script).0);
    assert_eq!(host.read("podman-calls"), "create\ncp\nrm\n");
    // Only podman, and a copy that does not run here.
    let podman = "#!/bin/bash\ncase $1 in create) echo c1;; cp) echo '#!/bin/false' >\"$3\";; rm) ;; *) echo \"podman ${*: -3}\";; esac\n";
    host.program("tools/podman", podman);
    assert_eq!(oc(), "podman quay.io/x/cli@sha256:1 get x\n");
    // A copy that runs.
    host.program(
        "tools/podman",
        &podman.replace("#!/bin/false", r#"#!/bin/bash\necho copy "$@""#).replace("echo '#!", "printf '#!"),
    );
    succeed(Command::new("rm").arg(host.path("opt/openshift/.oc-copy-broken")));
    assert_eq!(oc().lines().last(), Some("copy get x"));
    // The host's own.
    host.program("tools/kubectl", &program("kubectl"));
    assert_eq!(oc(), "kubectl get x\n");
    host.program("tools/oc", &program("oc"));
    assert_eq!(oc(), "oc get x\n");
}

/// Writes down every call; `ostree` answers as if one image had been pulled.
#[test]
fn a_boot_image_without_a_kubelet_gets_the_payloads_content() {
    for (is_live, expected) in [
        (
            false,
            "mount -o remount,rw /sysroot\nostree container image pull --authfile=/root/.docker/config.json REPO ostree-unverified-image:docker://quay.io/x/os@sha256:1\nostree checkout --repo=REPO --require-hardlinks --skip-list=TMP ostree/container/image/docker_x REPO/tmp/node-image.new\n",
        ),
        (
            true,
            "ostree init --mode=bare --repo=LIVE/repo\nostree container image pull --authfile=/root/.docker/config.json LIVE/repo ostree-unverified-image:docker://quay.io/x/os@sha256:1\nmount -o bind,ro /etc /ostree/deploy/*/deploy/*/etc\nostree checkout --repo=LIVE/repo --skip-list=TMP ostree/container/image/docker_x LIVE/checkout.new\n",
        ),
    ] {
        let host = Host::new();
        host.set(&[("IMAGE_NODE_OS", "quay.io/x/os@sha256:1")]);
        if is_live {
            host.write("live-marker", "");
        }
        let ostree = "case \"$1\" in refs) printf 'other\\nostree/container/image/docker_x\\n';; admin) echo 'M    hostname';; checkout) mkdir -p \"${*: -1}/usr/bin\";;& *) echo \"ostree $*\" >>calls;; esac\n";
        host.program("bin/ostree", &format!("#!/bin/bash\n{ostree}"));
        host.program("bin/mktemp", "#!/bin/bash\necho TMP\n");
        for tool in ["mount", "rsync", "semodule"] {
            host.program(&format!("bin/{tool}"), &format!("#!/bin/bash\necho \"{tool} $*\" >>calls\n"));
        }
        let script = |name: &str| {
            let mut script = host.script(name);
            script
                .env("OSTREE_REPO", "REPO")
                .env("LIVE_DIR", "LIVE")
                .env("LIVE_MARKER", host.path("live-marker"));
            succeed(&mut script);
            let calls = host.read("calls");
            host.write("calls", "");
            calls
        };
        assert_eq!(script("node-image-pull.sh"), expected);
        let checkout = if is_live { "LIVE/checkout" } else { "REPO/tmp/node-image" };
        assert!(host.has(checkout) && !host.has(&format!("{checkout}.new")));
        let overlay = "mount -o bind,ro /usr/lib/modules OUT/usr/lib/modules\nmount -o rbind,ro OUT/usr /usr\nrsync -a --exclude=crypto-policies OUT/usr/etc/ /etc\nsemodule -R\n";
        assert_eq!(script("node-image-overlay.sh"), overlay.replace("OUT", checkout));
    }
}

#[test]
fn a_release_without_an_os_image_says_what_to_do() {
    let host = Host::new();
    let mut pull = host.script("node-image-pull.sh");
    let (success, output) = run(pull.env("OSTREE_REPO", "REPO").env("LIVE_MARKER", "no-marker"));
    assert!(!success && output.contains("boot from an image with a kubelet"), "{output}");
}
