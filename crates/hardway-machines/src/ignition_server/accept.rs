//! The Accept header, read as the machine-config-server reads it (openshift/machine-config-operator
//! `pkg/server/api.go`, `parseAcceptHeader`).

use super::spec_version::SpecVersion;

const IGNITION: &str = "vnd.coreos.ignition+json";
/// Far more than any client lists; what follows is not looked at.
const MOST_ENTRIES: usize = 64;

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// This version of Ignition's format, or what is next to it.
    Version(SpecVersion),
    /// Nothing in particular, like curl: the other server then answers with the format of the time before 3.0.
    Unsaid,
}

/// The best entry of a header that names a version of Ignition's format.
pub fn wanted(header: &str) -> Wanted {
    let mut entries: Vec<Entry> = header.split(',').take(MOST_ENTRIES).filter_map(Entry::read).collect();
    // Stable: of equals, the first.
    entries.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    entries
        .into_iter()
        .find_map(|entry| entry.version.filter(|_| entry.is_ignition))
        .map_or(Wanted::Unsaid, Wanted::Version)
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
        let mut entry = Self { is_ignition: subtype == IGNITION, version: None, weight: 1.0 };
        for parameter in parts {
            match parameter.split_once('=') {
                Some(("version", version)) => entry.version = SpecVersion::parse(version),
                Some(("q", weight)) => {
                    entry.weight = weight.parse().ok().filter(|q: &f32| q.is_finite()).unwrap_or(1.0);
                }
                _ => {}
            }
        }
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn version(major: u64, minor: u64) -> Wanted {
        Wanted::Version(SpecVersion { major, minor })
    }

    #[test]
    fn the_best_entry_with_a_version_counts() {
        let ign = "application/vnd.coreos.ignition+json";
        for (header, expected) in [
            (format!("{ign};version=3.4.0, */*;q=0.1"), version(3, 4)),
            (format!("{ign}; version=3.2.0; q=0.2, {ign};version=3.5.0;q=0.9"), version(3, 5)),
            (format!("{ign};version=3.2.0, {ign};version=3.5.0"), version(3, 2)),
            (format!("{ign}, {ign};version=3.1.0;q=0.1"), version(3, 1)),
            (format!("{ign};version=three, {ign};version=3.3.0"), version(3, 3)),
            (format!("{ign};version=2.2.0"), version(2, 2)),
            ("vnd.coreos.ignition+json;version=3.2.0".to_owned(), Wanted::Unsaid),
            ("application/json;version=3.2.0".to_owned(), Wanted::Unsaid),
            ("*/*".to_owned(), Wanted::Unsaid),
            (String::new(), Wanted::Unsaid),
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
