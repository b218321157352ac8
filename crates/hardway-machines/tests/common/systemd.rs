//! Units that hardway writes, as systemd reads them.

use std::path::Path;
use std::process::Command;

/// What systemd finds wrong with a unit, in a folder for it: lines that name it.
pub(crate) fn complaints(folder: &Path, name: &str, text: &str) -> Vec<String> {
    let path = folder.join(name);
    fs_err::write(&path, text).unwrap();
    let output = Command::new("systemd-analyze").arg("verify").arg("--man=no").arg(&path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    said.lines().filter(|line| line.contains(name)).map(str::to_owned).collect()
}
