//! `cargo xtask fresh`: does set-up work on a computer that has nothing but Debian, Rust and Go? Needs root.
//!
//! ```text
//! Root           a bare Debian with this repository, and commands in it      root.rs
//! programs       every program that is started, and the package it is from   programs.rs, shell.rs
//! ```

mod programs;
mod root;
mod shell;

use std::io::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use root::Root;

/// One step. What it comes to is a note for the table.
struct Step {
    name: &'static str,
    about: &'static str,
    run: fn(&Root) -> Result<String>,
}

const fn step(name: &'static str, about: &'static str, run: fn(&Root) -> Result<String>) -> Step {
    Step { name, about, run }
}

/// Without these there is nothing to try the others in.
const FIRST: [Step; 2] = [
    step("debian", "Debian 12 as small as it comes, with Rust, Go and this checkout", Root::make),
    step("packages", "tools/setup.sh test", packages),
];

const STEPS: [Step; 12] = [
    step("programs", "what tests, lab and scripts start comes with these packages", programs::compare),
    step("modules", "tools/modules.sh", |root| built(root, "modules", "tools/modules.sh")),
    step("cargo-deny", "tools/cargo-deny.sh", |root| {
        built(root, "cargo-deny", "tools/cargo-deny.sh --version")
    }),
    step("kubernetes", "tools/kubernetes/build.sh", |root| {
        built(root, "kubernetes", "tools/kubernetes/build.sh")
    }),
    step("coreos-installer", "tools/coreos-installer.sh", |root| {
        built(root, "coreos-installer", "tools/coreos-installer.sh")
    }),
    step("guest-kernel", "tools/guest-kernel.sh", |root| {
        built(root, "guest-kernel", "tools/guest-kernel.sh")
    }),
    step("sushy-tools", "tools/sushy-tools.sh", |root| built(root, "sushy-tools", "tools/sushy-tools.sh")),
    step("axe-core", "tools/axe-core.sh", |root| built(root, "axe-core", "tools/axe-core.sh")),
    step("hardway", "cargo build", |root| built(root, "hardway", "cargo build --quiet --package hardway")),
    step("lab", "lab/build.sh", |root| built(root, "lab", LAB)),
    step("tests", "tests that boot no machine, on a host whose only network is loopback", |root| {
        built(root, "tests", TESTS)
    }),
    step("lab-programs", "vet and tests of the lab's Go programs, on loopback", |root| {
        built(root, "lab-programs", LAB_PROGRAMS)
    }),
];

const LAB: &str = "cargo build --quiet --package hardway
lab/build.sh --registry 192.168.126.1:5000 --hardway target/debug/hardway";

const TESTS: &str = "cargo test --quiet --no-run --workspace --lib
cargo test --quiet --no-run --package hardway-base --package hardway-journal
tools=$(tools/kubernetes/build.sh ignition-validate)
unshare --net bash -ec 'ip link set lo up
HARDWAY_TOOLS_BIN=$1 cargo test --offline --quiet --workspace --lib
cargo test --offline --quiet --package hardway-base --package hardway-journal' bash \"$tools\"";

const LAB_PROGRAMS: &str = "unshare --net bash -ec 'ip link set lo up
(cd lab/release/programs && go vet ./... && go test ./...)
lab/operators/test.sh'";

const NOT_TRIED: &str = "\
Not tried, because it boots machines or needs a whole computer: ./demo.sh and the drills; tests in the folders tests/ of other crates than
hardway-base and hardway-journal, which start libvirt, QEMU, containers, kubelets and API servers. Nor services: no systemd runs in a bare
root. Only ./test.sh on a computer of its own tries those.";

/// `--keep`, `--cache DIR`, `--only STEP` (again for more), `--list`.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let mut out = std::io::stdout();
    let (mut keep, mut cache, mut only) = (false, None, Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--keep" => keep = true,
            "--cache" => cache = Some(words.next().context("--cache needs a folder")?.into()),
            "--only" => only.push(words.next().context("--only needs a step")?.as_str()),
            "--list" => {
                for step in FIRST.iter().chain(&STEPS) {
                    writeln!(out, "  {:16} {}", step.name, step.about)?;
                }
                return Ok(());
            }
            other => bail!("unknown option {other}: there are --keep, --cache DIR, --only STEP and --list"),
        }
    }
    if let Some(unknown) = only.iter().find(|name| !STEPS.iter().any(|step| step.name == **name)) {
        bail!("there is no step {unknown:?}; --list names them");
    }
    let root = Root::new(keep, cache)?;
    let wanted = STEPS.iter().filter(|step| only.is_empty() || only.contains(&step.name));
    let mut rows = Vec::new();
    for (at, step) in FIRST.iter().chain(wanted).enumerate() {
        writeln!(out, "== {}: {}", step.name, step.about)?;
        let began = Instant::now();
        let came = (step.run)(&root);
        let goes_on = came.is_ok() || at >= FIRST.len();
        rows.push((step.name, began.elapsed(), came));
        if !goes_on {
            break;
        }
    }
    table(&mut out, &rows)?;
    writeln!(out, "\n{NOT_TRIED}\nlogs: {}", root.logs().display())?;
    let failed = rows.iter().filter(|(_, _, came)| came.is_err()).count();
    ensure!(failed == 0, "{failed} step(s) failed");
    Ok(())
}

fn table(out: &mut impl std::io::Write, rows: &[(&str, Duration, Result<String>)]) -> Result<()> {
    writeln!(out, "\n| step | time | came to |\n|---|---|---|")?;
    for (name, took, came) in rows {
        let seconds = took.as_secs();
        let came = match came {
            Ok(note) => note.clone(),
            Err(error) => format!("**failed**: {}", format!("{error:#}").lines().next().unwrap_or_default()),
        };
        writeln!(out, "| {name} | {} min {:02} s | {came} |", seconds / 60, seconds % 60)?;
    }
    for (name, _, came) in rows {
        if let Err(error) = came {
            writeln!(out, "\n{name}: {error:#}")?;
        }
    }
    Ok(())
}

/// Set-up's packages, and everything that came with them.
fn packages(root: &Root) -> Result<String> {
    let before = root.packages()?;
    root.run("packages", "tools/setup.sh test")?;
    let after = root.packages()?;
    fs_err::write(root.logs().join("packages.txt"), after.join("\n"))?;
    Ok(format!("{} packages on top of Debian's {}", after.len() - before.len(), before.len()))
}

/// Runs a script and says by how much the caches grew.
fn built(root: &Root, name: &str, script: &str) -> Result<String> {
    let before = root.cached()?;
    root.run(name, script)?;
    Ok(match root.cached()?.saturating_sub(before) {
        0 => "done".to_owned(),
        grown => format!("done; {grown} MB more in the caches"),
    })
}
