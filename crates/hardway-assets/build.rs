//! Gives the generator a name that changes with its sources, so that files made by another build are made again.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "this is how a build script speaks and reads"
)]

use std::path::Path;

fn main() {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for folder in ["src", "templates"] {
        println!("cargo::rerun-if-changed={folder}");
        add(Path::new(folder), &mut hash);
    }
    println!("cargo::rustc-env=HARDWAY_SOURCES={hash:016x}");
}

/// FNV-1a over every file of a folder, in the order of their names.
fn add(path: &Path, hash: &mut u64) {
    if let Ok(entries) = path.read_dir() {
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths.iter().for_each(|path| add(path, hash));
    } else if is_explanation(path) {
        // What is said about files does not change them.
    } else if let Ok(bytes) = std::fs::read(path) {
        for byte in bytes {
            *hash = (*hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

fn is_explanation(path: &Path) -> bool {
    path.starts_with("src") && path.extension().is_some_and(|extension| extension == "md")
}
