//! What the boot loader loads beside the kernel: archives one after the other, each packed in its own way.
//!
//! The kernel unpacks them in order, so a later file takes the place of an earlier one. What is written is one archive,
//! packed with xz and a CRC-32, which is the only check the kernel knows (kernel `Documentation/staging/xz.rst`).

use std::collections::BTreeMap;
use std::io::{self, Read, Write as _};

use liblzma::stream::{Check, Filters, LzmaOptions, PRESET_EXTREME, Stream};

use super::cpio::{self, CpioError};

/// Files by path, without the slash at the beginning.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Initrd {
    files: BTreeMap<String, Vec<u8>>,
}

/// Why an area cannot be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum InitrdError {
    /// An archive in it.
    #[error("{0}")]
    Archive(#[from] CpioError),
    /// Behind an archive, within its packing.
    #[error("there is data after the compressed archive")]
    Follows,
    /// It is made to fill memory.
    #[error("it unpacks to more than {MOST} bytes")]
    TooLarge,
    /// The packing is damaged.
    #[error("{0}")]
    Packing(#[from] io::Error),
    /// The unpacker cannot be made.
    #[error("{0}")]
    Unpacker(#[from] liblzma::stream::Error),
    /// Nothing that is known.
    #[error("not a cpio archive, gzip, xz or zstd")]
    Unknown,
}

/// What an area unpacks to at most. An area has 256 KiB; more than this is made to fill memory.
const MOST: u64 = 64 << 20;
/// Of the xz decoder: coreos-installer packs with a dictionary of 64 MiB, whatever it packs.
const MOST_MEMORY: u64 = 96 << 20;

// By hand: configs hold keys.
impl std::fmt::Debug for Initrd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.files.keys()).finish()
    }
}

impl Initrd {
    /// Unpacks every archive. Zeros before, between and after them are padding.
    pub(super) fn read(mut bytes: &[u8]) -> Result<Self, InitrdError> {
        let mut initrd = Self::default();
        let mut left = MOST;
        loop {
            bytes = &bytes[padding(bytes)..];
            if bytes.is_empty() {
                return Ok(initrd);
            }
            if cpio::is_archive(bytes) {
                let (files, length) = cpio::read(bytes)?;
                initrd.files.extend(files);
                bytes = &bytes[length..];
                continue;
            }
            let (unpacked, rest) = unpack(bytes, left)?;
            left -= unpacked.len() as u64;
            let (files, length) = cpio::read(&unpacked)?;
            if unpacked[length..].iter().any(|byte| *byte != 0) {
                return Err(InitrdError::Follows);
            }
            initrd.files.extend(files);
            bytes = rest;
        }
    }

    /// One packed archive; nothing at all without files.
    pub(super) fn write(&self) -> Vec<u8> {
        if self.files.is_empty() { Vec::new() } else { pack(&cpio::write(&self.files)) }
    }

    pub(super) fn get(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    pub(super) fn set(&mut self, path: String, contents: Vec<u8>) {
        self.files.insert(path, contents);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, contents)| (path.as_str(), contents.as_slice()))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

/// How many zeros there are at the beginning. Most areas are nothing else.
fn padding(bytes: &[u8]) -> usize {
    const ZEROS: [u8; 4096] = [0; 4096];
    let whole = bytes.chunks_exact(ZEROS.len()).take_while(|chunk| **chunk == ZEROS).count() * ZEROS.len();
    whole + bytes[whole..].iter().take_while(|byte| **byte == 0).count()
}

/// As tight as xz can. The dictionary is no larger than what is packed: the preset's 64 MiB would only take memory.
fn pack(bytes: &[u8]) -> Vec<u8> {
    let dictionary =
        u32::try_from(bytes.len()).unwrap_or(u32::MAX).next_power_of_two().clamp(1 << 12, 1 << 26);
    // The preset exists, the dictionary's size is allowed, and writing to memory does not fail.
    let stream = || {
        let mut options = LzmaOptions::new_preset(9 | PRESET_EXTREME)?;
        options.dict_size(dictionary);
        Stream::new_stream_encoder(Filters::new().lzma2(&options), Check::Crc32)
    };
    let mut encoder = liblzma::write::XzEncoder::new_stream(Vec::new(), stream().expect("a known preset"));
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("writing to memory does not fail")
}

/// The packed piece at the beginning, unpacked to no more than `most` bytes, and what follows it.
fn unpack(bytes: &[u8], most: u64) -> Result<(Vec<u8>, &[u8]), InitrdError> {
    match bytes {
        [0x1f, 0x8b, ..] => {
            let mut decoder = flate2::bufread::GzDecoder::new(bytes);
            let unpacked = limited(&mut decoder, most)?;
            Ok((unpacked, decoder.into_inner()))
        }
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            let stream = Stream::new_stream_decoder(MOST_MEMORY, 0)?;
            let mut decoder = liblzma::bufread::XzDecoder::new_stream(bytes, stream);
            let unpacked = limited(&mut decoder, most)?;
            Ok((unpacked, decoder.into_inner()))
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            let decoder = zstd::stream::read::Decoder::with_buffer(bytes)?;
            let mut decoder = decoder.single_frame();
            let unpacked = limited(&mut decoder, most)?;
            Ok((unpacked, decoder.finish()))
        }
        _ => Err(InitrdError::Unknown),
    }
}

fn limited(decoder: &mut impl Read, most: u64) -> Result<Vec<u8>, InitrdError> {
    let mut unpacked = Vec::new();
    decoder.take(most + 1).read_to_end(&mut unpacked)?;
    if unpacked.len() as u64 > most {
        return Err(InitrdError::TooLarge);
    }
    Ok(unpacked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(path: &str, text: &str) -> Initrd {
        let mut initrd = Initrd::default();
        initrd.set(path.to_owned(), text.as_bytes().to_vec());
        initrd
    }

    #[test]
    fn every_packing_is_read_and_the_last_file_wins() {
        let raw = |text: &str| cpio::write(&one("data/file", text).files);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&raw("second")).unwrap();
        let zeros = vec![0; 511];
        let zstd = zstd::encode_all(&*cpio::write(&one("zstd", "z").files), 1).unwrap();
        let bytes = [
            raw("first"),
            zeros.clone(),
            gzip.finish().unwrap(),
            pack(&raw("third")),
            zeros.clone(),
            zstd,
            zeros,
        ];
        let initrd = Initrd::read(&bytes.concat()).unwrap();
        assert_eq!(initrd.get("data/file"), Some(&b"third"[..]));
        assert_eq!(initrd.get("zstd"), Some(&b"z"[..]));
        assert_eq!(format!("{initrd:?}"), "{\"data/file\", \"zstd\"}");
    }

    #[test]
    fn what_fills_memory_is_refused() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&vec![b'0'; MOST as usize + 1]).unwrap();
        let bomb = gzip.finish().unwrap();
        assert!(bomb.len() < 1 << 20);
        assert!(matches!(Initrd::read(&bomb), Err(InitrdError::TooLarge)));
        // Each piece alone would do; it is their sum that counts.
        let half = cpio::write(&one("half", &"0".repeat(MOST as usize / 2)).files);
        let half = zstd::encode_all(&*half, 1).unwrap();
        assert!(Initrd::read(&half).is_ok());
        assert!(matches!(Initrd::read(&half.repeat(2)), Err(InitrdError::TooLarge)));
        assert!(matches!(Initrd::read(b"garbage"), Err(InitrdError::Unknown)));
        assert_eq!(Initrd::read(&[0; 4096]).unwrap(), Initrd::default());
    }
}
