//! Writing a bundle of what several hosts sent, without secrets.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use hardway_base::redaction::Redactor;

use super::Gathered;
use crate::diagnosis::{BundleError, BundleLimits, walk};

/// A bundle, and what is in it so far.
pub(super) struct BundleWriter<W: Write> {
    builder: tar::Builder<GzEncoder<W>>,
    pub(super) gathered: Gathered,
}

/// Copies a bundle file by file. Compressed logs in it are opened; what is neither text nor that stays out.
pub fn copy_redacted(
    compressed: impl Read,
    target: impl Write,
    redactor: &Redactor,
    limits: BundleLimits,
) -> Result<Gathered, BundleError> {
    let mut bundle = BundleWriter::new(target);
    bundle.add(compressed, "", redactor, limits)?;
    bundle.finish()
}

impl<W: Write> BundleWriter<W> {
    pub(super) fn new(target: W) -> Self {
        let builder = tar::Builder::new(GzEncoder::new(target, Compression::default()));
        Self { builder, gathered: Gathered::default() }
    }

    /// Adds what a host sent, below a folder that ends with a slash or is none.
    pub(super) fn add(
        &mut self,
        compressed: impl Read,
        folder: &str,
        redactor: &Redactor,
        limits: BundleLimits,
    ) -> Result<(), BundleError> {
        let Self { builder, gathered } = self;
        walk(compressed, limits, |path, reader| {
            let path = format!("{folder}{path}");
            match redacted(&path, reader, redactor, limits)? {
                None => gathered.left_out.push(path),
                Some((bytes, is_changed)) => {
                    gathered.files += 1;
                    gathered.redacted += usize::from(is_changed);
                    append(builder, &path, &bytes)?;
                }
            }
            Ok(())
        })
    }

    /// Writes the end of it.
    pub(super) fn finish(self) -> Result<Gathered, BundleError> {
        self.builder.into_inner()?.finish()?.flush()?;
        if self.gathered.files == 0 { Err(BundleError::NotABundle) } else { Ok(self.gathered) }
    }
}

pub(super) fn append(builder: &mut tar::Builder<impl Write>, path: &str, bytes: &[u8]) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o600);
    builder.append_data(&mut header, format!("log-bundle/{path}"), bytes)
}

/// The content and whether something was taken out; none if it stays out.
fn redacted(
    path: &str,
    reader: &mut dyn Read,
    redactor: &Redactor,
    limits: BundleLimits,
) -> Result<Option<(Vec<u8>, bool)>, BundleError> {
    let Some(bytes) = up_to(reader, limits.file)? else { return Ok(None) };
    if !path.ends_with(".gz") {
        return Ok(text(&bytes, redactor));
    }
    // A file that is cut off, or not gzip at all, stays out.
    let Ok(Some(inner)) = up_to(&mut GzDecoder::new(bytes.as_slice()), limits.file) else { return Ok(None) };
    let Some((inner, is_changed)) = text(&inner, redactor) else { return Ok(None) };
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&inner)?;
    Ok(Some((encoder.finish()?, is_changed)))
}

fn text(bytes: &[u8], redactor: &Redactor) -> Option<(Vec<u8>, bool)> {
    if bytes.contains(&0) {
        return None;
    }
    let text = String::from_utf8_lossy(bytes);
    let redacted = redactor.redact(&text);
    let is_changed = redacted != text;
    Some((redacted.into_bytes(), is_changed))
}

fn up_to(reader: &mut dyn Read, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    reader.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}
