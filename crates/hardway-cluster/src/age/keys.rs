//! Recipients and identities, in Bech32 as age writes them (BIP 173, without its limit of 90 characters).

use std::fmt;
use std::str::FromStr;

use aws_lc_rs::agreement::{PrivateKey, X25519};
use hardway_base::Secret;

use super::AgeError;

const RECIPIENT: &str = "age";
const IDENTITY: &str = "age-secret-key-";

/// Whom a file is encrypted to: public.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Recipient(pub(super) [u8; 32]);

/// Who can open it.
#[derive(Clone, Debug)]
pub struct Identity {
    secret: Secret,
    recipient: Recipient,
}

impl FromStr for Recipient {
    type Err = AgeError;

    fn from_str(text: &str) -> Result<Self, AgeError> {
        decode(RECIPIENT, text).map(Self).ok_or_else(|| AgeError::Recipient(text.to_owned()))
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&encode(RECIPIENT, &self.0))
    }
}

impl fmt::Debug for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Identity {
    /// The first identity of a file that `age-keygen` wrote; lines with `#` are comments.
    ///
    /// # Errors
    /// When there is none in it.
    pub fn read(text: &str) -> Result<Self, AgeError> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let secret = lines.next().and_then(|line| decode(IDENTITY, line)).ok_or(AgeError::Identity)?;
        Self::of(secret)
    }

    /// A new one.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn draw() -> Result<Self, AgeError> {
        let mut secret = [0; 32];
        aws_lc_rs::rand::fill(&mut secret)?;
        Self::of(secret)
    }

    fn of(secret: [u8; 32]) -> Result<Self, AgeError> {
        let key = PrivateKey::from_private_key(&X25519, &secret).map_err(|_| AgeError::Identity)?;
        let public = key.compute_public_key()?;
        let recipient = Recipient(public.as_ref().try_into().map_err(|_| AgeError::Provider)?);
        Ok(Self { secret: Secret::new(secret), recipient })
    }

    /// Whom to encrypt to, so that this can open it.
    pub fn recipient(&self) -> Recipient {
        self.recipient
    }

    /// As `age-keygen` writes it.
    pub fn text(&self) -> Secret {
        Secret::new(encode(IDENTITY, self.secret.expose()).to_uppercase())
    }

    pub(super) fn key(&self) -> Result<PrivateKey, AgeError> {
        PrivateKey::from_private_key(&X25519, self.secret.expose()).map_err(|_| AgeError::Identity)
    }
}

const ALPHABET: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

fn encode(prefix: &str, bytes: &[u8]) -> String {
    let mut digits = regrouped(bytes.iter().copied(), 8, 5);
    let check = checksum(prefix, digits.iter().copied().chain([0; 6])) ^ 1;
    digits.extend((0..6).map(|place| ((check >> (5 * (5 - place))) & 31) as u8));
    let text = digits.into_iter().map(|digit| char::from(ALPHABET[usize::from(digit)]));
    format!("{prefix}1{}", text.collect::<String>())
}

fn decode(prefix: &str, text: &str) -> Option<[u8; 32]> {
    let is_mixed =
        text.chars().any(|c| c.is_ascii_lowercase()) && text.chars().any(|c| c.is_ascii_uppercase());
    let text = text.to_ascii_lowercase();
    let data = text.strip_prefix(prefix)?.strip_prefix('1').filter(|_| !is_mixed)?;
    let digit =
        |c: u8| ALPHABET.iter().position(|known| *known == c).and_then(|digit| u8::try_from(digit).ok());
    let digits: Vec<u8> = data.bytes().map(digit).collect::<Option<_>>()?;
    if checksum(prefix, digits.iter().copied()) != 1 {
        return None;
    }
    let bytes = regrouped(digits[..digits.len().checked_sub(6)?].iter().copied(), 5, 8);
    // 256 bits take 52 digits of five; what is left over has to be zero.
    let (key, rest) = bytes.split_at_checked(32)?;
    rest.iter().all(|byte| *byte == 0).then(|| key.try_into().ok()).flatten()
}

/// The same bits in groups of another size; the last is filled up with zeros.
fn regrouped(groups: impl Iterator<Item = u8>, from: u32, to: u32) -> Vec<u8> {
    let (mut bits, mut count, mut result) = (0_u32, 0, Vec::new());
    for group in groups {
        bits = (bits << from) | u32::from(group);
        count += from;
        while count >= to {
            count -= to;
            result.push(((bits >> count) & ((1 << to) - 1)) as u8);
        }
        bits &= (1 << count) - 1;
    }
    if count > 0 {
        result.push(((bits << (to - count)) & ((1 << to) - 1)) as u8);
    }
    result
}

fn checksum(prefix: &str, digits: impl Iterator<Item = u8>) -> u32 {
    const GENERATOR: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
    let high = prefix.bytes().map(|byte| byte >> 5);
    let low = prefix.bytes().map(|byte| byte & 31);
    high.chain([0]).chain(low).chain(digits).fold(1, |sum, digit| {
        let top = sum >> 25;
        let shifted = ((sum & 0x01ff_ffff) << 5) ^ u32::from(digit);
        (0..5).filter(|bit| (top >> bit) & 1 == 1).fold(shifted, |sum, bit| sum ^ GENERATOR[bit])
    })
}
