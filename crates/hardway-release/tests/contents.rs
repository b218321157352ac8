//! Info, extract and mirror of a release in a real registry.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use hardway_assets::release_payload::InclusionRules;
use hardway_base::Secret;
use hardway_release::{
    Contents, Credentials, Destination, FetchOptions, FetchedRelease, Mirrors, PullSpec, Silent, extract,
    extract_command, extract_file, info, mirror, mirror_some, mirrored_release, payload, read_folder,
    release_info, upload,
};

use crate::fixture::front::{Front, answer};
use crate::fixture::registry::{Registry, Setup};
use crate::fixture::token_server::TokenServer;
use crate::fixture::world::{MIXED, PROGRAM, TAG, get, world};
use crate::fixture::{blocking, options, run};

#[test]
fn info_tells_versions_and_images() {
    let world = world();
    let info = blocking(info(&world.registry.image(TAG), &world.options(), &Silent)).unwrap().unwrap();
    assert_eq!(
        (info.version.as_str(), info.architecture.as_str(), info.is_multi),
        ("4.18.99", "amd64", false)
    );
    assert_eq!(info.image.digest, Some(world.release.digest()));
    assert_eq!(info.upgrades, ["4.17.11"]);
    assert_eq!(info.metadata["url"], "https://access.redhat.com/errata/RHSA-2024:6122");
    assert_eq!(info.component_versions["kubernetes"].version, "1.31.5");
    assert_eq!(info.component_versions["machine-os"].display_name, "Red Hat Enterprise Linux CoreOS");
    assert_eq!(info.images.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["cli", "etcd"]);
    assert_eq!(info.manifests, 5);
    let json = info.to_json();
    assert_eq!(json["metadata"]["version"], "4.18.99");
    assert_eq!(json["displayVersions"]["kubernetes"]["Version"], "1.31.5");
    assert_eq!(json["references"]["kind"], "ImageStream");
}

#[test]
fn an_image_that_is_no_release_has_no_info() {
    let world = world();
    let image = world.registry.image(&format!("ocp/art-dev@{}", world.cli.digest()));
    let error = blocking(info(&image, &world.options(), &Silent)).unwrap().unwrap_err().to_string();
    assert!(error.contains("image-references: missing: not a release image"), "{error}");
}

#[test]
fn what_is_extracted_reads_back_as_the_same_payload() {
    let world = world();
    let release = world.fetched();
    let dir = tempfile::tempdir().unwrap();
    let extracted = extract(&release, &dir.path().join("release"), None).unwrap();
    assert!(extracted.excluded.is_empty());
    assert_eq!(read_folder(&dir.path().join("release")).unwrap(), payload(&release).unwrap());
    let error = extract(&release, &dir.path().join("release"), None).unwrap_err().to_string();
    assert!(error.contains("is not empty"), "{error}");
}

#[test]
fn included_leaves_out_what_the_cluster_does_not_get() {
    let world = world();
    let release = world.fetched();
    let rules = InclusionRules::of(&payload(&release).unwrap(), "");
    let dir = tempfile::tempdir().unwrap();
    let extracted = extract(&release, dir.path(), Some(&rules)).unwrap();
    let excluded: Vec<_> = extracted
        .excluded
        .iter()
        .map(|left| format!("{}: {}: {}", left.file, left.object, left.reason))
        .collect();
    assert_eq!(
        excluded,
        [
            "0000_10_config-operator_01_nodes-TechPreviewNoUpgrade.crd.yaml: CustomResourceDefinition nodes.config.openshift.io: \
             feature set Default, but it is for TechPreviewNoUpgrade",
            "0000_50_cluster-config-api_featureGate-SelfManagedHA-Default.yaml: FeatureGate cluster: \
             include.release.openshift.io/self-managed-high-availability=false-except-for-the-config-operator",
            "0000_50_mixed.yaml: ConfigMap hosted: not for profile self-managed-high-availability",
        ]
    );
    let mixed = std::fs::read_to_string(dir.path().join("0000_50_mixed.yaml")).unwrap();
    assert!(mixed.contains("name: kept") && !mixed.contains("name: hosted"), "{mixed}");
    assert!(dir.path().join("image-references").exists());
    assert!(!dir.path().join("0000_10_config-operator_01_nodes-TechPreviewNoUpgrade.crd.yaml").exists());
}

#[test]
fn one_file_is_given_as_it_is() {
    let release = world().fetched();
    assert_eq!(extract_file(&release, "0000_50_mixed.yaml").unwrap(), MIXED.as_bytes());
    let error = extract_file(&release, "mixed.yaml").unwrap_err().to_string();
    assert_eq!(error, "the release has no file \"mixed.yaml\"; near: 0000_50_mixed.yaml");
}

