//! Formats of texts that a kube-apiserver enforces, as kube-openapi `pkg/validation/strfmt` reads them. Others, `int32`
//! among them, are passed over there and here.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::OnceLock;

use regex::Regex;

use crate::pattern::compile;
use crate::request_uri::RequestUri;

/// A format that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Bson,
    Byte,
    Cidr,
    CreditCard,
    Date,
    DateTime,
    Duration,
    Email,
    HexColor,
    Hostname,
    Ipv4,
    Ipv6,
    Isbn,
    Isbn10,
    Isbn13,
    Mac,
    Password,
    RgbColor,
    Ssn,
    Uri,
    Uuid,
    Uuid3,
    Uuid4,
    Uuid5,
}

const NAMES: [(&str, Format); 24] = [
    ("bsonobjectid", Format::Bson),
    ("byte", Format::Byte),
    ("cidr", Format::Cidr),
    ("creditcard", Format::CreditCard),
    ("date", Format::Date),
    ("datetime", Format::DateTime),
    ("duration", Format::Duration),
    ("email", Format::Email),
    ("hexcolor", Format::HexColor),
    ("hostname", Format::Hostname),
    ("ipv4", Format::Ipv4),
    ("ipv6", Format::Ipv6),
    ("isbn", Format::Isbn),
    ("isbn10", Format::Isbn10),
    ("isbn13", Format::Isbn13),
    ("mac", Format::Mac),
    ("password", Format::Password),
    ("rgbcolor", Format::RgbColor),
    ("ssn", Format::Ssn),
    ("uri", Format::Uri),
    ("uuid", Format::Uuid),
    ("uuid3", Format::Uuid3),
    ("uuid4", Format::Uuid4),
    ("uuid5", Format::Uuid5),
];

impl Format {
    pub(crate) fn read(name: &str) -> Option<Self> {
        let plain = name.replace('-', "");
        NAMES.iter().find(|(known, _)| *known == plain).map(|(_, format)| *format)
    }

    pub(crate) fn name(self) -> &'static str {
        NAMES.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| match *name {
            "datetime" => "date-time",
            name => name,
        })
    }

    /// Whether a text is of this format.
    pub(crate) fn admits(self, text: &str) -> bool {
        match self {
            Self::Bson => text.len() == 24 && text.bytes().all(|b| b.is_ascii_hexdigit()),
            Self::Byte => is_base64(text),
            Self::Cidr => cidr(text).is_some(),
            Self::CreditCard => is_credit_card(text),
            Self::Date => is_date(text),
            Self::DateTime => is_date_time(text),
            Self::Duration => duration(text).is_some(),
            Self::Email => is_email(text),
            Self::HexColor => {
                let digits = text.strip_prefix('#').unwrap_or(text);
                matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())
            }
            Self::Hostname => is_hostname(text),
            Self::Ipv4 => text.contains('.') && (ipv4(text).is_some() || text.parse::<Ipv6Addr>().is_ok()),
            Self::Ipv6 => text.contains(':') && text.parse::<Ipv6Addr>().is_ok(),
            Self::Isbn => is_isbn10(text) || is_isbn13(text),
            Self::Isbn10 => is_isbn10(text),
            Self::Isbn13 => is_isbn13(text),
            Self::Mac => is_mac(text),
            Self::Password => true,
            Self::RgbColor => is_rgb(text),
            Self::Ssn => text.len() == 11 && matches(text, &SSN, r"^\d{3}[- ]?\d{2}[- ]?\d{4}$"),
            Self::Uri => RequestUri::parse(text).is_some(),
            Self::Uuid => is_uuid(text, None, false),
            Self::Uuid3 => is_uuid(text, Some('3'), false),
            Self::Uuid4 => is_uuid(text, Some('4'), true),
            Self::Uuid5 => is_uuid(text, Some('5'), true),
        }
    }
}

static HOSTNAME: OnceLock<Option<Regex>> = OnceLock::new();
static SSN: OnceLock<Option<Regex>> = OnceLock::new();

