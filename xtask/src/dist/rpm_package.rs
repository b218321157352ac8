//! The `.rpm`, by rpmbuild.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use fs_err as fs;

use super::Source;
use crate::said;

/// Packed as it lies there: nothing is stripped, compressed, checked or changed on the way.
const SPEC: &str = r#"
%global __os_install_post %{nil}
%global debug_package %{nil}
%global _build_id_links none
%global _binary_payload w2.xzdio
%global use_source_date_epoch_as_buildtime 1
%global clamp_mtime_to_source_date_epoch 1
%global _buildhost hardway
%global __requires_exclude .*
%global __provides_exclude .*
Name: hardway
Version: @VERSION@
Release: 1
Summary: Installs OpenShift and OKD on machines you own
License: Apache-2.0
Recommends: ca-certificates, openssh-clients
AutoReqProv: no

%description
Plans an install, makes every certificate, manifest and config in the open, boots
the machines, approves their certificates by policy, and looks at what came of it.

%install
cp --archive --no-target-directory "@TREE@" "%{buildroot}"

%post
if [ -x /usr/bin/systemd-sysusers ]; then /usr/bin/systemd-sysusers hardway.conf; fi

%files
@FILES@
"#;

pub(super) fn make(source: &Source, tree: &Path, to: &Path) -> Result<()> {
    let work = tempfile::tempdir()?;
    let mut files: Vec<String> =
        said(Command::new("find").arg(tree).args(["-type", "f", "-printf", "/%P\n"]))?
            .lines()
            .map(|path| format!("\"{path}\""))
            .collect();
    files.sort();
    let spec = work.path().join("hardway.spec");
    let text = SPEC.trim_start().replace("@VERSION@", &source.version);
    fs::write(
        &spec,
        text.replace("@TREE@", &tree.display().to_string()).replace("@FILES@", &files.join("\n")),
    )?;
    let top = work.path().join("top");
    said(
        Command::new("rpmbuild")
            .args(["-bb", "--target=x86_64-linux", "--define"])
            .arg(format!("_topdir {}", top.display()))
            .args(["--define", "_dbpath /nonexistent"])
            .arg(&spec)
            .env("SOURCE_DATE_EPOCH", source.epoch.to_string()),
    )
    .context("rpmbuild (Debian's package rpm)")?;
    let name = format!("hardway-{}-1.x86_64.rpm", source.version);
    fs::copy(top.join("RPMS/x86_64").join(&name), to.join(&name))?;
    Ok(())
}
