//! What is shown is what is run; and what happens where nothing can be run.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use hardway_release::render::{
    BadWorkspace, Podman, RenderCommands, RenderError, read_rendered_dir, render_inputs, run, write_inputs,
};

use super::scenario::Scenario;
use crate::containers::stand_in;

const DIGEST: &str = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

fn scenario(name: &str) -> Scenario {
    Scenario::new(name, &format!("quay.io/openshift-release-dev/ocp-v4.0-art-dev@{DIGEST}"))
}

fn commands(scenario: &Scenario, workspace: &str, podman: &Podman) -> RenderCommands {
    RenderCommands::new(Path::new(workspace), &scenario.release, &scenario.cluster, podman).unwrap()
}

/// A program that writes down how it was called.
fn recorder(dir: &Path) -> (Podman, impl Fn() -> String) {
    let (program, record) = (dir.join("podman"), dir.join("record"));
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$CONTAINERS_REGISTRIES_CONF\" \"$SSL_CERT_FILE\" \"$@\" >>'{}'\n",
        record.display()
    );
    fs_err::write(&program, script).unwrap();
    fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let podman = Podman { program: program.to_str().unwrap().to_owned(), ..Podman::default() };
    let read = move || {
        let text = fs_err::read_to_string(&record).unwrap_or_default();
        let _ = fs_err::remove_file(&record);
        text
    };
    (podman, read)
}

#[test]
fn the_commands_read_as_they_should() {
    let scenario = scenario("ha");
    let image = scenario.release.images.get("machine-config-operator").unwrap();
    let release = &scenario.release.image;
    let shown = commands(&scenario, "/work dir", &Podman::default()).to_string();
    let podman = "podman run --rm --user=0 --net=none '--authfile=/work dir/auth.json' '--volume=/work dir/assets:/assets:z'";
    let pull_secret = "--pull-secret=/assets/manifests/openshift-config-secret-pull-secret.yaml";
    let expected = format!(
        "# make the controller's configuration and pools\n\
         {podman} {image} bootstrap --root-ca=/assets/tls/root-ca.crt \
         --kube-ca=/assets/tls/kube-apiserver-complete-client-ca-bundle.crt \
         --config-file=/assets/manifests/cluster-config.yaml --dest-dir=/assets/operator {pull_secret} \
         --release-image={release} --image-references=/assets/image-references --payload-version=4.18.1\n\
         # render one config for each pool\n\
         {podman} --entrypoint=/usr/bin/machine-config-controller {image} bootstrap \
         --manifest-dir=/assets/operator/bootstrap/manifests --dest-dir=/assets/rendered {pull_secret} \
         --payload-version=4.18.1\n"
    );
    assert_eq!(shown, expected);
}

#[test]
fn mirrors_and_trust_of_the_cluster_count_for_podman_too() {
    let shown = commands(&scenario("disconnected"), "/w", &Podman::default()).lines[0].to_string();
    let environment =
        "CONTAINERS_REGISTRIES_CONF=/w/registries.conf SSL_CERT_FILE=/w/trust-bundle.crt podman run ";
    assert!(shown.starts_with(environment), "{shown}");
    let Scenario { cluster, release, tree } = scenario("disconnected");
    let files = render_inputs(&tree, &release, &cluster, &Podman::default());
    let text = |path: &str| {
        let file = files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("{path}"));
        String::from_utf8(file.bytes.clone()).unwrap()
    };
    assert!(text("trust-bundle.crt").starts_with("-----BEGIN CERTIFICATE-----"));
    assert!(text("auth.json").contains("auths"));
    let mirrors = text("registries.conf");
    assert!(
        mirrors.starts_with("[[registry]]\nlocation = \"quay.io/openshift-release-dev/ocp-release\"\n"),
        "{mirrors}"
    );
    assert!(
        mirrors.contains("[[registry.mirror]]\nlocation = \"backup.example.com/ocp/release\"\n"),
        "{mirrors}"
    );
}

