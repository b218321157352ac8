//! Whatever is embedded comes back, and taking it away leaves the image as it was, byte for byte.

use std::collections::BTreeMap;

use fs_err as fs;
use hardway_machines::install_media::{KernelArgumentEdits, LiveIso, MediaError};
use proptest::prelude::*;

use super::fixture::{AREA, ARGUMENTS, Builder, DEFAULT, pristine};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn embedded_comes_back_and_removed_leaves_no_trace(
        config in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..5000)),
        keyfiles in proptest::collection::btree_map("[a-z0-9]{1,20}\\.nmconnection", ".{0,200}", 0..4),
        arguments in proptest::collection::vec("[!-~]{1,30}", 0..12),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.iso");
        let mut iso = LiveIso::open(pristine()).unwrap();
        if let Some(config) = &config {
            iso.set_ignition(config.clone());
        }
        for (name, text) in &keyfiles {
            iso.set_keyfile(name, text.clone().into()).unwrap();
        }
        iso.edit_kernel_arguments(&KernelArgumentEdits { append: arguments.clone(), ..Default::default() }).unwrap();
        iso.write(&path).unwrap();

        let mut read = LiveIso::open(&path).unwrap();
        prop_assert_eq!(read.ignition(), config.as_deref());
        let found: BTreeMap<String, String> =
            read.keyfiles().map(|(name, text)| (name.to_owned(), String::from_utf8(text.to_vec()).unwrap())).collect();
        prop_assert_eq!(&found, &keyfiles);
        let expected = [vec![DEFAULT.to_owned()], arguments].concat().join(" ");
        prop_assert_eq!(read.kernel_arguments(), Some((expected.as_str(), DEFAULT)));

        read.reset();
        prop_assert!(read.is_pristine());
        read.write(&path).unwrap();
        prop_assert!(fs::read(&path).unwrap() == fs::read(pristine()).unwrap());
    }
}

/// Bytes that cannot be packed tighter.
fn noise(length: usize) -> Vec<u8> {
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect()
}

#[test]
fn what_does_not_fit_is_refused_with_both_sizes_and_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut iso = LiveIso::open(pristine()).unwrap();
    iso.set_ignition(noise(AREA));
    let error = iso.write(&dir.path().join("a.iso")).unwrap_err();
    let MediaError::AreaTooSmall { needed, capacity } = error else { panic!("{error}") };
    assert_eq!(capacity, AREA as u64);
    assert!(needed > capacity);
    // The most that fits, to the byte.
    let mut most = AREA;
    while iso.prepare().is_err() {
        most -= 16;
        iso.set_ignition(noise(most));
    }
    assert!(most > AREA - 1024, "{most}");
    iso.write(&dir.path().join("full.iso")).unwrap();
    assert_eq!(LiveIso::open(&dir.path().join("full.iso")).unwrap().ignition(), Some(&noise(most)[..]));

    let mut iso = LiveIso::open(pristine()).unwrap();
    let append =
        |length: usize| KernelArgumentEdits { append: vec!["x".repeat(length)], ..Default::default() };
    let room = ARGUMENTS - DEFAULT.len() - 2;
    let error = iso.edit_kernel_arguments(&append(room + 1)).unwrap_err();
    assert!(matches!(error, MediaError::KernelArgumentsTooLong { needed: 1140, capacity: 1139 }), "{error}");
    iso.edit_kernel_arguments(&append(room)).unwrap();
    let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["full.iso"]);
}

#[test]
fn boot_menus_outside_the_areas_stay_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.iso");
    let mut iso = LiveIso::open(pristine()).unwrap();
    let edits = KernelArgumentEdits { append: vec!["console=ttyS0".to_owned()], ..Default::default() };
    iso.edit_kernel_arguments(&edits).unwrap();
    iso.write(&path).unwrap();
    let (before, after) = (fs::read(pristine()).unwrap(), fs::read(&path).unwrap());
    assert_eq!(before.len(), after.len());
    let changed = before.iter().zip(&after).filter(|(one, other)| one != other).count();
    // In two menus: the space and the word, and the line's end behind it.
    assert_eq!(changed, 2 * (" console=ttyS0".len() + 1));
    let text = String::from_utf8_lossy(&after).into_owned();
    assert_eq!(text.matches(" COREOS_KARG_EMBED_AREA\n").count(), 2);
    assert_eq!(text.matches(&format!("{DEFAULT} console=ttyS0\n#")).count(), 2);
}

#[test]
fn images_of_other_ages_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("old.iso");
    let builder = Builder::new();
    for file in ["coreos/igninfo.json", "coreos/kargs.json", "coreos/features.json"] {
        builder.remove(file);
    }
    builder.build(&path);
    let mut iso = LiveIso::open(&path).unwrap();
    assert_eq!((iso.capacity(), iso.volume()), (AREA as u64, "rhcos-synthetic"));
    assert!(iso.kernel_arguments().is_none());
    let edits = KernelArgumentEdits { append: vec!["a".to_owned()], ..Default::default() };
    assert!(matches!(iso.edit_kernel_arguments(&edits), Err(MediaError::Unsupported(_))));
    assert!(matches!(iso.set_keyfile("a.nmconnection", Vec::new()), Err(MediaError::Unsupported(_))));

    // As on s390x: a piece of a larger file.
    let builder = Builder::new();
    builder.file("images/ignition.img", [vec![7; 4096], vec![0; 8192], vec![8; 100]].concat());
    builder.file("coreos/igninfo.json", r#"{"file": "images/ignition.img", "offset": 4096, "length": 8192}"#);
    builder.build(&path);
    let mut iso = LiveIso::open(&path).unwrap();
    assert_eq!(iso.capacity(), 8192);
    iso.set_ignition(b"{}".to_vec());
    let other = dir.path().join("other.iso");
    iso.write(&other).unwrap();
    assert_eq!(LiveIso::open(&other).unwrap().ignition(), Some(&b"{}"[..]));
    assert!(matches!(iso.set_keyfile("a.conf", Vec::new()), Err(MediaError::KeyfileName(_))));
    assert!(matches!(iso.set_keyfile("../a.nmconnection", Vec::new()), Err(MediaError::KeyfileName(_))));
}
