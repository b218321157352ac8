//! `cargo xtask dist`: everything that is given to people, in one folder: a static program, a `.deb`, an `.rpm`, a container image, the
//! list of what is in them, and checksums. The same commit gives the same bytes, wherever it is checked out.
//!
//! ```text
//! cargo xtask dist                     builds the program, and makes target/dist
//! cargo xtask dist --twice             … twice, the second time from a copy elsewhere, and compares
//! cargo xtask dist --program FILE      packs a program that was built before: quick, for tests
//! cargo xtask dist try                 installs what is in target/dist in bare systems, and runs it there
//! ```

mod bill_of_materials;
mod container_image;
mod debian_package;
mod files;
mod program;
mod rpm_package;
mod trial;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use fs_err as fs;

use crate::said;

/// What a distribution is made of.
struct Source {
    repository: PathBuf,
    version: String,
    /// Seconds since 1970 of the commit: the only time that is in any of the files.
    epoch: u64,
}

pub(crate) fn run(words: &[String]) -> Result<()> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let to = crate::repository().join("target/dist");
    match words[..] {
        [] => distribute(&Source::here()?, None, &to),
        ["--program", program] => distribute(&Source::here()?, Some(Path::new(program)), &to),
        ["--twice"] => twice(&to),
        ["try"] => trial::run(&to),
        _ => bail!("usage: cargo xtask dist [--twice | --program FILE | try]"),
    }
}

fn distribute(source: &Source, program: Option<&Path>, to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    fs::create_dir_all(to)?;
    let work = tempfile::tempdir()?;
    let built = match program {
        Some(given) => program::given(given, &work.path().join("hardway"))?,
        None => program::build(source, &work.path().join("hardway"))?,
    };
    let tree = work.path().join("tree");
    files::lay_out(source, &built, &tree)?;
    fs::copy(&built, to.join(format!("hardway-{}-x86_64-linux", source.version)))?;
    debian_package::make(source, &tree, to)?;
    rpm_package::make(source, &tree, to)?;
    container_image::make(source, &built, to)?;
    bill_of_materials::make(source, to)?;
    write_checksums(to)?;
    let mut out = std::io::stdout();
    for (name, size) in listing(to)? {
        writeln!(out, "{size:>12}  {}", to.join(name).display())?;
    }
    Ok(())
}

/// The second time from a copy of the sources in another folder, with another target folder: paths of this computer show.
fn twice(to: &Path) -> Result<()> {
    let here = Source::here()?;
    ensure!(here.is_committed()?, "commit first: what is not committed is not in the copy");
    distribute(&here, None, to)?;
    let copy = tempfile::tempdir()?;
    let checkout = copy.path().join("somewhere/else");
    let cloned =
        Command::new("git").args(["clone", "--quiet"]).arg(&here.repository).arg(&checkout).status()?;
    ensure!(cloned.success(), "the sources could not be copied");
    let second = copy.path().join("dist");
    distribute(&Source::at(&checkout)?, None, &second)?;
    let differing: Vec<String> = listing(to)?
        .into_keys()
        .filter(|name| fs::read(to.join(name)).ok() != fs::read(second.join(name)).ok())
        .collect();
    ensure!(differing.is_empty(), "not the same the second time: {}", differing.join(", "));
    writeln!(std::io::stdout(), "the same bytes, twice")?;
    Ok(())
}

/// In the format of `sha256sum --check`.
fn write_checksums(to: &Path) -> Result<()> {
    let names: Vec<String> = listing(to)?.into_keys().collect();
    let output = Command::new("sha256sum").arg("--").args(&names).current_dir(to).output()?;
    ensure!(output.status.success(), "sha256sum failed");
    Ok(fs::write(to.join("SHA256SUMS"), output.stdout)?)
}

fn listing(folder: &Path) -> Result<BTreeMap<String, u64>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        files.insert(entry.file_name().to_string_lossy().into_owned(), entry.metadata()?.len());
    }
    Ok(files)
}

impl Source {
    fn here() -> Result<Self> {
        Self::at(&fs::canonicalize(crate::repository())?)
    }

    fn at(repository: &Path) -> Result<Self> {
        // Sources without their history have no time: everything in the packages is then of 1970.
        let epoch = said(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(repository));
        let epoch = match epoch {
            Ok(text) => text.trim().parse().context("git log gives no time")?,
            Err(_) => 0,
        };
        Ok(Self { repository: repository.to_owned(), version: env!("CARGO_PKG_VERSION").to_owned(), epoch })
    }

    fn is_committed(&self) -> Result<bool> {
        Ok(said(Command::new("git").args(["status", "--porcelain"]).current_dir(&self.repository))?
            .is_empty())
    }
}
