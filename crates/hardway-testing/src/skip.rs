//! Tests that are left out, which nobody should have to guess.

use std::io::Write as _;
use std::path::PathBuf;

use fs_err as fs;

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
    if let Some(file) = std::env::var_os("HARDWAY_SKIPPED") {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(PathBuf::from(file)).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
}
