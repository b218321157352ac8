//! Release folders, good and bad.

use std::path::{Path, PathBuf};

use hardway_assets::release_payload::{ReleasePayload, files, sample};
use hardway_release::render::Rendered;
use hardway_release::{FaultReason, read_folder, sample_notice};

/// Writes a release down and returns its folder.
fn written(payload: &ReleasePayload) -> (tempfile::TempDir, PathBuf) {
    let root = tempfile::tempdir().unwrap();
    let rendered = Rendered { configs: payload.rendered.clone() };
    for file in files(payload).into_iter().chain(rendered.files()) {
        put(root.path(), &file.path, &file.bytes);
    }
    let folder = root.path().join("release");
    (root, folder)
}

fn put(root: &Path, path: &str, bytes: &[u8]) {
    let path = root.join(path);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, bytes).unwrap();
}

fn edit(folder: &Path, path: &str, from: &str, to: &str) {
    let text = fs_err::read_to_string(folder.join(path)).unwrap();
    assert!(text.contains(from), "{path} has no {from:?}");
    put(folder, path, text.replace(from, to).as_bytes());
}

fn faults(folder: &Path) -> Vec<String> {
    read_folder(folder).unwrap_err().faults.iter().map(ToString::to_string).collect()
}

#[test]
fn what_is_written_down_reads_back() {
    let mut payload = sample();
    let (_root, folder) = written(&payload);
    assert_eq!(read_folder(&folder).unwrap(), payload);
    assert!(sample_notice(&payload).is_some());

    payload.is_sample = false;
    payload.architecture = "multi".to_owned();
    payload.rendered.clear();
    let (_root, folder) = written(&payload);
    assert_eq!(read_folder(&folder).unwrap(), payload);
    assert_eq!(sample_notice(&payload), None);
}

#[test]
fn an_empty_folder_is_told_everything_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        faults(folder.path()),
        [
            "image-references: missing: every release has it",
            "release-metadata: missing: every release has it",
            "release-image: missing: add the release's pull spec by digest",
            "clusterversions.config.openshift.io: missing: no manifest has this CRD; it is in /manifests of the \
             release image",
            "clusteroperators.config.openshift.io: missing: no manifest has this CRD; it is in /manifests of the \
             release image",
            "featureGate-SelfManagedHA-Default.yaml: missing: no manifest lists the gates of the default feature set",
        ]
    );
    let error = read_folder(&folder.path().join("nowhere")).unwrap_err();
    assert_eq!(error.faults[0].to_string(), ".: cannot be read: entity not found");
    assert!(error.to_string().starts_with("the release folder "), "{error}");
}

#[test]
fn every_file_that_is_wrong_is_named() {
    let (_root, folder) = written(&sample());
    edit(&folder, "image-references", "quay.io/hardway-sample/etcd@sha256:", "quay.io/hardway-sample/etcd:");
    edit(&folder, "release-metadata", "4.18.99", "4.17.99");
    put(&folder, "release-image", b"quay.io/hardway-sample/release:4.18\n");
    edit(&folder, "crds/0000_10_config-operator_01_dnses.crd.yaml", "scope: Cluster", "scope: [");
    put(&folder, "manifests/0000_50_x.yaml", b"\xff\xfe");
    edit(&folder, "rendered/master.yaml", "kind: MachineConfig", "kind: ConfigMap");
    let files: Vec<_> =
        read_folder(&folder).unwrap_err().faults.into_iter().map(|fault| fault.file).collect();
    assert_eq!(
        files,
        [
            "image-references".to_owned(),
            "release-metadata".to_owned(),
            "release-image".to_owned(),
            "manifests/0000_50_x.yaml".to_owned(),
            "crds/0000_10_config-operator_01_dnses.crd.yaml".to_owned(),
            "rendered/master.yaml".to_owned(),
        ]
    );
}

