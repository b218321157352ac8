//! Looking for secrets wherever they could hide.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use fs_err as fs;
use hardway_testing::AUTH;
use serde_json::Value;

/// What nobody but the owner may read.
pub(crate) struct Needles {
    /// By name.
    needles: Vec<(String, Vec<u8>)>,
    /// By their first two bytes: one look at a place is enough for all of them.
    starts: Vec<Vec<usize>>,
}

impl Needles {
    /// The secrets of a working directory and its pull secret.
    pub(crate) fn of(root: &Path) -> Self {
        let mut needles = vec![
            ("the pull secret".to_owned(), AUTH.as_bytes().to_vec()),
            ("the login in the pull secret".to_owned(), STANDARD.decode(AUTH).unwrap()),
        ];
        for entry in fs::read_dir(root.join("secrets")).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let bytes = fs::read(entry.path()).unwrap();
            if name == "identity.json" {
                let identity: Value = serde_json::from_slice(&bytes).unwrap();
                needles.push((name, identity["fingerprintKey"].as_str().unwrap().into()));
            } else if name.ends_with(".key") {
                let text = String::from_utf8(bytes).unwrap();
                let body: Vec<&str> = text.lines().filter(|line| !line.starts_with("---")).collect();
                let der = STANDARD.decode(body.concat()).unwrap();
                // The first bytes are the same in every key; the middle is the secret itself.
                let middle = if der.len() < 200 { 36..60 } else { der.len() / 2..der.len() / 2 + 24 };
                needles.push((format!("{name} as DER"), der[middle].to_vec()));
                needles.push((format!("{name} as PEM"), body[body.len() / 2].as_bytes().to_vec()));
            } else {
                needles.push((name, bytes.trim_ascii().to_vec()));
            }
        }
        assert!(needles.len() > 60, "{}", needles.len());
        let mut starts = vec![Vec::new(); 1 << 16];
        needles.iter().enumerate().for_each(|(i, (_, needle))| starts[start(needle)].push(i));
        Self { needles, starts }
    }

    /// The secrets that can be got out of these bytes: as they are, percent-decoded, out of base64, out of gzip, and
    /// out of any of these inside each other.
    pub(crate) fn found_in(&self, bytes: &[u8]) -> Vec<&str> {
        let mut found = BTreeSet::new();
        self.search(bytes, 0, &mut found);
        found.into_iter().collect()
    }

    fn search<'n>(&'n self, bytes: &[u8], depth: usize, found: &mut BTreeSet<&'n str>) {
        for (at, pair) in bytes.windows(2).enumerate() {
            for i in &self.starts[start(pair)] {
                let (name, needle) = &self.needles[*i];
                if bytes[at..].starts_with(needle) {
                    found.insert(name.as_str());
                }
            }
        }
        if depth < 4 {
            inside(bytes).iter().for_each(|inner| self.search(inner, depth + 1, found));
        }
    }
}

/// What is packed up in these bytes.
fn inside(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut inner = Vec::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(bytes).read_to_end(&mut unpacked).unwrap();
        inner.push(unpacked);
    }
    let text = String::from_utf8_lossy(bytes);
    if ["%0A", "%20", "%22"].iter().any(|code| text.contains(code)) {
        inner.push(percent_decoded(bytes));
    }
    if text.contains("-----BEGIN ") && text.contains('\n') {
        inner.push(text.replace('\n', "").into_bytes());
    }
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    for run in bytes.split(|byte| !is_base64(byte)).filter(|run| run.len() >= 16) {
        let run: Vec<u8> = run.iter().copied().filter(|byte| *byte != b'=').collect();
        inner.extend(STANDARD_NO_PAD.decode(&run));
    }
    inner
}

fn percent_decoded(bytes: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        let hex = bytes.get(i + 1..i + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if bytes[i] == b'%' => {
                decoded.push(byte);
                i += 3;
            }
            _ => {
                decoded.push(bytes[i]);
                i += 1;
            }
        }
    }
    decoded
}

fn start(bytes: &[u8]) -> usize {
    usize::from(bytes[0]) << 8 | usize::from(bytes[1])
}
