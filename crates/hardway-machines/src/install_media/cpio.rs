//! The archive format of an initramfs: cpio, "new ASCII" (kernel `Documentation/driver-api/early-userspace/buffer-format.rst`).

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What is no archive, or no longer a whole one.
#[derive(Debug, thiserror::Error)]
pub enum CpioError {
    /// It ends too early.
    #[error("an archive is cut short")]
    CutShort,
    /// Its header is damaged.
    #[error("an archive's header contains non-digits")]
    Digits,
    /// A name is no text.
    #[error("a name in an archive is not text")]
    Name,
    /// A name is too long or too short.
    #[error("a name of {0} bytes in an archive")]
    NameSize(usize),
    /// Something else follows an entry.
    #[error("no archive entry at byte {0} of an archive")]
    NoEntry(usize),
}

const MAGIC: &[u8] = b"070701";
/// Magic and thirteen numbers of eight digits.
const HEADER: usize = 110;
const TRAILER: &str = "TRAILER!!!";
const KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
/// Longer names do not fit into a path of the kernel's.
const LONGEST_NAME: usize = 4096;

/// Whether an archive begins here.
pub(super) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// An archive of these files, each readable by root alone. The kernel makes no folders by itself, so those above the
/// files come first. Nothing in it depends on the clock.
pub(super) fn write(files: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let mut archive = Vec::new();
    let mut folders: Vec<&str> = Vec::new();
    for (path, contents) in files {
        for (slash, _) in path.match_indices('/') {
            let folder = &path[..slash];
            if !folders.contains(&folder) {
                folders.push(folder);
                entry(&mut archive, folder, 0o40_755, &[]);
            }
        }
        entry(&mut archive, path, REGULAR | 0o600, contents);
    }
    entry(&mut archive, TRAILER, 0, &[]);
    archive
}

/// The regular files of the archive at the beginning, and how long it is. A file that stands there twice counts as it
/// stands last, as for the kernel.
pub(super) fn read(bytes: &[u8]) -> Result<(BTreeMap<String, Vec<u8>>, usize), CpioError> {
    let mut files = BTreeMap::new();
    let mut at = 0;
    loop {
        let header = bytes.get(at..at + HEADER).ok_or(CpioError::CutShort)?;
        if !is_archive(header) {
            return Err(CpioError::NoEntry(at));
        }
        let (mode, size, name_size) = (number(header, 1)?, number(header, 6)? as usize, number(header, 11)?);
        let name_size = name_size as usize;
        if name_size == 0 || name_size > LONGEST_NAME {
            return Err(CpioError::NameSize(name_size));
        }
        let name = bytes.get(at + HEADER..at + HEADER + name_size).ok_or(CpioError::CutShort)?;
        let name = name.strip_suffix(b"\0").and_then(|name| std::str::from_utf8(name).ok());
        let name = name.ok_or(CpioError::Name)?;
        let start = padded(at + HEADER + name_size);
        if name == TRAILER {
            return Ok((files, start.min(bytes.len())));
        }
        let contents = bytes.get(start..start + size).ok_or(CpioError::CutShort)?;
        if mode & KIND == REGULAR {
            files.insert(name.to_owned(), contents.to_vec());
        }
        at = padded(start + size);
    }
}

fn entry(archive: &mut Vec<u8>, name: &str, mode: u32, contents: &[u8]) {
    // ino, mode, uid, gid, nlink, mtime, size, four device numbers, length of the name, checksum
    let (size, name_size) = (contents.len(), name.len() + 1);
    let numbers = [0, mode as usize, 0, 0, 1, 0, size, 0, 0, 0, 0, name_size, 0];
    let mut header = String::from_utf8_lossy(MAGIC).into_owned();
    numbers.iter().for_each(|number| {
        let _ = write!(header, "{number:08x}");
    });
    archive.extend_from_slice(header.as_bytes());
    archive.extend_from_slice(name.as_bytes());
    archive.push(0);
    archive.resize(padded(archive.len()), 0);
    archive.extend_from_slice(contents);
    archive.resize(padded(archive.len()), 0);
}

/// Names and contents begin at multiples of four, counted from the beginning of the archive.
fn padded(length: usize) -> usize {
    length.next_multiple_of(4)
}

fn number(header: &[u8], index: usize) -> Result<u32, CpioError> {
    let at = MAGIC.len() + 8 * index;
    let digits = header.get(at..at + 8).and_then(|digits| std::str::from_utf8(digits).ok());
    digits
        .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
        .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        .ok_or(CpioError::Digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
        list.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn folders_come_before_what_is_in_them_and_once() {
        let archive = write(&files(&[("a/b/c", "1"), ("a/b/d", "22"), ("config.ign", "{}")]));
        let text = String::from_utf8_lossy(&archive).into_owned();
        let names: Vec<&str> = text
            .split("070701")
            .skip(1)
            .map(|entry| entry[HEADER - MAGIC.len()..].split('\0').next().unwrap())
            .collect();
        assert_eq!(names, ["a", "a/b", "a/b/c", "a/b/d", "config.ign", TRAILER]);
        let (read, length) = read(&archive).unwrap();
        assert_eq!(read, files(&[("a/b/c", "1"), ("a/b/d", "22"), ("config.ign", "{}")]));
        assert_eq!(length, archive.len());
    }

    #[test]
    fn what_is_cut_off_is_refused() {
        let archive = write(&files(&[("config.ign", "{\"ignition\": {}}")]));
        for length in 0..archive.len() - 4 {
            assert!(read(&archive[..length]).is_err(), "{length} of {}", archive.len());
        }
    }
}