#[test]
fn the_network_is_open_only_where_the_operator_asks_the_registry() {
    for (version, streams, expected) in [
        ("4.18.1", false, "--net=none"),
        ("4.20.1", true, "--net=none"),
        ("4.22.3", false, "--net=none"),
        ("4.22.3", true, "--net=host"),
        ("4.23.0", false, "--net=host"),
    ] {
        let mut scenario = scenario("ha");
        scenario.release.version = version.to_owned();
        scenario.cluster.config.feature_set = "CustomNoUpgrade".to_owned();
        scenario.cluster.config.feature_gates = vec![format!("OSStreams={streams}")];
        for line in commands(&scenario, "/w", &Podman::default()).lines {
            assert!(line.arguments.iter().any(|argument| argument == expected), "{version} {line}");
            assert!(line.arguments.contains(&format!("--payload-version={version}")), "{line}");
        }
    }
}

#[test]
fn paths_that_cannot_be_mounted_are_refused() {
    let scenario = scenario("ha");
    for path in ["relative", "/with:colon"] {
        let made =
            RenderCommands::new(Path::new(path), &scenario.release, &scenario.cluster, &Podman::default());
        assert_eq!(made, Err(BadWorkspace::Path(path.into())));
    }
}

#[test]
fn what_is_shown_is_what_is_run() {
    let dir = tempfile::tempdir().unwrap();
    let (podman, record) = recorder(dir.path());
    for name in ["ha", "disconnected"] {
        let Scenario { cluster, release, tree } = scenario(name);
        let workspace = dir.path().join("work space");
        let shown = RenderCommands::new(&workspace, &release, &cluster, &podman).unwrap().to_string();
        assert!(Command::new("sh").args(["-ec", &shown]).status().unwrap().success(), "{shown}");
        let by_hand = record();
        assert_eq!(by_hand.lines().filter(|line| *line == "bootstrap").count(), 2, "{by_hand}");
        let result = run(&tree, &release, &cluster, (&workspace, &podman), &mut |_| {});
        assert_eq!(record(), by_hand);
        // The recorder renders nothing, and that is told.
        let error = result.unwrap_err();
        assert!(matches!(error, RenderError::Output(_)), "{error}");
        assert!(error.to_string().contains("machine-pools: missing: the controller writes it"), "{error}");
    }
}

#[test]
fn without_podman_there_is_another_way() {
    let dir = tempfile::tempdir().unwrap();
    let Scenario { cluster, release, tree } = scenario("ha");
    let podman = Podman { program: "/no/such/podman".to_owned(), ..Podman::default() };
    let error = run(&tree, &release, &cluster, (dir.path(), &podman), &mut |_| {}).unwrap_err();
    let text = error.to_string();
    let RenderError::NoPodman(commands) = error else { panic!("{text}") };
    assert!(text.starts_with("/no/such/podman is not installed here"), "{text}");
    for line in &commands.lines {
        assert!(text.contains(&line.to_string()), "{text}");
    }
    let rendered = dir.path().join("assets/rendered");
    assert!(text.ends_with(&format!("--rendered-dir {}", rendered.display())), "{text}");
    assert!(
        dir.path().join("assets/manifests/cluster-config.yaml").exists(),
        "the inputs are there to be taken along"
    );
    assert_eq!(fs_err::metadata(dir.path()).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs_err::metadata(dir.path().join("auth.json")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_result_from_elsewhere_is_handed_in() {
    let Some(containers) = stand_in() else { return };
    let Scenario { cluster, release, tree } = Scenario::new("single-node", &containers.image);
    let dir = tempfile::tempdir().unwrap();
    write_inputs(dir.path(), &render_inputs(&tree, &release, &cluster, &Podman::default())).unwrap();
    let commands = RenderCommands::new(dir.path(), &release, &cluster, &containers.podman).unwrap();
    let by_hand = Command::new("sh").args(["-ec", &commands.to_string()]).output().unwrap();
    assert!(by_hand.status.success(), "{}", crate::containers::said(&by_hand));
    let handed_in = read_rendered_dir(&commands.rendered_dir(), &release, &cluster).unwrap();
    let here = tempfile::tempdir().unwrap();
    let rendered = run(&tree, &release, &cluster, (here.path(), &containers.podman), &mut |_| {}).unwrap();
    assert_eq!(handed_in, rendered);
}
