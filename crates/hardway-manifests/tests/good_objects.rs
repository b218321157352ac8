//! Nothing that installers make is refused: neither what openshift-install 4.18 writes, nor what is generated here.

use std::path::Path;
use std::time::Instant;

use fs_err as fs;
use hardway_assets::release_payload::sample;
use hardway_assets::work_paths::MANIFEST_FOLDERS;
use hardway_assets::{Tree, yaml};
use hardway_manifests::{Findings, Kinds, ManifestFile};
use serde_json::Value;

use crate::real_data;

#[test]
fn what_openshift_install_makes_is_taken() {
    let Some(file) = hardway_testing::real_data("openshift-install-4.18-prod1.json") else { return };
    let made: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let texts: Vec<(String, String)> = made["manifests"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, objects)| {
            objects.as_array().unwrap().iter().map(move |object| (path.clone(), unmasked(object).to_string()))
        })
        .collect();
    let files: Vec<ManifestFile<'_>> =
        texts.iter().map(|(path, text)| ManifestFile { path, bytes: text.as_bytes() }).collect();
    let findings = Findings::of(&files, &mut kinds(real_data::objects("crds-4.18").iter()));
    assert_nothing(&findings, "openshift-install");
    assert_eq!(findings.unchecked, [], "every kind of it has a CRD");
    assert_eq!(findings.judged, files.len());
}

#[test]
fn what_is_generated_here_is_taken() {
    let real = real_data::objects("crds-4.18");
    let sample_crds: Vec<Value> =
        sample().crds.iter().map(|crd| yaml::read(&crd.text).unwrap().to_json()).collect();
    let mut count = 0;
    for (name, tree) in trees() {
        let files: Vec<ManifestFile<'_>> = MANIFEST_FOLDERS
            .iter()
            .flat_map(|folder| tree.folder(folder))
            .filter(|(path, _)| path.ends_with("yaml") || path.ends_with("yml"))
            .map(|(path, bytes)| ManifestFile { path, bytes })
            .collect();
        let began = Instant::now();
        // Those of other operators are in no folder of CRDs here; the sample's stand in for them.
        let findings = Findings::of(&files, &mut kinds(sample_crds.iter().chain(&real)));
        eprintln!(
            "{name}: {} objects judged in {:?}; {:?}",
            findings.judged,
            began.elapsed(),
            findings.unchecked_line()
        );
        assert_nothing(&findings, &name);
        assert!(findings.judged > 20, "{name}");
        count += 1;
    }
    assert!(count >= 7, "{count} scenarios");
}

fn assert_nothing(findings: &Findings, whose: &str) {
    let told: Vec<String> = findings
        .found
        .iter()
        .map(|finding| {
            format!("{}:{}: {} {}", finding.file, finding.line, finding.severity.word(), finding.mistake)
        })
        .collect();
    assert!(told.is_empty(), "{whose}:\n{}", told.join("\n"));
}

fn kinds<'c>(crds: impl Iterator<Item = &'c Value>) -> Kinds {
    let mut kinds = Kinds::of_kubernetes(31);
    crds.for_each(|crd| assert!(kinds.add(crd)));
    kinds
}

/// What is random was masked when it was written down.
fn unmasked(value: &Value) -> Value {
    match value {
        // An empty Ignition config, which is JSON too.
        Value::String(text) if text.starts_with("<b64") => {
            "eyJpZ25pdGlvbiI6eyJ2ZXJzaW9uIjoiMy4yLjAifX0=".into()
        }
        Value::String(text) if text == "<uuid>" => "123e4567-e89b-12d3-a456-426614174000".into(),
        Value::Array(items) => items.iter().map(unmasked).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), unmasked(value))).collect(),
        other => other.clone(),
    }
}

/// What every scenario of the golden tests gives. Those of most are kept as differences from the first, `ha`.
pub(crate) fn trees() -> Vec<(String, Tree)> {
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hardway-assets/tests/scenarios");
    let mut folders: Vec<_> = fs::read_dir(scenarios).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let overlaid = |folder: &Path, mut tree: Tree| {
        for below in MANIFEST_FOLDERS.map(|below| (below, folder.join("expected").join(below))) {
            for entry in fs::read_dir(&below.1).into_iter().flatten() {
                let entry = entry.unwrap();
                let path = format!("{}/{}", below.0, entry.file_name().to_str().unwrap());
                tree.insert(path, with_keys(&fs::read_to_string(entry.path()).unwrap()));
            }
        }
        tree
    };
    let base = folders.iter().find(|folder| folder.ends_with("ha")).unwrap();
    let base = overlaid(base, Tree::default());
    let name = |folder: &Path| folder.file_name().unwrap().to_str().unwrap().to_owned();
    folders.iter().map(|folder| (name(folder), overlaid(folder, base.clone()))).collect()
}

/// Keys are not kept in goldens: their names stand in their place.
fn with_keys(text: &str) -> String {
    let line = |line: &str| match line.split_once(": <secrets/") {
        Some((name, _)) => format!("{name}: a2V5\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}
