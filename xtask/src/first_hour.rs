//! `cargo xtask first-hour`: docs/first-hour.md, the commands of a first hour and what they really printed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

/// A command as a person types it, what is said before it, and the code it ends with.
struct Typed {
    before: &'static str,
    line: &'static str,
    code: i32,
}

const fn typed(before: &'static str, line: &'static str) -> Typed {
    Typed { before, line, code: 0 }
}

const fn refused(before: &'static str, line: &'static str, code: i32) -> Typed {
    Typed { before, line, code }
}

const TYPED: [Typed; 17] = [
    typed(
        "## Two files\n\nEverything begins with two files in a folder: `install-config.yaml`, as openshift-install knows it, and `inventory.yaml`, which says what your machines are.",
        "hardway init --dir demo --provider bare-metal",
    ),
    typed("`validate` checks both files offline.", "hardway validate --dir demo"),
    refused(
        "All mistakes are reported at once, each with its place in the file.",
        "sed -i 's/OVNKubernetes/OVNKubernets/; s/hostPrefix: 23/hostPrefix: 33/' demo/install-config.yaml && hardway validate --dir demo",
        3,
    ),
    typed(
        "Every field, file, certificate, unit and error has an explanation.",
        "hardway explain networking.networkType",
    ),
    typed(
        "Now correct both.",
        "sed -i 's/OVNKubernets/OVNKubernetes/; s/hostPrefix: 33/hostPrefix: 23/' demo/install-config.yaml && hardway validate --dir demo",
    ),
    typed("## Before anything is done\n\nThe phases of an install, in order:", "hardway phase list"),
    typed(
        "The checks of this host, the network and the registry, which `hardway check` runs:",
        "hardway check --list",
    ),
    typed("Everything that `hardway create cluster` would do, before it does it:", "hardway plan --dir demo"),
    typed(
        "## The files\n\nThis makes every key, certificate, manifest and config, and touches nothing but the folder.",
        "hardway create ignition-configs --dir demo",
    ),
    typed("", "ls demo demo/ignition"),
    typed("A second run makes nothing, because nothing is stale.", "hardway status --dir demo"),
    typed(
        "Edits are kept, and `status` shows what they affect.",
        "echo '# mine' >> demo/manifests/cluster-network-02-config.yml && hardway status --dir demo",
    ),
    typed(
        "A change to the input files makes everything derived from it stale; `status` says why.",
        "sed -i 's/hostPrefix: 23/hostPrefix: 24/' demo/install-config.yaml && hardway status --dir demo",
    ),
    typed("Certificates expire.", "hardway status --dir demo --all | grep '^ends' | head -n 5"),
    typed(
        "What a certificate is for, who reads it, and what would happen without it:",
        "hardway explain etcd-signer",
    ),
    typed(
        "## And then\n\n`hardway create cluster --dir demo` installs it. Without machines, `./demo.sh` does the same in a lab on this computer. `hardway destroy` undoes whatever was done; here, nothing was.",
        "hardway destroy --dir demo --dry-run",
    ),
    typed("", "hardway version"),
];

/// More of an answer than this is folded.
const LINES: usize = 24;

/// Runs all of it, and writes the page.
pub(crate) fn write() -> Result<()> {
    Ok(fs_err::write(page(), transcript()?)?)
}

/// Fails when the page is not what the program says now.
pub(crate) fn check() -> Result<()> {
    if fs_err::read_to_string(page())? != transcript()? {
        bail!("docs/first-hour.md is old: run `cargo xtask first-hour`");
    }
    Ok(())
}

fn page() -> PathBuf {
    crate::repository().join("docs/first-hour.md")
}

fn transcript() -> Result<String> {
    let program = std::env::var_os("HARDWAY")
        .map_or_else(|| crate::repository().join("target/debug/hardway"), PathBuf::from);
    ensure!(program.is_file(), "{} is not there: cargo build --package hardway", program.display());
    let folder = tempfile::tempdir()?;
    let programs = folder.path().join("programs");
    fs_err::create_dir(&programs)?;
    fs_err::os::unix::fs::symlink(fs_err::canonicalize(&program)?, programs.join("hardway"))?;
    let mut text = "# A first hour\n\nWhat a newcomer types, and what hardway prints. `cargo xtask first-hour` runs these commands and writes this page; the tests check that it is up to date.\n".to_owned();
    for typed in &TYPED {
        text += &answered(typed, folder.path(), &programs)?;
    }
    Ok(text)
}

fn answered(typed: &Typed, folder: &Path, programs: &Path) -> Result<String> {
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("bash");
    command.args(["-c", &format!("exec 2>&1; {}", typed.line)]).current_dir(folder).env("PATH", path);
    // A day that does not pass, and nobody's settings.
    command
        .env("HARDWAY_NOW", "2026-11-15T12:00:00Z")
        .env("LC_ALL", "C")
        .env("COLUMNS", "100")
        .env_remove("HARDWAY_DIR");
    let output = command.output().context("bash")?;
    let said = String::from_utf8(output.stdout)?;
    ensure!(output.status.code() == Some(typed.code), "{}: {}\n{said}", typed.line, output.status);
    let mut text = String::new();
    if !typed.before.is_empty() {
        let _ = write!(text, "\n{}\n", typed.before);
    }
    let _ = write!(text, "\n```console\n$ {}\n", typed.line);
    let lines: Vec<&str> = said.lines().collect();
    lines.iter().take(LINES).for_each(|line| text += &format!("{}\n", line.trim_end()));
    if lines.len() > LINES {
        let _ = writeln!(text, "… {} more lines", lines.len() - LINES);
    }
    if typed.code != 0 {
        let _ = writeln!(text, "$ echo $?\n{}", typed.code);
    }
    Ok(text + "```\n")
}
