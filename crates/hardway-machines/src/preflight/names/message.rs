//! Questions to name servers and their answers (RFC 1035), as far as addresses and names go.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Question {
    /// Without the last dot.
    pub(super) name: String,
    pub(super) kind: RecordType,
}

/// The type of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RecordType {
    A,
    Aaaa,
    Ptr,
}

/// What a server says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DnsAnswer {
    /// 0: it knows; 3: there is no such name.
    pub(super) code: u8,
    pub(super) addresses: Vec<IpAddr>,
    /// In small letters.
    pub(super) names: Vec<String>,
}

impl Question {
    /// For an address of the same family as this one.
    pub(super) fn address(name: &str, like: IpAddr) -> Self {
        Self { name: name.to_owned(), kind: if like.is_ipv6() { RecordType::Aaaa } else { RecordType::A } }
    }

    /// For the name of an address.
    pub(super) fn reverse(address: IpAddr) -> Self {
        let name = match address {
            IpAddr::V4(address) => {
                let [a, b, c, d] = address.octets();
                format!("{d}.{c}.{b}.{a}.in-addr.arpa")
            }
            IpAddr::V6(address) => {
                let digits: Vec<String> =
                    format!("{:032x}", u128::from(address)).chars().rev().map(String::from).collect();
                format!("{}.ip6.arpa", digits.join("."))
            }
        };
        Self { name, kind: RecordType::Ptr }
    }

    /// As it is sent; nothing when the name cannot be a name.
    pub(super) fn encode(&self, id: u16) -> Option<Vec<u8>> {
        let mut bytes = id.to_be_bytes().to_vec();
        // Recursion desired; one question.
        bytes.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
        for label in self.name.split('.') {
            let length = u8::try_from(label.len()).ok().filter(|length| (1..=63).contains(length))?;
            bytes.push(length);
            bytes.extend(label.bytes());
        }
        bytes.push(0);
        bytes.extend(self.kind.number().to_be_bytes());
        bytes.extend([0, 1]);
        Some(bytes)
    }
}

impl RecordType {
    fn number(self) -> u16 {
        match self {
            Self::A => 1,
            Self::Aaaa => 28,
            Self::Ptr => 12,
        }
    }
}

impl DnsAnswer {
    /// Reads an answer, with the number of its question. Aliases are followed by the server; their records are passed over.
    pub(super) fn decode(bytes: &[u8]) -> Option<(u16, Self)> {
        let short = |at: usize| Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
        let (id, flags) = (short(0)?, short(2)?);
        if flags & 0x8000 == 0 {
            return None;
        }
        let mut answer = Self { code: (flags & 0x0f) as u8, ..Self::default() };
        let mut at = 12;
        for _ in 0..short(4)? {
            at = name(bytes, at)?.1 + 4;
        }
        for _ in 0..short(6)? {
            at = name(bytes, at)?.1;
            let (kind, length) = (short(at)?, usize::from(short(at + 8)?));
            let data = bytes.get(at + 10..at + 10 + length)?;
            match kind {
                1 => answer.addresses.push(IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(data).ok()?))),
                28 => answer.addresses.push(IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(data).ok()?))),
                12 => answer.names.push(name(bytes, at + 10)?.0),
                _ => {}
            }
            at += 10 + length;
        }
        Some((id, answer))
    }
}

/// A name that begins here, and where the next thing begins. Pointers may only point back, so that this ends.
fn name(bytes: &[u8], begin: usize) -> Option<(String, usize)> {
    let (mut labels, mut at, mut end, mut before) = (Vec::new(), begin, None, begin);
    loop {
        let length = usize::from(*bytes.get(at)?);
        match length {
            0 => return Some((labels.join("."), end.unwrap_or(at + 1))),
            1..=63 => {
                let label = bytes.get(at + 1..at + 1 + length)?;
                labels.push(String::from_utf8_lossy(label).to_ascii_lowercase());
                at += 1 + length;
            }
            192.. => {
                let target = (length & 0x3f) << 8 | usize::from(*bytes.get(at + 1)?);
                end.get_or_insert(at + 2);
                if target >= before {
                    return None;
                }
                (at, before) = (target, target);
            }
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_question_as_dig_sends_it() {
        let asked = Question::address("api.ocp4", IpAddr::V4(Ipv4Addr::LOCALHOST)).encode(7).unwrap();
        assert_eq!(asked, b"\0\x07\x01\0\0\x01\0\0\0\0\0\0\x03api\x04ocp4\0\0\x01\0\x01");
        assert_eq!(Question { name: "a..b".to_owned(), kind: RecordType::A }.encode(7), None);
        assert_eq!(Question { name: "x".repeat(64), kind: RecordType::A }.encode(7), None);
        assert_eq!(
            Question::reverse("192.168.126.101".parse().unwrap()).name,
            "101.126.168.192.in-addr.arpa"
        );
        let six = Question::reverse("fd00::1".parse().unwrap()).name;
        assert!(six.starts_with("1.0.0.0.") && six.ends_with("0.0.d.f.ip6.arpa"), "{six}");
    }

    /// An alias, then its address, names by pointers.
    #[test]
    fn an_answer_with_an_alias() {
        let mut bytes = b"\0\x09\x81\x80\0\x01\0\x02\0\0\0\0\x01a\x02Bc\0\0\x01\0\x01".to_vec();
        bytes.extend(b"\xc0\x0c\0\x05\0\x01\0\0\0\x3c\0\x04\x01d\xc0\x0e");
        bytes.extend(b"\x01d\xc0\x0e\0\x01\0\x01\0\0\0\x3c\0\x04\x0a\0\0\x01");
        let (id, answer) = DnsAnswer::decode(&bytes).unwrap();
        assert_eq!((id, answer.code, answer.names.len()), (9, 0, 0));
        assert_eq!(answer.addresses, ["10.0.0.1".parse::<IpAddr>().unwrap()]);
    }

    #[test]
    fn a_pointer_to_itself_ends() {
        let bytes = b"\0\x09\x81\x80\0\x01\0\0\0\0\0\0\xc0\x0c\0\x01\0\x01";
        assert_eq!(DnsAnswer::decode(bytes), None);
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_wild(mut bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some(flags) = bytes.get_mut(2) {
                *flags |= 0x80;
            }
            let _ = DnsAnswer::decode(&bytes);
        }
    }
}
