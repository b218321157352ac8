//! Every program that tests, scripts and the lab start, against what set-up installs. Finds gaps without running anything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use fs_err as fs;

use super::root::Root;
use super::shell;

/// What belongs to Rust and Go.
const TOOLCHAINS: [&str; 5] = ["cargo", "go", "gofmt", "rustc", "rustup"];
/// Not started by ./test.sh or ./demo.sh: measurements, which use what is there; deployments; what runs on nodes.
const ELSEWHERE: [&str; 4] = ["deploy/", "fuzz/", "lab/node/rootfs/", "xtask/src/bench/"];
const FOLDERS: [&str; 6] = ["usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin", "sbin", "bin"];
/// What need not be there, and why.
const DISPENSABLE: [(&str, &str); 5] = [
    ("getsebool", "only where SELinux is"),
    ("netstat", "where it is missing, ss is asked"),
    ("no-such-program", "a test that it is missing"),
    ("rsync", "on nodes; tests put a stand-in in its place"),
    ("serve", "a command of hardway's own"),
];
/// How a program's name comes into Rust and Go. Scripts that are strings there are not read.
const CALLS: [&str; 4] = ["Command::new(\"", "Program::new(\"", "Program::words(\"", "exec.Command(\""];

/// Fails with every program that no package brought.
pub(super) fn compare(root: &Root) -> Result<String> {
    let started = started(root.repository())?;
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for (program, (file, is_certain)) in &started {
        match place(&root.folder(), program) {
            Some(path) => found.push(path),
            // Words of a shell may be text after all: what this computer does not have either is none of its programs.
            None if *is_certain || place(Path::new("/"), program).is_some() => {
                missing.push(format!("{program} ({file})"));
            }
            None => {}
        }
    }
    if !missing.is_empty() {
        bail!("no package of tools/setup.sh brings {}", missing.join(", "));
    }
    let owners = owners(root, &found)?;
    let named: BTreeSet<String> = root.output("apt-mark showmanual")?.lines().map(str::to_owned).collect();
    let along: Vec<&str> =
        owners.iter().filter(|owner| !named.contains(*owner)).map(String::as_str).collect();
    Ok(format!(
        "{} programs of {} packages; not named, but brought along: {}",
        found.len(),
        owners.len(),
        along.join(" ")
    ))
}

/// Program → a file that starts it, and whether that is certain.
fn started(repository: &Path) -> Result<BTreeMap<String, (String, bool)>> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(repository)
        .output()?;
    let files = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut started: BTreeMap<String, (String, bool)> = BTreeMap::new();
    let mut functions = BTreeSet::new();
    for file in files.lines().filter(|file| !ELSEWHERE.iter().any(|folder| file.starts_with(folder))) {
        let Ok(text) = fs::read_to_string(repository.join(file)) else { continue };
        let (names, is_certain) = if file.ends_with(".rs") || file.ends_with(".go") {
            (named_in_code(&text), true)
        } else if file.ends_with(".sh")
            || text.starts_with("#!/bin/sh")
            || text.starts_with("#!/usr/bin/env bash")
            || text.starts_with("#!/bin/bash")
        {
            let words = shell::commands(&text);
            functions.extend(words.functions);
            (words.commands, false)
        } else {
            continue;
        };
        for name in names {
            let known = started.entry(name).or_insert_with(|| (file.to_owned(), false));
            if is_certain && !known.1 {
                *known = (file.to_owned(), true);
            }
        }
    }
    let is_known =
        |name: &str| TOOLCHAINS.contains(&name) || DISPENSABLE.iter().any(|(known, _)| *known == name);
    started.retain(|name, (_, is_certain)| (*is_certain || !functions.contains(name)) && !is_known(name));
    Ok(started)
}

/// First words of command lines, as they stand in the code.
fn named_in_code(text: &str) -> BTreeSet<String> {
    let of_call = |call: &str| {
        let starts: Vec<usize> = text.match_indices(call).map(|(at, _)| at + call.len()).collect();
        starts
            .into_iter()
            .filter_map(|at| text[at..].split(['"', ' ']).next())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let is_name = |name: &String| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "/._+-".contains(c))
    };
    CALLS.iter().flat_map(|call| of_call(call)).filter(is_name).collect()
}

/// Where a program is, under a root.
fn place(root: &Path, program: &str) -> Option<PathBuf> {
    let is_there = |path: &PathBuf| root.join(path).symlink_metadata().is_ok();
    match program.strip_prefix('/') {
        Some(path) => Some(PathBuf::from(path)).filter(is_there),
        None => FOLDERS.iter().map(|folder| Path::new(folder).join(program)).find(is_there),
    }
}

/// The packages that files are from. Some know theirs by the name that folders had before /bin and /usr/bin became one; names that
/// are chosen among several packages belong to none.
fn owners(root: &Root, files: &[PathBuf]) -> Result<BTreeSet<String>> {
    let names: Vec<String> = files.iter().map(|file| format!("/{}", file.display())).collect();
    let before: Vec<String> =
        names.iter().filter_map(|name| name.strip_prefix("/usr").map(str::to_owned)).collect();
    let words = [names, before].concat().join(" ");
    let said = root.output(&format!("dpkg --search {words} 2>/dev/null || true"))?;
    let packages =
        said.lines().filter(|line| !line.starts_with("diversion")).filter_map(|line| line.split(':').next());
    Ok(packages.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_named_in_code() {
        let text = r#"Command::new("gpg"); Program::words("sysctl -n x"); Command::new(format!("{x}")); Command::new("/bin/true")"#;
        assert_eq!(named_in_code(text), ["/bin/true", "gpg", "sysctl"].map(str::to_owned).into());
    }
}
