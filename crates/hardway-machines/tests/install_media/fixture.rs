//! A live image with the structure of a real one, made by xorriso: boots by BIOS and EFI as far as the catalogue goes,
//! with the areas and descriptions that coreos-assembler puts there. What it would boot is filler.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use fs_err as fs;
use serde_json::json;
use tempfile::TempDir;

/// Of the embed area, as in real images.
pub(crate) const AREA: usize = 256 << 10;
/// Of the areas for kernel arguments.
pub(crate) const ARGUMENTS: usize = 1139;
pub(crate) const DEFAULT: &str =
    "coreos.liveiso=rhcos-synthetic ignition.firstboot ignition.platform.id=metal";

/// A folder that becomes an image.
pub(crate) struct Builder {
    pub(crate) dir: TempDir,
}

/// The image that most tests read, and none may write.
pub(crate) fn pristine() -> &'static Path {
    static MADE: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rhcos-live.x86_64.iso");
        Builder::new().build(&path);
        (dir, path)
    });
    &MADE.1
}

impl Builder {
    /// With everything a new image has.
    pub(crate) fn new() -> Self {
        let builder = Self { dir: tempfile::tempdir().unwrap() };
        let grub_head = "set default=\"1\"\nset timeout=5\nmenuentry 'Live' --class os {\n\tlinux /images/pxeboot/vmlinuz ";
        let isolinux_head = "default vesamenu.c32\nlabel linux\n  kernel /images/pxeboot/vmlinuz\n  append initrd=/images/pxeboot/initrd.img,/images/ignition.img ";
        let mut area = format!("{DEFAULT}\n");
        area += &"#".repeat(ARGUMENTS - area.len());
        builder.file("EFI/redhat/grub.cfg", format!("{grub_head}{area} COREOS_KARG_EMBED_AREA\n}}\n"));
        builder.file("isolinux/isolinux.cfg", format!("{isolinux_head}{area} COREOS_KARG_EMBED_AREA\n"));
        builder.file("isolinux/isolinux.bin", [0xeb; 4096]);
        builder.file("images/efiboot.img", [0x5a; 8192]);
        builder.file("images/ignition.img", vec![0; AREA]);
        builder.file("images/pxeboot/vmlinuz", [1; 5000]);
        builder.file("images/pxeboot/initrd.img", [2; 7000]);
        builder.file("images/pxeboot/rootfs.img", vec![3; 300_000]);
        builder.file("coreos/igninfo.json", json!({"file": "images/ignition.img"}).to_string());
        let features = json!({"installer-config": true, "installer-config-directives": {"console": true}, "live-initrd-network": true});
        builder.file("coreos/features.json", features.to_string());
        let places = json!([
            {"path": "EFI/redhat/grub.cfg", "offset": grub_head.len(), "end": "\n", "pad": "#"},
            {"path": "isolinux/isolinux.cfg", "offset": isolinux_head.len()},
        ]);
        let arguments = json!({"default": DEFAULT, "files": places, "size": ARGUMENTS});
        builder.file("coreos/kargs.json", arguments.to_string());
        builder
    }

    /// Another file, or other contents.
    pub(crate) fn file(&self, path: &str, contents: impl AsRef<[u8]>) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.dir.path().join(path)).unwrap();
    }

    /// A hybrid image for BIOS and EFI, with names as short as genisoimage makes them.
    pub(crate) fn build(&self, to: &Path) {
        let output = Command::new("xorriso")
            .args(["-as", "mkisofs", "-quiet", "-V", "rhcos-synthetic", "-iso-level", "1", "-rational-rock"])
            .args(["-b", "isolinux/isolinux.bin", "-c", "isolinux/boot.cat", "-no-emul-boot"])
            .args(["-boot-load-size", "4", "-boot-info-table"])
            .args(["-eltorito-alt-boot", "-e", "images/efiboot.img", "-no-emul-boot"])
            .arg("-o")
            .args([to, self.dir.path()])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
