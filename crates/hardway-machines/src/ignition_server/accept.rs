//! The Accept header, read as the machine-config-server reads it (openshift/machine-config-operator
//! `pkg/server/api.go`, `parseAcceptHeader`).

use super::spec_version::SpecVersion;

const IGNITION: &str = "vnd.coreos.ignition+json";
/// Far more than any client lists; what follows is not looked at.
const MOST_ENTRIES: usize = 64;

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedSpec {
    /// This minor version of Ignition's spec 3, or what is next to it.
    Minor(u64),
    /// Spec 2.2: what Ignition before 3.0 asks for, and what the machine-config-server assumes when no version is named at
    /// all, as by curl.
    Old,
    /// Versions that nobody ever served.
    Unsupported,
}

/// The best entry of a header that names a version of Ignition's format which can be served.
pub fn wanted(header: &str) -> WantedSpec {
    let mut entries: Vec<Entry> = header.split(',').take(MOST_ENTRIES).filter_map(Entry::read).collect();
    // Stable: of equals, the first.
    entries.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let mut versions =
        entries.iter().filter(|entry| entry.is_ignition).filter_map(|entry| entry.version).peekable();
    let is_unsaid = versions.peek().is_none();
    let served = versions.find_map(|version| match (version.major, version.minor) {
        (3, minor @ 1..) => Some(WantedSpec::Minor(minor)),
        (2, 2..) => Some(WantedSpec::Old),
        _ => None,
    });
    served.unwrap_or(if is_unsaid { WantedSpec::Old } else { WantedSpec::Unsupported })
}

struct Entry {
    is_ignition: bool,
    version: Option<SpecVersion>,
    weight: f32,
}

impl Entry {
    /// `type/subtype;version=3.2.0;q=0.5`. What has no slash is no entry.
    fn read(text: &str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let (_, subtype) = parts.next()?.split_once('/')?;
        let (mut version, mut weight) = (None, None);
        // Of each parameter the first that can be read.
        for parameter in parts {
            match parameter.split_once('=') {
                Some(("version", text)) => version = version.or_else(|| SpecVersion::parse(text)),
                Some(("q", text)) => {
                    weight = weight.or_else(|| text.parse().ok().filter(|q: &f32| q.is_finite()));
                }
                _ => {}
            }
        }
        Some(Self { is_ignition: subtype == IGNITION, version, weight: weight.unwrap_or(1.0) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_best_entry_with_a_version_that_is_served_counts() {
        let ign = "application/vnd.coreos.ignition+json";
        for (header, expected) in [
            (format!("{ign};version=3.4.0, */*;q=0.1"), WantedSpec::Minor(4)),
            (format!("{ign}; version=3.2.0; q=0.2, {ign};version=3.5.0;q=0.9"), WantedSpec::Minor(5)),
            (format!("{ign};version=3.2.0, {ign};version=3.5.0"), WantedSpec::Minor(2)),
            (format!("{ign}, {ign};version=3.1.0;q=0.1"), WantedSpec::Minor(1)),
            (format!("{ign};version=three, {ign};version=3.3.0"), WantedSpec::Minor(3)),
            (format!("{ign};version=three;version=3.3.0;version=3.1.0"), WantedSpec::Minor(3)),
            (format!("{ign};q=0.9;q=0.1;version=3.3.0, {ign};q=0.5;version=3.1.0"), WantedSpec::Minor(3)),
            // What is not served is passed over while there is something else.
            (format!("{ign};version=3.0.0, {ign};version=3.2.0;q=0.5"), WantedSpec::Minor(2)),
            (format!("{ign};version=4.0.0"), WantedSpec::Unsupported),
            (format!("{ign};version=3.0.0"), WantedSpec::Unsupported),
            (format!("{ign};version=2.1.0, */*"), WantedSpec::Unsupported),
            // A pre-release is older than its version.
            (format!("{ign};version=3.5.0-experimental"), WantedSpec::Minor(4)),
            (format!("{ign};version=3.1.0-rc1"), WantedSpec::Unsupported),
            (format!("{ign};version=3.0.0-rc1"), WantedSpec::Old),
            (format!("{ign};version=4.0.0-rc1"), WantedSpec::Minor(u64::MAX)),
            (format!("{ign};version=2.2.0"), WantedSpec::Old),
            // Ignition 0.35.
            (format!("{ign}; version=2.4.0, {ign}; version=1; q=0.5, */*; q=0.1"), WantedSpec::Old),
            ("vnd.coreos.ignition+json;version=3.2.0".to_owned(), WantedSpec::Old),
            ("application/json;version=3.2.0".to_owned(), WantedSpec::Old),
            ("*/*".to_owned(), WantedSpec::Old),
            (String::new(), WantedSpec::Old),
        ] {
            assert_eq!(wanted(&header), expected, "{header}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_an_answer(header in "\\PC{0,300}") {
            wanted(&header);
        }
    }
}
