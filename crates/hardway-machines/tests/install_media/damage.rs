//! Images that are no images, not of CoreOS, cut off, or damaged: each is refused with its own error.

use std::io::Cursor;

use fs_err as fs;
use hardway_machines::install_media::{KernelArgumentEdits, LiveIso, MediaError};
use proptest::prelude::*;

use super::fixture::{Builder, DEFAULT, pristine};

fn read(bytes: Vec<u8>) -> Result<LiveIso, MediaError> {
    LiveIso::read(&mut Cursor::new(bytes))
}

fn refused(bytes: Vec<u8>) -> MediaError {
    read(bytes).expect_err("it should be refused")
}

fn built(change: impl FnOnce(&Builder)) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let builder = Builder::new();
    change(&builder);
    builder.build(&dir.path().join("a.iso"));
    fs::read(dir.path().join("a.iso")).unwrap()
}

fn good() -> Vec<u8> {
    fs::read(pristine()).unwrap()
}

fn place(bytes: &[u8], text: &[u8]) -> usize {
    bytes.windows(text.len()).position(|window| window == text).unwrap()
}

#[test]
fn what_is_no_iso_is_said_to_be_none() {
    for bytes in [Vec::new(), b"#!/bin/sh\n".to_vec(), vec![0; 1 << 20], b"PK".repeat(100_000)] {
        assert!(matches!(refused(bytes), MediaError::NotIso(_)));
    }
    let mut ends_at_once = good();
    ends_at_once[32768] = 255;
    assert!(matches!(refused(ends_at_once), MediaError::NotIso(_)));
    let missing = LiveIso::open("/nowhere/a.iso".as_ref()).unwrap_err();
    assert!(missing.to_string().starts_with("/nowhere/a.iso: read"), "{missing}");
}

#[test]
fn an_iso_of_something_else_is_named() {
    let bytes = built(|builder| {
        builder.remove("coreos/igninfo.json");
        builder.remove("images/ignition.img");
    });
    let MediaError::NotCoreOs { volume } = refused(bytes) else { panic!() };
    assert_eq!(volume, "rhcos-synthetic");
}

#[test]
fn a_download_that_was_cut_off_is_noticed_with_both_lengths() {
    let mut bytes = good();
    let whole = bytes.len() as u64;
    bytes.truncate(bytes.len() - 300_000);
    let MediaError::Truncated { expected, found } = refused(bytes) else { panic!() };
    assert!(expected <= whole && found == whole - 300_000, "{expected} {found}");
}

