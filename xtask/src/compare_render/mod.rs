//! `cargo xtask compare-render DIR [--details]`: what the operators' own `render` commands write, beside what hardway makes, in five
//! topologies.
//!
//! ```text
//! RenderProgram   a program, and how a bootstrap host calls it       programs.rs
//! Topology        input files, and the host that it runs on          topology.rs
//! Objects         what either side has, with chance taken out        objects.rs
//! REASONS         differences that are meant                         reasons.rs
//! ```
//!
//! The programs are given: DIR/VERSION/NAME has the layout of the root of NAME's image (`lab/release/README.md`), VERSION is a minor such as
//! 4.20, or 4.20-okd. What is not there was not run, and the table says so.

mod objects;
mod programs;
mod reasons;
mod topology;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use objects::{Difference, Objects};
use programs::{PROGRAMS, RenderProgram};
use topology::{Site, TOPOLOGIES, Topology};

/// What came of one program in one topology.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    NotRun,
    /// So many objects, all the same.
    Equal(usize),
    /// So many objects, and what differs.
    Differs(usize, Vec<Difference>),
    /// Why it wrote nothing.
    Failed(String),
}

impl Outcome {
    /// A cell of the table.
    fn cell(&self) -> String {
        match self {
            Self::NotRun => "not run".to_owned(),
            Self::Equal(0) => "writes no object".to_owned(),
            Self::Equal(count) => format!("equal ({count})"),
            Self::Differs(count, differences) => {
                let meant = differences.iter().filter(|difference| difference.reason().is_some()).count();
                match differences.len() - meant {
                    0 => format!("equal ({count}) but for {meant} that are meant"),
                    unexplained => format!("**differs** in {unexplained} of {count}"),
                }
            }
            Self::Failed(_) => "cannot be tried".to_owned(),
        }
    }

    fn is_unexplained(&self) -> bool {
        matches!(self, Self::Differs(_, differences) if differences.iter().any(|difference| difference.reason().is_none()))
    }
}

/// Prints the table; fails if a difference has no reason.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let (folders, options): (Vec<&String>, Vec<&String>) =
        words.iter().partition(|word| !word.starts_with("--"));
    if let Some(unknown) = options.iter().find(|option| option.as_str() != "--details") {
        bail!("compare-render has no option {unknown}; there is --details");
    }
    let versions = match folders.as_slice() {
        [] => BTreeMap::new(),
        [folder] => versions(Path::new(folder))?,
        _ => bail!("usage: cargo xtask compare-render [DIR] [--details]"),
    };
    let mut out = std::io::stdout();
    if versions.is_empty() {
        writeln!(
            out,
            "not run: no programs are given. `cargo xtask compare-render DIR` looks for DIR/VERSION/NAME/usr/bin/NAME, with the files of \
             NAME's image; NAME is one of {}",
            PROGRAMS.map(|program| program.name).join(", ")
        )?;
        return Ok(());
    }
    let hardway = hardway()?;
    let mut unexplained = Vec::new();
    writeln!(out, "| version | program | {} |", TOPOLOGIES.map(|topology| topology.name).join(" | "))?;
    writeln!(out, "|---|---|{}", "---|".repeat(TOPOLOGIES.len()))?;
    let mut details = String::new();
    for (version, folder) in &versions {
        let work = tempfile::Builder::new().prefix("hardway-compare-").tempdir()?;
        let made = |topology: &Topology| topology.make(&hardway, version, &work.path().join(topology.name));
        let sites = TOPOLOGIES.iter().map(made).collect::<Result<Vec<Site>>>()?;
        for program in &PROGRAMS {
            let outcomes =
                sites.iter().map(|site| compare(site, folder, program)).collect::<Result<Vec<Outcome>>>()?;
            let cells: Vec<String> = outcomes.iter().map(Outcome::cell).collect();
            writeln!(out, "| {version} | {} | {} |", program.name, cells.join(" | "))?;
            for (outcome, topology) in outcomes.iter().zip(TOPOLOGIES) {
                let place = format!("{version} {} {}", program.name, topology.name);
                describe(&mut details, &place, outcome);
                if outcome.is_unexplained() {
                    unexplained.push(place);
                }
            }
        }
    }
    if options.iter().any(|option| option.as_str() == "--details") || !unexplained.is_empty() {
        writeln!(out, "\n{}", details.trim_end())?;
    }
    ensure!(unexplained.is_empty(), "differs without a reason: {}", unexplained.join(", "));
    Ok(())
}

