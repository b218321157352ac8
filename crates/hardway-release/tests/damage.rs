//! Content that is damaged, hostile or cut off, in the registry, on the way and in the cache.

use std::sync::atomic::Ordering;

use hardway_release::{Contents, Digest, PullSpec, RegistryError};

use crate::fixture::cutter::Cutter;
use crate::fixture::fetching::{failure, get};
use crate::fixture::image::{Family, Image, Layer, Packing};
use crate::fixture::options;
use crate::fixture::registry::{REPOSITORY, with_release as world};

#[test]
fn a_corrupted_blob_is_refused() {
    let (registry, image, cache) = world();
    let file = registry.blob_file(&image.layer(2));
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    let (text, fix) =
        failure(&registry.image("ocp/release:4.18.99-x86_64"), &options(cache.path(), &registry));
    let (expected, found) = (image.layer(2), Digest::of(&bytes));
    assert_eq!(
        text,
        format!(
            "blob {expected} of 127.0.0.1/ocp/release is damaged: its bytes have the digest {found}, not {expected}"
        )
    );
    assert!(fix.contains("damaged content"), "{fix}");
}

#[test]
fn a_truncated_layer_is_told_with_its_sizes() {
    let (registry, image, cache) = world();
    let file = registry.blob_file(&image.layer(2));
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..300]).unwrap();
    let (text, _) = failure(&registry.image("ocp/release:4.18.99-x86_64"), &options(cache.path(), &registry));
    let layer = image.layer(2);
    assert_eq!(
        text,
        format!("blob {layer} of 127.0.0.1/ocp/release is truncated: 300 of {} bytes", bytes.len())
    );
}

#[test]
fn a_lost_blob_is_told() {
    let (registry, image, cache) = world();
    std::fs::remove_file(registry.blob_file(&image.layer(2))).unwrap();
    let (text, _) = failure(&registry.image("ocp/release:4.18.99-x86_64"), &options(cache.path(), &registry));
    assert_eq!(text, format!("127.0.0.1/ocp/release does not have the blob {}", image.layer(2)));
}

#[test]
fn a_corrupted_manifest_is_refused() {
    let (registry, image, cache) = world();
    let file = registry.blob_file(&image.digest());
    let text = std::fs::read_to_string(&file).unwrap().replace("\"schemaVersion\":2", "\"schemaVersion\": 2");
    std::fs::write(&file, text).unwrap();
    let spec = registry.image(&format!("{REPOSITORY}@{}", image.digest()));
    let error = get(&spec, &options(cache.path(), &registry)).unwrap_err();
    // Debian's registry checks what it serves; others do not, and then it is ours to tell.
    assert!(
        matches!(
            error,
            RegistryError::DigestMismatch { .. }
                | RegistryError::Server { .. }
                | RegistryError::NoSuchDigest { .. }
        ),
        "{error:?}"
    );
}

#[test]
fn hostile_layers_are_refused() {
    let (registry, _, cache) = world();
    let options = options(cache.path(), &registry);
    let refused = |tag: &str, layer: Layer| {
        let image = Image::new(Family::Docker, "amd64", vec![layer.pack(Packing::Gzip)]);
        registry.pusher(REPOSITORY).image(&image, Some(tag));
        let (text, fix) = failure(&registry.image(&format!("ocp/release:{tag}")), &options);
        assert!(fix.contains("do not use this image"), "{fix}");
        text.replace(&image.layer(0).to_string(), "L")
    };
    assert_eq!(
        refused("traversal", Layer::new().file("release-manifests/../../etc/cron.d/x", "boo")),
        "layer L of 127.0.0.1/ocp/release: the layer has the path \"release-manifests/../../etc/cron.d/x\", which leads outside the image"
    );
    assert_eq!(
        refused("absolute", Layer::new().file("/etc/cron.d/x", "boo")),
        "layer L of 127.0.0.1/ocp/release: the layer has the path \"/etc/cron.d/x\", which leads outside the image"
    );
    assert_eq!(
        refused("link", Layer::new().link("release-manifests/image-references", "/etc/shadow")),
        "layer L of 127.0.0.1/ocp/release: in the layer, \"release-manifests/image-references\" is a link to \"/etc/shadow\"; only regular files are accepted there"
    );
    assert_eq!(
        refused("bomb", Layer::new().file("release-manifests/bomb.yaml", vec![0; 64 << 20])),
        "layer L of 127.0.0.1/ocp/release: the layer has more than 16777216 bytes in release-manifests/bomb.yaml, which no release has"
    );
}

