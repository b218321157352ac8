//! Which files a package has, and where: laid out in a folder as they will be on a computer.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use fs_err as fs;

use super::Source;
use crate::said;

const DOCUMENTS: &str = "usr/share/doc/hardway";

/// Units run as it, in its folder.
const USER: &str = "u hardway - \"hardway\" /var/lib/hardway\n";

/// From the repository, and where they go.
const COPIED: [(&str, &str); 7] = [
    ("deploy/approver/hardway-approver@.service", "usr/lib/systemd/system"),
    ("deploy/ignition-server/hardway-ignition-server.service", "usr/lib/systemd/system"),
    ("README.md", DOCUMENTS),
    ("CHANGELOG.md", DOCUMENTS),
    ("docs/security.md", DOCUMENTS),
    ("docs/proof.md", DOCUMENTS),
    ("docs/first-hour.md", DOCUMENTS),
];

/// Shell, folder and name of its completions.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/hardway"),
    ("zsh", "usr/share/zsh/vendor-completions/_hardway"),
    ("fish", "usr/share/fish/vendor_completions.d/hardway.fish"),
];

pub(super) fn lay_out(source: &Source, program: &Path, tree: &Path) -> Result<()> {
    put(tree, "usr/bin/hardway", &fs::read(program)?)?;
    let own = tree.join("usr/bin/hardway");
    fs::set_permissions(&own, std::fs::Permissions::from_mode(0o755))?;

    let pages = tree.join("usr/share/man/man1");
    fs::create_dir_all(&pages)?;
    said(Command::new(&own).args(["man", "--to"]).arg(&pages))?;
    let zipped = Command::new("gzip").args(["--no-name", "--best", "--recursive"]).arg(&pages).status()?;
    ensure!(zipped.success(), "the manual pages could not be compressed");

    for (shell, path) in COMPLETIONS {
        put(tree, path, said(Command::new(&own).args(["completion", shell]))?.as_bytes())?;
    }
    for (from, folder) in COPIED {
        let path = source.repository.join(from);
        let name = path.file_name().and_then(|name| name.to_str()).context("a file has a name")?;
        put(tree, &format!("{folder}/{name}"), &fs::read(&path)?)?;
    }
    put(tree, &format!("{DOCUMENTS}/copyright"), &fs::read(source.repository.join("LICENSE"))?)?;
    put(tree, "usr/lib/sysusers.d/hardway.conf", USER.as_bytes())?;
    same_time(source, tree)
}

fn put(tree: &Path, path: &str, content: &[u8]) -> Result<()> {
    let to = tree.join(path);
    fs::create_dir_all(to.parent().context("a file has a folder")?)?;
    fs::write(&to, content)?;
    Ok(fs::set_permissions(&to, std::fs::Permissions::from_mode(0o644))?)
}

/// Modes and times of everything, whatever the umask and the clock of this computer are.
pub(super) fn same_time(source: &Source, tree: &Path) -> Result<()> {
    let script = "find \"$1\" -type d -exec chmod 0755 {} + && find \"$1\" -depth -exec touch --no-dereference --date=\"@$2\" {} +";
    said(Command::new("bash").args(["-c", script, "bash"]).arg(tree).arg(source.epoch.to_string()))?;
    Ok(())
}
