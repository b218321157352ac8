//! Reading a file.

use std::io::{self, BufRead, Read};

use aws_lc_rs::aead::{Aad, LessSafeKey};

use super::{AgeError, CHUNK, Identity, TAG, cipher, derived, header, nonce};

/// Decrypts what is read through it. What it gives was authenticated; that it was all is known at its end.
pub struct Opening<R> {
    source: R,
    cipher: LessSafeKey,
    number: u64,
    plain: Vec<u8>,
    place: usize,
    is_over: bool,
}

impl<R: BufRead> Opening<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// When it is no such file, or for somebody else.
    pub fn begin(mut source: R, identity: &Identity) -> Result<Self, AgeError> {
        let key = header::read(&mut source, identity)?;
        let mut salt = [0; 16];
        source.read_exact(&mut salt).map_err(|_| AgeError::Cut)?;
        let cipher = cipher(&derived(&*key, &salt, "payload")?)?;
        Ok(Self { source, cipher, number: 0, plain: Vec::new(), place: 0, is_over: false })
    }

    /// The next chunk. A file that was cut has none that says it is the last.
    fn next(&mut self) -> Result<(), AgeError> {
        let mut chunk = Vec::with_capacity(CHUNK + TAG);
        (&mut self.source).take((CHUNK + TAG) as u64).read_to_end(&mut chunk)?;
        if chunk.is_empty() {
            return Err(AgeError::Cut);
        }
        let is_last = self.source.fill_buf()?.is_empty();
        let sealed = chunk.clone();
        let opened = self.cipher.open_in_place(nonce(self.number, is_last), Aad::empty(), &mut chunk);
        let Ok(opened) = opened.map(|plain| plain.len()) else { return Err(self.broken(sealed, is_last)) };
        chunk.truncate(opened);
        (self.plain, self.place, self.is_over) = (chunk, 0, is_last);
        self.number += 1;
        Ok(())
    }

    /// A chunk that is good but for its being the last was not the last when it was made.
    fn broken(&self, mut sealed: Vec<u8>, is_last: bool) -> AgeError {
        let is_cut = is_last
            && (sealed.len() < CHUNK + TAG
                || self.cipher.open_in_place(nonce(self.number, false), Aad::empty(), &mut sealed).is_ok());
        if is_cut { AgeError::Cut } else { AgeError::Damaged(self.number * CHUNK as u64) }
    }
}

impl<R: BufRead> Read for Opening<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while self.place == self.plain.len() && !self.is_over {
            self.next().map_err(io::Error::other)?;
        }
        let taken = bytes.len().min(self.plain.len() - self.place);
        bytes[..taken].copy_from_slice(&self.plain[self.place..self.place + taken]);
        self.place += taken;
        Ok(taken)
    }
}
