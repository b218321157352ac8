//! The `.deb`, by dpkg's own packer.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use fs_err as fs;

use super::{Source, files};
use crate::said;

/// Units run as a user that is made here. Nothing is started: which folder to serve, only a person knows.
const AFTER: &str = "#!/bin/sh
set -e
if [ \"$1\" = configure ] && command -v systemd-sysusers >/dev/null; then
  systemd-sysusers hardway.conf
fi
";

pub(super) fn make(source: &Source, tree: &Path, to: &Path) -> Result<()> {
    let work = tempfile::tempdir()?;
    let root = work.path().join("root");
    said(Command::new("cp").args(["--archive", "--no-target-directory"]).arg(tree).arg(&root))?;
    let kilobytes: u64 =
        said(Command::new("du").args(["--summarize", "--apparent-size", "--block-size=1K"]).arg(tree))?
            .split_whitespace()
            .next()
            .and_then(|word| word.parse().ok())
            .unwrap_or_default();
    let control = root.join("DEBIAN");
    fs::create_dir(&control)?;
    fs::write(
        control.join("control"),
        format!(
            "Package: hardway\n\
             Version: {}\n\
             Architecture: amd64\n\
             Maintainer: hardway\n\
             Section: admin\n\
             Priority: optional\n\
             Installed-Size: {kilobytes}\n\
             Recommends: ca-certificates, openssh-client\n\
             Suggests: podman, libvirt-clients, qemu-utils\n\
             Description: installs OpenShift and OKD on machines you own\n \
             Plans an install, makes every certificate, manifest and config in the open, boots\n \
             the machines, approves their certificates by policy, and looks at what came of it.\n",
            source.version
        ),
    )?;
    let after = control.join("postinst");
    fs::write(&after, AFTER)?;
    fs::set_permissions(&after, std::fs::Permissions::from_mode(0o755))?;
    files::same_time(source, &root)?;
    said(
        Command::new("dpkg-deb")
            .args(["--root-owner-group", "-Zxz", "-z2", "--threads-max=1", "--build"])
            .arg(&root)
            .arg(to.join(format!("hardway_{}_amd64.deb", source.version)))
            .env("SOURCE_DATE_EPOCH", source.epoch.to_string()),
    )?;
    Ok(())
}
