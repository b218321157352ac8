//! How long a real kube-apiserver takes for what is judged here: its start, the CRDs, and every object of a cluster.

use std::time::Instant;

use hardway_assets::work_paths::MANIFEST_FOLDERS;
use hardway_assets::yaml;
use serde_json::Value;

use super::server::ApiServer;
use crate::{good_objects, real_data};

/// `cargo xtask bench` runs it and reads the lines.
#[test]
#[ignore = "a measurement: see cargo xtask bench"]
fn bench_server() {
    let (_, tree) = good_objects::trees().into_iter().find(|(name, _)| name == "ha").unwrap();
    let files = MANIFEST_FOLDERS.iter().flat_map(|folder| tree.folder(folder));
    let texts = files.filter_map(|(_, bytes)| std::str::from_utf8(bytes).ok());
    let objects: Vec<Value> =
        texts.flat_map(|text| yaml::read_all(text).unwrap()).map(|node| node.to_json()).collect();
    let began = Instant::now();
    let server = ApiServer::with(&real_data::objects("crds-4.18"));
    eprintln!("server-start-seconds {:.2}", began.elapsed().as_secs_f64());
    let began = Instant::now();
    let answers = server.try_all(&objects);
    eprintln!("server-objects-seconds {:.2}", began.elapsed().as_secs_f64());
    eprintln!("server-objects {}", answers.len());
}
