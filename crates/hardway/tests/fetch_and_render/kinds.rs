//! Other releases and other clusters take the same way: several architectures, OKD, a single node.

use super::site::{REPOSITORY, Site, release, validate};
use crate::fixture::image::list;
use crate::fixture::release::ReleaseImage;

const SINGLE: &str = "../hardway-assets/tests/scenarios";

#[test]
fn a_release_of_several_architectures_is_named_by_its_list() {
    let Some(site) = Site::new() else { return };
    let image =
        |architecture| ReleaseImage { architecture, is_multi: true, ..release(site.containers) }.build();
    let (arm, amd) = (image("arm64"), image("amd64"));
    let pusher = site.registry.pusher(REPOSITORY);
    [&arm, &amd].iter().for_each(|image| pusher.image(image, None));
    let (list, media_type) = list(&[&arm, &amd]);
    pusher.manifest(&list, media_type, Some("4.18.99-multi"));
    site.name(&site.by_tag().replace("x86_64", "multi"));
    site.create(&[]).expect(0);
    let named = site.work.read("release/release-image");
    assert!(named.trim().ends_with(&hardway_release::Digest::of(&list).to_string()), "{named}");
    assert_eq!(site.work.read("release/release-architecture").trim(), "multi");
    site.assert_settled();
    validate(&site.work);
}

#[test]
fn okd_is_installed_the_same_way() {
    let version = "4.18.0-okd-scos.7";
    let Some(site) = Site::of(|release| {
        let images = release
            .images
            .iter()
            .map(|(name, image)| (name.replace("rhel-coreos", "stream-coreos"), image.clone()));
        ReleaseImage { images: images.collect(), version: version.to_owned(), ..release }
    }) else {
        return;
    };
    site.create(&[]).expect(0).says(&format!("release {version} is "));
    site.assert_settled();
    validate(&site.work);
}

#[test]
fn a_single_node_carries_its_own_config() {
    for (scenario, target) in
        [("single-node", "ignition-configs"), ("single-node-in-place", "single-node-ignition-config")]
    {
        let Some(site) = Site::new() else { return };
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(SINGLE).join(scenario);
        let read = |file: &str| fs_err::read_to_string(dir.join(file)).unwrap();
        site.work.write("install-config.yaml", read("install-config.yaml"));
        let image = format!("image: {}", site.by_tag());
        site.work.write("inventory.yaml", read("inventory.yaml").replace("image: sample", &image));
        site.run(&["create", target, "--plain-http"]).expect(0);
        validate(&site.work);
        assert_eq!(site.work.exists("bootstrap-in-place-for-live-iso.ign"), scenario.ends_with("in-place"));
        site.without_podman(&["create", target]).expect(0).says("0 files made");
    }
}