#[test]
fn nothing_missing_is_guessed() {
    let payload = sample();
    let (_root, folder) = written(&payload);
    fs_err::remove_file(folder.join("release-architecture")).unwrap();
    assert_eq!(
        faults(&folder),
        [
            "release-architecture: missing: release-metadata does not name it; add amd64, arm64, ppc64le or s390x"
        ]
    );
    put(&folder, "release-architecture", b"x86_64\n");
    assert_eq!(
        faults(&folder),
        ["release-architecture: the architecture is \"x86_64\", expected amd64, arm64, ppc64le, s390x"]
    );
    put(&folder, "release-architecture", b"amd64");
    edit(&folder, "image-references", "\"4.18.99\"", "\"4.18.98\"");
    assert_eq!(
        faults(&folder),
        ["image-references: metadata.name is \"4.18.98\", expected 4.18.99 as in release-metadata"]
    );
}

#[test]
fn the_pull_spec_is_there_and_by_digest() {
    let payload = sample();
    let (_root, folder) = written(&payload);
    put(&folder, "release-image", format!(" {}\n", payload.image).as_bytes());
    assert_eq!(read_folder(&folder).unwrap().image, payload.image);
    put(&folder, "release-image", b"quay.io/a/b:tag");
    let error = read_folder(&folder).unwrap_err();
    assert!(matches!(error.faults[0].reason, FaultReason::NotByDigest { .. }), "{error}");
    fs_err::remove_file(folder.join("release-image")).unwrap();
    let error = read_folder(&folder).unwrap_err();
    assert!(matches!(error.faults[0].reason, FaultReason::Missing(_)), "{error}");
}

#[test]
fn one_pool_has_one_config() {
    let (_root, folder) = written(&sample());
    let master = sample().rendered["master"].name.clone();
    let text = fs_err::read_to_string(folder.join("rendered/master.yaml")).unwrap();
    put(&folder, "rendered/second.yaml", text.as_bytes());
    assert!(read_folder(&folder).is_ok(), "the same one twice does no harm");
    let (start, _) = master.rsplit_once('-').unwrap();
    put(&folder, "rendered/second.yaml", text.replace(&master, &format!("{start}-{:032}", 1)).as_bytes());
    assert_eq!(
        faults(&folder),
        [format!(
            "rendered/second.yaml: the config of pool master is also in rendered/ as {master}, with different content"
        )]
    );
}

/// The real manifests of 4.18, where the machine has them (`HARDWAY_REAL_DATA`, or beside the repository).
#[test]
fn a_real_4_18_reads() {
    let Some(data) = hardway_testing::real_data("crds-4.18-all") else { return };
    let data = data.parent().unwrap().to_owned();
    let mut payload = sample();
    payload.crds.clear();
    payload.feature_gates.clear();
    let (_root, folder) = written(&payload);
    let mut texts = std::collections::BTreeMap::new();
    for (from, prefix) in [("crds-4.18-all", ""), ("crds-4.18", "crds/"), ("featuregates-4.18", "manifests/")]
    {
        for entry in fs_err::read_dir(data.join(from)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let bytes = fs_err::read(&path).unwrap();
            put(&folder, &format!("{prefix}{name}"), &bytes);
            texts.insert(name, bytes);
        }
    }
    let read = read_folder(&folder).unwrap();
    assert_eq!(read.crds.len(), 96);
    assert!(read.crds.iter().all(|crd| texts[&crd.file_name] == crd.text.as_bytes()));
    assert_eq!(read.crds_for("").len(), 44);
    let counts: Vec<_> =
        read.feature_gates.iter().map(|(set, g)| (set.as_str(), g.enabled.len(), g.disabled.len())).collect();
    assert_eq!(counts, [("", 33, 52), ("TechPreviewNoUpgrade", 78, 7)]);
    let ours = sample().feature_gates;
    assert!(
        read.feature_gates.iter().all(|(set, gates)| &ours[set] == gates),
        "the sample has the real gates"
    );
}
