//! Fetching releases from a real registry: what works, and each error in its own words.

use std::sync::atomic::Ordering;

use hardway_assets::install_config::ImageSource;
use hardway_base::Secret;
use hardway_release::{
    Contents, Credentials, Digest, FetchOptions, Mirrors, PullSpec, RegistryError, payload,
};
use hardway_testing::free_port;

use crate::fixture::cutter::Cutter;
use crate::fixture::fetching::{failure, get};
use crate::fixture::image::{Family, Image, Layer, Packing, list};
use crate::fixture::options;
use crate::fixture::registry::{REPOSITORY, Registry, Setup, with_release as world};
use crate::fixture::release::{ReleaseImage, own_manifests};
use crate::fixture::token_server::TokenServer;

fn with_login(mut options: FetchOptions, registry: &Registry, auth: &serde_json::Value) -> FetchOptions {
    let config = serde_json::json!({"auths": {registry.address(): auth}});
    options.connection.credentials = Credentials::read(&Secret::new(config.to_string())).unwrap();
    options
}

fn login(text: &str) -> serde_json::Value {
    use base64::Engine as _;
    serde_json::json!({"auth": base64::engine::general_purpose::STANDARD.encode(text)})
}

#[test]
fn a_release_by_tag_and_by_digest_makes_the_same_payload() {
    let (registry, image, cache) = world();
    let options = options(cache.path(), &registry);
    let by_tag = get(&registry.image("ocp/release:4.18.99-x86_64"), &options).unwrap();
    let by_digest = get(&registry.image(&format!("{REPOSITORY}@{}", image.digest())), &options).unwrap();
    assert_eq!(by_tag.image.digest, Some(image.digest()));
    assert_eq!((by_tag.list_digest.clone(), by_tag.digest.clone()), (None, image.digest()));
    assert_eq!((by_tag.architecture.as_str(), by_tag.os.as_str()), ("amd64", "linux"));
    assert!(by_tag.boot_images().unwrap().contains("rhcos-4.18"));
    let read = payload(&by_tag).unwrap();
    assert_eq!(read, payload(&by_digest).unwrap());
    assert_eq!(read.version, "4.18.99");
    let crds: Vec<_> = read.crds_for("").iter().map(|crd| crd.head().unwrap().name).collect();
    assert_eq!(
        crds,
        [
            "clusteroperators.config.openshift.io",
            "clusterversions.config.openshift.io",
            "dnses.config.openshift.io"
        ],
        "the one that a whiteout deletes does not exist"
    );
    assert_eq!(read.feature_gates[""].enabled, ["KMSv1"]);
}

#[test]
fn only_the_last_layer_is_fetched_for_manifests() {
    let registry = Registry::open();
    let image = ReleaseImage { ballast: 3_000_000, ..ReleaseImage::default() }.build();
    registry.pusher(REPOSITORY).image(&image, Some("a"));
    let cutter = Cutter::before(registry.port);
    let cache = tempfile::tempdir().unwrap();
    let mut options = options(cache.path(), &registry);
    let through: PullSpec = format!("127.0.0.1:{}/ocp/release:a", cutter.port).parse().unwrap();
    options.connection.plain_http.push(through.registry());
    options.contents = Contents::Manifests;
    let release = get(&through, &options).unwrap();
    assert!(release.own_manifests.is_empty() && release.files.len() == 6);
    let wanted = image.blobs[0].len() + image.blobs[3].len();
    assert_eq!(cutter.passed.load(Ordering::SeqCst), wanted as u64);
}

#[test]
fn zstd_oci_and_plain_layers_read_alike() {
    let registry = Registry::open();
    let cache = tempfile::tempdir().unwrap();
    for (tag, family, packing) in [
        ("zstd", Family::Oci, Packing::Zstd),
        ("plain", Family::Oci, Packing::Plain),
        ("gzip", Family::Docker, Packing::Gzip),
    ] {
        let image = ReleaseImage { family, packing, ..ReleaseImage::default() }.build();
        registry.pusher(REPOSITORY).image(&image, Some(tag));
        let release =
            get(&registry.image(&format!("ocp/release:{tag}")), &options(cache.path(), &registry)).unwrap();
        assert_eq!(payload(&release).unwrap().crds.len(), 4, "{tag}");
    }
}

#[test]
fn references_below_the_last_layer_are_found() {
    let registry = Registry::open();
    let release = ReleaseImage::default();
    let layers = vec![release.last(), own_manifests(), Layer::new().file("etc/motd", "hello")];
    let layers = layers.into_iter().map(|layer| layer.pack(Packing::Gzip)).collect();
    registry.pusher(REPOSITORY).image(&Image::new(Family::Docker, "amd64", layers), Some("a"));
    let cache = tempfile::tempdir().unwrap();
    let release = get(&registry.image("ocp/release:a"), &options(cache.path(), &registry)).unwrap();
    assert_eq!(payload(&release).unwrap().crds.len(), 4);
}

