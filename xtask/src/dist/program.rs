//! The program, linked statically: it runs on every Linux of its architecture, and in an image that holds nothing else.
//!
//! Against glibc, not musl: the toolchain that is pinned has it at hand. Since 2.34 glibc looks up names in `/etc/hosts` and by DNS
//! without loading anything; other sources of `/etc/nsswitch.conf` are left out.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use fs_err as fs;

use super::Source;
use crate::said;

/// With one named, flags are for the program alone, not for the scripts and macros that build it.
const TARGET: &str = "x86_64-unknown-linux-gnu";

pub(super) fn build(source: &Source, to: &Path) -> Result<PathBuf> {
    let target = source.repository.join("target");
    // Paths of this computer are in panics and in what C compilers note: each has one name everywhere.
    let home = said(Command::new("bash").args(["-c", "echo -n ${CARGO_HOME:-$HOME/.cargo}"]))?;
    let names = [(source.repository.display().to_string(), "/hardway"), (home, "/cargo")]
        .map(|(from, to)| format!("{from}={to}"));
    let rust = names.iter().map(|name| format!("--remap-path-prefix={name}"));
    let c: Vec<String> = names.iter().map(|name| format!("-ffile-prefix-map={name}")).collect();
    let rust: Vec<String> = rust.chain(["-Ctarget-feature=+crt-static".to_owned()]).collect();
    let status = Command::new("cargo")
        .args(["build", "--locked", "--release", "--package", "hardway", "--target", TARGET])
        .current_dir(&source.repository)
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_ENCODED_RUSTFLAGS", rust.join("\u{1f}"))
        .env("CFLAGS", c.join(" "))
        .env("SOURCE_DATE_EPOCH", source.epoch.to_string())
        .status()?;
    ensure!(status.success(), "the program could not be built");
    let built = strip(&target.join(TARGET).join("release/hardway"), to)?;
    let linked = said(Command::new("readelf").arg("--program-headers").arg(&built))?;
    ensure!(!linked.contains("INTERP"), "the program asks for a loader: it is not static");
    Ok(built)
}

/// One that was built before, by whomever.
pub(super) fn given(program: &Path, to: &Path) -> Result<PathBuf> {
    strip(program, to)
}

fn strip(program: &Path, to: &Path) -> Result<PathBuf> {
    let stripped = Command::new("strip").arg("-o").arg(to).arg(program).status()?;
    ensure!(stripped.success(), "{} could not be stripped", program.display());
    fs::metadata(to)?;
    Ok(to.to_owned())
}
