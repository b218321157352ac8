//! What a database holds.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use sha2::{Digest as _, Sha256};

use super::DatabaseError;
use super::pages::Pages;

/// The bucket of keys.
const KEYS: &[u8] = b"key";

/// Bytes of a revision as a key: eight, an underscore, eight; a deletion has one more.
const REVISION: usize = 17;

/// What a database holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The newest change.
    pub revision: u64,
    /// What `etcdutl snapshot status` prints as hash: CRC-32C of everything.
    pub hash: u32,
    /// What it prints as total keys: all entries, those of etcd itself too.
    pub entries: u64,
    /// Every key that is not deleted.
    pub keys: BTreeMap<Vec<u8>, KeyVersion>,
}

/// The newest version of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyVersion {
    /// The change that wrote it: what the API server calls its resourceVersion.
    pub revision: u64,
    /// SHA-256 of the value.
    pub hash: [u8; 32],
}

impl KeyVersion {
    /// Of a key's value.
    pub fn of(revision: u64, value: &[u8]) -> Self {
        Self { revision, hash: Sha256::digest(value).into() }
    }
}

impl Contents {
    /// Reads a whole file. The sum behind a snapshot is looked at first.
    ///
    /// # Errors
    /// When it is damaged, cut, or something else.
    pub fn of_snapshot(file: &mut File) -> Result<Self, DatabaseError> {
        check_sum(file)?;
        Self::of_database(file)
    }

    /// The same of a database as it lies in the folder of a member: there is no sum behind it.
    ///
    /// # Errors
    /// When it is damaged, or something else.
    pub fn of_database(file: &File) -> Result<Self, DatabaseError> {
        let pages = Pages::open(file)?;
        let mut contents = Self::default();
        let (mut crc, mut has_keys) = (Crc::default(), false);
        for (name, bucket) in pages.buckets()? {
            crc.add(&name);
            let is_keys = name == KEYS;
            has_keys |= is_keys;
            pages.entries(&bucket, &mut |key, value| {
                crc.add(key);
                crc.add(value);
                contents.entries += 1;
                if is_keys { contents.take(key, value) } else { Ok(()) }
            })?;
        }
        contents.hash = crc.value();
        if has_keys { Ok(contents) } else { Err(DatabaseError::NoKeys) }
    }

    /// Changes come in their order, so that the last of a key counts.
    fn take(&mut self, key: &[u8], value: &[u8]) -> Result<(), DatabaseError> {
        let number = key.get(..8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_be_bytes);
        let number = number.filter(|_| key.len() >= REVISION).ok_or(DatabaseError::Entry(self.revision))?;
        self.revision = number;
        let (name, stored) = key_value(value).ok_or(DatabaseError::Entry(number))?;
        if key.len() > REVISION {
            self.keys.remove(name);
        } else {
            self.keys.insert(name.to_vec(), KeyVersion::of(number, stored));
        }
        Ok(())
    }
}

/// The last 32 bytes are the sum of what is before them.
fn check_sum(file: &mut File) -> Result<(), DatabaseError> {
    let length = file.seek(SeekFrom::End(0))?;
    // Pages are of a multiple of 512 bytes: without the sum behind it, it is not as etcd sent it.
    if length % 512 != 32 {
        return Err(DatabaseError::Sum);
    }
    file.rewind()?;
    let (mut sum, mut buffer, mut left) = (Sha256::new(), vec![0; 1 << 20], length - 32);
    while left > 0 {
        let part = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        file.read_exact(&mut buffer[..part])?;
        sum.update(&buffer[..part]);
        left -= part as u64;
    }
    let mut expected = [0; 32];
    file.read_exact(&mut expected)?;
    if sum.finalize()[..] == expected { Ok(()) } else { Err(DatabaseError::Sum) }
}

/// Key and value of etcd's own message (etcd-io/etcd `api/mvccpb/kv.proto`): fields 1 and 5.
fn key_value(mut message: &[u8]) -> Option<(&[u8], &[u8])> {
    let (mut key, mut value): (&[u8], &[u8]) = (&[], &[]);
    while !message.is_empty() {
        let tag = varint(&mut message)?;
        match tag & 7 {
            0 => drop(varint(&mut message)?),
            2 => {
                let length = usize::try_from(varint(&mut message)?).ok()?;
                let (field, rest) = message.split_at_checked(length)?;
                message = rest;
                match tag >> 3 {
                    1 => key = field,
                    5 => value = field,
                    _ => {}
                }
            }
            _ => return None,
        }
    }
    Some((key, value))
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// CRC-32C, eight bits at a time.
struct Crc {
    table: [u32; 256],
    state: u32,
}

impl Default for Crc {
    fn default() -> Self {
        let entry = |byte: u32| {
            (0..8).fold(byte, |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 })
        };
        Self { table: std::array::from_fn(|byte| entry(byte as u32)), state: u32::MAX }
    }
}

impl Crc {
    fn add(&mut self, bytes: &[u8]) {
        self.state = bytes.iter().fold(self.state, |crc, byte| {
            (crc >> 8) ^ self.table[((crc ^ u32::from(*byte)) & 0xff) as usize]
        });
    }

    fn value(&self) -> u32 {
        !self.state
    }
}
