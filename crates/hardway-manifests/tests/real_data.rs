//! What lies beside the repository: real CRDs, and what openshift-install 4.18 makes.

use fs_err as fs;
use hardway_assets::yaml;
use serde_json::Value;

/// Every object in the files of a folder, in the order of names.
pub(crate) fn objects(folder: &str) -> Vec<Value> {
    let Some(folder) = hardway_testing::real_data(folder) else { return Vec::new() };
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| yaml::read(&fs::read_to_string(file).unwrap()).unwrap().to_json()).collect()
}
