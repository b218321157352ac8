//! As much of ISO 9660 (ECMA-119) as it takes to find a file in an image.
//!
//! Everything is read with the length of the image in mind: an image is somebody else's bytes.

use std::io::{self, Read, Seek, SeekFrom};

use super::error::MediaError;

/// Whatever an image can be read from: a file, or bytes in memory.
pub trait Image: Read + Seek {}
impl<T: Read + Seek> Image for T {}

/// The file system of an image.
#[derive(Clone, Debug)]
pub(super) struct Volume {
    /// The name that the image gives itself.
    pub(super) id: String,
    /// Of the whole image, in bytes.
    pub(super) length: u64,
    root: Extent,
}

/// Where the bytes of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// From the beginning of the image.
    pub(super) offset: u64,
    /// In bytes.
    pub(super) length: u64,
}

impl Extent {
    /// A piece of a file, if it lies inside.
    pub(super) fn piece(self, offset: u64, length: u64, what: &str) -> Result<Self, MediaError> {
        if offset.checked_add(length).is_some_and(|end| end <= self.length) {
            return Ok(Self { offset: self.offset + offset, length });
        }
        let (offset, end) = (self.offset.saturating_add(offset), self.offset + self.length);
        Err(MediaError::AreaOutside { what: what.to_owned(), offset, length, end })
    }
}

struct Record {
    name: String,
    extent: Extent,
    is_directory: bool,
}

const SECTOR: u64 = 2048;
/// The first sixteen sectors are not the file system's.
pub(super) const SYSTEM_AREA: u64 = 16 * SECTOR;
/// No image has more descriptors than a handful, and no folder of a CoreOS image more than a sector of records.
const MOST_DESCRIPTORS: u64 = 64;
const LARGEST_FOLDER: u64 = 4 << 20;

impl Volume {
    /// Reads the primary volume descriptor and checks that the image is as long as it says.
    pub(super) fn read(image: &mut dyn Image) -> Result<Self, MediaError> {
        let length = image.seek(SeekFrom::End(0)).map_err(unreadable)?;
        for sector in 0..MOST_DESCRIPTORS {
            let offset = SYSTEM_AREA + sector * SECTOR;
            if offset + SECTOR > length {
                break;
            }
            let descriptor = bytes(image, Extent { offset, length: SECTOR })?;
            if &descriptor[1..6] != b"CD001" {
                let what = format!("no volume descriptor at byte {offset}");
                return Err(MediaError::NotIso(what));
            }
            match descriptor[0] {
                1 => return Self::primary(&descriptor, length),
                255 => break,
                _ => {}
            }
        }
        Err(MediaError::NotIso("it has no primary volume descriptor".to_owned()))
    }

    /// The file at a path with slashes, named as people write it. `None` when there is none, or when it is a folder.
    pub(super) fn find(&self, image: &mut dyn Image, path: &str) -> Result<Option<Extent>, MediaError> {
        let mut here = Record { name: String::new(), extent: self.root, is_directory: true };
        for part in path.split('/').filter(|part| !part.is_empty()) {
            if !here.is_directory {
                return Ok(None);
            }
            match self.records(image, here.extent)?.into_iter().find(|record| record.is_called(part)) {
                Some(record) => here = record,
                None => return Ok(None),
            }
        }
        Ok(Some(here.extent).filter(|_| !here.is_directory))
    }

    /// The bytes of a small file.
    pub(super) fn contents(
        &self,
        image: &mut dyn Image,
        path: &'static str,
        most: u64,
    ) -> Result<Option<Vec<u8>>, MediaError> {
        let Some(extent) = self.find(image, path)? else { return Ok(None) };
        if extent.length > most {
            let reason = format!("it has {} bytes", extent.length);
            return Err(MediaError::Description { file: path, reason });
        }
        bytes(image, extent).map(Some)
    }

