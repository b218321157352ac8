//! A bare Debian in a folder, and commands that run there as if it were the whole computer.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use fs_err as fs;

/// In namespaces of its own, so that neither a mount nor a process outlives the command. The root is truly changed: container
/// runtimes do not work in a mere chroot.
const ENTER: &str = r#"
root=$1; shift
mount --bind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs tmpfs run
while [[ $1 != -- ]]; do
  mkdir -p ".$2"
  mount --bind -o "$3" "$1" ".$2"
  shift 3
done
shift
pivot_root . .
umount --lazy .
cd /root/hardway
exec "$@"
"#;

/// Settings of the clients of package registries: without them a computer behind a proxy or a mirror reaches nothing. Tokens stay.
const SETTINGS: [&str; 14] = [
    "ALL_PROXY",
    "CARGO_HTTP_",
    "CARGO_NET_",
    "CARGO_REGISTRIES_",
    "CARGO_SOURCE_",
    "CURL_CA_BUNDLE",
    "GO",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "PIP_",
    "REQUESTS_CA_BUNDLE",
    "RUSTUP_",
    "SSL_CERT_",
];
/// What of these is about this computer, not about registries.
const OWN: [&str; 8] =
    ["GOBIN", "GOCACHE", "GOMODCACHE", "GOPATH", "GOROOT", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "GOTMPDIR"];

/// The same in files, and the authorities that are trusted here.
const FILES: [&str; 4] =
    ["/etc/hosts", "/etc/resolv.conf", "/etc/pip.conf", "/usr/local/share/ca-certificates"];

/// A package that wants to start a service is told not to.
const NO_SERVICES: &str = "#!/bin/sh\nexit 101\n";

pub(super) struct Root {
    place: PathBuf,
    repository: PathBuf,
    /// Its `~/.cache`, if it outlives the root.
    cache: Option<PathBuf>,
    keep: bool,
}

impl Root {
    pub(super) fn new(keep: bool, cache: Option<PathBuf>) -> Result<Self> {
        ensure!(fs::metadata("/proc/self")?.uid() == 0, "a bare Debian takes root");
        let repository = fs::canonicalize(crate::repository())?;
        let place = repository.join("target/fresh");
        fs::create_dir_all(place.join("log"))?;
        if let Some(folder) = &cache {
            fs::create_dir_all(folder)?;
        }
        let cache = cache.map(fs::canonicalize).transpose()?;
        Ok(Self { place, repository, cache, keep })
    }

    /// Makes it, unless it was kept. The checkout is brought up to date: what git has, and what it would take.
    pub(super) fn make(&self) -> Result<String> {
        let made = self.folder().join("root/hardway");
        let kept = made.is_dir();
        if !kept {
            remove(&self.folder())?;
            self.logged("debian", &mut crate::debian(&self.folder()))?;
            let policy = self.folder().join("usr/sbin/policy-rc.d");
            fs::write(&policy, NO_SERVICES)?;
            fs::set_permissions(&policy, std::fs::Permissions::from_mode(0o755))?;
        }
        fs::create_dir_all(&made)?;
        let copy = "git ls-files -z --cached --others --exclude-standard | tar --create --null --ignore-failed-read --files-from=- \
                    | tar --extract --directory=\"$1\"";
        let mut command = Command::new("bash");
        command.args(["-euo", "pipefail", "-c", copy, "bash"]).arg(&made).current_dir(&self.repository);
        self.logged("checkout", &mut command)?;
        self.settings()?;
        Ok(if kept {
            "kept from last time".to_owned()
        } else {
            format!("{} packages", self.packages()?.len())
        })
    }

    /// Runs a script of bash's there, in the checkout. What it says goes to a log.
    pub(super) fn run(&self, name: &str, script: &str) -> Result<()> {
        self.logged(name, &mut self.command(script)?)
    }

