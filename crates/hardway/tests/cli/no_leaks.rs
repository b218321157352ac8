//! Nothing secret is ever printed, whatever is wrong with whichever file.
//!
//! Every run of every test is checked for the pull secret (see `Ran::of`); the tests here try hard to get it out.

use hardway_testing::{AUTH, INSTALL_CONFIG, INVENTORY};

use super::audit::Needles;
use crate::work;

/// The line of the pull secret.
fn line() -> &'static str {
    INSTALL_CONFIG.lines().last().unwrap()
}

/// `HUSH` stands for what must not be seen.
fn with(replacement: &str) -> String {
    INSTALL_CONFIG.replace(line(), &replacement.replace("HUSH", AUTH))
}

fn assert_tight(config: &str, inventory: &str) {
    let work = work::with_inputs(config, inventory);
    let ran = work.refused(3, &["create", "manifests", "--log-level", "debug"]);
    assert!(ran.stderr.contains("--> "), "no place is shown for:\n{config}\n{}", ran.stderr);
}

#[test]
fn a_pull_secret_of_the_wrong_shape_is_not_shown() {
    for secret in [
        "pullSecret: HUSH",
        "pullSecret: [HUSH]",
        "pullSecret: {\"auths\":{\"r\":{\"auth\":\"HUSH\"}}}",
        "pullSecret:\n  auths:\n    r: {auth: HUSH}",
        "pullSecret: '{\"auths\": \"HUSH\"}'",
        "pullSecret: '{\"auths\":{\"r\":\"HUSH\"}}'",
        "pullSecret: '{\"auths\":{\"r\":{\"auth\":\"HUSH\"}}'",
        "pullSecret: |\n  {\"auths\":\n   {\"r\": \"HUSH\"}}",
        "pullSecret: >-\n  {\"auths\":\n\n   {\"r\": \"HUSH\"}}",
        "pullSecret: \"{\\\"auths\\\": \\\"HUSH\\\"}\"",
        "pullSecret: \"HUSH\n  HUSH\"",
        "pullSecret: !!str HUSH",
        "pullSecret: &s HUSH\nfeatureGates: [*s, 7]",
        "pullSecret: &s [HUSH]\nfeatureGates: *s\nfips: 7",
        "\"pullSecret\": HUSH",
        "? pullSecret\n: HUSH",
    ] {
        assert_tight(&with(secret), INVENTORY);
    }
}

#[test]
fn a_pull_secret_in_broken_yaml_is_not_shown() {
    for secret in [
        "pullSecret: '{\"auths\":{\"r\":{\"auth\":\"HUSH\"}}}",
        "pullSecret: \"{\"auths\":{\"r\":{\"auth\":\"HUSH\"}}}\"",
        "pullSecret: {\n\"auths\": {\n\"r\": {\n\"auth\": \"HUSH\"\n}\n}",
        "pullSecret: {\"auths\": {\"r\": {\"auth\": \"HUSH\"}}",
        "pullSecret: 'x' HUSH",
        "pullSecret: @HUSH",
        "pullSecret: %HUSH",
        "pullSecret: HUSH: x",
        "pullSecret:\n\tHUSH",
        "pullSecret: |\n    HUSH\n  HUSH: [",
        "pullSecret: HUSH\npullSecret: HUSH",
        "pullSecret: '{}'\n\"pullSecret\": HUSH",
        "pullSecret: {a: HUSH, a: HUSH}",
        "pullSecret: *HUSH",
        "pullSecret: !<HUSH HUSH",
        "pullSecret: \"\\qHUSH\"",
        "pullSecret: HUSH\n]",
        "fips: ]\npullSecret: HUSH",
        "fips: {pullSecret: HUSH",
        "pull_secret: 'HUSH",
        "pullsecret: HUSH: HUSH",
        "auths: HUSH: HUSH",
        "HUSH: [",
        "HUSH",
        "---\nHUSH",
        "---\npullSecret: HUSH\n...\n---\npullSecret: HUSH",
    ] {
        assert_tight(&with(secret), INVENTORY);
        assert_tight(INSTALL_CONFIG, &format!("{INVENTORY}{}\n", secret.replace("HUSH", AUTH)));
    }
}

#[test]
fn a_pull_secret_beside_another_mistake_is_not_shown() {
    let flow = format!("{{apiVersion: v1, baseDomain: e_x, {}, fips: 7, metadata: {{name: a_b}}}}\n", line());
    assert_tight(&flow, INVENTORY);
    assert_tight(&flow.replace("e_x,", "]"), INVENTORY);
    assert_tight(&with(&format!("{}\nfips: 7 # HUSH", line())), INVENTORY);
    assert_tight(&format!("{{\"auths\": {{\"r\": {{\"auth\": \"{AUTH}\"}}}}}}"), INVENTORY);
    for misspelt in ["pullsecret", "pullSecrets", "pull-secret", "secret", "pullSecret "] {
        assert_tight(&with(&format!("{misspelt} : HUSH\nfips: 7")), INVENTORY);
        assert_tight(INSTALL_CONFIG, &format!("{INVENTORY}{misspelt}: {AUTH}\n"));
    }
    assert_tight(&INSTALL_CONFIG.replace("  none: {}", &format!("  none: {{}}\n  {}", line())), INVENTORY);
    let proxy = "proxy: {httpProxy: 'ftp://me:HUSH@proxy:1', httpsProxy: 'http://me:HUSH@172.30.0.1:1'}";
    assert_tight(&with(&format!("{}\n{proxy}", line())), INVENTORY);
}

#[test]
fn keys_that_were_pasted_are_not_shown() {
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\n  HUSH\n  -----END OPENSSH PRIVATE KEY-----";
    for field in ["sshKey", "additionalTrustBundle"] {
        for value in
            [format!("|\n  {key}"), "[HUSH]".to_owned(), "{HUSH: HUSH}".to_owned(), "HUSH".to_owned()]
        {
            assert_tight(&with(&format!("{}\n{field}: {value}", line())), INVENTORY);
        }
        assert_tight(&with(&format!("{}\n{field}: {key}", line())), INVENTORY);
        assert_tight(&with(&format!("{}\n{field}: HUSH\n{field}: HUSH", line())), INVENTORY);
    }
}

#[test]
fn no_verb_prints_a_key_or_the_password() {
    let work = work::made();
    let needles = Needles::of(work.root());
    work.edit("manifests/cluster-dns-02-config.yml", "cluster\n", "cluster # edited\n");
    work.edit("install-config.yaml", "replicas: 1", "replicas: 0");
    work.edit("inventory.yaml", "- {name: worker-0, role: worker, ip: 192.168.126.110}\n", "");
    let other = work::made();
    let against = other.root().to_str().unwrap();
    for args in [
        &["create", "ignition-configs", "--dry-run"][..],
        &["status", "--all"],
        &["status", "-o", "json"],
        &["diff", "--against", against],
        &["diff", "--against", against, "-o", "yaml"],
        &["graph", "-o", "json"],
        &["create", "ignition-configs"],
    ] {
        let ran = work.run(&[args, &["--log-level", "debug"]].concat());
        assert!(ran.code == Some(0) || args[0] == "diff", "{args:?}: {}", ran.stderr);
        let said = ran.stdout + &ran.stderr;
        assert!(!said.is_empty(), "{args:?}");
        assert_eq!(needles.found_in(said.as_bytes()), [""; 0], "{args:?}");
    }
}
