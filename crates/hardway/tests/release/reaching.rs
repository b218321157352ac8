//! As whom registries are asked, and whom to trust.

use hardway_testing::{INSTALL_CONFIG, Ran};

use super::site::{Site, logins};
use crate::fixture::registry::{Registry, Setup};
use crate::fixture::world::TAG;

/// The same release behind a password.
fn guarded(site: &Site) -> Registry {
    Registry::same_as(&site.world.registry, Setup { password: Some("user:hush-hush"), ..Setup::default() })
}

#[test]
fn a_pull_secret_opens_the_registry_and_a_wrong_one_is_named() {
    let site = Site::new();
    let registry = guarded(&site);
    let image = registry.image(TAG).to_string();
    site.plain(&["info", &image]).expect(1).says("error[registry-refused]").says("asked without credentials");
    site.work.write("old.json", logins(&registry, "user:hush-hush-old"));
    let ran = site.plain(&["info", &image, "--pull-secret", "old.json"]).expect(1);
    ran.says("error[registry-refused]")
        .says("user \"user\" of the pull secret's entry")
        .says("is wrong or has expired");
    site.work.write("new.json", logins(&registry, "user:hush-hush"));
    site.plain(&["info", &image, "--pull-secret", "new.json"]).expect(0);

    site.plain(&["info", &image, "--pull-secret", "gone.json"])
        .expect(2)
        .says("error[usage]")
        .says("gone.json");
    site.work.write("half.json", &logins(&registry, "user:hush-hush")[..30]);
    let ran = site.plain(&["info", &image, "--pull-secret", "half.json"]).expect(2);
    ran.says("error[pull-secret-invalid]").says("not JSON (line 1, column 30)");
}

#[test]
fn logins_are_found_where_oc_and_podman_put_them() {
    let site = Site::new();
    let registry = guarded(&site);
    let image = registry.image(TAG).to_string();
    let good = logins(&registry, "user:hush-hush");
    for (name, folder) in [
        ("run/containers/auth.json", "run/containers"),
        ("config/containers/auth.json", "config/containers"),
        (".docker/config.json", ".docker"),
    ] {
        fs_err::create_dir_all(site.home.path(folder)).unwrap();
        site.home.write(name, &good);
        site.plain(&["info", &image, "--log-level", "debug"]).expect(0).says(&format!("{name}\n"));
        site.home.write(name, "{\"credsStore\": \"secretservice\"}");
        site.plain(&["info", &image]).expect(1).says("error[registry-refused]").does_not_say("not used");
        site.home.write(name, "nonsense");
        site.plain(&["info", &image]).expect(1).says("auth").says("not used");
        site.home.remove(name);
    }
    // A file that the environment names is the only one of the host's.
    site.home.write(".docker/config.json", &good);
    site.home.write("elsewhere.json", "{\"auths\": {}}");
    let mut command = site.command(&["info", &image, "--plain-http"]);
    command.env("REGISTRY_AUTH_FILE", site.home.path("elsewhere.json"));
    Ran::of(command).expect(1).says("error[registry-refused]");
    let mut command = site.command(&["info", &image, "--plain-http"]);
    site.home.write("elsewhere.json", &good);
    site.home.remove(".docker/config.json");
    command.env("REGISTRY_AUTH_FILE", site.home.path("elsewhere.json"));
    Ran::of(command).expect(0);
}

#[test]
fn the_install_config_of_the_folder_counts_first() {
    let site = Site::new();
    let registry = guarded(&site);
    let image = registry.image(TAG).to_string();
    let old = INSTALL_CONFIG.lines().last().unwrap();
    let with =
        |login: &str| INSTALL_CONFIG.replace(old, &format!("pullSecret: '{}'", logins(&registry, login)));
    site.work.write("install-config.yaml", with("user:hush-hush"));
    fs_err::create_dir_all(site.home.path(".docker")).unwrap();
    site.home.write(".docker/config.json", logins(&registry, "user:hush-hush-old"));
    site.plain(&["info", &image]).expect(0);
    site.work.write("install-config.yaml", with("user:hush-hush-old"));
    site.home.write(".docker/config.json", logins(&registry, "user:hush-hush"));
    site.plain(&["info", &image]).expect(1).says("error[registry-refused]");
    site.work.write("install-config.yaml", ": no: yaml: [");
    site.plain(&["info", &image]).expect(0).says("install-config.yaml is not valid YAML");
}

#[test]
fn a_certificate_of_an_unknown_ca_is_refused_until_its_ca_is_given() {
    let site = Site::new();
    let registry = Registry::same_as(&site.world.registry, Setup { is_tls: true, ..Setup::default() });
    let image = registry.image(TAG).to_string();
    let ran = site.run(&["info", &image]).expect(1);
    ran.says("error[registry-untrusted]")
        .says("is signed by a CA that is not trusted here")
        .says("additionalTrustBundle");
    site.work.write("ca.pem", &registry.ca);
    site.ok(&["info", &image, "--trust-bundle", "ca.pem"]);
    let bundle: String = registry.ca.lines().map(|line| format!("  {line}\n")).collect();
    site.work.write("install-config.yaml", format!("{INSTALL_CONFIG}additionalTrustBundle: |\n{bundle}"));
    site.ok(&["info", &image]);
    site.work.remove("install-config.yaml");
    site.work.write("ca.pem", "no certificate");
    site.run(&["info", &image, "--trust-bundle", "ca.pem"]).expect(2).says("holds no PEM certificate");
}

#[test]
fn plain_http_is_asked_for_by_name_or_for_all() {
    let site = Site::new();
    let image = site.tag();
    site.run(&["info", &image]).expect(1).says("error[registry-untrusted]").says("does not use TLS");
    let address = site.world.registry.address();
    site.ok(&["info", &image, &format!("--plain-http={address}")]);
    site.run(&["info", &image, "--plain-http=other:5000"]).expect(1).says("error[registry-untrusted]");
}

#[test]
fn the_proxy_of_the_environment_is_used() {
    let site = Site::new();
    let registry = &site.world.registry;
    let front = crate::fixture::front::Front::before(registry.port, |_| None);
    // A name that only the proxy can reach.
    let image = "registry.lab.invalid:80/ocp/release:4.18.99-x86_64";
    let mut command = site.command(&["info", image, "--plain-http"]);
    command.env("HTTP_PROXY", format!("http://127.0.0.1:{}", front.port));
    Ran::of(command).expect(0);
    assert!(
        front.seen().iter().all(|head| head.contains("http://registry.lab.invalid")),
        "{:?}",
        front.seen()
    );
}