    /// The same; what it writes to standard output.
    pub(super) fn output(&self, script: &str) -> Result<String> {
        let output = self.command(script)?.stderr(Stdio::inherit()).output()?;
        ensure!(output.status.success(), "failed in the bare Debian: {script}");
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Installed packages, by name.
    pub(super) fn packages(&self) -> Result<Vec<String>> {
        Ok(self
            .output("dpkg-query --show --showformat='${Package}\\n'")?
            .lines()
            .map(str::to_owned)
            .collect())
    }

    /// How much is in the caches, in megabytes.
    pub(super) fn cached(&self) -> Result<u64> {
        let said = self.output("mkdir -p ~/.cache ~/go ~/.cargo; du --summarize --total --block-size=1M ~/.cache ~/go ~/.cargo | tail -n 1 | cut -f1")?;
        said.trim().parse().context("du says something else than a number")
    }

    pub(super) fn repository(&self) -> &Path {
        &self.repository
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.place.join("root")
    }

    pub(super) fn logs(&self) -> PathBuf {
        self.place.join("log")
    }

    fn command(&self, script: &str) -> Result<Command> {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"]);
        command.args(["bash", "-euo", "pipefail", "-c", ENTER, "bash"]).arg(self.folder());
        for (from, to) in toolchains()? {
            command.arg(from).args([to, "ro"]);
        }
        if let Some(cache) = &self.cache {
            command.arg(cache).args(["/root/.cache", "rw"]);
            command.env("GOMODCACHE", "/root/.cache/go-mod");
        }
        command.args(["--", "bash", "-euo", "pipefail", "-c", script]);
        for (name, _) in std::env::vars_os() {
            if !name.to_str().is_some_and(is_setting) {
                command.env_remove(name);
            }
        }
        command.env("HOME", "/root").env("LANG", "C.UTF-8").env(
            "PATH",
            "/root/.cargo/bin:/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        );
        Ok(command)
    }

    /// What it takes to reach package registries from here.
    fn settings(&self) -> Result<()> {
        let home = std::env::var_os("HOME").map(PathBuf::from).context("HOME is not set")?;
        let of_home = [".config/go/env", ".config/pip/pip.conf", ".cargo/config.toml"];
        let of_home = of_home.iter().map(|name| (home.join(name), Path::new("root").join(name)));
        let of_host = FILES.iter().map(|name| (PathBuf::from(name), PathBuf::from(&name[1..])));
        for (from, to) in of_home.chain(of_host).filter(|(from, _)| from.exists()) {
            let to = self.folder().join(to);
            fs::create_dir_all(to.parent().context("a file has a folder")?)?;
            let copied = Command::new("cp")
                .args(["--recursive", "--dereference", "--no-target-directory"])
                .arg(from)
                .arg(to)
                .status()?;
            ensure!(copied.success(), "the settings of this computer could not be copied");
        }
        let output = Command::new("apt-config").arg("dump").output()?;
        let dump = String::from_utf8_lossy(&output.stdout).into_owned();
        let acquire: String = dump
            .lines()
            .filter(|line| line.starts_with("Acquire::"))
            .map(|line| format!("{line}\n"))
            .collect();
        Ok(fs::write(self.folder().join("etc/apt/apt.conf.d/00outside"), acquire)?)
    }

    /// With its output in a log; if it fails, the log's end is the error.
    fn logged(&self, name: &str, command: &mut Command) -> Result<()> {
        let path = self.logs().join(format!("{name}.log"));
        let log = fs::File::create(&path)?.into_parts().0;
        let status = command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).status()?;
        if !status.success() {
            let said = fs::read_to_string(&path)?;
            let lines: Vec<&str> = said.lines().collect();
            let end = lines[lines.len().saturating_sub(20)..].join("\n  ");
            anyhow::bail!("{status}; all of it is in {}\n  {end}", path.display());
        }
        Ok(())
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        if !self.keep {
            let _ = remove(&self.folder());
        }
    }
}

/// Nothing is mounted there from here: mounts are in namespaces that have ended.
fn remove(folder: &Path) -> Result<()> {
    let removed =
        Command::new("rm").args(["--recursive", "--force", "--one-file-system"]).arg(folder).status()?;
    ensure!(removed.success(), "{} could not be removed", folder.display());
    Ok(())
}

/// Rust and Go as they are here, and where they are there. With the one that runs this, cargo's proxy says where they are.
fn toolchains() -> Result<[(PathBuf, &'static str); 3]> {
    let home = std::env::var_os("HOME").map(PathBuf::from).context("HOME is not set")?;
    let folder = |name: &str, or: &str| std::env::var_os(name).map_or_else(|| home.join(or), PathBuf::from);
    let go = Command::new("go").args(["env", "GOROOT"]).output()?;
    Ok([
        (folder("RUSTUP_HOME", ".rustup"), "/root/.rustup"),
        (folder("CARGO_HOME", ".cargo").join("bin"), "/root/.cargo/bin"),
        (PathBuf::from(String::from_utf8_lossy(&go.stdout).trim()), "/usr/local/go"),
    ])
}

fn is_setting(name: &str) -> bool {
    let upper = name.to_uppercase();
    SETTINGS.iter().any(|prefix| upper.starts_with(prefix))
        && !OWN.contains(&name)
        && !upper.ends_with("TOKEN")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_registries_go_along_and_those_of_this_computer_stay() {
        for name in
            ["GOPROXY", "GOFLAGS", "https_proxy", "PIP_INDEX_URL", "CARGO_NET_OFFLINE", "RUSTUP_DIST_SERVER"]
        {
            assert!(is_setting(name), "{name}");
        }
        for name in [
            "GOPATH",
            "RUSTUP_TOOLCHAIN",
            "CARGO_REGISTRIES_OURS_TOKEN",
            "CARGO_MANIFEST_DIR",
            "HOME",
            "HARDWAY",
        ] {
            assert!(!is_setting(name), "{name}");
        }
    }
}
