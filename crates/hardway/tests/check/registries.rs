//! Real registries: with the cluster's pull secret, CA and mirrors, and past the cache.

use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_testing::{INSTALL_CONFIG, INVENTORY, Ran, Work};
use serde_json::Value;

use crate::fixture::registry::{Registry, Setup};
use crate::fixture::world::{TAG, World, world};
use crate::work;

/// The checks that are shown here.
pub(crate) const SHOWN: [&str; 3] = ["release-image", "mirrors", "clock-skew"];

struct Site {
    world: World,
    work: Work,
    home: Work,
}

impl Site {
    /// A release that is named in the inventory, in a registry that is open to everybody.
    fn new() -> Self {
        let site = Self { world: world(), work: work::empty(), home: work::empty() };
        site.work.write("install-config.yaml", INSTALL_CONFIG);
        site.name(&site.world.registry.image(TAG).to_string());
        site
    }

    fn name(&self, image: &str) {
        self.work.write("inventory.yaml", INVENTORY.replace("image: sample", &format!("image: {image}")));
    }

    /// By digest, as mirrors want it.
    fn by_digest(&self, registry: &Registry) -> String {
        registry.image(&format!("ocp/release@{}", self.world.release.digest())).to_string()
    }

    fn command(&self, plain: &[&Registry]) -> Command {
        let plain: Vec<String> =
            plain.iter().map(|registry| format!("--plain-http={}", registry.address())).collect();
        let mut args = vec!["check", "-o", "json"];
        SHOWN.iter().for_each(|check| args.extend(["--only", check]));
        args.extend(plain.iter().map(String::as_str));
        let mut command = self.work.command(&args);
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
            command.env_remove(name).env_remove(name.to_lowercase());
        }
        // The registry's clock is the real one.
        command.env_remove("HARDWAY_NOW");
        command.env("HOME", self.home.root()).env("XDG_CACHE_HOME", self.home.path("cache"));
        command
    }

    /// Each check's verdict in order, and what was seen by those that did not pass.
    fn check(&self, plain: &[&Registry]) -> (Vec<String>, String) {
        verdicts(&Ran::of(self.command(plain)))
    }
}

fn verdicts(ran: &Ran) -> (Vec<String>, String) {
    let value: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:#?}"));
    let results = value["checks"].as_array().unwrap();
    let is_failed = results.iter().any(|result| result["verdict"] == "failed");
    assert_eq!(ran.code, Some(if is_failed { 2 } else { 0 }), "{ran:#?}");
    let verdicts = results.iter().map(|result| result["verdict"].as_str().unwrap().to_owned()).collect();
    let odd = results.iter().filter(|result| result["verdict"] == "failed" || result["verdict"] == "warned");
    (verdicts, odd.map(ToString::to_string).collect())
}

#[test]
fn a_registry_that_has_the_release() {
    let site = Site::new();
    let (verdicts, _) = site.check(&[&site.world.registry]);
    assert_eq!(verdicts, ["passed", "not-applicable", "passed"]);
}

#[test]
fn a_pull_secret_that_has_expired_is_found_though_the_release_is_in_the_cache() {
    let site = Site::new();
    let guarded = Registry::same_as(
        &site.world.registry,
        Setup { password: Some("user:hush-hush"), ..Setup::default() },
    );
    let with = |login: &str| {
        let secret =
            format!(r#"{{"auths":{{"{}":{{"auth":"{}"}}}}}}"#, guarded.address(), STANDARD.encode(login));
        let line = INSTALL_CONFIG.lines().last().unwrap();
        site.work
            .write("install-config.yaml", INSTALL_CONFIG.replace(line, &format!("pullSecret: '{secret}'")));
    };
    site.name(&site.by_digest(&guarded));
    with("user:hush-hush");
    assert_eq!(site.check(&[&guarded]).0, ["passed", "not-applicable", "passed"]);
    with("user:hush-hush-old");
    let (verdicts, said) = site.check(&[&guarded]);
    assert_eq!(verdicts, ["failed", "not-applicable", "passed"]);
    let name = format!("{}/ocp/release", guarded.address());
    assert!(
        said.contains(&name) && said.contains("401 Unauthorized") && said.contains("get a new pull secret"),
        "{said}"
    );
}

#[test]
fn a_certificate_of_an_unknown_ca_is_named() {
    let site = Site::new();
    let registry = Registry::same_as(&site.world.registry, Setup { is_tls: true, ..Setup::default() });
    site.name(&registry.image(TAG).to_string());
    let (verdicts, said) = site.check(&[]);
    assert_eq!(verdicts, ["failed", "not-applicable", "not-applicable"]);
    assert!(
        said.contains("is signed by a CA that is not trusted here") && said.contains("additionalTrustBundle"),
        "{said}"
    );
    let bundle: String = registry.ca.lines().map(|line| format!("  {line}\n")).collect();
    site.work.write("install-config.yaml", format!("{INSTALL_CONFIG}additionalTrustBundle: |\n{bundle}"));
    assert_eq!(site.check(&[]).0, ["passed", "not-applicable", "passed"]);
}

#[test]
fn a_mirror_that_lacks_the_release_is_named() {
    let site = Site::new();
    let (good, empty) = (&site.world.registry, Registry::open());
    // Nobody listens there.
    let source = "127.0.0.1:9/ocp/release";
    site.name(&format!("{source}@{}", site.world.release.digest()));
    let mirrored = |mirrors: &[&Registry]| {
        let lines: String =
            mirrors.iter().map(|mirror| format!("  - {}/ocp/release\n", mirror.address())).collect();
        let sources = format!("imageDigestSources:\n- source: {source}\n  mirrors:\n{lines}");
        let secret: Vec<String> = mirrors
            .iter()
            .map(|mirror| format!(r#""{}":{{"auth":"dXNlcjpwYXNz"}}"#, mirror.address()))
            .collect();
        let line = INSTALL_CONFIG.lines().last().unwrap();
        let secret = format!("pullSecret: '{{\"auths\":{{{}}}}}'", secret.join(","));
        site.work.write("install-config.yaml", INSTALL_CONFIG.replace(line, &secret) + &sources);
    };
    mirrored(&[good]);
    assert_eq!(site.check(&[good]).0, ["passed", "passed", "passed"]);
    mirrored(&[good, &empty]);
    let (verdicts, said) = site.check(&[good, &empty]);
    assert_eq!(verdicts, ["passed", "warned", "passed"]);
    assert!(said.contains(&format!("{}/ocp/release", empty.address())), "{said}");
    mirrored(&[&empty]);
    let (verdicts, said) = site.check(&[&empty]);
    assert_eq!(verdicts[..2], ["failed", "failed"], "without it there is no release: {said}");
}

#[test]
fn a_clock_that_is_wrong_is_the_only_thing_that_fails() {
    let site = Site::new();
    let mut command = site.command(&[&site.world.registry]);
    command.env("HARDWAY_NOW", "2020-01-01T00:00:00Z");
    let (verdicts, said) = verdicts(&Ran::of(command));
    assert_eq!(verdicts, ["passed", "not-applicable", "failed"]);
    assert!(
        said.contains(&format!("s behind that of {}/ocp/release", site.world.registry.address())),
        "{said}"
    );
}
