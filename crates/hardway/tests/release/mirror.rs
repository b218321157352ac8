//! A release in another registry, or carried there.

use hardway_testing::INSTALL_CONFIG;
use serde_json::Value;

use super::site::{Site, logins};
use crate::fixture::registry::{Registry, Setup};

/// The release as everybody names it, when the source is gone and only what the snippet says is left.
fn extract_from_mirror(site: &Site, snippet: &str, digest: &str) {
    site.forget();
    site.work.write("install-config.yaml", format!("{INSTALL_CONFIG}{snippet}"));
    let mirror = snippet.lines().find_map(|line| line.strip_prefix("  - ")).unwrap().trim_matches('"');
    let plain = format!("--plain-http={}", mirror.split('/').next().unwrap());
    let ran = site.ok(&["extract", digest, "--to", "rel", &plain]);
    ran.says(&format!("was fetched from {mirror}"));
    assert_eq!(site.work.read("rel/release-image").trim(), digest, "the name stays");
    site.ok(&["extract", digest, "--command", "oc", "--to", "bin", &plain]);
    assert!(site.work.exists("bin/oc"));
}

#[test]
fn a_mirror_serves_when_the_source_is_gone() {
    let mut site = Site::new();
    let there = Registry::open();
    let to = format!("{}/mirror/ocp", there.address());
    let ran = site.plain(&["mirror", &site.tag(), "--to", &to]).expect(0);
    let source = site.world.registry.address();
    let expected = format!(
        "imageDigestSources:\n- mirrors:\n  - \"{to}\"\n  source: \"{source}/ocp/art-dev\"\n- mirrors:\n  - \"{to}\"\n  source: \"{source}/ocp/release\"\n"
    );
    assert_eq!(ran.stdout, expected, "ready to paste, and nothing else");
    ran.says("3 images, 3 of them new").says("for install-config.yaml:").says("done: etcd ");
    let again = site.plain(&["mirror", &site.tag(), "--to", &to, "-o", "json"]).expect(0);
    let json: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!((&json["images"], &json["copied"], &json["to"]), (&3.into(), &0.into(), &to.clone().into()));
    assert_eq!(json["release"], site.digest());
    assert_eq!(json["imageDigestSources"][1]["source"], format!("{source}/ocp/release"));

    let digest = site.digest();
    site.work.write("install-config.yaml", format!("{INSTALL_CONFIG}{expected}"));
    site.plain(&["info", &site.tag()]).expect(0).says("serve digests only");
    site.plain(&["info", &digest]).expect(0).does_not_say("serve digests only");
    site.world.registry.stop();
    extract_from_mirror(&site, &expected, &digest);
}

#[test]
fn a_folder_is_carried_to_a_registry_that_the_source_does_not_reach() {
    let mut site = Site::new();
    let ran = site.plain(&["mirror", &site.tag(), "--to-dir", "usb"]).expect(0);
    assert_eq!(ran.stdout, "");
    ran.says("is in usb: 3 images, 3 of them new").says("hardway release mirror --from-dir usb --to ");
    site.plain(&["mirror", &site.tag(), "--to-dir", "usb"]).expect(0).says("3 images, 0 of them new");

    let there = Registry::start(Setup { password: Some("user:hush-hush"), ..Setup::default() });
    let to = format!("{}/mirror/ocp", there.address());
    let digest = site.digest();
    site.world.registry.stop();
    site.forget();
    site.plain(&["mirror", "--from-dir", "usb", "--to", &to]).expect(1).says("error[registry-refused]");
    fs_err::create_dir_all(site.home.path("run/containers")).unwrap();
    site.home.write("run/containers/auth.json", logins(&there, "user:hush-hush"));
    let ran = site.plain(&["mirror", "--from-dir", "usb", "--to", &to]).expect(0);
    assert!(ran.stdout.starts_with("imageDigestSources:\n") && ran.stdout.contains(&to), "{}", ran.stdout);
    site.home.remove("run/containers/auth.json");

    let open = Registry::same_as(&there, Setup::default());
    let snippet = ran.stdout.replace(&there.address(), &open.address());
    extract_from_mirror(&site, &snippet, &digest);
}

#[test]
fn a_folder_that_is_none_or_damaged_is_not_uploaded() {
    let site = Site::new();
    let there = Registry::open();
    let to = format!("{}/mirror/ocp", there.address());
    site.plain(&["mirror", "--from-dir", "nothing", "--to", &to]).expect(1).says("error[workdir-unusable]");
    site.plain(&["mirror", &site.tag(), "--to-dir", "usb"]).expect(0);
    let blob = site.path("usb/blobs/sha256").join(site.world.release.layer(2).hex());
    let length = fs_err::metadata(&blob).unwrap().len() as usize;
    fs_err::remove_file(&blob).unwrap();
    fs_err::write(&blob, vec![b'x'; length]).unwrap();
    site.plain(&["mirror", "--from-dir", "usb", "--to", &to]).expect(1).says("error[image-damaged]");
}

#[test]
fn where_to_and_where_from_must_be_said_once() {
    let site = Site::new();
    for args in [
        &["mirror", "a.example/b:1"][..],
        &["mirror", "--to", "a.example/b"],
        &["mirror", "a.example/b:1", "--to", "a.example/b", "--to-dir", "x"],
        &["mirror", "a.example/b:1", "--from-dir", "x", "--to", "a.example/b"],
        &["mirror", "--from-dir", "x", "--to-dir", "y"],
        &["mirror", "a.example/b:1", "--to", "a.example/b:tag"],
    ] {
        site.run(args).expect(2);
    }
}
