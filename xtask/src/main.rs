//! Housekeeping of the repository: `cargo xtask <task>`, one file a task.

mod arrows;
mod bench;
mod drill;
mod first_hour;
mod fresh;
mod guide;
mod security;

use std::io::Write as _;
use std::path::Path;

use anyhow::{Result, bail};

struct Task {
    name: &'static str,
    about: &'static str,
    run: fn() -> Result<()>,
}

const TASKS: [Task; 11] = [
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
        name: "security",
        about: "check that the tests named in docs/security.md exist",
        run: security::run,
    },
];

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() {
        return list();
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

fn list() -> Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "usage: cargo xtask TASK\n")?;
    for task in &TASKS {
        writeln!(out, "  {:18} {}", task.name, task.about)?;
    }
    writeln!(
        out,
        "  {:18} whole installs in the lab, with something going wrong (--list names them)",
        "drill [NAME…]"
    )?;
    writeln!(out, "  {:18} set-up on a Debian that has nothing else (--list names the steps)", "fresh")?;
    Ok(())
}
