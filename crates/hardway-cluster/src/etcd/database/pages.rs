//! The tree of pages.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use super::DatabaseError;

const MAGIC: u32 = 0xED0C_DAED;
const VERSION: u32 = 2;
const BRANCH: u16 = 0x01;
const LEAF: u16 = 0x02;
/// Of an entry in a leaf: it is a bucket.
const BUCKET: u32 = 0x01;
const HEADER: usize = 16;
const ELEMENT: usize = 16;
/// A tree this deep is none: each page has two below it at least.
const DEEPEST: u8 = 64;

/// A file of pages.
pub(super) struct Pages<'f> {
    file: &'f File,
    size: usize,
    root: u64,
    /// One more than the last page.
    end: u64,
}

/// Hears of an entry: its flags, key and value.
type Seen<'s> = dyn FnMut(u32, &[u8], &[u8]) -> Result<(), DatabaseError> + 's;

/// A bucket, or its content where it is small.
pub(super) enum Bucket {
    At(u64),
    Inline(Vec<u8>),
}

struct Meta {
    size: usize,
    root: u64,
    end: u64,
    transaction: u64,
}

impl<'f> Pages<'f> {
    /// Takes the newer of the two descriptions that a file begins with.
    pub(super) fn open(file: &'f File) -> Result<Self, DatabaseError> {
        let mut metas: Vec<Meta> = meta(file, 0)?.into_iter().collect();
        let sizes =
            metas.first().map_or_else(|| (12..=16).map(|bit| 1 << bit).collect(), |meta| vec![meta.size]);
        for size in sizes {
            metas.extend(meta(file, size as u64)?.filter(|meta| meta.size == size));
        }
        let newest = metas.into_iter().max_by_key(|meta| meta.transaction).ok_or(DatabaseError::NotOne)?;
        let Meta { size, root, end, .. } = newest;
        Ok(Self { file, size, root, end })
    }

    /// The buckets of the file by name, in order.
    pub(super) fn buckets(&self) -> Result<Vec<(Vec<u8>, Bucket)>, DatabaseError> {
        let mut buckets = Vec::new();
        let root = self.page(self.root)?;
        self.walk(&root, self.root, 0, &mut |flags, name, value| {
            let number = |at: usize| u64_at(value, at).ok_or(DatabaseError::Page(self.root));
            if flags & BUCKET != 0 {
                let bucket = match number(0)? {
                    0 => Bucket::Inline(value.get(16..).unwrap_or_default().to_vec()),
                    page => Bucket::At(page),
                };
                buckets.push((name.to_vec(), bucket));
            }
            Ok(())
        })?;
        Ok(buckets)
    }

    /// Every entry of a bucket, in the order of keys.
    pub(super) fn entries(
        &self,
        bucket: &Bucket,
        seen: &mut impl FnMut(&[u8], &[u8]) -> Result<(), DatabaseError>,
    ) -> Result<(), DatabaseError> {
        let mut each = |_, key: &[u8], value: &[u8]| seen(key, value);
        match bucket {
            Bucket::Inline(page) => self.walk(page, 0, 0, &mut each),
            Bucket::At(number) => self.walk(&self.page(*number)?, *number, 0, &mut each),
        }
    }

    fn walk(&self, page: &[u8], number: u64, depth: u8, seen: &mut Seen<'_>) -> Result<(), DatabaseError> {
        let damaged = || DatabaseError::Page(number);
        let flags = u16_at(page, 8).ok_or_else(damaged)?;
        let count = usize::from(u16_at(page, 10).ok_or_else(damaged)?);
        for at in (0..count).map(|place| HEADER + place * ELEMENT) {
            match flags {
                BRANCH => {
                    let below = u64_at(page, at + 8).ok_or_else(damaged)?;
                    if depth == DEEPEST {
                        return Err(damaged());
                    }
                    self.walk(&self.page(below)?, below, depth + 1, seen)?;
                }
                LEAF => {
                    let field = |place: usize| u32_at(page, at + 4 * place).ok_or_else(damaged);
                    let [start, key, value] = [field(1)?, field(2)?, field(3)?].map(|n| n as usize);
                    let start = at + start;
                    let [key, value] =
                        [start..start + key, start + key..start + key + value].map(|range| page.get(range));
                    seen(field(0)?, key.ok_or_else(damaged)?, value.ok_or_else(damaged)?)?;
                }
                _ => return Err(damaged()),
            }
        }
        Ok(())
    }

    /// A page with those that belong to it.
    fn page(&self, number: u64) -> Result<Vec<u8>, DatabaseError> {
        let damaged = |_| DatabaseError::Page(number);
        let at = number * self.size as u64;
        let mut header = [0; HEADER];
        if number >= self.end {
            return Err(DatabaseError::Page(number));
        }
        self.file.read_exact_at(&mut header, at).map_err(damaged)?;
        let own = u64_at(&header, 0);
        let more = u64::from(u32_at(&header, 12).unwrap_or_default());
        if own != Some(number) || number + more >= self.end {
            return Err(DatabaseError::Page(number));
        }
        let mut page = vec![0; (more as usize + 1) * self.size];
        self.file.read_exact_at(&mut page, at).map_err(damaged)?;
        Ok(page)
    }
}

/// None where the page does not describe the file.
fn meta(file: &File, at: u64) -> Result<Option<Meta>, DatabaseError> {
    let mut page = [0; HEADER + 64];
    match file.read_exact_at(&mut page, at) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let meta = &page[HEADER..];
    let [Some(magic), Some(version), Some(size)] = [0, 4, 8].map(|at| u32_at(meta, at)) else {
        return Ok(None);
    };
    let [Some(root), Some(end), Some(transaction), Some(sum)] = [16, 40, 48, 56].map(|at| u64_at(meta, at))
    else {
        return Ok(None);
    };
    let is_sound = magic == MAGIC && version == VERSION && sum == fnv(&meta[..56]) && size.is_power_of_two();
    Ok(is_sound.then_some(Meta { size: size as usize, root, end, transaction }))
}

/// FNV-1a of 64 bits.
fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}
