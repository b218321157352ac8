//! A release that is named by what is wanted, and not by where it is: a word that an update service or a registry turns into a digest.

use std::cmp::Ordering;

/// `release.image` where it is no pull spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleaseWord {
    /// `4.18`: the newest of that minor version in its default channel.
    Newest(Minor),
    /// `4.18.3`: that version, in whichever channel has it.
    Exact(Minor, String),
    /// `stable-4.18`: the newest of that minor version in that channel.
    Channel(Minor, String),
    /// `okd-scos`, `okd-scos-4.19`: the newest of OKD, by the tags of its repository.
    Okd(Option<Minor>),
}

/// Such as 4.18.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Minor(pub u64, pub u64);

/// Channels in the order in which a version comes to them last.
const KINDS: [&str; 4] = ["stable", "fast", "candidate", "eus"];
const OKD: &str = "okd-scos";

impl ReleaseWord {
    /// Nothing of what can only be a pull spec, or nothing at all.
    pub fn read(text: &str) -> Option<Self> {
        if text == OKD {
            return Some(Self::Okd(None));
        }
        if let Some(minor) = text.strip_prefix(OKD).and_then(|rest| rest.strip_prefix('-')) {
            return Minor::read(minor).map(|minor| Self::Okd(Some(minor)));
        }
        if let Some(minor) = Minor::read(text) {
            return Some(Self::Newest(minor));
        }
        if let Some((kind, rest)) = text.split_once('-')
            && KINDS.contains(&kind)
        {
            return Minor::read(rest).map(|minor| Self::Channel(minor, text.to_owned()));
        }
        let version = Version::read(text)?;
        Some(Self::Exact(Minor(version.numbers[0], version.numbers[1]), text.to_owned()))
    }

    /// The channels that may have it, the best first. None of OKD's, which has tags.
    pub fn channels(&self) -> Vec<String> {
        match self {
            Self::Newest(minor) => vec![minor.channel(KINDS[0])],
            Self::Exact(minor, _) => KINDS[..3].iter().map(|kind| minor.channel(kind)).collect(),
            Self::Channel(_, channel) => vec![channel.clone()],
            Self::Okd(_) => Vec::new(),
        }
    }

    /// A version with the same rules, before it is known which it is. None for OKD's newest.
    pub fn like(&self) -> Option<String> {
        match self {
            Self::Exact(_, version) => Some(version.clone()),
            Self::Newest(minor) | Self::Channel(minor, _) => Some(format!("{}.{}.0", minor.0, minor.1)),
            Self::Okd(minor) => minor.map(|minor| format!("{}.{}.0", minor.0, minor.1)),
        }
    }

    /// The best of some versions, if one is meant at all.
    pub fn best<'v>(&self, versions: impl IntoIterator<Item = &'v str>) -> Option<&'v str> {
        let meant = versions.into_iter().filter_map(|text| Some((Version::read(text)?, text)));
        meant
            .filter(|(version, text)| self.means(version, text))
            .max_by(|a, b| a.0.cmp(&b.0))
            .map(|(_, text)| text)
    }

    /// The newest of all.
    pub fn newest<'v>(versions: impl IntoIterator<Item = &'v str>) -> Option<&'v str> {
        let read = versions.into_iter().filter_map(|text| Some((Version::read(text)?, text)));
        read.max_by(|a, b| a.0.cmp(&b.0)).map(|(_, text)| text)
    }

    fn means(&self, version: &Version<'_>, text: &str) -> bool {
        let is_of = |minor: &Minor| version.numbers[..2] == [minor.0, minor.1];
        match self {
            Self::Newest(minor) | Self::Channel(minor, _) => is_of(minor),
            Self::Exact(_, exact) => text == exact,
            // 4.19.0-okd-scos.7; early candidates (4.19.0-okd-scos.ec.7) and nightlies have other words.
            Self::Okd(minor) => {
                let number = version.before.strip_prefix(OKD).and_then(|rest| rest.strip_prefix('.'));
                number.is_some_and(|number| number.parse::<u64>().is_ok()) && minor.as_ref().is_none_or(is_of)
            }
        }
    }
}

impl Minor {
    fn read(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once('.')?;
        Some(Self(number(major)?, number(minor)?))
    }

    fn channel(self, kind: &str) -> String {
        format!("{kind}-{}.{}", self.0, self.1)
    }
}