fn matches(text: &str, cell: &'static OnceLock<Option<Regex>>, pattern: &str) -> bool {
    cell.get_or_init(|| compile(pattern)).as_ref().is_some_and(|regex| regex.is_match(text))
}

/// RFC 1034 with digits first, and symbols and letters of all scripts.
fn is_hostname(text: &str) -> bool {
    const PATTERN: &str = r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$";
    // Names in ASCII, which are nearly all, need no tables of scripts.
    let fits = match text.is_ascii() {
        true => is_ascii_hostname(text),
        false => matches(text, &HOSTNAME, PATTERN),
    };
    fits && text.len() <= 255 && text.split('.').all(|label| label.len() <= 63)
}

/// `\p{S}` of ASCII: `$+<=>^`|~`.
fn is_ascii_hostname(text: &str) -> bool {
    let letter = |b: u8| b.is_ascii_alphanumeric() || b"$+<=>^`|~".contains(&b);
    let single = |label: &str| {
        let bytes = label.as_bytes();
        match bytes {
            [first, rest @ ..] => {
                let rest = rest.strip_prefix(b"-").unwrap_or(rest);
                letter(*first) && rest.len() <= 62 && rest.iter().all(|b| letter(*b))
            }
            [] => false,
        }
    };
    let inner = |label: &str| match label.as_bytes() {
        [only] => letter(*only),
        [first, middle @ .., last] => {
            letter(*first)
                && letter(*last)
                && middle.len() <= 61
                && middle.iter().all(|b| letter(*b) || *b == b'-')
        }
        [] => false,
    };
    match text.rsplit_once('.') {
        None => single(text),
        Some((before, last)) => {
            (2..=63).contains(&last.len())
                && last.bytes().all(|b| b.is_ascii_alphabetic())
                && before.split('.').all(inner)
        }
    }
}

/// With leading zeros, as Go's sloppy reader lets them pass.
pub(crate) fn ipv4(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u8> = text
        .split('.')
        .map(|part| match part.bytes().all(|b| b.is_ascii_digit()) && !part.is_empty() {
            true => part.parse().ok(),
            false => None,
        })
        .collect::<Option<_>>()?;
    <[u8; 4]>::try_from(parts).ok().map(Ipv4Addr::from)
}

/// Address and prefix length.
pub(crate) fn cidr(text: &str) -> Option<(std::net::IpAddr, u8)> {
    let (address, prefix) = text.split_once('/')?;
    if prefix.is_empty() || !prefix.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let prefix: u8 = prefix.parse().ok()?;
    match ipv4(address) {
        Some(address) => (prefix <= 32).then_some((address.into(), prefix)),
        None => {
            let address: Ipv6Addr = address.parse().ok()?;
            (prefix <= 128).then_some((address.into(), prefix))
        }
    }
}

/// Groups of four, padded, and not empty.
fn is_base64(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.is_empty() || !bytes.len().is_multiple_of(4) {
        return false;
    }
    let padding = bytes.iter().rev().take(2).take_while(|b| **b == b'=').count();
    bytes[..bytes.len() - padding].iter().all(|b| b.is_ascii_alphanumeric() || b"+/".contains(b))
}

fn is_date(text: &str) -> bool {
    let b = text.as_bytes();
    b.len() == 10 && b[4] == b'-' && b[7] == b'-' && text.parse::<jiff::civil::Date>().is_ok()
}

fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let Some((date, time)) = lower.split_once('t') else { return false };
    is_date(date) && !time.contains('t') && is_clock(time)
}

/// `23:59:59.123+02:00`
fn is_clock(time: &str) -> bool {
    static CLOCK: OnceLock<Option<Regex>> = OnceLock::new();
    let pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$";
    matches(time, &CLOCK, pattern)
}

/// Nanoseconds of Go's `1h30m`, or of Scala's `2 hours`.
pub(crate) fn duration(text: &str) -> Option<i128> {
    go_duration(text).or_else(|| scala_duration(text))
}

