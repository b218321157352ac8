//! The real programs: where they are, running one, and what becomes of a test where one is missing.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use fs_err as fs;

/// The folder of `tools/kubernetes/build.sh`, with these programs built.
///
/// # Panics
/// When they cannot be built.
pub fn tools(names: &[&str]) -> PathBuf {
    let build = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/kubernetes/build.sh");
    let output = Command::new(build).args(names).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "the tools could not be built; leave these tests out with --skip real_");
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
}

/// Runs a command; whether it succeeded, and its output, both streams together.
///
/// # Panics
/// When it cannot be started.
pub fn run(command: &mut Command) -> (bool, String) {
    let Output { status, stdout, stderr } = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    (status.success(), String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap())
}

/// Runs a command that must succeed.
///
/// # Panics
/// When it does not.
pub fn succeed(command: &mut Command) -> String {
    let (success, output) = run(command);
    assert!(success, "{command:?}\n{output}");
    output
}

/// Runs a command that must succeed, with this on its standard input.
///
/// # Panics
/// When it does not.
pub fn feed(command: &mut Command, text: &str) {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "{command:?}\n{text}");
}

/// The folder that ./test.sh names in this variable; without it the test is left out.
///
/// # Panics
/// Where nothing may be missing.
pub fn needed(variable: &str) -> Option<PathBuf> {
    let found = std::env::var_os(variable).map(PathBuf::from);
    if found.is_none() {
        skipped(&format!("{variable} is not set; ./test.sh sets it"));
    }
    found
}

/// Real data of OpenShift to compare with, where this machine has it: it is not part of this project. `HARDWAY_REAL_DATA` says where it
/// is, if not beside the repository. Where it is missing, ./test.sh says at its end what was not compared.
pub fn real_data(name: &str) -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let root = std::env::var_os("HARDWAY_REAL_DATA").map_or_else(|| beside.into(), PathBuf::from);
    let path = root.join(name);
    if path.exists() {
        return Some(path);
    }
    let current = std::thread::current();
    let test = current.name().unwrap_or("a test");
    note("HARDWAY_NOT_COMPARED", &format!("{test}: there is no {name}, of real OpenShift, here\n"));
    None
}

/// Notes that the test which calls this is left out for want of something: on standard error, and in the file that
/// `HARDWAY_SKIPPED` names, which ./test.sh shows at its end.
///
/// # Panics
/// Where nothing may be missing: in CI, and in ./test.sh unless it is to be quick.
pub fn skipped(missing: &str) {
    assert!(std::env::var_os("CI").is_none(), "this test may not be left out: {missing}");
    let current = std::thread::current();
    let line = format!("{}: {missing}\n", current.name().unwrap_or("a test"));
    // Not with a macro: what goes through those is only shown when the test fails.
    let _ = std::io::stderr().write_all(format!("skipped: {line}").as_bytes());
    note("HARDWAY_SKIPPED", &line);
}

/// Adds a line to the file that this variable names, if it does.
fn note(variable: &str, line: &str) {
    if let Some(file) = std::env::var_os(variable) {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(PathBuf::from(file)).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
}