/// As semver.org orders it.
#[derive(Debug, PartialEq, Eq)]
struct Version<'t> {
    numbers: [u64; 3],
    /// After the dash; empty for what is finished.
    before: &'t str,
}

impl<'t> Version<'t> {
    fn read(text: &'t str) -> Option<Self> {
        let (text, build) = text.split_once('+').unwrap_or((text, ""));
        let (numbers, before) = text.split_once('-').unwrap_or((text, ""));
        let mut parts = numbers.split('.');
        let numbers = [number(parts.next()?)?, number(parts.next()?)?, number(parts.next()?)?];
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
        let is_plain = before.bytes().chain(build.bytes()).all(is_plain);
        (parts.next().is_none() && is_plain).then_some(Self { numbers, before })
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let finished = |version: &Self| version.before.is_empty();
        self.numbers.cmp(&other.numbers).then(finished(self).cmp(&finished(other))).then_with(|| {
            let (mut own, mut others) = (self.before.split('.'), other.before.split('.'));
            loop {
                match (own.next(), others.next()) {
                    (None, None) => return Ordering::Equal,
                    (None, Some(_)) => return Ordering::Less,
                    (Some(_), None) => return Ordering::Greater,
                    (Some(a), Some(b)) => match word(a, b) {
                        Ordering::Equal => {}
                        other => return other,
                    },
                }
            }
        })
    }
}

/// Numbers by value and before words.
fn word(a: &str, b: &str) -> Ordering {
    match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(a), Ok(b)) => a.cmp(&b),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => a.cmp(b),
    }
}

/// Without a sign, and without zeros before it.
fn number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    is_plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_from_pull_specs() {
        let minor = Minor(4, 18);
        for (text, expected) in [
            ("4.18", Some(ReleaseWord::Newest(minor))),
            ("stable-4.18", Some(ReleaseWord::Channel(minor, "stable-4.18".to_owned()))),
            ("eus-4.18", Some(ReleaseWord::Channel(minor, "eus-4.18".to_owned()))),
            ("4.18.3", Some(ReleaseWord::Exact(minor, "4.18.3".to_owned()))),
            ("4.18.0-rc.1", Some(ReleaseWord::Exact(minor, "4.18.0-rc.1".to_owned()))),
            ("okd-scos", Some(ReleaseWord::Okd(None))),
            ("okd-scos-4.18", Some(ReleaseWord::Okd(Some(minor)))),
            ("sample", None),
            ("4", None),
            ("4.018", None),
            ("stabel-4.18", None),
            ("stable-4", None),
            ("okd-scos-next", None),
            ("quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64", None),
        ] {
            assert_eq!(ReleaseWord::read(text), expected, "{text}");
        }
    }

    #[test]
    fn the_newest_that_is_meant_is_taken() {
        let best = |word: &str, versions: &[&'static str]| {
            ReleaseWord::read(word).unwrap().best(versions.iter().copied()).map(str::to_owned)
        };
        let versions = ["4.17.20", "4.18.2", "4.18.10", "4.18.9", "4.18.0-rc.7", "4.19.0", "nonsense"];
        assert_eq!(best("4.18", &versions).as_deref(), Some("4.18.10"));
        assert_eq!(best("stable-4.17", &versions).as_deref(), Some("4.17.20"));
        assert_eq!(best("4.18.9", &versions).as_deref(), Some("4.18.9"));
        assert_eq!(best("4.20", &versions), None);
        assert_eq!(
            best("candidate-4.18", &["4.18.0-rc.2", "4.18.0-rc.10", "4.18.0-ec.4"]).as_deref(),
            Some("4.18.0-rc.10")
        );
        let tags = [
            "4.19.0-okd-scos.9",
            "4.19.0-okd-scos.15",
            "4.20.0-okd-scos.ec.3",
            "4.18.0-okd-scos.20",
            "4.17.0-0.okd-scos-2024-09-30-101739",
            "latest",
            "4.19.0-okd-scos.99+\nfile x",
        ];
        assert_eq!(best("okd-scos", &tags).as_deref(), Some("4.19.0-okd-scos.15"));
        assert_eq!(best("okd-scos-4.18", &tags).as_deref(), Some("4.18.0-okd-scos.20"));
    }
}
