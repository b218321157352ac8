//! Any bytes as a log bundle, as they are and as the archive in one: the reader comes back within its limits, and whatever it
//! found can be judged and copied without what is secret.
#![no_main]

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use hardway_base::Secret;
use hardway_cluster::diagnosis::{Limits, all_broken, from_bundle};
use hardway_cluster::gather::copy_redacted;
use hardway_cluster::redaction::Redactor;
use libfuzzer_sys::fuzz_target;

const SECRET: &str = "hushhushhush";

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
    encoder.write_all(bytes).expect("memory");
    read(&encoder.finish().expect("memory"));
});

fn read(bundle: &[u8]) {
    let limits = Limits { total: 1 << 20, kept: 1 << 19, file: 1 << 18, tail: 1 << 12, entries: 100 };
    if let Ok(evidence) = from_bundle(bundle, limits) {
        for found in all_broken(&evidence) {
            assert!(!found.evidence.is_empty() && !found.symptom.is_empty(), "{found:?}");
        }
    }
    let mut copy = Vec::new();
    if copy_redacted(bundle, &mut copy, &Redactor::new(vec![Secret::new(SECRET)]), limits).is_ok() {
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(copy.as_slice()), &mut text)
            .expect("it is whole");
        // Names of files are no content.
        let bodies: Vec<&[u8]> =
            text.chunks(512).filter(|block| !block.starts_with(b"log-bundle/")).collect();
        let found =
            bodies.iter().any(|block| block.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()));
        assert!(!found, "the secret is in the copy");
    }
}