#[test]
fn of_a_list_the_architecture_asked_for_is_taken_and_the_list_is_named() {
    let registry = Registry::open();
    let build =
        |architecture| ReleaseImage { architecture, is_multi: true, ..ReleaseImage::default() }.build();
    let (amd, arm) = (build("amd64"), build("arm64"));
    let pusher = registry.pusher(REPOSITORY);
    [&amd, &arm].iter().for_each(|image| pusher.image(image, None));
    let (bytes, media_type) = list(&[&amd, &arm]);
    pusher.manifest(&bytes, media_type, Some("4.18.99-multi"));
    let cache = tempfile::tempdir().unwrap();
    let mut options = options(cache.path(), &registry);
    let image = registry.image("ocp/release:4.18.99-multi");
    for (architecture, expected) in [("arm64", &arm), ("amd64", &amd)] {
        options.architecture = architecture.to_owned();
        let release = get(&image, &options).unwrap();
        assert_eq!(
            (release.digest.clone(), release.architecture.as_str()),
            (expected.digest(), architecture)
        );
        assert_eq!(release.list_digest, Some(Digest::of(&bytes)));
        let payload = payload(&release).unwrap();
        assert_eq!(payload.architecture, "multi");
        assert!(payload.image.ends_with(&Digest::of(&bytes).to_string()));
    }
    options.architecture = "s390x".to_owned();
    let (text, fix) = failure(&image, &options);
    assert_eq!(
        text,
        "127.0.0.1/ocp/release:4.18.99-multi is not built for linux/s390x; it is for linux/amd64, linux/arm64"
    );
    assert!(fix.starts_with("choose one of those"), "{fix}");
}

#[test]
fn missing_tags_repositories_and_digests_are_told_apart() {
    let (registry, _, cache) = world();
    let options = options(cache.path(), &registry);
    let text = |rest: &str| failure(&registry.image(rest), &options).0;
    assert_eq!(
        text("ocp/release:4.18.98"),
        "127.0.0.1/ocp/release:4.18.98: no such tag; near: 4.18.99-x86_64"
    );
    assert_eq!(
        text("ocp/nothing:1"),
        "127.0.0.1/ocp/nothing:1: the registry has no repository \"ocp/nothing\""
    );
    let digest = format!("sha256:{}", "b".repeat(64));
    assert_eq!(
        text(&format!("ocp/release@{digest}")),
        format!("127.0.0.1/ocp/release@{digest}: the repository has no image with this digest")
    );
}

#[test]
fn tls_needs_a_trusted_ca() {
    let (open, image, cache) = world();
    let registry = Registry::same_as(&open, Setup { is_tls: true, ..Setup::default() });
    let mut options = options(cache.path(), &registry);
    let (text, fix) = failure(&registry.image("ocp/release:4.18.99-x86_64"), &options);
    assert_eq!(text, "the certificate of 127.0.0.1 is signed by a CA that is not trusted here");
    assert!(fix.contains("additionalTrustBundle"), "{fix}");
    options.connection.trust_bundle = format!("# ours\n{}", registry.ca);
    let release = get(&registry.image("ocp/release:4.18.99-x86_64"), &options).unwrap();
    assert_eq!(release.digest, image.digest());
}

#[test]
fn a_certificate_for_another_name_is_told() {
    let open = Registry::open();
    let registry = Registry::same_as(&open, Setup { is_tls: true, ..Setup::default() });
    let cache = tempfile::tempdir().unwrap();
    let mut options = options(cache.path(), &registry);
    options.connection.trust_bundle = registry.ca.clone();
    let image: PullSpec = format!("localhost:{}/ocp/release:1", registry.port).parse().unwrap();
    let (text, _) = failure(&image, &options);
    assert!(text.starts_with("the certificate of localhost is not valid: "), "{text}");
}

#[test]
fn plain_http_is_only_spoken_when_asked_for() {
    let (registry, _, cache) = world();
    let mut options = options(cache.path(), &registry);
    options.connection.plain_http.clear();
    let (text, fix) = failure(&registry.image("ocp/release:4.18.99-x86_64"), &options);
    assert_eq!(text, "127.0.0.1 does not use TLS");
    assert!(fix.contains("plain HTTP"), "{fix}");
}

#[test]
fn basic_authentication() {
    let (open, image, cache) = world();
    let registry = Registry::same_as(&open, Setup { password: Some("user:secret"), ..Setup::default() });
    let options = options(cache.path(), &registry);
    let spec = registry.image("ocp/release:4.18.99-x86_64");
    let (text, fix) = failure(&spec, &options);
    assert_eq!(
        text,
        "127.0.0.1 requires a login for ocp/release (asked without credentials): 401 Unauthorized"
    );
    assert_eq!(fix, "add an entry for 127.0.0.1 to the pull secret");
    let (text, fix) = failure(&spec, &with_login(options.clone(), &registry, &login("user:old")));
    assert_eq!(
        text,
        "127.0.0.1 requires a login for ocp/release (user \"user\" of the pull secret's entry \"127.0.0.1\"): 401 Unauthorized"
    );
    assert!(fix.contains("is wrong or has expired"), "{fix}");
    let release = get(&spec, &with_login(options, &registry, &login("user:secret"))).unwrap();
    assert_eq!(release.digest, image.digest());
}

