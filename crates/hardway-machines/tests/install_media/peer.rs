//! The real coreos-installer (`HARDWAY_COREOS_INSTALLER`, set by ./test.sh) and hardway read each other's images.

use std::path::{Path, PathBuf};
use std::process::Command;

use fs_err as fs;
use hardway_machines::install_media::{KernelArgumentEdits, LiveIso};
use hardway_testing::needed;

use super::fixture::{DEFAULT, pristine};

/// The folder that tools/coreos-installer.sh makes.
pub(crate) fn peer() -> Option<PathBuf> {
    needed("HARDWAY_COREOS_INSTALLER")
}

/// What it wrote to its output; it must end well.
pub(crate) fn run(peer: &Path, words: &str, paths: &[&Path]) -> Vec<u8> {
    let mut command = Command::new(peer.join("bin/coreos-installer"));
    let output = command.args(words.split(' ')).args(paths).output().unwrap();
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn config() -> Vec<u8> {
    let key: String = (0..4000).map(|n| format!("{:x}", n * 7919 % 4093)).collect();
    format!("{{\"ignition\": {{\"version\": \"3.2.0\"}}, \"key\": \"{key}\"}}\n").into_bytes()
}

const KEYFILES: [(&str, &str); 2] = [
    ("ens3.nmconnection", "[connection]\nid=ens3\ntype=ethernet\n"),
    ("bond0.nmconnection", "[connection]\nid=bond0\ntype=bond\n"),
];

#[test]
fn coreos_installer_reads_what_we_embedded() {
    let Some(peer) = peer() else { return };
    let dir = tempfile::tempdir().unwrap();
    let ours = dir.path().join("ours.iso");
    let mut iso = LiveIso::open(pristine()).unwrap();
    iso.set_ignition(config());
    for (name, text) in KEYFILES {
        iso.set_keyfile(name, text.into()).unwrap();
    }
    let edits = KernelArgumentEdits {
        delete: vec!["ignition.firstboot".to_owned()],
        append: vec!["console=ttyS0,115200n8".to_owned(), "nosmt".to_owned()],
        replace: vec!["ignition.platform.id=metal=qemu".to_owned()],
    };
    iso.edit_kernel_arguments(&edits).unwrap();
    iso.write(&ours).unwrap();

    assert_eq!(run(&peer, "iso ignition show", &[&ours]), config());
    let arguments = "coreos.liveiso=rhcos-synthetic ignition.platform.id=qemu console=ttyS0,115200n8 nosmt\n";
    assert_eq!(String::from_utf8(run(&peer, "iso kargs show", &[&ours])).unwrap(), arguments);
    let shown = run(&peer, "iso kargs show -d", &[&ours]);
    assert_eq!(String::from_utf8(shown).unwrap(), format!("{DEFAULT}\n"));
    let keyfiles = dir.path().join("keyfiles");
    run(&peer, "iso network extract -C", &[&keyfiles, &ours]);
    for (name, text) in KEYFILES {
        assert_eq!(fs::read_to_string(keyfiles.join(name)).unwrap(), text);
    }
    // Its own reset restores the image that we started from.
    let reset = dir.path().join("reset.iso");
    run(&peer, "iso reset -o", &[&reset, &ours]);
    assert!(fs::read(&reset).unwrap() == fs::read(pristine()).unwrap());
}

#[test]
fn we_read_what_coreos_installer_embedded() {
    let Some(peer) = peer() else { return };
    let dir = tempfile::tempdir().unwrap();
    let (file, key) = (dir.path().join("a.ign"), dir.path().join("ens3.nmconnection"));
    fs::write(&file, config()).unwrap();
    fs::write(&key, KEYFILES[0].1).unwrap();
    let steps = ["one.iso", "two.iso", "three.iso"].map(|name| dir.path().join(name));
    run(&peer, "iso ignition embed -i", &[&file, Path::new("-o"), &steps[0], pristine()]);
    run(&peer, "iso network embed -k", &[&key, Path::new("-o"), &steps[1], &steps[0]]);
    let words =
        "iso kargs modify -a console=ttyS0 -d ignition.firstboot -r ignition.platform.id=metal=qemu -o";
    run(&peer, words, &[&steps[2], &steps[1]]);

    let mut iso = LiveIso::open(&steps[2]).unwrap();
    assert_eq!(iso.ignition(), Some(&config()[..]));
    assert_eq!(iso.keyfiles().collect::<Vec<_>>(), [("ens3.nmconnection", KEYFILES[0].1.as_bytes())]);
    let arguments = "coreos.liveiso=rhcos-synthetic ignition.platform.id=qemu console=ttyS0";
    assert_eq!(iso.kernel_arguments(), Some((arguments, DEFAULT)));
    assert!(!iso.is_pristine());

    iso.reset();
    let reset = dir.path().join("reset.iso");
    iso.write(&reset).unwrap();
    assert!(fs::read(&reset).unwrap() == fs::read(pristine()).unwrap());
}

/// `iso customize` puts a live config and a keyfile there; we show the config as it does itself.
#[test]
fn we_read_what_coreos_installer_customized() {
    let Some(peer) = peer() else { return };
    let dir = tempfile::tempdir().unwrap();
    let (dest, key) = (dir.path().join("dest.ign"), dir.path().join("ens3.nmconnection"));
    fs::write(&dest, r#"{"ignition":{"version":"3.2.0"}}"#).unwrap();
    fs::write(&key, KEYFILES[0].1).unwrap();
    let out = dir.path().join("custom.iso");
    let words = "iso customize --dest-device /dev/vda --live-karg-append nosmt --dest-ignition";
    run(&peer, words, &[&dest, Path::new("--network-keyfile"), &key, Path::new("-o"), &out, pristine()]);
    let iso = LiveIso::open(&out).unwrap();
    assert_eq!(iso.ignition().unwrap(), run(&peer, "iso ignition show", &[&out]));
    assert_eq!(iso.keyfiles().count(), 1);
    assert!(iso.kernel_arguments().unwrap().0.ends_with(" nosmt"));
}
