//! Nothing secret comes out: not in a message, not in `Debug`, whichever mistake leads to it.

use std::fmt::Debug;

use hardway_assets::install_config::{self, Rules};
use hardway_assets::inventory::{self, read_both};
use hardway_assets::violation::Violation;

use super::files::{HA, HA_INVENTORY, with};

/// Stands for every secret in the files below.
const HUSH: &str = "hUsHhUsH";

fn silent(what: &str, violations: &[Violation], debug: &impl Debug) {
    for violation in violations {
        assert!(!violation.to_string().contains(HUSH), "{what}: {violation}");
        assert!(!format!("{violation:?}").contains(HUSH), "{what}: {violation:?}");
    }
    assert!(!format!("{debug:?}").contains(HUSH), "{what}: {debug:?}");
}

#[test]
fn no_mistake_shows_a_secret() {
    let secret = HA.lines().find(|line| line.starts_with("pullSecret")).expect("there is one").to_owned();
    let key = HA.lines().find(|line| line.starts_with("sshKey")).expect("there is one").to_owned();
    let first = "apiVersion: v1";
    let added = |line: &str| format!("{first}\n{}", line.replace("HUSH", HUSH));
    let files = [
        with(HA, &secret, &format!("pullSecret: {HUSH}")),
        with(HA, &secret, &format!("pullSecret: '{{\"auths\": \"{HUSH}\"}}'")),
        with(HA, &secret, &format!("pullSecret: '{{\"auths\": {{\"quay.io\": \"{HUSH}\"}}}}'")),
        with(
            HA,
            &secret,
            &format!("pullSecret: '{{\"auths\": {{\"quay.io\": {{\"password\": \"{HUSH}\"}}}}}}'"),
        ),
        with(HA, &secret, &format!("pullSecret: {{auths: {{quay.io: {{auth: {HUSH}}}}}}}")),
        with(HA, &secret, &format!("pullSecret: [{HUSH}]")),
        with(HA, &secret, &format!("pullSecret: '{{\"auths\":{{\"quay.io\":{{\"auth\":\"{HUSH}\"}}}}}}'")),
        with(HA, &key, &format!("sshKey: |\n  -----BEGIN OPENSSH PRIVATE KEY-----\n  {HUSH}")),
        with(HA, &key, &format!("sshKey: [{HUSH}]")),
        with(HA, first, &added("additionalTrustBundle: HUSH")),
        with(HA, first, &added("additionalTrustBundle: {key: HUSH}")),
        with(
            HA,
            first,
            &added(
                "additionalTrustBundle: |\n  -----BEGIN EC PRIVATE KEY-----\n  HUSH\n  -----END EC PRIVATE KEY-----",
            ),
        ),
        with(HA, first, &added("proxy: {httpProxy: 'https://me:HUSH@p:1'}")),
        with(HA, first, &added("proxy: {httpsProxy: 'ftp://me:HUSH@p'}")),
        with(HA, first, &added("proxy: {httpProxy: 'http://me:HUSH@p:x'}")),
        with(HA, first, &added("proxy: {httpProxy: 'http://me:HUSH%zz@p:1'}")),
        with(HA, first, &added("proxy: {httpProxy: 'me:HUSH@p'}")),
        with(HA, first, &added("proxy: {httpProxy: 'http://me:HUSH@10.132.0.1'}")),
        with(HA, "none: {}", &format!("vsphere: {{password: {HUSH}}}")),
        with(HA, "replicas: 2", &format!("platform: {{vsphere: {{password: {HUSH}}}}}")),
        with(HA, "replicas: 3", &format!("fencing: {{credentials: [{{password: {HUSH}}}]}}")),
        with(HA, first, &added("pullsecret: HUSH")),
        with(HA, first, &added("proxy: {httpProxy: 'http://me:HUSH@p'}")),
    ];
    for file in &files {
        assert!(file.contains(HUSH), "{file}");
        for version in ["4.18.3", "5.2.0"] {
            match install_config::read(file, Rules::for_version(version)) {
                Ok(read) => silent(file, &read.warnings, &read),
                Err(errors) => silent(file, &errors, &errors),
            }
            match read_both(file, HA_INVENTORY, Rules::for_version(version)) {
                Ok(both) => silent(file, &[], &both),
                Err(errors) => silent(file, &[], &errors),
            }
        }
    }
}

#[test]
fn a_provider_password_stays_in_its_settings() {
    let file = with(HA_INVENTORY, "pool: default", &format!("pool: default, password: {HUSH}"));
    let file = with(&file, "name: worker-1", "name: Worker-1");
    let errors = inventory::read(&file, None).unwrap_err();
    silent(&file, &errors, &errors);
    // In the place where people look for it, and of any type.
    for password in [HUSH.to_owned(), format!("[{HUSH}]")] {
        let bmc = format!("{{bmc: {{password: {password}}}}}");
        let good = with(HA_INVENTORY, "provider: libvirt", "provider: bare-metal");
        let good =
            with(&good, "libvirt: {", &format!("bare-metal: {{hosts: {{master-0: {bmc}}}}}\n  libvirt: {{"));
        let read = inventory::read(&good, None).unwrap();
        assert!(read.value.machines.settings.to_string().contains(HUSH));
        silent(&good, &read.warnings, &read);
    }
}
