//! Housekeeping of the repository: `cargo xtask <task>`, one file a task.

mod arrows;
mod bench;
mod compare_render;
mod dist;
mod drill;
mod first_hour;
mod fresh;
mod guide;
mod screenshots;
mod security;
mod tests;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

struct Task {
    name: &'static str,
    about: &'static str,
    run: fn() -> Result<()>,
}

const TASKS: [Task; 15] = [
    Task {
        name: "arrows",
        about: "check which crate and which room of the program uses which",
        run: arrows::run,
    },
    Task {
        name: "bench",
        about: "measure the numbers to reach, beside the peers that are installed",
        run: bench::run,
    },
    Task { name: "bench csr", about: "measure a burst of certificate requests alone", run: bench::run_csr },
    Task { name: "bench hosted", about: "measure hosted workers alone", run: bench::run_hosted },
    Task {
        name: "bench manifests",
        about: "measure the judging of manifests alone, beside a real kube-apiserver",
        run: bench::run_manifests,
    },
    Task { name: "bench page", about: "measure the page in a browser alone", run: bench::run_page },
    Task { name: "bench scale", about: "measure inventories of 100 to 10,000 hosts", run: bench::run_scale },
    Task { name: "bench serve", about: "measure serving alone", run: bench::run_serve },
    Task {
        name: "first-hour",
        about: "run the commands of a first hour, and write docs/first-hour.md",
        run: first_hour::write,
    },
    Task {
        name: "first-hour --check",
        about: "say whether docs/first-hour.md is old",
        run: first_hour::check,
    },
    Task { name: "guide", about: "write the tables in docs/guide/", run: guide::write },
    Task { name: "guide --check", about: "say which tables in docs/guide/ are old", run: guide::check },
    Task {
        name: "screenshots",
        about: "draw the page of a made-up install into docs/, in a real browser",
        run: screenshots::run,
    },
    Task {
        name: "security",
        about: "check that the tests named in docs/security.md exist",
        run: security::run,
    },
    Task { name: "tests", about: "run all tests, several programs at a time", run: tests::run },
];

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() {
        return list();
    }
    if words[0] == "compare-render" {
        return compare_render::run(&words[1..]);
    }
    if words[0] == "dist" {
        return dist::run(&words[1..]);
    }
    if words[0] == "drill" {
        return drill::run(&words[1..]);
    }
    if words[0] == "fresh" {
        return fresh::run(&words[1..]);
    }
    let name = words.join(" ");
    match TASKS.iter().find(|task| task.name == name) {
        Some(task) => (task.run)(),
        None => bail!("there is no task {name:?}; `cargo xtask` lists them"),
    }
}

/// The root of the repository that this was built from.
fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// What a command says, which must succeed.
fn said(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{} cannot be started", command.get_program().to_string_lossy()))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {}\n{}", output.status, errors.trim());
    Ok(String::from_utf8(output.stdout)?)
}

/// Makes a bare Debian in this folder.
fn debian(folder: &Path) -> Command {
    let mut command = Command::new("bash");
    command.args(["-euo", "pipefail", "-c", ". tools/common.sh; debian \"$1\" --format=directory", "bash"]);
    command.arg(folder).current_dir(repository());
    command
}

fn list() -> Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "usage: cargo xtask TASK\n")?;
    for task in &TASKS {
        writeln!(out, "  {:18} {}", task.name, task.about)?;
    }
    writeln!(
        out,
        "  {:18} what operators' own render commands write, beside hardway's, where the programs are given (--details)",
        "compare-render"
    )?;
    writeln!(
        out,
        "  {:18} packages, an image and checksums, in target/dist (--twice, --program FILE, try)",
        "dist"
    )?;
    writeln!(
        out,
        "  {:18} whole installs in the lab, with something going wrong (--list names them)",
        "drill [NAME…]"
    )?;
    writeln!(out, "  {:18} set-up on a Debian that has nothing else (--list names the steps)", "fresh")?;
    Ok(())
}
