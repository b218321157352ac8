//! The move from the bootstrap host to the masters with OpenShift's own operators, as far as they are given.

use std::ffi::OsString;

use anyhow::{Result, ensure};
use fs_err as fs;

use super::NotRun;
use super::install::{create_with_client, everything_is_finished};
use super::lab::Lab;

/// A folder of programs, and a release: pull spec or folder (`lab/release/README.md`).
const PROGRAMS: &str = "HARDWAY_REAL_PROGRAMS";
const RELEASE: &str = "HARDWAY_REAL_RELEASE";

/// One master first: it shows sooner what does not work.
pub(super) fn run() -> Result<()> {
    let words = given(|name| std::env::var_os(name))?;
    for masters in [1, 3] {
        install(&words, masters)?;
    }
    Ok(())
}

/// What `hardway lab release` is told.
fn given(variable: impl Fn(&str) -> Option<OsString>) -> Result<Vec<String>, NotRun> {
    let flag = |flag: &str, name: &str| {
        let value = variable(name).filter(|value| !value.is_empty())?;
        Some([flag.to_owned(), value.to_string_lossy().into_owned()])
    };
    let words: Vec<String> =
        [flag("--from", RELEASE), flag("--programs", PROGRAMS)].into_iter().flatten().flatten().collect();
    if words.is_empty() {
        let why = format!(
            "no real operators are given; set {PROGRAMS} to a folder of programs, or {RELEASE} to a release (lab/release/README.md)"
        );
        return Err(NotRun(why));
    }
    Ok(words)
}

fn install(real: &[String], masters: u8) -> Result<()> {
    let lab = Lab::init(&format!("real-{masters}"), masters, 0)?;
    let words: Vec<&str> = ["lab", "release"].into_iter().chain(real.iter().map(String::as_str)).collect();
    lab.ok(&words)?;
    let path = lab.path("inventory.yaml");
    fs::write(&path, with_real_operators(&fs::read_to_string(&path)?, &lab.name)?)?;
    create_with_client(&lab, "30m")?;
    everything_is_finished(&lab)?;
    lab.destroy()
}

fn with_real_operators(inventory: &str, lab: &str) -> Result<String> {
    let changed = inventory
        .replace(&format!("lab: {{name: {lab}}}"), &format!("lab: {{name: {lab}, operators: real}}"))
        .replace("/hardway-lab/release:lab", "/hardway-lab/release:real");
    ensure!(
        changed.contains("operators: real") && changed.contains("release:real"),
        "the inventory does not look as expected:\n{inventory}"
    );
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_programs_it_is_not_run() {
        let why = given(|_| None).unwrap_err().to_string();
        assert!(why.contains(PROGRAMS) && why.contains(RELEASE), "{why}");
        let words = given(|name| (name == PROGRAMS).then(|| "bin".into())).unwrap();
        assert_eq!(words, ["--programs", "bin"]);
        assert!(anyhow::Error::from(NotRun(why)).is::<NotRun>());
    }

    #[test]
    fn the_inventory_asks_for_them() {
        let inventory = "release:\n  image: 192.168.126.1:5000/hardway-lab/release:lab\nmachines:\n  provider: lab\n  lab: {name: x-1}\n";
        let changed = with_real_operators(inventory, "x-1").unwrap();
        assert!(
            changed.contains("lab: {name: x-1, operators: real}") && changed.contains("release:real"),
            "{changed}"
        );
        assert!(with_real_operators("nothing", "x-1").is_err());
    }
}
