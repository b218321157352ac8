//! Two hundred images in a registry that is twenty milliseconds away: one request for each, several at a time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hardway_release::node_images::{Depth, NamedImage, NodeRegistries, Search, WantedImage};
use hardway_release::{Connection, Digest, Proxy};
use serde_json::json;

use crate::fixture::blocking;
use crate::fixture::front::Front;
use crate::fixture::image::{Family, Image, Layer, Packing};
use crate::fixture::registry::Registry;

const IMAGES: usize = 200;
const AWAY: Duration = Duration::from_millis(20);
const SOURCE: &str = "quay.io/openshift-release-dev/ocp-v4.0-art-dev";

#[test]
fn one_head_for_each_image() {
    let registry = Registry::open();
    let pusher = registry.pusher("ocp/art-dev");
    let layers = |i: usize| vec![Layer::new().file("i", i.to_string()).pack(Packing::Gzip)];
    let digests: Vec<Digest> = (0..IMAGES)
        .map(|i| {
            let image = Image::new(Family::Oci, "amd64", layers(i % 4));
            // Manifests that differ, of blobs that do not: pushing blobs is what takes long.
            let mut manifest: serde_json::Value = serde_json::from_slice(&image.manifest).unwrap();
            manifest["annotations"] = json!({"number": i.to_string()});
            let manifest = manifest.to_string().into_bytes();
            if i < 4 {
                image.blobs.iter().for_each(|blob| pusher.blob(blob));
            }
            pusher.manifest(&manifest, image.media_type, None);
            Digest::of(&manifest)
        })
        .collect();
    let front = Front::before(registry.port, |_| {
        std::thread::sleep(AWAY);
        None
    });
    let mirror = format!("127.0.0.1:{}/ocp/art-dev", front.port);
    let mut registries = NodeRegistries::default();
    let set = json!({"kind": "ImageDigestMirrorSet", "spec": {"imageDigestMirrors": [
        {"source": SOURCE, "mirrors": [mirror], "mirrorSourcePolicy": "NeverContactSource"}]}});
    registries.add(&set, "manifests/mirrors.yaml", &|_| 1);
    let wanted = |digest: &Digest| WantedImage {
        image: format!("{SOURCE}@{digest}").parse::<NamedImage>().unwrap(),
        architectures: vec!["amd64".to_owned()],
        depth: Depth::There,
        is_signed: false,
    };
    let mut wanted: Vec<WantedImage> = digests.iter().map(wanted).collect();
    wanted.push(WantedImage {
        image: format!("{SOURCE}@{}", Digest::of(b"absent")).parse().unwrap(),
        ..wanted[0].clone()
    });
    let plain_http = vec![format!("127.0.0.1:{}", front.port)];
    let connection = Connection { proxy: Proxy::Direct, plain_http, ..Connection::default() };
    let search = Search::new(connection, BTreeMap::new());
    let last = AtomicUsize::new(0);
    let started = Instant::now();
    let conf = registries.conf();
    let sought = blocking(search.look(&wanted, &conf, &|done| last.store(done, Ordering::Relaxed))).unwrap();
    println!("{} images of a registry {AWAY:?} away took {:.1?}", wanted.len(), started.elapsed());
    let found: Vec<bool> = sought.iter().map(|sought| sought.as_ref().unwrap().is_found()).collect();
    assert_eq!(found.iter().filter(|found| **found).count(), IMAGES);
    assert_eq!(found.last(), Some(&false), "the one that is not there");
    assert_eq!(last.load(Ordering::Relaxed), IMAGES + 1, "whoever waits is told how far it is");
    let heads = front.seen().iter().filter(|head| head.starts_with("HEAD ")).count();
    assert_eq!(
        (heads, front.seen().len() - heads),
        (IMAGES + 1, 2),
        "beside that, one greeting and one to say who asks"
    );
}

#[test]
fn images_are_looked_for_through_the_proxy() {
    let registry = Registry::open();
    let image = Image::new(Family::Oci, "amd64", vec![Layer::new().file("i", "1").pack(Packing::Gzip)]);
    let pusher = registry.pusher("ocp/art-dev");
    image.blobs.iter().for_each(|blob| pusher.blob(blob));
    pusher.manifest(&image.manifest, image.media_type, None);
    let proxy = Front::before(registry.port, |_| None);
    // No such host: only the proxy finds it.
    let wanted = [WantedImage {
        image: format!("registry.invalid:5000/ocp/art-dev@{}", Digest::of(&image.manifest)).parse().unwrap(),
        architectures: vec!["amd64".to_owned()],
        depth: Depth::There,
        is_signed: false,
    }];
    let conf = NodeRegistries::default().conf();
    let found = |no_proxy: &str| {
        let http = format!("http://127.0.0.1:{}", proxy.port);
        let through = Proxy::Through { http, https: String::new(), no_proxy: no_proxy.to_owned() };
        let plain_http = vec!["registry.invalid:5000".to_owned()];
        let connection = Connection { proxy: through, plain_http, ..Connection::default() };
        let search = Search::new(connection, BTreeMap::new());
        let sought = blocking(search.look(&wanted, &conf, &|_| {})).unwrap();
        sought[0].as_ref().unwrap().is_found()
    };
    assert!(found("127.0.0.1"));
    let head =
        format!("HEAD http://registry.invalid:5000/v2/ocp/art-dev/manifests/{}", Digest::of(&image.manifest));
    assert!(proxy.seen().iter().any(|line| line.starts_with(&head)), "{:?}", proxy.seen());
    assert!(!found(".invalid"), "a registry that is excepted is asked directly");
}
