//! `192.168.126.110-192.168.126.139`: the addresses of a pool.

use std::net::IpAddr;

/// More in one range are a mistake rather than a wish.
pub(super) const MOST: u128 = 4096;

/// Every address of a range, or of a single one.
///
/// # Errors
/// Why it is none.
pub(super) fn addresses(text: &str) -> Result<Vec<IpAddr>, String> {
    let parse = |part: &str| {
        part.trim().parse::<IpAddr>().map_err(|_| {
            "must be an address or a range FIRST-LAST, such as 192.168.126.110-192.168.126.139".to_owned()
        })
    };
    let (first, last) = match text.split_once('-') {
        Some((first, last)) => (parse(first)?, parse(last)?),
        None => return Ok(vec![parse(text)?]),
    };
    if first.is_ipv4() != last.is_ipv4() {
        return Err("the first and the last address must be of the same family".to_owned());
    }
    let (from, to) = (number(first), number(last));
    if from > to {
        return Err(format!("{first} comes after {last}"));
    }
    if to - from >= MOST {
        return Err(format!("has {} addresses; at most {MOST} are possible", (to - from).saturating_add(1)));
    }
    let address = |number: u128| match first {
        IpAddr::V4(_) => IpAddr::from(u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes()),
        IpAddr::V6(_) => IpAddr::from(number.to_be_bytes()),
    };
    Ok((from..=to).map(address).collect())
}

fn number(ip: IpAddr) -> u128 {
    match ip {
        IpAddr::V4(ip) => u128::from(u32::from(ip)),
        IpAddr::V6(ip) => u128::from(ip),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_every_address_from_the_first_to_the_last() {
        let of = |text: &str| -> Vec<String> {
            addresses(text).unwrap().iter().map(ToString::to_string).collect()
        };
        assert_eq!(of("10.0.0.254-10.0.1.1"), ["10.0.0.254", "10.0.0.255", "10.0.1.0", "10.0.1.1"]);
        assert_eq!(of("10.0.0.7"), ["10.0.0.7"]);
        assert_eq!(of("fd00::ffff - fd00::1:0"), ["fd00::ffff", "fd00::1:0"]);
        for (bad, why) in [
            ("10.0.0.0/24", "must be an address"),
            ("", "must be an address"),
            ("10.0.0.9-10.0.0.8", "comes after"),
            ("10.0.0.9-fd00::1", "same family"),
            ("10.0.0.0-10.0.16.0", "4097 addresses"),
            ("::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "at most 4096"),
        ] {
            let error = addresses(bad).unwrap_err();
            assert!(error.contains(why), "{bad}: {error}");
        }
    }
}
