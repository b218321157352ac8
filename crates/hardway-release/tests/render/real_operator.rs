//! The same inputs with the real machine-config-operator, where one is at hand.
//!
//! `HARDWAY_MCO_IMAGE` names its image by digest, as podman here can run it.

use std::path::Path;
use std::process::Command;

use hardway_assets::Tree;
use hardway_release::render::{Podman, run};

use super::refusals::surprises;
use super::scenario::Scenario;
use crate::containers::{Containers, said, stand_in};

fn real() -> Option<Containers> {
    let image = std::env::var("HARDWAY_MCO_IMAGE").ok()?;
    let run_options = stand_in().map(|containers| containers.podman.run_options.clone()).unwrap_or_default();
    Some(Containers { podman: Podman { run_options, ..Podman::default() }, image })
}

#[test]
fn the_stand_in_is_as_strict_as_the_real_one() {
    let Some(containers) = real() else { return };
    let surprises = surprises(&containers);
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

#[test]
fn the_real_operator_takes_them_too() {
    let Some(Containers { podman, image }) = real() else { return };
    for name in ["ha", "compact", "single-node", "single-node-in-place", "dual-stack", "ipv6", "disconnected"]
    {
        let scenario = Scenario::new(name, &image);
        let dir = tempfile::tempdir().unwrap();
        let mut lines = Vec::new();
        let Scenario { cluster, release, tree } = &scenario;
        let mut log = |line: &str| lines.push(line.to_owned());
        let rendered = run(tree, release, cluster, (dir.path(), &podman), &mut log)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let text = lines.join("\n");
        assert!(!text.contains("p%40ss"), "{text}");
        for (pool, config) in &rendered.configs {
            let files = config.machine_config["spec"]["config"]["storage"]["files"].as_array().unwrap();
            eprintln!("{name} {pool}: {} with {} files", config.name, files.len());
            assert!(files.iter().any(|file| file["path"] == "/etc/kubernetes/kubelet.conf"));
        }
        let mut made = scenario.clone();
        made.release.rendered = rendered.configs.clone();
        validate(&made.remade());
    }
}

/// Ignition's own word on every config made from what was rendered, where Debian's package is installed.
fn validate(tree: &Tree) {
    let validator = Path::new("/usr/bin/ignition-validate");
    if !validator.exists() {
        return;
    }
    for (path, bytes) in tree.iter().filter(|(path, _)| path.ends_with(".ign")) {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs_err::write(file.path(), bytes).unwrap();
        let output = Command::new(validator).arg(file.path()).output().unwrap();
        assert!(output.status.success(), "{path}: {}", said(&output));
    }
}
