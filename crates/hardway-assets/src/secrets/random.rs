//! Randomness, drawn only while secrets are made.

use aws_lc_rs::rand::{SecureRandom, SystemRandom};

/// The operating system's random numbers.
#[derive(Debug, Default)]
pub struct Random(SystemRandom);

impl Random {
    /// N random bytes. The system source does not fail once the system is up; if it does, no secret may be made.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.fill(&mut bytes).expect("the operating system has randomness");
        bytes
    }

    /// `len` characters of an alphabet, each equally likely.
    pub fn text(&self, alphabet: &[u8], len: usize) -> String {
        let limit = 256 - 256 % alphabet.len();
        let mut text = String::new();
        while text.len() < len {
            let [byte] = self.bytes::<1>();
            if usize::from(byte) < limit {
                text.push(char::from(alphabet[usize::from(byte) % alphabet.len()]));
            }
        }
        text
    }
}
