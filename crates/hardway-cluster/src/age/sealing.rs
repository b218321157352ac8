//! Writing a file.

use std::io::{self, Write};

use aws_lc_rs::aead::{Aad, LessSafeKey};
use zeroize::Zeroizing;

use super::{AgeError, CHUNK, Recipient, TAG, cipher, derived, header, nonce};

/// Encrypts what is written to it. It is whole once [`finish`](Self::finish) has returned.
pub struct Sealing<W> {
    target: W,
    cipher: LessSafeKey,
    chunk: Vec<u8>,
    number: u64,
}

impl<W: Write> Sealing<W> {
    /// Begins a file for these recipients.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(mut target: W, recipients: &[Recipient]) -> Result<Self, AgeError> {
        let mut key = Zeroizing::new([0; 16]);
        aws_lc_rs::rand::fill(&mut *key)?;
        let mut salt = [0; 16];
        aws_lc_rs::rand::fill(&mut salt)?;
        target.write_all(&header::written(&key, recipients)?)?;
        target.write_all(&salt)?;
        let cipher = cipher(&derived(&*key, &salt, "payload")?)?;
        Ok(Self { target, cipher, chunk: Vec::with_capacity(CHUNK + TAG), number: 0 })
    }

    /// Writes the last part, and gives back what was written to.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> Result<W, AgeError> {
        self.seal(true)?;
        Ok(self.target)
    }

    fn seal(&mut self, is_last: bool) -> Result<(), AgeError> {
        let nonce = nonce(self.number, is_last);
        self.cipher.seal_in_place_append_tag(nonce, Aad::empty(), &mut self.chunk)?;
        self.target.write_all(&self.chunk)?;
        self.chunk.clear();
        self.number += 1;
        Ok(())
    }
}

impl<W: Write> Write for Sealing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A full chunk waits for what comes after it: the last one must not be empty.
        if self.chunk.len() == CHUNK {
            self.seal(false).map_err(io::Error::other)?;
        }
        let taken = bytes.len().min(CHUNK - self.chunk.len());
        self.chunk.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
