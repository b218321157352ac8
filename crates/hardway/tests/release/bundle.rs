//! One file to carry, as a person makes and takes it.

use std::process::{Command, Stdio};

use hardway_release::Digest;
use hardway_testing::{INVENTORY, Running};
use serde_json::Value;

use super::site::Site;
use crate::fixture::cutter::Cutter;
use crate::fixture::image::{Family, Image, Layer, Packing};
use crate::fixture::registry::{Registry, Setup};
use crate::fixture::release::ReleaseImage;
use crate::fixture::signer::{Signer, claim};
use crate::fixture::world::{TAG, world_of};

/// The program itself is two hundred megabytes with everything a debugger wants; most bundles here carry a text in its place.
pub(super) fn bundle(site: &Site, name: &str, more: &[&str]) -> hardway_testing::Ran {
    site.work.write("program", "the program");
    let tag = site.tag();
    site.plain(&[&["bundle", &tag, "--to", name, "--program", "program"], more].concat())
}

/// A program's output, which must succeed.
pub(super) fn output(command: &mut Command) -> Vec<u8> {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn skopeo_and_tar_agree_on_what_is_in_a_bundle() {
    let site = Site::new();
    let ran = bundle(&site, "ocp.tar", &["-o", "json"]).expect(0);
    let made: Value = serde_json::from_str(&ran.stdout).unwrap();
    ran.says("bundling release 4.18.99: 3 images").says("the bundle contains no signature of the release");
    let listed = site.ok(&["bundle", "--verify", "ocp.tar", "-o", "json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed[0], made);
    let file = site.path("ocp.tar").display().to_string();
    let images = made["images"].as_array().unwrap();
    assert_eq!(images.len(), 4);
    let policy = site.work.path("policy.json");
    fs_err::write(&policy, r#"{"default": [{"type": "insecureAcceptAnything"}]}"#).unwrap();
    // Whoever has only tar gets everything.
    let folder = site.path("out");
    fs_err::create_dir_all(&folder).unwrap();
    output(Command::new("tar").args(["xf", &file, "-C"]).arg(&folder));
    output(Command::new("sha256sum").current_dir(&folder).args([
        "--check",
        "--strict",
        "hardway-bundle.sha256",
    ]));
    assert_eq!(fs_err::read_to_string(folder.join("hardway")).unwrap(), "the program");
    for part in made["parts"].as_array().unwrap() {
        let bytes = fs_err::read(folder.join(part["name"].as_str().unwrap())).unwrap();
        assert_eq!(Digest::of(&bytes).to_string(), part["digest"].as_str().unwrap());
    }
    for image in images {
        let (tag, digest) = (image["tag"].as_str().unwrap(), image["digest"].as_str().unwrap());
        let from = format!("oci-archive:{file}:{tag}");
        let raw = output(Command::new("skopeo").args(["inspect", "--raw", &from]));
        let named: Value = serde_json::from_slice(&raw).unwrap();
        let own = fs_err::read(folder.join("blobs/sha256").join(&digest[7..])).unwrap();
        let own: Value = serde_json::from_slice(&own).unwrap();
        // skopeo reads Docker's kind in an OCI layout only inside an index.
        let kind = image["mediaType"].as_str().unwrap();
        match kind.contains("docker") {
            true if kind.contains("list") => assert_eq!(named["manifests"], own["manifests"], "{tag}"),
            true => assert_eq!(named["manifests"][0]["digest"], digest, "{tag}"),
            false => assert_eq!(Digest::of(&raw).to_string(), digest, "{tag}"),
        }
        let to = site.path(&format!("copied-{tag}"));
        let mut copy = Command::new("skopeo");
        copy.args(["copy", "--quiet", "--all", "--policy"]).arg(&policy).arg(&from);
        output(copy.arg(format!("dir:{}", to.display())));
        let listed = own["manifests"].as_array().map(Vec::as_slice).unwrap_or_default();
        for child in listed.iter().map(|child| child["digest"].as_str().unwrap()) {
            let bytes = fs_err::read(to.join(format!("{}.manifest.json", &child[7..]))).unwrap();
            assert_eq!(Digest::of(&bytes).to_string(), child, "{tag}");
        }
    }
    assert!(fs_err::read_to_string(folder.join("README")).unwrap().contains("hardway release serve FILE"));
    let text = site.ok(&["bundle", "--verify", "ocp.tar"]).stdout;
    assert!(text.contains("all intact") && text.contains(&site.digest()), "{text}");
}

/// A pod of a person's own, with one image by digest, one by tag and one that names no registry.
fn own_pod(site: &Site) -> (Image, String) {
    let layer = Layer::new().file("bin/mine", "mine").pack(Packing::Gzip);
    let image = Image::new(Family::Oci, "amd64", vec![layer]);
    for repository in ["apps/mine", "apps/tagged"] {
        site.world.registry.pusher(repository).image(&image, Some("1"));
    }
    let registry = site.world.registry.address();
    let by_digest = format!("{registry}/apps/mine@{}", image.digest());
    let containers = [by_digest.clone(), format!("{registry}/apps/tagged:1"), "busybox".to_owned()];
    let containers: String = containers
        .iter()
        .enumerate()
        .map(|(n, image)| format!("  - {{name: c{n}, image: \"{image}\"}}\n"))
        .collect();
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: mine, namespace: default}\nspec:\n  containers:\n";
    site.work.write("manifests/mine.yaml", format!("{pod}{containers}"));
    (image, by_digest)
}

#[test]
fn images_of_peoples_own_manifests_go_along() {
    let site = Site::new();
    let (image, by_digest) = own_pod(&site);
    let ran = bundle(&site, "ocp.tar", &["-o", "json"]).expect(0);
    let made: Value = serde_json::from_str(&ran.stdout).unwrap();
    ran.says("with 2 images of your manifests: ")
        .says(&format!("{by_digest} (manifests/mine.yaml:6:"))
        .says("apps/tagged:1 is a tag: mirrors for digests do not serve it")
        .says("busybox names no registry: it does not go along")
        .says("bundling release 4.18.99: 5 images");
    let names: Vec<&str> =
        made["images"].as_array().unwrap().iter().map(|image| image["name"].as_str().unwrap()).collect();
    assert!(names.contains(&by_digest.as_str()), "{names:?}");
    // And in a registry of theirs, from the bundle and straight from the source.
    let tag = site.tag();
    for (to, more) in [("from-bundle", &["--from", "ocp.tar"][..]), ("from-source", &[tag.as_str()][..])] {
        let there = Registry::open();
        let place = format!("{}/mirror/{to}", there.address());
        let ran = site.plain(&[&["mirror", "--to", &place], more].concat()).expect(0);
        let source = format!("source: \"{}/apps/mine\"", site.world.registry.address());
        assert!(ran.stdout.contains(&source), "{}", ran.stdout);
        let inspect = format!("docker://{place}@{}", image.digest());
        output(Command::new("skopeo").args(["inspect", "--raw", "--tls-verify=false", &inspect]));
    }
    // Nobody's manifests, nothing more.
    site.work.remove("manifests/mine.yaml");
    bundle(&site, "plain.tar", &[]).expect(0).does_not_say("of your manifests").says("3 images");
}

/// The program that is carried runs.
#[test]
fn the_program_goes_along() {
    let site = Site::new();
    site.plain(&["bundle", &site.tag(), "--to", "ocp.tar"])
        .expect(0)
        .says("tar xf ocp.tar hardway && ./hardway");
    output(Command::new("tar").current_dir(site.work.root()).args(["xf", "ocp.tar", "hardway"]));
    let version = output(Command::new(site.path("hardway")).arg("version"));
    assert!(String::from_utf8(version).unwrap().contains(env!("CARGO_PKG_VERSION")));
}

/// Killed in the middle of a layer, whatever was written by then; the same command goes on, and the file is the same.
#[test]
fn a_killed_run_goes_on() {
    let site = Site::with(world_of(ReleaseImage { ballast: 3_000_000, ..ReleaseImage::default() }));
    bundle(&site, "whole.tar", &[]).expect(0);
    let cutter = Cutter::before(site.world.registry.port);
    let through = format!("127.0.0.1:{}/{TAG}", cutter.port);
    let layer = site.world.release.layer(0);
    for after in [1, 1_000_000] {
        site.forget();
        // Every answer stops there, so the run cannot end before it is killed.
        cutter.cut(layer.hex(), after, 1_000_000);
        let plain = format!("--plain-http={}", site.world.registry.address());
        let args = ["bundle", &through, "--to", "cut.tar", "--program", "program", "--plain-http", &plain];
        let mut running = Running::start(site.command(&args));
        let partial = site.path("cut.tar.partial");
        let has_program = |bytes: Vec<u8>| bytes.windows(11).any(|window| window == b"the program");
        running.until_so("the file is begun", || fs_err::read(&partial).is_ok_and(has_program));
        running.signal("KILL");
        running.exit();
        assert!(!site.work.exists("cut.tar"));
        cutter.cut("", 0, 0);
        site.run(&args).expect(0).says("parts were there already");
        let list = site.ok(&["bundle", "--verify", "cut.tar", "-o", "json"]);
        let list: Value = serde_json::from_str(&list.stdout).unwrap();
        let whole = site.ok(&["bundle", "--verify", "whole.tar", "-o", "json"]);
        let whole: Value = serde_json::from_str(&whole.stdout).unwrap();
        // Only the names of the registry differ.
        let digests = |list: &Value| -> Vec<Value> {
            let parts = list[0]["parts"].as_array().unwrap().iter();
            let blobs = parts.filter(|part| part["name"].as_str().unwrap().starts_with("blobs/"));
            blobs.map(|part| part["digest"].clone()).collect()
        };
        assert_eq!(digests(&list), digests(&whole));
        site.work.remove("cut.tar");
    }
}

#[test]
fn a_damaged_file_is_refused_by_the_name_of_its_part() {
    let site = Site::new();
    bundle(&site, "ocp.tar", &[]).expect(0);
    let there = Registry::open();
    let to = format!("{}/mirror/ocp", there.address());
    let bytes = fs_err::read(site.path("ocp.tar")).unwrap();
    let layer = site.world.release.layer(2);
    let name = format!("blobs/sha256/{}", layer.hex());
    let at = find(&bytes, name.as_bytes(), 600 + find(&bytes[512..], b"\0\0\0\0", 0)) + 512;
    let mut changed = bytes.clone();
    changed[at + 3] ^= 1;
    for (content, said) in [
        (changed, "is damaged: its bytes have the digest "),
        (bytes[..at + 3].to_vec(), "it has 3 of "),
        (b"PK".to_vec(), "is not a bundle"),
    ] {
        site.work.write("bad.tar", &content);
        for args in [
            &["bundle", "--verify", "bad.tar"][..],
            &["serve", "bad.tar", "--listen", "127.0.0.1:0"],
            &["mirror", "--from", "bad.tar", "--to", &to, "--plain-http"],
            &["bundle", &site.tag(), "--plain-http", "--to", "new.tar", "--differential", "bad.tar"],
        ] {
            // A differential one is made from the list of parts alone.
            if args.contains(&"--differential") && said.contains("digest") {
                continue;
            }
            let ran = site.run(args).expect(1);
            assert_eq!(ran.stdout, "", "{args:?}");
            let ran = ran.says("error[release-bundle-unusable]").says("bad.tar").says(said);
            if content.len() > 10 {
                ran.says(&format!("{name} (layer 3 of release)"));
            }
        }
    }
    site.run(&["bundle", "--verify", "nothing.tar"]).expect(2).says("nothing.tar");
    bundle(&site, "bad.tar", &[]).expect(2).says("already exists, and is no bundle").says("--to");
}

fn find(bytes: &[u8], what: &[u8], from: usize) -> usize {
    from + bytes[from..].windows(what.len()).position(|window| window == what).unwrap()
}

#[test]
fn what_the_bundle_before_has_is_left_out() {
    let site = Site::new();
    bundle(&site, "1.tar", &[]).expect(0);
    let ran = bundle(&site, "2.tar", &["--differential", "1.tar"]).expect(0);
    ran.says("leaving out ").says("the bundle of 4.18.99 has them").says("release serve 2.tar 1.tar");
    let size = |name: &str| fs_err::metadata(site.path(name)).unwrap().len();
    assert!(size("2.tar") < size("1.tar"));
    let alone = site.run(&["serve", "2.tar", "--listen", "127.0.0.1:0"]).expect(1);
    alone
        .says("error[release-bundle-unusable]")
        .says("2.tar leaves out ")
        .says("that of 4.18.99, sha256:")
        .says(" (");
    let both = site.ok(&["bundle", "--verify", "2.tar", "1.tar"]).stdout;
    assert!(both.contains("needs         the bundle of 4.18.99 (sha256:"), "{both}");
    let other = bundle(&site, "2.tar", &[]).expect(2);
    other.says("2.tar already exists, and is another bundle of release 4.18.99");
}

#[test]
fn it_is_pushed_into_a_registry_of_the_other_side() {
    let mut site = Site::new();
    bundle(&site, "ocp.tar", &[]).expect(0);
    let there = Registry::start(Setup::default());
    let to = format!("{}/mirror/ocp", there.address());
    let source = site.world.registry.address();
    site.world.registry.stop();
    site.forget();
    let ran = site.plain(&["mirror", "--from", "ocp.tar", "--to", &to]).expect(0);
    let expected = format!(
        "imageDigestSources:\n- mirrors:\n  - \"{to}\"\n  source: \"{source}/ocp/art-dev\"\n- mirrors:\n  - \"{to}\"\n  source: \"{source}/ocp/release\"\n"
    );
    assert_eq!(ran.stdout, expected, "ready to paste, and nothing else");
    ran.says("4 images, 4 of them new");
    site.plain(&["mirror", "--from", "ocp.tar", "--to", &to]).expect(0).says("4 images, 0 of them new");
    let digest = site.world.cli.digest();
    let inspected = output(
        Command::new("skopeo")
            .args(["inspect", "--raw", "--tls-verify=false"])
            .arg(format!("docker://{to}@{digest}")),
    );
    assert_eq!(Digest::of(&inspected), digest);
}

#[test]
fn signatures_go_along_and_count_on_the_other_side() {
    let site = Site::new();
    let (signer, stranger) = (Signer::new(), Signer::new());
    let digest = site.world.release.digest();
    signer.sign(&claim(&digest), &digest, 1);
    let text = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let (keyring, store) = (text(&signer.keyring()), text(signer.store.path()));
    bundle(&site, "ocp.tar", &["--keyring", &keyring, "--signature-store", &store])
        .expect(0)
        .does_not_say("no signature of the release");
    // Nobody but the file is asked.
    let ran = site.run(&["bundle", "--verify", "ocp.tar", "--keyring", &keyring]).expect(0);
    ran.says(&format!("{digest} is signed by key ")).does_not_say("warning");
    let strangers = text(&stranger.keyring());
    let ran = site.run(&["bundle", "--verify", "ocp.tar", "--keyring", &strangers]).expect(1);
    assert_eq!(ran.stdout, "");
    ran.says("error[signature-invalid]");
    bundle(&site, "bare.tar", &[]).expect(0);
    site.run(&["bundle", "--verify", "bare.tar", "--keyring", &keyring]).expect(1).says("no signature of ");
}

#[test]
fn the_release_is_the_inventorys_unless_one_is_named() {
    let site = Site::new();
    site.work.write("program", "the program");
    let args = ["bundle", "--to", "ocp.tar", "--program", "program", "--media", "none"];
    site.plain(&args).expect(3).says("no inventory.yaml to take the release from");
    site.work.write("inventory.yaml", INVENTORY);
    site.plain(&args).expect(2).says("the sample release is in no registry");
    site.work.write("inventory.yaml", INVENTORY.replace("image: sample", &format!("image: {}", site.tag())));
    site.plain(&args).expect(0).says("holds release 4.18.99");
    for args in [
        &["bundle"][..],
        &["bundle", "a.example/b:1"],
        &["bundle", "a.example/b:1", "--verify", "x"],
        &["bundle", "--to", "x", "--verify", "x"],
        &["bundle", "--differential", "x"],
        &["serve"],
        &["serve", "x", "--key", "y"],
        &["mirror", "--from", "x", "--to-dir", "y"],
        &["mirror", "--from", "x", "--from-dir", "y", "--to", "a.example/b"],
    ] {
        site.run(args).expect(2);
    }
}
