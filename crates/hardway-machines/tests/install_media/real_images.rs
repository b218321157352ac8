//! Skeletons of real images from 2020 to 2023, as coreos-assembler made them: everything but the large files.

use std::process::Command;

use fs_err as fs;
use hardway_machines::install_media::{KernelArgumentEdits, LiveIso};

use super::peer::{peer, run};

#[test]
fn every_generation_of_images_is_read_and_written_as_coreos_installer_does() {
    let Some(peer) = peer() else { return };
    let dir = tempfile::tempdir().unwrap();
    let mut with_arguments = 0;
    for entry in fs::read_dir(peer.join("fixtures/iso")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(stem) = name.strip_suffix(".iso.xz").filter(|stem| stem.starts_with("embed-areas")) else {
            continue;
        };
        let (image, ours) = (dir.path().join(format!("{stem}.iso")), dir.path().join(format!("{stem}.ours")));
        let packed = peer.join("fixtures/iso").join(&name);
        let unpacked = Command::new("xz").args(["--decompress", "--stdout"]).arg(packed).output().unwrap();
        assert!(unpacked.status.success());
        fs::write(&image, unpacked.stdout).unwrap();

        let mut iso = LiveIso::open(&image).unwrap_or_else(|error| panic!("{stem}: {error}"));
        assert!(iso.is_pristine(), "{stem}");
        iso.set_ignition(b"{}".to_vec());
        let edits = KernelArgumentEdits { append: vec!["nosmt=force".to_owned()], ..Default::default() };
        let has_arguments = iso.kernel_arguments().is_some();
        assert_eq!(iso.edit_kernel_arguments(&edits).is_ok(), has_arguments, "{stem}");
        iso.write(&ours).unwrap();

        assert_eq!(run(&peer, "iso ignition show", &[&ours]), b"{}", "{stem}");
        if has_arguments {
            with_arguments += 1;
            let shown = String::from_utf8(run(&peer, "iso kargs show", &[&ours])).unwrap();
            assert_eq!(Some(shown.trim()), iso.kernel_arguments().map(|(current, _)| current), "{stem}");
            let default = String::from_utf8(run(&peer, "iso kargs show --default", &[&ours])).unwrap();
            assert_eq!(Some(default.trim()), iso.kernel_arguments().map(|(_, default)| default), "{stem}");
        }
        let mut again = LiveIso::open(&ours).unwrap();
        again.reset();
        again.write(&ours).unwrap();
        assert!(fs::read(&ours).unwrap() == fs::read(&image).unwrap(), "{stem}: not as it was");
    }
    assert_eq!(with_arguments, 8, "of ten images");
}
