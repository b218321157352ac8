//! A bundle as a registry: the clients are the ones that nodes have.

use std::path::PathBuf;
use std::process::Command;

use hardway_release::Digest;
use hardway_testing::{INSTALL_CONFIG, Ran, Running};
use serde_json::Value;

use super::bundle::{bundle, output};
use super::site::Site;
use crate::fixture::release::ReleaseImage;
use crate::fixture::world::{World, world, world_of};
use crate::work;

/// A registry made of one bundle; the one that it came from is gone.
struct Served {
    site: Site,
    running: Running,
    host: String,
    /// What it printed for install-config.yaml.
    snippet: String,
    certs: PathBuf,
}

fn served(world: World) -> Served {
    let mut site = Site { world, work: work::empty().with_real_clock(), home: work::empty() };
    bundle(&site, "ocp.tar", &[]).expect(0);
    site.world.registry.stop();
    site.forget();
    let mut running = Running::start(site.command(&["serve", "ocp.tar", "--listen", "127.0.0.1:0"]));
    let line = running.line_after("serving https://");
    let host = line.split('/').next().unwrap().to_owned();
    let snippet = running.printed();
    let certs = site.path("certs");
    fs_err::create_dir_all(&certs).unwrap();
    fs_err::copy(site.path("registry/ca.crt"), certs.join("ca.crt")).unwrap();
    Served { site, running, host, snippet, certs }
}

impl Served {
    fn curl(&self, args: &[&str], path: &str) -> String {
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--show-error", "--path-as-is", "--noproxy", "*", "--cacert"]);
        curl.arg(self.certs.join("ca.crt")).args(args).arg(format!("https://{}{path}", self.host));
        String::from_utf8_lossy(&output(&mut curl)).into_owned()
    }

    fn status(&self, args: &[&str], path: &str) -> String {
        let show = ["--output", "/dev/null", "--write-out", "%{http_code}"];
        self.curl(&[&show[..], args].concat(), path)
    }
}

#[test]
fn the_release_is_had_from_the_file_when_the_source_is_gone() {
    let mut served = served(world());
    let site = &served.site;
    let source = site.world.registry.address();
    let digest = site.digest();
    assert!(
        served.snippet.starts_with("additionalTrustBundle: ") && served.snippet.contains("BEGIN CERTIFICATE")
    );
    let mirror =
        format!("- mirrors:\n  - \"{}/ocp/release\"\n  source: \"{source}/ocp/release\"\n", served.host);
    assert!(served.snippet.contains(&mirror), "{}", served.snippet);
    // As it stands, in an install-config: the names stay, and nothing else is needed.
    site.work.write("install-config.yaml", format!("{INSTALL_CONFIG}{}", served.snippet));
    let ran = site.ok(&["extract", &digest, "--to", "rel"]);
    ran.says(&format!("was fetched from {}/ocp/release", served.host));
    assert_eq!(site.work.read("rel/release-image").trim(), digest);
    site.ok(&["extract", &digest, "--command", "oc", "--to", "bin"]);
    assert!(site.work.exists("bin/oc"));
    assert_eq!(site.work.mode("registry/tls.key"), 0o600);

    // The certificate stays the same, and is not silently another.
    assert_eq!(served.running.interrupt(), Some(8));
    let again = Running::start(site.command(&["serve", "ocp.tar", "--listen", "127.0.0.1:0"]));
    let mut again = again;
    again.until_said("serving https://");
    let ca = |text: &str| text.split("imageDigestSources").next().unwrap().to_owned();
    assert_eq!(ca(&again.printed()), ca(&served.snippet));
    again.signal("TERM");
    assert_eq!(again.exit(), Some(0));
    let other =
        site.run(&["serve", "ocp.tar", "--listen", "127.0.0.1:0", "--name", "other.example"]).expect(4);
    other
        .says("error[serve-failed]")
        .says("is for 127.0.0.1, not for other.example")
        .says("additionalTrustBundle");
}