#[test]
fn a_pull_cut_at_any_byte_goes_on_and_ends_the_same() {
    let (registry, image, _) = world();
    let cutter = Cutter::before(registry.port);
    let through: PullSpec = format!("127.0.0.1:{}/ocp/release:4.18.99-x86_64", cutter.port).parse().unwrap();
    let size = image.blobs[3].len() as u64;
    let expected = {
        let cache = tempfile::tempdir().unwrap();
        get(&registry.image("ocp/release:4.18.99-x86_64"), &options(cache.path(), &registry)).unwrap().files
    };
    let points = (0..size).step_by(97).chain([1, 2, size - 1, size]);
    for after in points {
        let cache = tempfile::tempdir().unwrap();
        let mut options = options(cache.path(), &registry);
        options.contents = Contents::Manifests;
        options.connection.plain_http.push(through.registry());
        // Not tried again: the run ends there, and the next one goes on.
        options.connection.retry.attempts = 1;
        cutter.cut(&image.layer(2).to_string(), after, 1);
        cutter.ranges.lock().unwrap().clear();
        let first = get(&through, &options);
        assert_eq!(first.is_err(), after < size, "cut after {after} of {size}");
        if let Err(error) = first {
            // The network is to blame, not the image.
            assert!(matches!(error, RegistryError::BrokeOff { .. }), "cut after {after}: {error:?}");
            assert!(error.fix().starts_with("try again later"), "{}", error.fix());
        }
        cutter.cut("", 0, 0);
        let release = get(&through, &options).unwrap();
        assert_eq!(release.files, expected, "cut after {after}");
        if after > 0 && after < size {
            let ranges = cutter.ranges.lock().unwrap().clone();
            assert!(ranges.contains(&format!("range: bytes={after}-")), "cut after {after}: {ranges:?}");
        }
    }
}

#[test]
fn many_cuts_in_one_run_are_overcome() {
    let (registry, image, cache) = world();
    let cutter = Cutter::before(registry.port);
    let through: PullSpec = format!("127.0.0.1:{}/ocp/release:4.18.99-x86_64", cutter.port).parse().unwrap();
    let mut options = options(cache.path(), &registry);
    options.connection.plain_http.push(through.registry());
    cutter.cut("", 50, 1000);
    let release = get(&through, &options).unwrap();
    assert_eq!(release.digest, image.digest());
    assert!(cutter.ranges.lock().unwrap().len() > 10);
    let total: usize = [0, 2, 3].iter().map(|i| image.blobs[*i].len()).sum();
    assert_eq!(cutter.passed.load(Ordering::SeqCst), total as u64, "no byte came twice");
}

#[test]
fn a_damaged_cache_is_noticed() {
    let (registry, image, cache) = world();
    let options = options(cache.path(), &registry);
    let spec = registry.image("ocp/release:4.18.99-x86_64");
    let first = get(&spec, &options).unwrap();
    std::fs::write(options.cache.path(&image.layer(2)), "garbage").unwrap();
    assert_eq!(get(&spec, &options).unwrap().files, first.files);
    // A beginning that is not of this blob.
    let path = options.cache.path(&image.layer(2));
    std::fs::remove_file(&path).unwrap();
    std::fs::write(path.with_extension("partial"), "garbage").unwrap();
    assert_eq!(get(&spec, &options).unwrap().files, first.files);
}

#[test]
fn two_processes_may_fetch_at_once() {
    let (registry, image, cache) = world();
    let options = options(cache.path(), &registry);
    let spec = registry.image("ocp/release:4.18.99-x86_64");
    std::thread::scope(|scope| {
        let fetches: Vec<_> = (0..6).map(|_| scope.spawn(|| get(&spec, &options).unwrap().digest)).collect();
        fetches.into_iter().for_each(|fetch| assert_eq!(fetch.join().unwrap(), image.digest()));
    });
}
