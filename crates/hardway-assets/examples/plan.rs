//! From two files to everything that a cluster boots from: prints mode, size and path of each file, and writes none.
//!
//! `plan [install-config.yaml inventory.yaml]`; without them, of the cluster that the crate has as an example.

use std::error::Error;
use std::fs::File;
use std::io::{self, Write as _};

use hardway_assets::{OnDisk, Project, example, release_payload};

fn main() -> Result<(), Box<dyn Error>> {
    let named = |number: usize, example: &str| match std::env::args().nth(number) {
        Some(path) => io::read_to_string(File::open(path)?),
        None => Ok(example.to_owned()),
    };
    let config = named(1, example::INSTALL_CONFIG)?;
    let inventory = named(2, example::INVENTORY)?;
    // A new cluster. Whoever has been here before brings what lies on disk, secrets and lock included.
    let project = Project::read(
        &config,
        &inventory,
        release_payload::sample(),
        OnDisk::default(),
        "2026-11-15T00:00:00Z".parse()?,
    )?;
    let plan = project.plan()?;

    let mut out = io::stdout().lock();
    for (name, secret) in project.secrets().files() {
        writeln!(out, "0600 {:>8} secrets/{name}", secret.expose().len())?;
    }
    for file in plan.writes {
        writeln!(out, "{:04o} {:>8} {}", file.mode, file.bytes.len(), file.path)?;
    }
    Ok(())
}