fn describe(details: &mut String, place: &str, outcome: &Outcome) {
    match outcome {
        Outcome::Differs(_, differences) => {
            for difference in differences {
                let reason = difference.reason().map(|reason| format!(" ({reason})")).unwrap_or_default();
                let _ = writeln!(details, "{place}: {difference}{reason}");
            }
        }
        Outcome::Failed(why) => drop(writeln!(details, "{place}: {why}")),
        Outcome::NotRun | Outcome::Equal(_) => {}
    }
}

/// The folders of a folder, each a version.
fn versions(folder: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let mut versions = BTreeMap::new();
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && PROGRAMS.iter().any(|program| program.path(&path).is_file()) {
            let minor = name.split('-').next().unwrap_or_default();
            let is_minor =
                minor.split('.').count() == 2 && minor.split('.').all(|part| part.parse::<u32>().is_ok());
            ensure!(
                is_minor,
                "{}: a folder of programs is called after a minor version, such as 4.20 or 4.20-okd",
                path.display()
            );
            versions.insert(name, path);
        }
    }
    Ok(versions)
}

fn compare(site: &Site, folder: &Path, program: &RenderProgram) -> Result<Outcome> {
    if !program.path(folder).is_file() {
        return Ok(Outcome::NotRun);
    }
    let written = match program.run(folder, site) {
        Ok(written) => written,
        Err(error) => return Ok(Outcome::Failed(format!("{error:#}"))),
    };
    let theirs = Objects::below(&written).with_context(|| program.name.to_owned())?;
    let ours = Objects::below(&site.folder)?;
    let differences = theirs.differences(&ours);
    let count = theirs.len();
    Ok(match differences.is_empty() {
        true => Outcome::Equal(count),
        false => Outcome::Differs(count, differences),
    })
}

fn hardway() -> Result<PathBuf> {
    if let Some(program) = std::env::var_os("HARDWAY") {
        return Ok(program.into());
    }
    let mut build = std::process::Command::new("cargo");
    let status =
        build.args(["build", "--quiet", "--package", "hardway"]).current_dir(crate::repository()).status()?;
    ensure!(status.success(), "hardway could not be built");
    Ok(crate::repository().join("target/debug/hardway"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_never_say_equal_of_what_was_not_run() {
        assert_eq!(Outcome::NotRun.cell(), "not run");
        assert_eq!(Outcome::Failed("no".to_owned()).cell(), "cannot be tried");
        assert_eq!(Outcome::Equal(0).cell(), "writes no object");
        let difference = Difference::missing("ConfigMap made-up/made-up");
        let differs = Outcome::Differs(3, vec![difference]);
        assert_eq!(differs.cell(), "**differs** in 1 of 3");
        assert!(differs.is_unexplained());
    }

    #[test]
    fn only_minors_are_versions() {
        let folder = tempfile::tempdir().unwrap();
        let program = |version: &str| PROGRAMS[0].path(&folder.path().join(version));
        let make = |version: &str| {
            fs_err::create_dir_all(program(version).parent().unwrap()).unwrap();
            fs_err::write(program(version), "").unwrap();
        };
        make("4.20-okd");
        make("4.18");
        fs_err::create_dir(folder.path().join("notes")).unwrap();
        assert_eq!(versions(folder.path()).unwrap().into_keys().collect::<Vec<_>>(), ["4.18", "4.20-okd"]);
        make("newest");
        assert!(versions(folder.path()).unwrap_err().to_string().contains("minor version"));
    }
}
