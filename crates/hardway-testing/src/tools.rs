//! The real programs, and running one.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

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
