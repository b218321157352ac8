//! A part as a member of the archive: a header of 512 bytes, its data, zeros up to the next 512.

use tar::{EntryType, Header};

use super::contents::{CONTENTS, PROGRAM, Part, SUM};
use crate::digest::Digest;

pub(super) const BLOCK: u64 = 512;
/// What an archive ends with.
const TRAILER: u64 = 2 * BLOCK;

/// The header of a part. Neither clock nor user is in it, so the same parts are the same bytes.
pub(super) fn header(part: &Part) -> Header {
    let mut header = Header::new_ustar();
    let is_named = header.set_path(&part.name);
    debug_assert!(is_named.is_ok(), "{}: checked before", part.name);
    header.set_size(part.size);
    header.set_mode(if part.name == PROGRAM { 0o755 } else { 0o644 });
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header.set_entry_type(EntryType::Regular);
    header.set_cksum();
    header
}

/// What a bundle ends with: the sum of its list of parts, as `sha256sum -c` reads it, and the end of an archive. The list has the
/// sums of all others, and nobody else has its own.
pub(super) fn closing(id: &Digest) -> Vec<u8> {
    let text = format!("{}  {CONTENTS}\n", id.hex());
    let part = Part::of_bytes(SUM, text.as_bytes(), "sum of the list of parts");
    let mut bytes = header(&part).as_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    let zeros = usize::try_from(padding(part.size) + TRAILER).unwrap_or_default();
    bytes.resize(bytes.len() + zeros, 0);
    bytes
}

/// Zeros between the data and the next header.
pub(super) fn padding(size: u64) -> u64 {
    (BLOCK - size % BLOCK) % BLOCK
}

/// Of header, data and padding.
pub(super) fn length(size: u64) -> u64 {
    BLOCK.saturating_add(size).saturating_add(padding(size))
}