#[test]
fn token_authentication() {
    let (open, image, cache) = world();
    let tokens = TokenServer::start();
    let registry = Registry::same_as(&open, Setup { token: Some(tokens.config()), ..Setup::default() });
    let options = options(cache.path(), &registry);
    let spec = registry.image("ocp/release:4.18.99-x86_64");
    let (text, _) = failure(&spec, &options);
    assert!(text.contains("(asked without credentials): 401 Unauthorized"), "{text}");
    let (text, fix) = failure(&spec, &with_login(options.clone(), &registry, &login("user:old")));
    assert!(text.contains("401 Unauthorized ({\"details\":\"incorrect username or password\"})"), "{text}");
    assert!(fix.contains("is wrong or has expired"), "{fix}");
    assert!(!text.contains("old"), "{text}");
    let release = get(&spec, &with_login(options.clone(), &registry, &login("user:secret"))).unwrap();
    assert_eq!(release.digest, image.digest());
    let asked = tokens.requests.lock().unwrap().join("\n");
    assert!(asked.contains("scope=repository%3Aocp%2Frelease%3Apull&service=test-registry"), "{asked}");
    let fresh = tempfile::tempdir().unwrap();
    let again = FetchOptions { cache: hardway_release::BlobCache::at(fresh.path()), ..options };
    let identity = serde_json::json!({"identitytoken": "identity"});
    assert_eq!(get(&spec, &with_login(again.clone(), &registry, &identity)).unwrap().digest, image.digest());
    let (text, _) =
        failure(&spec, &with_login(again, &registry, &serde_json::json!({"identitytoken": "expired"})));
    assert!(text.contains("401 Unauthorized"), "{text}");
}

#[test]
fn nobody_there_is_told_after_some_tries() {
    let (registry, _, cache) = world();
    let image: PullSpec = format!("127.0.0.1:{}/a/b:1", free_port()).parse().unwrap();
    let (text, fix) = failure(&image, &options(cache.path(), &registry));
    assert!(text.starts_with("127.0.0.1 cannot be reached: "), "{text}");
    assert!(fix.contains("proxy"), "{fix}");
}

#[test]
fn image_references_of_another_version_are_a_fault() {
    let (registry, _, cache) = world();
    let image = ReleaseImage { name: Some("4.18.98".to_owned()), ..ReleaseImage::default() }.build();
    registry.pusher(REPOSITORY).image(&image, Some("odd"));
    let release = get(&registry.image("ocp/release:odd"), &options(cache.path(), &registry)).unwrap();
    let error = payload(&release).unwrap_err().to_string();
    assert!(
        error.contains(
            "image-references: metadata.name is \"4.18.98\", expected 4.18.99 as in release-metadata"
        ),
        "{error}"
    );
}

#[test]
fn an_image_that_is_no_release_is_told_in_full() {
    let (registry, _, cache) = world();
    let layer = Layer::new().file("usr/bin/oc", "program").pack(Packing::Gzip);
    registry.pusher(REPOSITORY).image(&Image::new(Family::Docker, "amd64", vec![layer]), Some("cli"));
    let release = get(&registry.image("ocp/release:cli"), &options(cache.path(), &registry)).unwrap();
    let error = payload(&release).unwrap_err();
    let files: Vec<_> = error.faults.iter().map(|fault| fault.file.as_str()).collect();
    assert!(files.starts_with(&["image-references", "release-metadata"]), "{files:?}");
}

#[test]
fn what_is_in_the_cache_needs_no_registry() {
    let (registry, image, cache) = world();
    let options = options(cache.path(), &registry);
    let spec = registry.image(&format!("{REPOSITORY}@{}", image.digest()));
    get(&spec, &options).unwrap();
    drop(registry);
    assert_eq!(get(&spec, &options).unwrap().digest, image.digest());
}

#[test]
fn mirrors_are_asked_first_and_the_source_never_if_so_said() {
    let (registry, image, cache) = world();
    let mut options = options(cache.path(), &registry);
    let source = ImageSource {
        source: "quay.io/openshift-release-dev/ocp-release".to_owned(),
        mirrors: vec![
            format!("127.0.0.1:{}/gone/release", free_port()),
            format!("{}/{REPOSITORY}", registry.address()),
        ],
        source_policy: "NeverContactSource".to_owned(),
    };
    options.mirrors = Mirrors::new([&source]).unwrap();
    let spec: PullSpec =
        format!("quay.io/openshift-release-dev/ocp-release@{}", image.digest()).parse().unwrap();
    let release = get(&spec, &options).unwrap();
    assert_eq!(release.image, spec, "the cluster is told the name everybody knows");
    assert_eq!(release.pulled_from.name(), format!("{}/{REPOSITORY}", registry.address()));
    let other: PullSpec = format!("{}@sha256:{}", spec.name(), "c".repeat(64)).parse().unwrap();
    let error = get(&other, &options).unwrap_err();
    let RegistryError::Nowhere { tried, .. } = &error else { panic!("{error:?}") };
    assert!(
        matches!(tried[0].1, RegistryError::Unreachable { .. })
            && matches!(tried[1].1, RegistryError::NoSuchDigest { .. }),
        "{error}"
    );
}
