//! Randomness, drawn only while secrets are made, and the password of the first user.

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

/// 23 characters in the shape 5-5-5-5. The OAuth server refuses anything shorter (library-go
/// `bootstrapauthenticator`); the alphabet leaves out what is easily misread (installer `asset/password`).
pub fn kubeadmin_password(random: &Random) -> String {
    const ALPHABET: &[u8] = b"abcdefghijkmnopqrstuvwxyzABCDEFGHIJKLMNPQRSTUVWXYZ23456789";
    let groups: Vec<String> = (0..4).map(|_| random.text(ALPHABET, 5)).collect();
    groups.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_shape_the_oauth_server_wants() {
        let password = kubeadmin_password(&Random::default());
        assert_eq!(password.len(), 23);
        for (i, c) in password.chars().enumerate() {
            match i {
                5 | 11 | 17 => assert_eq!(c, '-'),
                _ => assert!(c.is_ascii_alphanumeric() && !"lO01".contains(c), "{c}"),
            }
        }
    }
}