    fn primary(descriptor: &[u8], length: u64) -> Result<Self, MediaError> {
        let expected = u64::from(u32_at(descriptor, 80)) * SECTOR;
        if expected > length {
            return Err(MediaError::Truncated { expected, found: length });
        }
        let id = String::from_utf8_lossy(&descriptor[40..72]).trim_end().to_owned();
        let volume = Self { id, length, root: Extent { offset: 0, length: 0 } };
        match volume.record(&descriptor[156..190])? {
            Record { is_directory: true, extent, .. } => Ok(Self { root: extent, ..volume }),
            _ => Err(MediaError::Damaged("the root is not a folder".to_owned())),
        }
    }

    /// Records never lie across the end of a sector; what is left of one is zeros.
    fn records(&self, image: &mut dyn Image, folder: Extent) -> Result<Vec<Record>, MediaError> {
        if folder.length > LARGEST_FOLDER {
            return Err(MediaError::Damaged(format!("a folder of {} bytes", folder.length)));
        }
        let bytes = bytes(image, folder)?;
        let mut records = Vec::new();
        for sector in bytes.chunks(SECTOR as usize) {
            let mut rest = sector;
            while let Some(&length) = rest.first().filter(|length| **length > 0) {
                let (record, after) = rest.split_at_checked(usize::from(length)).ok_or_else(|| {
                    MediaError::Damaged("a folder's record crosses the end of its sector".to_owned())
                })?;
                records.push(self.record(record)?);
                rest = after;
            }
            if rest.iter().any(|byte| *byte != 0) {
                return Err(MediaError::Damaged("a folder has data after its last record".to_owned()));
            }
        }
        Ok(records)
    }

    fn record(&self, record: &[u8]) -> Result<Record, MediaError> {
        let name = record.get(32).and_then(|length| record.get(33..33 + usize::from(*length)));
        let name = name.ok_or_else(|| MediaError::Damaged("a folder's record is too short".to_owned()))?;
        // Numbers stand there twice, once for either order of bytes.
        if [2, 10].iter().any(|at| u32_at(record, *at) != u32_at(record, at + 4).swap_bytes()) {
            let name = String::from_utf8_lossy(name);
            return Err(MediaError::Damaged(format!("the record of {name} contradicts itself")));
        }
        let extent =
            Extent { offset: u64::from(u32_at(record, 2)) * SECTOR, length: u64::from(u32_at(record, 10)) };
        // An empty file may be said to be anywhere.
        if extent.length > 0 && extent.offset + extent.length > self.length {
            let name = String::from_utf8_lossy(name);
            return Err(MediaError::Damaged(format!("{name} extends past the end of the image")));
        }
        let name = String::from_utf8_lossy(name);
        let name = name.split(';').next().unwrap_or_default().trim_end_matches('.').to_owned();
        Ok(Record { name, extent, is_directory: record[25] & 2 != 0 })
    }
}

impl Record {
    /// Names stand there in capitals, mostly cut to eight characters and three: `igninfo.json` is `IGNINFO.JSO`.
    fn is_called(&self, name: &str) -> bool {
        let long = name.to_ascii_uppercase();
        let cut = |text: &str, most: usize| text.chars().take(most).collect::<String>();
        let short = match long.rsplit_once('.') {
            Some((stem, extension)) => format!("{}.{}", cut(stem, 8), cut(extension, 3)),
            None => cut(&long, 8),
        };
        self.name == long || self.name == short
    }
}

/// The bytes of an extent that is known to lie inside the image.
pub(super) fn bytes(image: &mut dyn Image, extent: Extent) -> Result<Vec<u8>, MediaError> {
    let mut bytes = vec![0; usize::try_from(extent.length).unwrap_or(usize::MAX)];
    image.seek(SeekFrom::Start(extent.offset)).map_err(unreadable)?;
    image.read_exact(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

fn unreadable(error: io::Error) -> MediaError {
    MediaError::Io { path: "the image".into(), action: "read", source: error }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_le_bytes)
}
