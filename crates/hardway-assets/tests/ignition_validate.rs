//! Every generated Ignition config against the real validators: the one built from Ignition's own module, and Debian's.

use std::path::{Path, PathBuf};
use std::process::Command;

use hardway_testing::skipped;

use crate::common::{self, SCENARIOS, made};

fn validators() -> Vec<PathBuf> {
    let built = std::env::var_os("HARDWAY_TOOLS_BIN").map(|bin| Path::new(&bin).join("ignition-validate"));
    let debian = ["/usr/bin/ignition-validate", "/usr/lib/dracut/modules.d/30ignition/ignition-validate"]
        .map(PathBuf::from);
    let found: Vec<PathBuf> = built.into_iter().chain(debian).filter(|path| path.exists()).collect();
    if found.len() < 2 {
        skipped(&format!("not both validators of Ignition are here, only {found:?}"));
    }
    found
}

#[test]
fn real_validators_accept_every_config() {
    let dir = tempfile::tempdir().unwrap();
    let mut checked = 0;
    for scenario in SCENARIOS {
        for (path, bytes) in made(scenario).tree.iter().filter(|(path, _)| path.ends_with(".ign")) {
            let file = dir.path().join(path.replace('/', "-"));
            let live = dir.path().join("live.ign");
            std::fs::write(&file, bytes).unwrap();
            std::fs::write(&live, common::live_config(bytes).to_string()).unwrap();
            for (validator, file) in validators().iter().flat_map(|v| [(v, &file), (v, &live)]) {
                let output = Command::new(validator).arg(file).output().unwrap();
                let said = String::from_utf8_lossy(&output.stderr).into_owned()
                    + &String::from_utf8_lossy(&output.stdout);
                assert!(output.status.success(), "{scenario} {path} by {}: {said}", validator.display());
                assert!(!said.contains("warning"), "{scenario} {path} by {}: {said}", validator.display());
                checked += 1;
            }
        }
    }
    eprintln!("{checked} checks");
}

#[test]
fn a_path_written_twice_would_be_refused() {
    let made = made("ha");
    let mut config: serde_json::Value =
        serde_json::from_slice(made.tree.get("bootstrap.ign").unwrap()).unwrap();
    let files = config["storage"]["files"].as_array_mut().unwrap();
    files.push(files[0].clone());
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), config.to_string()).unwrap();
    for validator in validators() {
        assert!(
            !Command::new(&validator).arg(file.path()).output().unwrap().status.success(),
            "{}",
            validator.display()
        );
    }
}