#[test]
fn skopeo_and_podman_pull_from_it() {
    let served = served(world());
    let site = &served.site;
    let digest = site.world.cli.digest();
    let policy = site.work.path("policy.json");
    fs_err::write(&policy, r#"{"default": [{"type": "insecureAcceptAnything"}]}"#).unwrap();
    let certs = format!("--cert-dir={}", served.certs.display());
    let image = format!("{}/ocp/art-dev@{digest}", served.host);
    let raw =
        output(Command::new("skopeo").args(["inspect", "--raw", &certs]).arg(format!("docker://{image}")));
    assert_eq!(Digest::of(&raw), digest);
    let tags = output(
        Command::new("skopeo")
            .args(["list-tags", &certs])
            .arg(format!("docker://{}/ocp/release", served.host)),
    );
    let tags: Value = serde_json::from_slice(&tags).unwrap();
    assert_eq!(tags["Tags"], serde_json::json!(["4.18.99-x86_64"]));
    let mut copy = Command::new("skopeo");
    copy.args(["copy", "--quiet", "--all", "--policy"]).arg(&policy);
    copy.arg(certs.replace("--cert-dir", "--src-cert-dir"))
        .arg(format!("docker://{}/ocp/release:4.18.99-x86_64", served.host));
    output(copy.arg(format!("dir:{}", site.path("copied").display())));
    // podman, with a store of its own that goes with the test.
    let store = site.path("store");
    let mut pull = Command::new("podman");
    pull.arg(format!("--root={}", store.join("root").display()))
        .arg(format!("--runroot={}", store.join("run").display()));
    pull.args(["--storage-driver=vfs", "pull", "--quiet", &certs])
        .arg("--signature-policy")
        .arg(&policy)
        .arg(&image);
    let id = output(&mut pull);
    assert!(!id.is_empty());
}

#[test]
fn it_answers_as_a_registry_that_can_only_be_read() {
    let served = served(world());
    let release = &served.site.world.release;
    let (digest, layer) = (release.digest(), release.layer(2));
    let manifest = format!("/v2/ocp/release/manifests/{digest}");
    let blob = format!("/v2/ocp/release/blobs/{layer}");
    assert_eq!(served.curl(&[], "/v2/"), "{}\n");
    let catalog: Value = serde_json::from_str(&served.curl(&[], "/v2/_catalog")).unwrap();
    assert_eq!(catalog["repositories"], serde_json::json!(["ocp/art-dev", "ocp/release"]));
    let head = served.curl(&["--head"], &manifest).to_lowercase();
    for line in [
        "http/1.1 200 ok",
        "content-type: application/vnd.docker.distribution.manifest.v2+json",
        &format!("docker-content-digest: {digest}"),
        "docker-distribution-api-version: registry/2.0",
    ] {
        assert!(head.contains(line), "{line}: {head}");
    }
    assert_eq!(served.curl(&[], &manifest).len() as u64, length(&head));
    // Pieces of a blob put together are the blob.
    let size = length(&served.curl(&["--head"], &blob));
    let out = served.site.path("blob");
    let to = ["--output", out.to_str().unwrap()];
    served.curl(&to, &blob);
    let whole = fs_err::read(&out).unwrap();
    assert_eq!((whole.len() as u64, Digest::of(&whole)), (size, layer.clone()));
    let piece = served.curl(&[&to[..], &["--range", "7-", "--dump-header", "-"]].concat(), &blob);
    assert!(piece.to_lowercase().contains(&format!("content-range: bytes 7-{}/{size}", size - 1)), "{piece}");
    assert_eq!(fs_err::read(&out).unwrap(), whole[7..]);
    assert_eq!(served.status(&["--range", "999999999-"], &blob), "416");

    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        assert_eq!(
            served.status(&["--request", method], "/v2/ocp/release/blobs/uploads/"),
            "405",
            "{method}"
        );
        assert_eq!(served.status(&["--request", method], &manifest), "405", "{method}");
    }
    for nothing in [
        "/v2/../ocp.tar",
        "/v2/ocp/release/blobs/../../../../etc/passwd",
        "/v2/ocp/release/manifests/..%2f..%2fetc%2fpasswd",
        "/media/../hardway-bundle.json",
        "/etc/passwd",
        "/v2/other/manifests/latest",
        "/v2/ocp/release/manifests/latest",
        // Of another repository.
        &format!("/v2/ocp/art-dev/manifests/{digest}"),
        &format!("/v2/ocp/release/blobs/{}", Digest::of(b"nothing")),
    ] {
        assert_eq!(served.status(&[], nothing), "404", "{nothing}");
    }
    let said = served.running.said();
    assert!(
        said.contains("not in the bundles: /v2/other/manifests/latest, asked for by 127.0.0.1"),
        "{said}"
    );
    let error: Value = serde_json::from_str(&served.curl(&[], "/v2/other/manifests/latest")).unwrap();
    assert_eq!(error["errors"][0]["code"], "NAME_UNKNOWN");
    assert_eq!(served.curl(&[], "/hardway"), "the program");
}

