//! A disconnected site: the operator's image comes from a mirror with a login and a CA of its own.
//!
//! Needs docker-registry, htpasswd and openssl besides podman.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hardway_release::render::run;

use super::scenario::Scenario;
use crate::containers::{Containers, said, stand_in};

const SOURCE: &str = "quay.io/openshift-release-dev/ocp-v4.0-art-dev";
/// `user:password` in base64.
const LOGIN: &str = "dXNlcjpwYXNzd29yZA==";

/// A registry on loopback; ends with the test.
struct Mirror {
    port: u16,
    dir: tempfile::TempDir,
    process: Child,
}

impl Drop for Mirror {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Mirror {
    /// Nothing where the programs are missing, which CI may not do.
    fn start() -> Option<Self> {
        let has = |program: &str| Path::new("/usr/bin").join(program).exists();
        if !["docker-registry", "htpasswd", "openssl"].into_iter().all(has) {
            assert!(std::env::var_os("CI").is_none(), "CI must have docker-registry, htpasswd and openssl");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name).display().to_string();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        call(
            Command::new("openssl")
                .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"])
                .args([
                    "-subj",
                    "/CN=mirror",
                    "-addext",
                    "subjectAltName=DNS:localhost",
                    "-days",
                    "2",
                    "-keyout",
                    &at("key"),
                    "-out",
                    &at("crt"),
                ]),
        );
        let users = call(Command::new("htpasswd").args(["-nbB", "user", "password"]));
        fs_err::write(at("users"), users).unwrap();
        fs_err::write(at("auth.json"), format!(r#"{{"auths":{{"localhost:{port}":{{"auth":"{LOGIN}"}}}}}}"#))
            .unwrap();
        let config = format!(
            "version: 0.1\nstorage: {{filesystem: {{rootdirectory: {:?}}}}}\n\
             http: {{addr: '127.0.0.1:{port}', tls: {{certificate: {:?}, key: {:?}}}}}\n\
             auth: {{htpasswd: {{realm: test, path: {:?}}}}}\n",
            at("storage"),
            at("crt"),
            at("key"),
            at("users")
        );
        fs_err::write(at("config.yml"), config).unwrap();
        let mut command = Command::new("docker-registry");
        command.args(["serve", &at("config.yml")]).env("OTEL_TRACES_EXPORTER", "none");
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mirror = Self { port, dir, process };
        (0..200).find(|_| {
            std::thread::sleep(Duration::from_millis(50));
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Some(mirror)
    }

    fn file(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    /// Puts the image there; its name at the source, by digest.
    fn push(&self, containers: &Containers) -> String {
        let to = format!("docker://localhost:{}/ocp/release:stand-in", self.port);
        call(
            Command::new(&containers.podman.program)
                .args(&containers.podman.options)
                .env("SSL_CERT_FILE", self.file("crt"))
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
            let trust = fs_err::read_to_string(self.file("crt")).unwrap().replace('\n', "\n  ");
            let trust =
                if is_trusted { format!("additionalTrustBundle: |\n  {trust}\n") } else { String::new() };
            let port = self.port;
            config.replace(
                "\"quay.io\":{\"auth\":\"dXNlcjpwYXNz\"}",
                &format!("\"localhost:{port}\":{{\"auth\":\"{login}\"}}"),
            ) + &format!(
                "{trust}\nimageDigestSources:\n- source: {SOURCE}\n  sourcePolicy: NeverContactSource\n  mirrors:\n  - localhost:{port}/ocp/release\n"
            )
        })
    }
}

fn call(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", said(&output));
    String::from_utf8(output.stdout).unwrap()
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
            no_trust.contains("fix: put the CA into additionalTrustBundle of install-config.yaml"),
            "{no_trust}"
        );
        let rendered = render(LOGIN, true).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(rendered.configs.len(), 2);
    });
}
