//! The ends of certificates as a calendar (RFC 5545), which every calendar program reads.

use hardway_cluster::certificates::KnownCertificate;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use sha2::{Digest as _, Sha256};

/// A day for each end, with a reminder a week before it. A certificate that is renewed gets another entry.
pub(crate) fn calendar<'c>(
    certificates: impl IntoIterator<Item = &'c KnownCertificate>,
    cluster: &str,
    now: Timestamp,
) -> String {
    let mut text = String::new();
    let mut line = |content: &str| fold(&mut text, content);
    line("BEGIN:VCALENDAR");
    line("VERSION:2.0");
    line(&format!("PRODID:-//hardway//hardway {}//EN", env!("CARGO_PKG_VERSION")));
    for one in certificates {
        let KnownCertificate { place, name, signer, renewer, not_after, .. } = one;
        let place = place.name();
        let renewer = renewer.as_deref().unwrap_or("nobody by itself");
        let signer = signer.as_deref().unwrap_or("unknown");
        let uid =
            hardway_base::hex::encode(&Sha256::digest(format!("{cluster} {place} {name} {not_after}"))[..16]);
        line("BEGIN:VEVENT");
        line(&format!("UID:{uid}@hardway"));
        line(&format!("DTSTAMP:{}", stamp(now)));
        line(&format!("DTSTART;VALUE=DATE:{}", not_after.to_zoned(TimeZone::UTC).strftime("%Y%m%d")));
        line(&format!("SUMMARY:{}", escaped(&format!("{cluster}: certificate {name} expires"))));
        let end = not_after.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M UTC").to_string();
        let told =
            format!("In the {place}. It expires at {end}. Signed by: {signer}. Renewed by: {renewer}.");
        line(&format!("DESCRIPTION:{}", escaped(&told)));
        line("TRANSP:TRANSPARENT");
        line("BEGIN:VALARM");
        line("ACTION:DISPLAY");
        line("TRIGGER:-P7D");
        line(&format!(
            "DESCRIPTION:{}",
            escaped(&format!("{cluster}: certificate {name} expires in a week"))
        ));
        line("END:VALARM");
        line("END:VEVENT");
    }
    line("END:VCALENDAR");
    text
}

fn stamp(time: Timestamp) -> String {
    time.to_zoned(TimeZone::UTC).strftime("%Y%m%dT%H%M%SZ").to_string()
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | ';' | ',' => escaped.extend(['\\', c]),
            '\n' => escaped.push_str("\\n"),
            // A name that somebody else chose must not begin another line.
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// At most 75 octets a line, which goes on after a line break and a blank.
fn fold(text: &mut String, content: &str) {
    let mut width = 0;
    for c in content.chars() {
        if width + c.len_utf8() > 75 {
            text.push_str("\r\n ");
            width = 1;
        }
        text.push(c);
        width += c.len_utf8();
    }
    text.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardway_cluster::certificates::CertificatePlace;

    fn certificate(name: &str) -> KnownCertificate {
        KnownCertificate {
            place: CertificatePlace::Cluster,
            name: name.to_owned(),
            signer: Some("a, b; c".to_owned()),
            renewer: None,
            not_before: None,
            not_after: "2027-01-02T23:30:00Z".parse().unwrap(),
        }
    }

    #[test]
    fn an_end_is_a_day_with_a_reminder() {
        let now = "2026-11-15T12:00:00Z".parse().unwrap();
        let text = calendar([&certificate("ns/name")], "ocp4.example.com", now);
        let unfolded = text.replace("\r\n ", "");
        for line in [
            "DTSTAMP:20261115T120000Z",
            "DTSTART;VALUE=DATE:20270102",
            "SUMMARY:ocp4.example.com: certificate ns/name expires",
            "DESCRIPTION:In the cluster. It expires at 2027-01-02 23:30 UTC. Signed by: a\\, b\\; c. Renewed by: nobody by itself.",
            "TRIGGER:-P7D",
        ] {
            assert!(unfolded.lines().any(|found| found == line), "{line}\n{unfolded}");
        }
        assert!(text.lines().all(|line| line.len() <= 75), "{text}");
        assert!(text.split_terminator("\r\n").all(|line| !line.contains(['\r', '\n'])), "{text:?}");
    }

    #[test]
    fn no_name_begins_a_line() {
        let now = "2026-11-15T12:00:00Z".parse().unwrap();
        let text = calendar([&certificate("a\r\nEND:VCALENDAR\u{85}b")], "c", now);
        assert_eq!(text.replace("\r\n ", "").matches("\r\nEND:VCALENDAR").count(), 1, "{text}");
    }

    #[test]
    fn the_same_end_is_the_same_entry() {
        let uid = |name: &str, cluster: &str| {
            let text = calendar([&certificate(name)], cluster, Timestamp::UNIX_EPOCH);
            text.lines().find(|line| line.starts_with("UID:")).unwrap().to_owned()
        };
        assert_eq!(uid("a", "x"), uid("a", "x"));
        assert_ne!(uid("a", "x"), uid("a", "y"));
        assert_ne!(uid("a", "x"), uid("b", "x"));
    }
}
