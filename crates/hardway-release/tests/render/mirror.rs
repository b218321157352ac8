//! A disconnected site: the operator's image comes from a mirror with a login and a CA of its own.
//!
//! Needs docker-registry, htpasswd and openssl besides podman.

use std::path::Path;
use std::process::Command;

use hardway_release::render::run;
use hardway_testing::{skipped, succeed};

use super::scenario::Scenario;
use crate::containers::{Containers, stand_in};
use crate::fixture::registry::{Registry, Setup};

const SOURCE: &str = "quay.io/openshift-release-dev/ocp-v4.0-art-dev";
/// `user:password` in base64.
const LOGIN: &str = "dXNlcjpwYXNzd29yZA==";

/// A registry on loopback, and the files that a client of it needs.
struct Mirror {
    registry: Registry,
    dir: tempfile::TempDir,
}

impl Mirror {
    /// Nothing where the programs are missing, which CI may not do.
    fn start() -> Option<Self> {
        let has = |program: &str| Path::new("/usr/bin").join(program).exists();
        if !["docker-registry", "htpasswd", "openssl"].into_iter().all(has) {
            skipped("docker-registry, htpasswd and openssl are not all here");
            return None;
        }
        let setup =
            Setup { is_tls: true, is_localhost: true, password: Some("user:password"), ..Setup::default() };
        let mirror = Self { registry: Registry::start(setup), dir: tempfile::tempdir().unwrap() };
        let login = format!(r#"{{"auths":{{"localhost:{}":{{"auth":"{LOGIN}"}}}}}}"#, mirror.registry.port);
        fs_err::write(mirror.file("auth.json"), login).unwrap();
        fs_err::write(mirror.file("ca.crt"), &mirror.registry.ca).unwrap();
        Some(mirror)
    }

    fn file(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    /// Puts the image there; its name at the source, by digest.
    fn push(&self, containers: &Containers) -> String {
        let to = format!("docker://localhost:{}/ocp/release:stand-in", self.registry.port);
        succeed(
            Command::new(&containers.podman.program)
                .args(&containers.podman.options)
                .env("SSL_CERT_FILE", self.file("ca.crt"))
                .args([
                    "push",
                    "--quiet",
                    "--authfile",
                    &self.file("auth.json"),
                    "--digestfile",
                    &self.file("digest"),
                ])
                .args([&containers.image, &to]),
        );
        format!("{SOURCE}@{}", fs_err::read_to_string(self.file("digest")).unwrap().trim())
    }

    /// A cluster that has its images from here and from nowhere else.
    fn scenario(&self, image: &str, login: &str, is_trusted: bool) -> Scenario {
        Scenario::changed("ha", image, |config| {
            let trust = self.registry.ca.replace('\n', "\n  ");
            let trust =
                if is_trusted { format!("additionalTrustBundle: |\n  {trust}\n") } else { String::new() };
            let port = self.registry.port;
            config.replace(
                "\"quay.io\":{\"auth\":\"dXNlcjpwYXNz\"}",
                &format!("\"localhost:{port}\":{{\"auth\":\"{login}\"}}"),
            ) + &format!(
                "{trust}\nimageDigestSources:\n- source: {SOURCE}\n  sourcePolicy: NeverContactSource\n  mirrors:\n  - localhost:{port}/ocp/release\n"
            )
        })
    }
}

#[test]
fn the_image_comes_from_the_mirror_of_the_cluster() {
    let Some(containers) = stand_in() else { return };
    let Some(mirror) = Mirror::start() else { return };
    let image = mirror.push(containers);
    containers.with_empty_store(|podman| {
        let render = |login: &str, is_trusted| {
            let dir = tempfile::tempdir().unwrap();
            let Scenario { cluster, release, tree } = mirror.scenario(&image, login, is_trusted);
            let rendered = run(&tree, &release, &cluster, (dir.path(), podman), &mut |_| {});
            rendered.map_err(|error| error.to_string())
        };
        let wrong_login = render("dXNlcjpvdGhlcg==", true).unwrap_err();
        assert!(
            wrong_login.contains("fix: check the entry for that registry in the pull secret"),
            "{wrong_login}"
        );
        let no_trust = render(LOGIN, false).unwrap_err();
        assert!(
            no_trust.contains("fix: add the CA to additionalTrustBundle in install-config.yaml"),
            "{no_trust}"
        );
        let rendered = render(LOGIN, true).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(rendered.configs.len(), 2);
    });
}
