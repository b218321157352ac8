//! The bootstrap host's file system, laid out below a folder from `bootstrap.ign`, as Ignition would.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use serde_json::Value;

pub(crate) struct Host {
    pub(crate) root: PathBuf,
}

impl Host {
    pub(crate) fn from_ignition(config: &[u8], root: &Path) -> Self {
        let config: Value = serde_json::from_slice(config).unwrap();
        for file in config["storage"]["files"].as_array().unwrap() {
            let contents = if file["append"].is_array() { &file["append"][0] } else { &file["contents"] };
            let source = contents["source"].as_str().unwrap();
            let body = source.strip_prefix("data:text/plain;charset=utf-8;base64,").unwrap();
            let mut bytes = base64::engine::general_purpose::STANDARD.decode(body).unwrap();
            if contents["compression"] == "gzip" {
                let mut plain = Vec::new();
                flate2::read::GzDecoder::new(bytes.as_slice()).read_to_end(&mut plain).unwrap();
                bytes = plain;
            }
            let path = root.join(file["path"].as_str().unwrap().trim_start_matches('/'));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, bytes).unwrap();
            let mode = u32::try_from(file["mode"].as_u64().unwrap()).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        Self { root: root.to_owned() }
    }

    /// Where a path of the host lies.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    pub(crate) fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// A path of the host as seen from here.
    pub(crate) fn at(&self, path: &str) -> String {
        self.path(path).to_str().unwrap().to_owned()
    }
}