#[test]
fn a_program_comes_out_through_its_links() {
    let world = world();
    let info = release_info(&world.fetched()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path =
        blocking(extract_command(&info, "oc", dir.path(), &world.options(), &Silent)).unwrap().unwrap();
    let program = std::fs::read_to_string(&path).unwrap();
    assert!(program.starts_with("program4.18.99\0") && program.len() == PROGRAM.len(), "{program:?}");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o755);
    let fails = |name: &str| {
        blocking(extract_command(&info, name, dir.path(), &world.options(), &Silent))
            .unwrap()
            .unwrap_err()
            .to_string()
    };
    assert!(
        fails("kubectl")
            .starts_with("releases have no program \"kubectl\"; choose one of oc, openshift-install"),
        "{}",
        fails("kubectl")
    );
    assert!(
        fails("ccoctl").starts_with("the release has no image named \"cloud-credential-operator\""),
        "{}",
        fails("ccoctl")
    );
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing half-written is left");
}

/// Options for a world in which only the mirror is there, and an empty cache.
fn only_the_mirror(
    mirrored: &hardway_release::Mirrored,
    there: &Registry,
    cache: &tempfile::TempDir,
) -> FetchOptions {
    let mut options = options(cache.path(), there);
    options.mirrors = Mirrors::new(&mirrored.image_digest_sources).unwrap();
    options
}

#[test]
fn a_mirror_serves_when_the_source_is_gone() {
    let world = world();
    let there = Registry::open();
    let mut options = world.options();
    options.connection.plain_http.push(there.address());
    let to = PullSpec::repository(&format!("{}/mirror/ocp", there.address())).unwrap();
    let release = world.fetched();
    let copy = || {
        blocking(mirror(&release, &Destination::Repository(to.clone()), &options, &Silent)).unwrap().unwrap()
    };
    let first = copy();
    assert_eq!((first.images, first.copied), (3, 3));
    let sources: Vec<_> =
        first.image_digest_sources.iter().map(|s| (s.source.clone(), s.mirrors.clone())).collect();
    let source = |name: &str| (format!("{}/ocp/{name}", world.registry.address()), vec![to.name()]);
    assert_eq!(sources, [source("art-dev"), source("release")]);
    assert_eq!(copy().copied, 0, "all is there already");

    let signature = there.image(&format!("mirror/ocp:sha256-{}.sig", world.cli.digest().hex()));
    run(Command::new("skopeo").args([
        "inspect",
        "--raw",
        "--tls-verify=false",
        &format!("docker://{signature}"),
    ]));

    let (image, expected) = (release.image.clone(), payload(&release).unwrap());
    let info = release_info(&release).unwrap();
    drop(world);
    let cache = tempfile::tempdir().unwrap();
    let options = only_the_mirror(&first, &there, &cache);
    assert_eq!(payload(&get(&image, &options)).unwrap(), expected);
    let dir = tempfile::tempdir().unwrap();
    let oc = blocking(extract_command(&info, "oc", dir.path(), &options, &Silent)).unwrap().unwrap();
    assert_eq!(std::fs::read(oc).unwrap().len(), PROGRAM.len());
}

#[test]
fn a_mirror_that_broke_off_goes_on() {
    let world = world();
    let there = Registry::open();
    // The disk over there is full once the first manifests are in.
    let left = AtomicU32::new(2);
    let one_less = |left: u32| left.checked_sub(1);
    let front = Front::before(there.port, move |head| {
        let is_refused = head.starts_with("PUT")
            && head.contains("/manifests/")
            && left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_err();
        if is_refused { answer("507 Insufficient Storage", "", "full") } else { None }
    });
    let release = world.fetched();
    let copy = |port: u16| {
        let to = PullSpec::repository(&format!("127.0.0.1:{port}/mirror/ocp")).unwrap();
        let mut options = world.options();
        options.connection.plain_http.push(to.registry());
        blocking(mirror(&release, &Destination::Repository(to), &options, &Silent)).unwrap()
    };
    let error = copy(front.port).unwrap_err().to_string();
    assert!(error.ends_with("answered 507 (full)"), "{error}");
    let rest = copy(there.port).unwrap();
    assert!(rest.images == 3 && (1..3).contains(&rest.copied), "{rest:?}");
    let cache = tempfile::tempdir().unwrap();
    let image = release.image.clone();
    let expected = payload(&release).unwrap();
    drop(world);
    assert_eq!(payload(&get(&image, &only_the_mirror(&rest, &there, &cache))).unwrap(), expected);
}

