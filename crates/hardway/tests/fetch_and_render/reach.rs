//! Registries that are not simply there: mirrors, logins, trust; and those that are not there at all.

use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_testing::{AUTH, INSTALL_CONFIG, Ran, Snapshot, free_port};

use super::site::{CREATE, Site, release};
use crate::containers::said;
use crate::fixture::registry::{Registry, Setup};

/// An install-config that trusts a registry and logs in there.
fn config(registry: &Registry, login: &str) -> String {
    let secret = format!(r#""{}":{{"auth":"{}"}}"#, registry.address(), STANDARD.encode(login));
    let trust = registry.ca.trim_end().replace('\n', "\n  ");
    INSTALL_CONFIG.replace(&format!(r#""registry.example.com":{{"auth":"{AUTH}"}}"#), &secret)
        + &format!("additionalTrustBundle: |\n  {trust}\n")
}

#[test]
fn a_mirror_serves_what_the_source_cannot() {
    let Some(site) = Site::new() else { return };
    let setup = Setup { is_tls: true, password: Some("user:pass-word"), ..Setup::default() };
    let mirror = Registry::same_as(&site.registry, setup);
    let mirrors = |policy: &str| {
        format!(
            "imageDigestSources:\n- source: quay.invalid/ocp\n  sourcePolicy: {policy}\n  mirrors: [\"{}/ocp\"]\n",
            mirror.address()
        )
    };
    let digest = site.release.digest();
    site.name(&format!("quay.invalid/ocp/release@{digest}"));
    site.work.write(
        "install-config.yaml",
        config(&mirror, "user:pass-word")
            + &mirrors("AllowContactingSource").replace("\n  sourcePolicy: AllowContactingSource", ""),
    );
    // Without --plain-http: the mirror speaks TLS, with a certificate of the trust bundle's CA.
    site.run(&CREATE)
        .expect(0)
        .says(&format!("it comes from {}/ocp/release@{digest}", mirror.address()))
        .says(&format!("release 4.18.99 is quay.invalid/ocp/release@{digest}"));
    site.assert_settled();

    site.name("quay.invalid/ocp/release:4.18.99-x86_64");
    let before = Snapshot::of(site.work.root());
    site.run(&["create", "manifests"])
        .expect(1)
        .says("error[registry-unreachable]: quay.invalid cannot be reached")
        .says("mirrors serve images by digest only");
    before.assert_untouched(&Snapshot::of(site.work.root()));
}

#[test]
fn a_wrong_login_and_an_unknown_ca_are_told_apart_and_leave_nothing() {
    let Some(site) = Site::new() else { return };
    let setup = Setup { is_tls: true, password: Some("user:pass-word"), ..Setup::default() };
    let guarded = Registry::same_as(&site.registry, setup);
    site.name(&format!("{}/ocp/release:4.18.99-x86_64", guarded.address()));
    let refused = |config: &str, code: i32, text: &str| {
        site.work.write("install-config.yaml", config);
        let before = Snapshot::of(site.work.root());
        let ran = site.run(&CREATE).expect(code).says(text).does_not_say("hush").does_not_say("other-word");
        before.assert_untouched(&Snapshot::of(site.work.root()));
        ran
    };
    refused(&config(&guarded, "user:other-word"), 1, "error[registry-refused]").says("get a new pull secret");
    refused(INSTALL_CONFIG, 1, "error[registry-untrusted]").says("additionalTrustBundle");
    let other = config(&guarded, "user:pass-word").replace(&guarded.address(), "other.example.com");
    refused(&other, 1, "error[registry-refused]").says("add an entry for");
    site.work.write("install-config.yaml", config(&guarded, "user:pass-word"));
    site.run(&["create", "manifests"]).expect(0);
}

#[test]
fn a_registry_that_is_down_is_said_and_the_next_run_goes_on() {
    let Some(site) = Site::new() else { return };
    let image = format!("127.0.0.1:{}/ocp/release:4.18.99-x86_64", free_port());
    site.name(&image);
    let before = Snapshot::of(site.work.root());
    site.create(&[]).expect(1).says("error[registry-unreachable]: 127.0.0.1:").says("fix: check the name");
    before.assert_untouched(&Snapshot::of(site.work.root()));
    site.name(&site.by_tag());
    site.run(&["create", "manifests"]).expect(1).says("error[registry-untrusted]").says("plain HTTP");
    site.run(&["create", "manifests", "--plain-http"]).expect(0);
}

#[test]
fn mistakes_in_the_files_are_told_before_a_registry_is_asked() {
    let Some(site) = Site::new() else { return };
    site.work.edit("install-config.yaml", "hostPrefix: 23", "hostPrefix: 99");
    let ran = site.create(&[]).expect(3).says("install-config.yaml:11:17").does_not_say("fetching");
    assert_eq!(ran.stdout, "");
    site.name("127.0.0.1:5000/OCP:1");
    site.create(&[])
        .expect(3)
        .says("inventory.yaml:4:10")
        .says("2 mistakes in install-config.yaml and inventory.yaml");
}

/// Puts the operator's image into a registry; its name there, by digest.
fn push(site: &Site, repository: &str) -> String {
    let podman = &site.containers.podman;
    let digest = site.home.path("digest");
    let to = format!("docker://{}/{repository}:stand-in", site.registry.address());
    let mut push = Command::new(&podman.program);
    push.args(&podman.options).args(["push", "--quiet", "--tls-verify=false", "--digestfile"]).arg(&digest);
    let output = push.args([&site.containers.image, &to]).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    format!("{repository}@{}", fs_err::read_to_string(digest).unwrap().trim())
}

#[test]
fn podman_pulls_the_operator_as_the_release_was_fetched() {
    let Some(site) = Site::new() else { return };
    let operator = push(&site, "ocp/operator");
    let name = |registry: &str| {
        let mut release = release(site.containers);
        let image = release.images.iter_mut().find(|(name, _)| name == "machine-config-operator").unwrap();
        image.1 = format!("{registry}/{operator}");
        let image = release.build();
        site.registry.pusher("ocp/release").image(&image, None);
        image.digest()
    };
    // Into a store where it is not yet.
    let create = |args: &[&str]| {
        let args = [&CREATE[..], args].concat();
        site.containers.with_empty_store(|podman| Ran::of(site.command_with(podman, &args)))
    };
    // A registry without TLS: asked for once, it holds for both.
    let address = site.registry.address();
    let digest = name(&address);
    site.name(&format!("{address}/ocp/release@{digest}"));
    create(&["--plain-http"]).expect(0);

    // A mirror with a login and a CA of its own, in place of a source that is not there.
    let setup = Setup { is_tls: true, password: Some("user:pass-word"), ..Setup::default() };
    let mirror = Registry::same_as(&site.registry, setup);
    let digest = name("quay.invalid");
    site.name(&format!("quay.invalid/ocp/release@{digest}"));
    let mirrors = format!(
        "imageDigestSources:\n- {{source: quay.invalid/ocp, mirrors: [\"{}/ocp\"]}}\n",
        mirror.address()
    );
    site.work.write("install-config.yaml", config(&mirror, "user:pass-word") + &mirrors);
    create(&[]).expect(0);
    site.assert_settled();
}
