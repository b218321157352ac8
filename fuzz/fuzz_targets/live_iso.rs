//! Any bytes as a live image: the reader comes back, and what it read can be taken away and put back.
//!
//! A whole image is mostly padding, so the input is put over a small one: two bytes of every four say where.
#![no_main]

use std::io::Cursor;

use hardway_machines::install_media::{KernelArgumentEdits, LiveIso};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|changes: &[u8]| {
    // The seed is the beginning of an image; the rest of it is zeros.
    let mut image = include_bytes!("../seeds/live_iso/small.iso").to_vec();
    let _ = LiveIso::read(&mut Cursor::new(changes));
    // Descriptors, folders and descriptions lie behind the system area.
    let span = image.len() - 32768;
    for change in changes.chunks_exact(4) {
        let place = usize::from(u16::from_le_bytes([change[0], change[1]])) * 4 + usize::from(change[2] & 3);
        image[32768 + place % span] = change[3];
    }
    let Ok(mut iso) = LiveIso::read(&mut Cursor::new(&image)) else { return };
    let _ = (iso.used(), iso.keyfiles().count(), iso.other_files().count());
    iso.set_ignition(b"{}".to_vec());
    let edits = KernelArgumentEdits { append: vec!["a=b".to_owned()], ..Default::default() };
    let _ = iso.edit_kernel_arguments(&edits);
    let _ = iso.prepare();
    iso.reset();
    assert!(iso.is_pristine());
});
