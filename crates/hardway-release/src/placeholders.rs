//! Filling in a release's name in programs that were built before it was known.
//!
//! Such a program holds a text that begins with a marker and is padded with `X`. The name is written over its
//! beginning and ends with a zero byte; the length stays (installer `pkg/asset/releaseimage/default.go`,
//! `pkg/version/version.go`).

use std::io::{self, Read, Seek, SeekFrom, Write};

/// Longer than any placeholder.
const OVERLAP: usize = 1024;
const CHUNK: usize = 1 << 20;

/// What goes where a marker is.
pub(crate) struct Filling {
    /// Such as `_RELEASE_IMAGE_LOCATION_`.
    pub(crate) marker: &'static str,
    pub(crate) value: String,
}

/// Fills in all placeholders of a file; returns how many there were.
pub(crate) fn fill<F: Read + Write + Seek>(file: &mut F, fillings: &[Filling]) -> io::Result<usize> {
    let mut count = 0;
    for (at, room, filling) in find(file, fillings)? {
        let value = filling.value.as_bytes();
        if value.len() >= room {
            let text =
                format!("{:?} does not fit into the {room} bytes of {}", filling.value, filling.marker);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        file.seek(SeekFrom::Start(at))?;
        file.write_all(value)?;
        file.write_all(&[0])?;
        count += 1;
    }
    Ok(count)
}

/// Where placeholders are and how long.
fn find<'f, F: Read + Seek>(
    file: &mut F,
    fillings: &'f [Filling],
) -> io::Result<Vec<(u64, usize, &'f Filling)>> {
    let mut found = Vec::new();
    let mut buffer: Vec<u8> = Vec::new();
    let mut start = 0;
    file.seek(SeekFrom::Start(0))?;
    loop {
        let n = file.by_ref().take(CHUNK as u64).read_to_end(&mut buffer)?;
        // A placeholder that begins near the end is looked at with the next piece.
        let end = if n == 0 { buffer.len() } else { buffer.len().saturating_sub(OVERLAP) };
        let zeros = buffer[..end].iter().enumerate().filter(|(_, byte)| **byte == 0);
        for (at, _) in zeros {
            for filling in fillings {
                if let Some(room) = room(&buffer[at..], filling.marker) {
                    found.push((start + at as u64, room, filling));
                }
            }
        }
        if n == 0 {
            return Ok(found);
        }
        buffer.drain(..end);
        start += end as u64;
    }
}

/// The length of a placeholder that begins here: marker, padding, and the zero byte after it.
fn room(bytes: &[u8], marker: &str) -> Option<usize> {
    let rest = bytes.strip_prefix(&[0])?.strip_prefix(marker.as_bytes())?.strip_prefix(&[0])?;
    let padding = rest.iter().take_while(|byte| **byte == b'X').count();
    // The programs also hold the marker alone, to compare with.
    (padding > 0 && rest.get(padding) == Some(&0)).then_some(marker.len() + 2 + padding + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    const MARKER: &str = "_RELEASE_IMAGE_LOCATION_";

    fn filled(before: usize, value: &str) -> io::Result<(usize, Vec<u8>)> {
        let placeholder = format!("\0{MARKER}\0{}\0", "X".repeat(100));
        let program =
            [vec![7; before], placeholder.into_bytes(), format!("\0{MARKER}\0end").into_bytes()].concat();
        let mut file = Cursor::new(program);
        let count = fill(&mut file, &[Filling { marker: MARKER, value: value.to_owned() }])?;
        Ok((count, file.into_inner()))
    }

    #[test]
    fn a_name_is_written_over_the_beginning_wherever_it_lies() {
        for before in [0, 1, OVERLAP, CHUNK - 60, CHUNK - OVERLAP, CHUNK, 2 * CHUNK + 5] {
            let (count, program) = filled(before, "quay.io/a/b@sha256:1").unwrap();
            assert_eq!(count, 1, "{before}");
            assert!(program[before..].starts_with(b"quay.io/a/b@sha256:1\0"), "{before}");
            assert_eq!(program.len(), before + MARKER.len() + 103 + MARKER.len() + 5);
            assert!(program.ends_with(format!("\0{MARKER}\0end").as_bytes()), "the marker alone stays");
        }
    }

    #[test]
    fn a_name_that_is_too_long_is_refused() {
        let most = MARKER.len() + 102;
        assert!(filled(10, &"n".repeat(most)).is_ok());
        let error = filled(10, &"n".repeat(most + 1)).unwrap_err().to_string();
        assert!(error.contains("does not fit into the 127 bytes"), "{error}");
    }
}