/// `time.ParseDuration`
pub(crate) fn go_duration(text: &str) -> Option<i128> {
    let (sign, mut rest) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0.0_f64;
    let mut whole: i128 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number = &rest[..end];
        if !number.contains(|c: char| c.is_ascii_digit()) || number.matches('.').count() > 1 {
            return None;
        }
        rest = &rest[end..];
        let end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let unit: i128 = match &rest[..end] {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        rest = &rest[end..];
        match number.parse::<i128>() {
            Ok(number) => whole = whole.checked_add(number.checked_mul(unit)?)?,
            #[expect(clippy::cast_precision_loss, reason = "fractions of seconds: Go loses as much")]
            Err(_) => total += format!("0{number}").parse::<f64>().ok()? * unit as f64,
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "Go truncates too")]
    let nanoseconds = whole + total as i128;
    (nanoseconds <= i128::from(i64::MAX)).then_some(sign * nanoseconds)
}

/// Numbers with a unit anywhere in the text: strfmt is that lenient.
fn scala_duration(text: &str) -> Option<i128> {
    const UNITS: [(&[&str], i128); 8] = [
        (&["ns", "nano"], 1),
        (&["us", "µs", "micro"], 1_000),
        (&["ms", "milli"], 1_000_000),
        (&["s", "sec"], 1_000_000_000),
        (&["m", "min"], 60_000_000_000),
        (&["h", "hr", "hour"], 3_600_000_000_000),
        (&["d", "day"], 86_400_000_000_000),
        (&["w", "wk", "week"], 604_800_000_000_000),
    ];
    static TOKEN: OnceLock<Option<Regex>> = OnceLock::new();
    let token = TOKEN.get_or_init(|| compile(r"(\d+)\s*([A-Za-zµ]+)")).as_ref()?;
    let mut found = None;
    for capture in token.captures_iter(text) {
        let number: i128 = capture[1].parse().ok()?;
        let unit = capture[2].to_lowercase();
        for (names, factor) in UNITS {
            let is_last = names.last().is_some_and(|last| unit.starts_with(last));
            if is_last || names.contains(&unit.as_str()) {
                found = Some(found.unwrap_or(0) + number * factor);
            }
        }
    }
    found
}

/// `net/mail.ParseAddress`, as far as addresses are written by people: `a@b` or `Name <a@b>`.
fn is_email(text: &str) -> bool {
    let address = match text.trim().strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
        Some((_, address)) => address,
        None => text.trim(),
    };
    let Some((local, domain)) = address.rsplit_once('@') else { return false };
    let atom = |b: u8| b.is_ascii_alphanumeric() || b >= 0x80 || b"!#$%&'*+-/=?^_`{|}~".contains(&b);
    let dots = |text: &str| text.split('.').all(|part| !part.is_empty() && part.bytes().all(atom));
    let is_quoted = local.len() > 2 && local.starts_with('"') && local.ends_with('"');
    (is_quoted || dots(local)) && (dots(domain) || (domain.starts_with('[') && domain.ends_with(']')))
}

fn is_mac(text: &str) -> bool {
    let hex = |text: &str, length: usize| text.len() == length && text.bytes().all(|b| b.is_ascii_hexdigit());
    let octets = |separator: char| {
        let parts: Vec<&str> = text.split(separator).collect();
        matches!(parts.len(), 6 | 8 | 20) && parts.iter().all(|part| hex(part, 2))
    };
    let quads: Vec<&str> = text.split('.').collect();
    octets(':') || octets('-') || (matches!(quads.len(), 3 | 4 | 10) && quads.iter().all(|part| hex(part, 4)))
}

fn is_uuid(text: &str, version: Option<char>, has_variant: bool) -> bool {
    static UUID: OnceLock<Option<Regex>> = OnceLock::new();
    if !matches(text, &UUID, "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$") {
        return false;
    }
    let digits: Vec<char> = text.chars().filter(|c| *c != '-').collect();
    version.is_none_or(|version| digits[12] == version) && (!has_variant || "89abAB".contains(digits[16]))
}