#[test]
fn a_mirror_is_pushed_with_tokens_too() {
    let world = world();
    let tokens = TokenServer::start();
    for auth in [r#"{"username": "user", "password": "secret"}"#, r#"{"identitytoken": "identity"}"#] {
        let there = Registry::start(Setup { token: Some(tokens.config()), ..Setup::default() });
        let mut options = world.options();
        options.connection.plain_http.push(there.address());
        let config = format!(r#"{{"auths": {{"{}": {auth}}}}}"#, there.address());
        options.connection.credentials = Credentials::read(&Secret::new(config)).unwrap();
        let to = Destination::Repository(
            PullSpec::repository(&format!("{}/mirror/ocp", there.address())).unwrap(),
        );
        let mirrored = blocking(mirror(&world.fetched(), &to, &options, &Silent)).unwrap().unwrap();
        assert_eq!(mirrored.copied, 3, "{auth}");
    }
}

#[test]
fn a_mirror_needs_the_right_to_push() {
    let world = world();
    let there = Registry::start(Setup { password: Some("user:secret"), ..Setup::default() });
    let mut options = world.options();
    options.connection.plain_http.push(there.address());
    let to =
        Destination::Repository(PullSpec::repository(&format!("{}/mirror/ocp", there.address())).unwrap());
    let error = blocking(mirror(&world.fetched(), &to, &options, &Silent)).unwrap().unwrap_err().to_string();
    assert!(error.contains("401 Unauthorized"), "{error}");
}

/// Of a release of gigabytes, what somebody needs; the release itself is always there, and tells the rest apart.
#[test]
fn some_components_are_copied_with_the_release() {
    let world = world();
    let dir = tempfile::tempdir().unwrap();
    let (to, wanted) =
        (Destination::Folder(dir.path().to_owned()), ["cli".to_owned(), "no-such".to_owned()].into());
    let copied =
        blocking(mirror_some(&world.fetched(), &wanted, &to, &world.options(), &Silent)).unwrap().unwrap();
    assert_eq!((copied.images, copied.copied), (2, 2));
    let (tag, digest) = mirrored_release(dir.path()).unwrap();
    assert_eq!((tag.as_str(), digest), ("4.18.99-x86_64", world.release.digest()));
    let index = fs_err::read_to_string(dir.path().join("index.json")).unwrap();
    assert!(index.contains("4.18.99-x86_64-cli") && !index.contains("4.18.99-x86_64-etcd"), "{index}");
}

#[test]
fn a_folder_carries_a_release_to_another_place() {
    let world = world();
    let (dir, release) = (tempfile::tempdir().unwrap(), world.fetched());
    let folder = dir.path().join("release");
    let to = Destination::Folder(folder.clone());
    let copy = || blocking(mirror(&release, &to, &world.options(), &Silent)).unwrap().unwrap();
    assert_eq!((copy().copied, copy().copied), (3, 0));
    let listed = run(
        Command::new("skopeo").args(["inspect", &format!("oci:{}:4.18.99-x86_64-cli", folder.display())])
    );
    assert!(String::from_utf8(listed).unwrap().contains(&world.cli.layer(0).to_string()));

    let (image, expected) = (release.image.clone(), payload(&release).unwrap());
    drop(world);
    let there = Registry::open();
    let cache = tempfile::tempdir().unwrap();
    let place = PullSpec::repository(&format!("{}/mirror/ocp", there.address())).unwrap();
    let uploaded =
        blocking(upload(&folder, &place, &options(cache.path(), &there), &Silent)).unwrap().unwrap();
    // The signature counts as an image here.
    assert_eq!((uploaded.images, uploaded.copied), (4, 4));
    let options = only_the_mirror(&uploaded, &there, &cache);
    assert_eq!(payload(&get(&image, &options)).unwrap(), expected);
}

#[test]
fn a_folder_with_a_damaged_blob_is_not_uploaded() {
    let world = world();
    let dir = tempfile::tempdir().unwrap();
    let release = FetchedRelease { ..world.fetched() };
    blocking(mirror(&release, &Destination::Folder(dir.path().to_owned()), &world.options(), &Silent))
        .unwrap()
        .unwrap();
    let blob = dir.path().join("blobs/sha256").join(world.cli.layer(1).hex());
    std::fs::remove_file(&blob).unwrap();
    std::fs::write(&blob, "damaged").unwrap();
    let there = Registry::open();
    let place = PullSpec::repository(&format!("{}/mirror/ocp", there.address())).unwrap();
    let error = blocking(upload(dir.path(), &place, &options(world.cache.path(), &there), &Silent))
        .unwrap()
        .unwrap_err()
        .to_string();
    assert!(error.contains("is damaged"), "{error}");
}

#[test]
fn skopeo_reads_what_the_fixture_builds() {
    let world = world();
    let image = format!("docker://{}", world.registry.image(TAG));
    let output = run(Command::new("skopeo").args(["inspect", "--tls-verify=false", &image]));
    let json: serde_json::Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(json["Digest"], world.release.digest().to_string());
    let mut only = world.options();
    only.contents = Contents::Manifests;
    assert_eq!(get(&world.registry.image(TAG), &only).digest, world.release.digest());
}