fn length(head: &str) -> u64 {
    let line =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned));
    line.unwrap().trim().parse().unwrap()
}

/// Many at once get all of a layer that is larger than what the server may hold.
#[test]
fn many_pull_at_once_and_memory_stays_small() {
    let served = served(world_of(ReleaseImage { ballast: 30_000_000, ..ReleaseImage::default() }));
    let layer = served.site.world.release.layer(0);
    let url = format!("https://{}/v2/ocp/release/blobs/{layer}", served.host);
    let ca = served.certs.join("ca.crt");
    let clients: Vec<_> = (0..60)
        .map(|_| {
            let (url, ca) = (url.clone(), ca.clone());
            std::thread::spawn(move || {
                let mut curl = Command::new("curl");
                curl.args(["--silent", "--fail", "--noproxy", "*", "--cacert"]).arg(ca).arg(url);
                Digest::of(&output(&mut curl))
            })
        })
        .collect();
    for client in clients {
        assert_eq!(client.join().unwrap(), layer);
    }
    let most = served.running.kilobytes("VmHWM");
    assert!(most < 250_000, "{most} kB");
}

#[test]
fn a_certificate_of_ones_own_is_used() {
    let site = Site { world: world(), work: work::empty().with_real_clock(), home: work::empty() };
    bundle(&site, "ocp.tar", &[]).expect(0);
    let (certificate, key) =
        hardway_testing::self_signed(site.work.root(), "own", "DNS:registry.example,IP:127.0.0.1");
    let text = |path: &PathBuf| path.display().to_string();
    let args = [
        "serve",
        "ocp.tar",
        "--listen",
        "127.0.0.1:0",
        "--name",
        "registry.example",
        "--certificate",
        &text(&certificate),
        "--key",
        &text(&key),
    ];
    let mut running = Running::start(site.command(&args));
    let host = running.line_after("serving https://").split('/').next().unwrap().to_owned();
    let printed = running.printed();
    assert!(
        !printed.contains("additionalTrustBundle") && printed.contains(&format!("{host}/ocp/release")),
        "{printed}"
    );
    assert!(!site.work.exists("registry"));
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--fail", "--noproxy", "*", "--resolve"]);
    curl.arg(format!("{host}:127.0.0.1"))
        .arg("--cacert")
        .arg(&certificate)
        .arg(format!("https://{host}/v2/"));
    assert_eq!(output(&mut curl), b"{}\n");
    let wrong: Ran = site.run(&[
        "serve",
        "ocp.tar",
        "--listen",
        "127.0.0.1:0",
        "--certificate",
        &text(&key),
        "--key",
        &text(&certificate),
    ]);
    wrong.expect(4).says("error[serve-failed]").says("--certificate and --key");
}
