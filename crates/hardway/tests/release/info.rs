//! What a release says about itself.

use serde_json::Value;

use super::site::Site;
use crate::fixture::image::{Family, Image, Layer, Packing};

#[test]
fn text_and_json_tell_the_same() {
    let site = Site::new();
    let ran = site.plain(&["info", &site.tag()]).expect(0);
    for line in [
        "version       4.18.99",
        &format!("image         {}", site.digest()),
        &format!("digest        {}", site.world.release.digest()),
        "created       2026-01-02T03:04:05Z",
        "architecture  linux/amd64",
        "manifests     5",
        "upgrades      4.17.11",
        "component     kubernetes 1.31.5",
        "component     machine-os 418.94.1 Red Hat Enterprise Linux CoreOS",
    ] {
        assert!(ran.stdout.lines().any(|there| there == line), "{line}\n{}", ran.stdout);
    }
    let cli = format!("cli   {}/ocp/art-dev@{}", site.world.registry.address(), site.world.cli.digest());
    assert!(ran.stdout.lines().any(|line| line == cli), "{}", ran.stdout);

    let json = site.plain(&["info", &site.tag(), "-o", "json"]).expect(0).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["metadata"]["version"], "4.18.99");
    assert_eq!(json["digest"], site.world.release.digest().to_string());
    assert_eq!(json["config"]["architecture"], "amd64");
    assert_eq!(json["displayVersions"]["kubernetes"]["Version"], "1.31.5");
    let yaml = site.plain(&["info", &site.tag(), "-o", "yaml"]).expect(0).stdout;
    assert!(yaml.contains("\n  version: \"4.18.99\"\n"), "{yaml}");
}

#[test]
fn only_the_last_layer_is_fetched_and_told_line_by_line() {
    let site = Site::new();
    let layer = |n: usize| site.world.release.layer(n).hex()[..12].to_owned();
    let said = site.plain(&["info", &site.tag()]).expect(0).stderr;
    assert!(said.contains(&layer(2)) && !said.contains(&layer(0)) && !said.contains(&layer(1)), "{said}");
    // The second time it is there.
    site.plain(&["info", &site.tag()]).expect(0).does_not_say(&layer(2));
    site.plain(&["info", &site.tag(), "--log-level", "debug"])
        .expect(0)
        .says(&format!("cached: {} ", layer(2)));
    site.forget();
    let quiet = site.plain(&["info", &site.digest(), "--log-level", "error"]).expect(0);
    assert_eq!(quiet.stderr, "");
}

#[test]
fn what_is_not_there_is_told_with_what_is() {
    let site = Site::new();
    let absent = site.tag().replace("4.18.99", "4.18.98");
    let ran = site.plain(&["info", &absent]).expect(1);
    assert_eq!(ran.stdout, "");
    ran.says("error[image-not-found]")
        .says("no such tag; near: 4.18.99-x86_64")
        .says("fix: check the pull spec");
    let other = site.world.registry.image("ocp/other:1").to_string();
    site.plain(&["info", &other])
        .expect(1)
        .says("error[image-not-found]")
        .says("no repository \"ocp/other\"");
    site.plain(&["info", "release:4.18"]).expect(2).says("error[usage]").says("it names no registry");
    site.plain(&["info"]).expect(2).says("required arguments were not provided");
}

#[test]
fn an_image_that_is_no_release_is_refused() {
    let site = Site::new();
    let layer = Layer::new().file("usr/bin/oc", "program").pack(Packing::Gzip);
    let image = Image::new(Family::Docker, "amd64", vec![layer]);
    site.world.registry.pusher("ocp/cli").image(&image, Some("1"));
    let spec = site.world.registry.image("ocp/cli:1").to_string();
    site.plain(&["info", &spec]).expect(1).says("error[release-unusable]").says("not a release image");
}

#[test]
fn a_damaged_layer_is_refused() {
    let site = Site::new();
    let digest = site.world.release.layer(2);
    let path = site.world.registry.blob_file(&digest);
    let length = fs_err::metadata(&path).unwrap().len() as usize;
    fs_err::write(&path, vec![b'x'; length]).unwrap();
    let ran = site.plain(&["info", &site.tag()]).expect(1);
    ran.says("error[image-damaged]").says(&format!("not {digest}"));
}
