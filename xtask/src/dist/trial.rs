//! What was made is installed in a Debian that has nothing, and run there.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use fs_err as fs;

use super::listing;
use crate::said;

/// As a person would begin, and not as root. The time zone, the locale and the network are whatever a bare system has.
const FIRST_STEPS: &str = r"
set -eu
hardway version
cd $(mktemp -d)
hardway init --dir demo --provider libvirt >/dev/null 2>&1
hardway validate --dir demo
hardway explain etcd-signer >/dev/null
";

/// What else a package brings: completions that bash can load, a manual page, units.
const BESIDE: &str = r"
set -eu
bash -c '. /usr/share/bash-completion/completions/hardway; complete -p hardway' >/dev/null
test -s /usr/share/man/man1/hardway.1.gz
test -s /usr/share/man/man1/hardway-create-cluster.1.gz
test -s /usr/lib/systemd/system/hardway-approver@.service
";

pub(super) fn run(dist: &Path) -> Result<()> {
    ensure!(dist.is_dir(), "{} is missing: cargo xtask dist makes it", dist.display());
    let dist = fs::canonicalize(dist)?;
    said(Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(&dist))?;
    tell("checksums: as written")?;

    let work = tempfile::tempdir()?;
    let root = Debian::make(&work.path().join("root"))?;
    root.installs(
        "package.deb",
        &named(&dist, ".deb")?,
        "dpkg --install /package.deb",
        "dpkg --purge hardway",
    )?;
    root.installs_rpm(&named(&dist, ".rpm")?)?;
    let program = named(&dist, "-x86_64-linux")?;
    fs::copy(&program, root.0.join("usr/local/bin/hardway"))?;
    root.as_nobody(FIRST_STEPS)?;
    tell("program alone: runs")?;
    image(&program, &named(&dist, "-image.tar")?, work.path())
}

/// A bare system in a folder.
struct Debian(PathBuf);

impl Debian {
    fn make(folder: &Path) -> Result<Self> {
        said(&mut crate::debian(folder))?;
        Ok(Self(folder.to_owned()))
    }

    fn installs(&self, name: &str, package: &Path, install: &str, remove: &str) -> Result<()> {
        fs::copy(package, self.0.join(name))?;
        let before = self.files()?;
        self.inside(install)?;
        self.works()?;
        self.inside(remove)?;
        self.is_as(&before, name)
    }

    fn installs_rpm(&self, package: &Path) -> Result<()> {
        let before = self.files()?;
        let rpm = |words: &[&str]| {
            said(Command::new("rpm").arg("--root").arg(&self.0).args(["--dbpath", "/tmp/rpm"]).args(words))
        };
        rpm(&["--install", "--nodeps", &package.display().to_string()])?;
        self.works()?;
        rpm(&["--erase", "hardway"])?;
        self.is_as(&before, "package.rpm")
    }

    fn works(&self) -> Result<()> {
        self.as_nobody(FIRST_STEPS)?;
        self.inside(BESIDE)
    }

    /// What a package brought goes with it.
    fn is_as(&self, before: &str, package: &str) -> Result<()> {
        let after = self.files()?;
        let left: Vec<&str> = after.lines().filter(|file| !before.lines().any(|was| was == *file)).collect();
        ensure!(left.is_empty(), "{package} leaves behind: {}", left.join(", "));
        tell(&format!("{package}: installed, works, removed without a trace"))
    }

    /// What is not some program's record of what it did.
    fn files(&self) -> Result<String> {
        let kept = ["./var/lib/dpkg/*", "./var/log/*", "./var/cache/*", "./tmp/*", "./package.*"];
        let mut find = Command::new("find");
        find.current_dir(&self.0).args([".", "-xdev", "-type", "f"]);
        for path in kept {
            find.args(["!", "-path", path]);
        }
        said(&mut find)
    }

    fn inside(&self, script: &str) -> Result<()> {
        said(Command::new("chroot").arg(&self.0).args(["sh", "-c", script])).map(drop)
    }

    fn as_nobody(&self, script: &str) -> Result<()> {
        let words = ["--userspec=nobody:nogroup"];
        said(Command::new("chroot").args(words).arg(&self.0).args(["sh", "-c", script]).env("HOME", "/tmp"))
            .map(drop)
    }
}

/// Loaded and run as a container, in a store of its own.
fn image(program: &Path, archive: &Path, work: &Path) -> Result<()> {
    if said(Command::new("readelf").arg("--program-headers").arg(program))?.contains("INTERP") {
        return tell(
            "image: NOT run, because this program is not static; `cargo xtask dist` builds one that is",
        );
    }
    let podman = || {
        let mut podman = Command::new("podman");
        podman.arg("--root").arg(work.join("images")).arg("--runroot").arg(work.join("run"));
        podman.args(["--storage-driver", "vfs"]);
        podman
    };
    let loaded = said(podman().args(["load", "--quiet", "--input"]).arg(archive))?;
    let name = loaded.trim().rsplit(": ").next().context("podman load says nothing")?.to_owned();
    said(podman().args(["run", "--rm", "--network=none", "--read-only", &name, "version"]))?;
    said(podman().args(["rmi", "--all"]))?;
    tell("image: loaded, runs, not as root")
}

fn named(dist: &Path, end: &str) -> Result<PathBuf> {
    let name = listing(dist)?.into_keys().find(|name| name.ends_with(end));
    Ok(dist.join(name.with_context(|| format!("nothing in {} ends with {end}", dist.display()))?))
}

fn tell(line: &str) -> Result<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}