fn is_isbn10(text: &str) -> bool {
    let digits: Vec<char> = text.chars().filter(|c| !"- ".contains(*c)).collect();
    let value = |(place, c): (usize, &char)| match c {
        'X' if place == 9 => Some(10 * 10),
        c => c.to_digit(10).map(|digit| digit * (u32::try_from(place).unwrap_or(0) + 1)),
    };
    digits.len() == 10
        && digits.iter().enumerate().map(value).sum::<Option<u32>>().is_some_and(|sum| sum.is_multiple_of(11))
}

fn is_isbn13(text: &str) -> bool {
    let digits: Option<Vec<u32>> =
        text.chars().filter(|c| !"- ".contains(*c)).map(|c| c.to_digit(10)).collect();
    digits.is_some_and(|digits| {
        let sum: u32 = digits.iter().enumerate().map(|(place, digit)| digit * [1, 3][place % 2]).sum();
        digits.len() == 13 && sum.is_multiple_of(10)
    })
}

fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    static CARD: OnceLock<Option<Regex>> = OnceLock::new();
    let pattern = r"^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|(222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11}|6[27][0-9]{14})$";
    let luhn: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, b)| {
            let digit = u32::from(b - b'0') * [1, 2][place % 2];
            if digit > 9 { digit - 9 } else { digit }
        })
        .sum();
    matches(&digits, &CARD, pattern) && luhn.is_multiple_of(10)
}

fn is_rgb(text: &str) -> bool {
    let inner = text.strip_prefix("rgb(").and_then(|rest| rest.strip_suffix(')'));
    inner.is_some_and(|inner| {
        let parts: Vec<&str> = inner.split(',').map(str::trim).collect();
        parts.len() == 3 && parts.iter().all(|part| part.parse::<u8>().is_ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_tell_good_from_bad() {
        let cases: [(&str, &[&str], &[&str]); 12] = [
            ("byte", &["aGk=", "aGVsbG8K"], &["", "aGk", "a b="]),
            ("cidr", &["10.0.0.0/8", "fd00::/64", "010.0.0.1/8"], &["10.0.0.0", "10.0.0.0/33", "x/8"]),
            ("date", &["2024-02-29"], &["2023-02-29", "2024-2-9"]),
            (
                "date-time",
                &["2024-01-02T03:04:05Z", "2024-01-02t03:04:05.1+02:00"],
                &["2024-01-02", "2024-01-02T25:00:00Z"],
            ),
            ("duration", &["1h30m", "22 ns", "0", "-1.5h"], &["", "h", "1"]),
            ("email", &["a@b", "A <a@b.c>"], &["a", "@b", "a b@c"]),
            ("hostname", &["a", "a.example.com", "e-xample"], &["", "-a", "ex-ample", "a..b", "a.b1", "a_b"]),
            ("ipv4", &["1.2.3.4", "01.2.3.4"], &["1.2.3", "::1", "256.1.1.1"]),
            ("ipv6", &["::1", "fd00::"], &["1.2.3.4", "1:2"]),
            ("mac", &["00:11:22:33:44:55", "0011.2233.4455"], &["00:11", "zz:11:22:33:44:55"]),
            ("uri", &["https://a/b", "/a", "mailto:x"], &["", "a b", "a"]),
            ("uuid", &["123e4567-e89b-12d3-a456-426614174000"], &["x", ""]),
        ];
        for (name, good, bad) in cases {
            let format = Format::read(name).unwrap();
            assert_eq!(format.name(), name);
            good.iter().for_each(|text| assert!(format.admits(text), "{name}: {text}"));
            bad.iter().for_each(|text| assert!(!format.admits(text), "{name}: {text}"));
        }
        assert_eq!(Format::read("int32"), None);
        assert_eq!(duration("1h30m").unwrap(), 5_400_000_000_000);
    }
}