#[test]
fn descriptions_that_lie_are_refused() {
    type Row = ((&'static str, &'static str), fn(&MediaError) -> bool);
    let rows: [Row; 8] = [
        (("coreos/igninfo.json", "no JSON"), |error| {
            matches!(error, MediaError::Description { file: "coreos/igninfo.json", .. })
        }),
        (("coreos/igninfo.json", r#"{"file": "images/none.img"}"#), |error| {
            matches!(error, MediaError::Description { file: "coreos/igninfo.json", .. })
        }),
        (("coreos/igninfo.json", r#"{"file": "images/ignition.img", "offset": 262145}"#), |error| {
            matches!(error, MediaError::AreaOutside { .. })
        }),
        (
            (
                "coreos/igninfo.json",
                r#"{"file": "images/ignition.img", "length": 18446744073709551615, "offset": 1}"#,
            ),
            |error| matches!(error, MediaError::AreaOutside { .. }),
        ),
        (("coreos/kargs.json", r#"{"default": "", "files": [], "size": 10}"#), |error| {
            matches!(error, MediaError::Description { file: "coreos/kargs.json", .. })
        }),
        (
            ("coreos/kargs.json", r#"{"default": "", "files": [{"path": "none", "offset": 0}], "size": 10}"#),
            |error| matches!(error, MediaError::Description { file: "coreos/kargs.json", .. }),
        ),
        (
            (
                "coreos/kargs.json",
                r#"{"default": "", "files": [{"path": "isolinux/isolinux.cfg", "offset": 9999}], "size": 10}"#,
            ),
            |error| matches!(error, MediaError::AreaOutside { .. }),
        ),
        (("coreos/features.json", "[]]"), |error| {
            matches!(error, MediaError::Description { file: "coreos/features.json", .. })
        }),
    ];
    for ((file, text), is_right) in rows {
        let error = refused(built(|builder| builder.file(file, text)));
        assert!(is_right(&error), "{file}: {text}: {error:?}");
        assert!(!error.to_string().is_empty() && !error.fix().is_empty());
    }
}

#[test]
fn damage_inside_is_found() {
    let mut garbage = good();
    // The area itself: found by embedding something and looking for it.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.iso");
    let mut iso = LiveIso::open(pristine()).unwrap();
    iso.set_ignition(b"{}".to_vec());
    iso.write(&path).unwrap();
    let embedded = fs::read(&path).unwrap();
    let at = place(&embedded, b"\xfd7zXZ\0");
    garbage[at..at + 7].copy_from_slice(b"garbage");
    assert!(matches!(refused(garbage), MediaError::Area(_)));
    for bit in 0..64 {
        let mut flipped = embedded.clone();
        flipped[at + bit] ^= 1 << (bit % 8);
        assert!(matches!(refused(flipped), MediaError::Area(_)), "byte {bit} of the area");
    }

    let mut different = good();
    let second = place(&different, DEFAULT.as_bytes());
    let third = second + 1 + place(&different[second + 1..], DEFAULT.as_bytes());
    different[third] = b'X';
    // The first of the three is the description; each menu has its own.
    assert!(matches!(refused(different), MediaError::KernelArgumentsDiffer { .. }));

    let good = good();
    let record = place(&good, b"IGNINFO.JSO") - 33;
    let with = |at: usize, value: &[u8]| {
        let mut bytes = good.clone();
        bytes[record + at..record + at + value.len()].copy_from_slice(value);
        refused(bytes)
    };
    let far = [u32::MAX.to_le_bytes(), u32::MAX.to_be_bytes()].concat();
    for (at, value) in [(0, &[40][..]), (2, &[7]), (2, &far), (10, &far), (32, &[250])] {
        let error = with(at, value);
        assert!(matches!(error, MediaError::Damaged(_)), "{value:?} at {at}: {error:?}");
    }
}

/// Any single byte may be wrong: the reader comes back with an answer, and never with a panic.
#[test]
fn no_byte_of_the_structure_makes_it_panic() {
    // A small area is read quickly.
    let mut bytes = built(|builder| builder.file("images/ignition.img", vec![0; 4096]));
    let mut refused = 0;
    // Descriptors, path tables and folders come before the first file.
    for at in (32768..32768 + 24 * 2048).step_by(5) {
        for value in [0, 0xff] {
            let before = std::mem::replace(&mut bytes[at], value);
            refused += usize::from(LiveIso::read(&mut Cursor::new(&bytes)).is_err());
            bytes[at] = before;
        }
    }
    assert!(refused > 100, "{refused}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The fuzz target `live_iso`, as far as it goes in a moment.
    #[test]
    fn no_set_of_changes_makes_it_panic(changes in proptest::collection::vec((0_usize..53_248, any::<u8>()), 1..40)) {
        let mut image = include_bytes!("../../../../fuzz/seeds/live_iso/small.iso").to_vec();
        for (place, value) in changes {
            image[32768 + place] = value;
        }
        let Ok(mut iso) = read(image) else { return Ok(()) };
        iso.set_ignition(b"{}".to_vec());
        let edits = KernelArgumentEdits { append: vec!["a=b".to_owned()], ..Default::default() };
        let _ = iso.edit_kernel_arguments(&edits);
        let _ = iso.prepare();
        iso.reset();
        prop_assert!(iso.is_pristine());
    }
}
