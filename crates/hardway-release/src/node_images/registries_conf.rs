//! `registries.conf`: where a container runtime looks for an image (containers/image `pkg/sysregistriesv2`).

use serde_json::Value;

use super::NamedImage;
use crate::pull_spec::{PullSpec, PullSpecError};

/// The file, with what lies beside it in `registries.conf.d/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegistriesConf {
    /// In the order of the file.
    pub registries: Vec<RegistryRule>,
    /// `unqualified-search-registries`: where images without a registry are looked for.
    pub search: Vec<String>,
}

/// One `[[registry]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegistryRule {
    /// What names of images begin with. `*.example.com` is every host below that domain.
    pub prefix: String,
    /// What takes the place of the prefix; empty where the name stays.
    pub location: String,
    /// Whether any certificate will do, and none.
    pub is_insecure: bool,
    /// Whether it may not be asked. Its mirrors may.
    pub is_blocked: bool,
    /// Asked before it, in order.
    pub mirrors: Vec<MirrorRule>,
}

/// One `[[registry.mirror]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirrorRule {
    /// What takes the place of the prefix.
    pub location: String,
    /// As of the registry.
    pub is_insecure: bool,
    /// Which images are looked for there.
    pub pulls: Pulls,
}

/// `pull-from-mirror`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pulls {
    /// All.
    All,
    /// Those named by digest.
    DigestOnly,
    /// Those named by tag.
    TagOnly,
}

/// Where one image is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageLookup<'c> {
    /// The image itself.
    pub image: PullSpec,
    /// The entry with the longest prefix of its name.
    pub rule: Option<&'c RegistryRule>,
    /// In order.
    pub places: Vec<PullPlace<'c>>,
    /// Mirrors of that entry that are not asked, because they are for digests or for tags only.
    pub passed_by: Vec<&'c MirrorRule>,
}

/// A place where an image may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullPlace<'c> {
    /// The image there.
    pub image: PullSpec,
    /// The mirror, or nothing for the image's own registry.
    pub mirror: Option<&'c MirrorRule>,
    /// As the file says.
    pub is_insecure: bool,
    /// The entry that forbids to ask there.
    pub blocked_by: Option<&'c RegistryRule>,
}

/// Why a file is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistriesConfError {
    /// No TOML.
    #[error("registries.conf is not valid TOML: {0}")]
    Syntax(String),
    /// A location that is missing or has a scheme.
    #[error(
        "registries.conf: the location {0:?} cannot be used; it has the form host[:port][/namespace], without a scheme"
    )]
    Location(String),
    /// Both ways to say which images a mirror has.
    #[error("registries.conf: {0} has mirror-by-digest-only, and a mirror of it pull-from-mirror")]
    TwoWays(String),
    /// No such word.
    #[error("registries.conf: pull-from-mirror = {0:?} is none of all, digest-only, tag-only")]
    PullFromMirror(String),
    /// One place, and two words about it.
    #[error("registries.conf: {location} is listed twice, once {setting} and once not")]
    Conflict {
        /// The place.
        location: String,
        /// `insecure` or `blocked`.
        setting: &'static str,
    },
}

impl RegistriesConf {
    /// Reads the file.
    pub fn read(text: &str) -> Result<Self, RegistriesConfError> {
        let file: Value =
            toml::from_str(text).map_err(|error| RegistriesConfError::Syntax(error.message().to_owned()))?;
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let mut conf = Self::default();
        for entry in list(&file["registry"]) {
            conf.registries.push(registry(&entry)?);
        }
        for name in list(&file["unqualified-search-registries"]) {
            conf.search.push(location(name.as_str().unwrap_or_default())?);
        }
        conf.check()?;
        Ok(conf)
    }

    /// Adds a file of `registries.conf.d/`, which come in the order of their names: entries of the same prefix are replaced.
    pub fn overlay(&mut self, over: Self) {
        for rule in over.registries {
            match self.registries.iter_mut().find(|other| other.prefix == rule.prefix) {
                Some(other) => *other = rule,
                None => self.registries.push(rule),
            }
        }
        if !over.search.is_empty() {
            self.search = over.search;
        }
    }

    /// Where an image is looked for. One without a registry is looked for in several, each on its own.
    pub fn lookups(&self, image: &NamedImage) -> Result<Vec<ImageLookup<'_>>, PullSpecError> {
        image.candidates(&self.search)?.into_iter().map(|image| self.lookup(image)).collect()
    }

    /// The entry that counts for a name: the one with the longest prefix.
    pub fn rule_of(&self, name: &str) -> Option<&RegistryRule> {
        let mut best: Option<&RegistryRule> = None;
        for rule in self.registries.iter().filter(|rule| matched(name, &rule.prefix).is_some()) {
            if best.is_none_or(|other| rule.prefix.len() > other.prefix.len()) {
                best = Some(rule);
            }
        }
        best
    }

    fn lookup(&self, image: PullSpec) -> Result<ImageLookup<'_>, PullSpecError> {
        let Some(rule) = self.rule_of(&image.name()) else {
            let own = PullPlace { image: image.clone(), mirror: None, is_insecure: false, blocked_by: None };
            return Ok(ImageLookup { image, rule: None, places: vec![own], passed_by: Vec::new() });
        };
        let by_digest = image.digest.is_some();
        let (mut places, mut passed_by) = (Vec::new(), Vec::new());
        for mirror in &rule.mirrors {
            match (mirror.pulls, by_digest) {
                (Pulls::DigestOnly, false) | (Pulls::TagOnly, true) => passed_by.push(mirror),
                _ => places.push(self.place(&image, rule, Some(mirror))?),
            }
        }
        places.push(self.place(&image, rule, None)?);
        Ok(ImageLookup { image, rule: Some(rule), places, passed_by })
    }

    fn place<'c>(
        &'c self,
        image: &PullSpec,
        rule: &'c RegistryRule,
        mirror: Option<&'c MirrorRule>,
    ) -> Result<PullPlace<'c>, PullSpecError> {
        let (location, is_insecure) = mirror
            .map_or((&rule.location, rule.is_insecure), |mirror| (&mirror.location, mirror.is_insecure));
        let text = image.to_string();
        let there = match matched(&image.name(), &rule.prefix) {
            Some(end) if !location.is_empty() => format!("{location}{}", &text[end..]).parse()?,
            _ => image.clone(),
        };
        // Whether a place may be asked is decided by its own name, not by that of the image.
        let blocked_by = self.rule_of(&PullSpec::name(&there)).filter(|rule| rule.is_blocked);
        Ok(PullPlace { image: there, mirror, is_insecure, blocked_by })
    }

    /// The same location may stand under several prefixes, but not with different words about it.
    fn check(&self) -> Result<(), RegistriesConfError> {
        for rule in self.registries.iter().filter(|rule| !rule.location.is_empty()) {
            for other in self.registries.iter().filter(|other| other.location == rule.location) {
                let conflict =
                    |setting| RegistriesConfError::Conflict { location: rule.location.clone(), setting };
                if other.is_insecure != rule.is_insecure {
                    return Err(conflict("insecure"));
                }
                if other.is_blocked != rule.is_blocked {
                    return Err(conflict("blocked"));
                }
            }
        }
        Ok(())
    }
}

fn registry(entry: &Value) -> Result<RegistryRule, RegistriesConfError> {
    let text = |key: &str| entry[key].as_str().unwrap_or_default();
    let is_set = |entry: &Value, key: &str| entry[key].as_bool().unwrap_or_default();
    let is_wildcard = text("prefix").starts_with("*.");
    let own =
        if is_wildcard && text("location").is_empty() { String::new() } else { location(text("location"))? };
    let prefix = if text("prefix").is_empty() { own.clone() } else { location(text("prefix"))? };
    let by_digest_only = is_set(entry, "mirror-by-digest-only");
    let mut mirrors = Vec::new();
    for mirror in entry["mirror"].as_array().into_iter().flatten() {
        let word = mirror["pull-from-mirror"].as_str().unwrap_or_default();
        if by_digest_only && !word.is_empty() {
            return Err(RegistriesConfError::TwoWays(prefix));
        }
        let pulls = match word {
            "" if by_digest_only => Pulls::DigestOnly,
            "" | "all" => Pulls::All,
            "digest-only" => Pulls::DigestOnly,
            "tag-only" => Pulls::TagOnly,
            other => return Err(RegistriesConfError::PullFromMirror(other.to_owned())),
        };
        let location = location(mirror["location"].as_str().unwrap_or_default())?;
        mirrors.push(MirrorRule { location, is_insecure: is_set(mirror, "insecure"), pulls });
    }
    let (is_insecure, is_blocked) = (is_set(entry, "insecure"), is_set(entry, "blocked"));
    Ok(RegistryRule { prefix, location: own, is_insecure, is_blocked, mirrors })
}

fn location(text: &str) -> Result<String, RegistriesConfError> {
    let trimmed = text.trim_end_matches('/');
    if trimmed.is_empty() || trimmed.starts_with("http://") || trimmed.starts_with("https://") {
        return Err(RegistriesConfError::Location(text.to_owned()));
    }
    Ok(trimmed.to_owned())
}

/// Where a prefix ends in a name that begins with it. A port may follow a host without one, as in containers/image.
fn matched(name: &str, prefix: &str) -> Option<usize> {
    let end = match prefix.strip_prefix('*') {
        Some(domain) => {
            let at = name.find(domain)?;
            if name[..at].is_empty() || name[..at].contains('/') {
                return None;
            }
            at + domain.len()
        }
        None => name.starts_with(prefix).then_some(prefix.len())?,
    };
    name[end..].bytes().next().is_none_or(|next| b":/@".contains(&next)).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONF: &str = r#"
unqualified-search-registries = ["registry.access.redhat.com", "docker.io"]

[[registry]]
prefix = ""
location = "quay.io/openshift-release-dev"
[[registry.mirror]]
location = "lab:5000/all"
pull-from-mirror = "digest-only"

[[registry]]
location = "quay.io/openshift-release-dev/ocp-release"
blocked = true
[[registry.mirror]]
location = "a.lab/release"
insecure = true
[[registry.mirror]]
location = "forbidden.lab/release/"
pull-from-mirror = "tag-only"

[[registry]]
prefix = "*.corp.example"
blocked = true

[[registry]]
prefix = "old.example/x"
location = "new.example:8443/y"
mirror-by-digest-only = true
[[registry.mirror]]
location = "m.example"

[[registry]]
location = "forbidden.lab"
blocked = true
"#;

    fn shown(conf: &RegistriesConf, image: &str) -> Vec<String> {
        let image: NamedImage = image.parse().unwrap();
        let lookups = conf.lookups(&image).unwrap();
        let place = |place: &PullPlace<'_>| {
            let marks = [(place.is_insecure, "insecure "), (place.blocked_by.is_some(), "blocked ")];
            let marks: String = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
            format!("{marks}{}", place.image)
        };
        lookups.iter().flat_map(|lookup| &lookup.places).map(place).collect()
    }

    #[test]
    fn places_are_those_of_the_longest_prefix_in_order() {
        let conf = RegistriesConf::read(CONF).unwrap();
        let digest = format!("sha256:{}", "a".repeat(64));
        for (image, places) in [
            (
                format!("quay.io/openshift-release-dev/art@{digest}"),
                vec![
                    format!("lab:5000/all/art@{digest}"),
                    format!("quay.io/openshift-release-dev/art@{digest}"),
                ],
            ),
            (
                "quay.io/openshift-release-dev/art:1".to_owned(),
                vec!["quay.io/openshift-release-dev/art:1".to_owned()],
            ),
            (
                "quay.io/openshift-release-device/art:1".to_owned(),
                vec!["quay.io/openshift-release-device/art:1".to_owned()],
            ),
            (
                format!("quay.io/openshift-release-dev/ocp-release@{digest}"),
                vec![
                    format!("insecure a.lab/release@{digest}"),
                    format!("blocked quay.io/openshift-release-dev/ocp-release@{digest}"),
                ],
            ),
            (
                "quay.io/openshift-release-dev/ocp-release:4.18".to_owned(),
                vec![
                    "insecure a.lab/release:4.18".to_owned(),
                    "blocked forbidden.lab/release:4.18".to_owned(),
                    "blocked quay.io/openshift-release-dev/ocp-release:4.18".to_owned(),
                ],
            ),
            ("a.b.corp.example:5000/x:1".to_owned(), vec!["blocked a.b.corp.example:5000/x:1".to_owned()]),
            ("corp.example/x:1".to_owned(), vec!["corp.example/x:1".to_owned()]),
            ("quay.io/a.corp.example/x:1".to_owned(), vec!["quay.io/a.corp.example/x:1".to_owned()]),
            ("old.example/x/z:1".to_owned(), vec!["new.example:8443/y/z:1".to_owned()]),
            (
                format!("old.example/x@{digest}"),
                vec![format!("m.example@{digest}"), format!("new.example:8443/y@{digest}")],
            ),
        ] {
            if places[0].starts_with("m.example") {
                let image: NamedImage = image.parse().unwrap();
                assert!(conf.lookups(&image).is_err(), "a host alone is no repository");
                continue;
            }
            assert_eq!(shown(&conf, &image), places, "{image}");
        }
    }

    #[test]
    fn names_without_a_registry_are_looked_for_in_each() {
        let conf = RegistriesConf::read(CONF).unwrap();
        assert_eq!(
            shown(&conf, "busybox"),
            ["registry.access.redhat.com/busybox:latest", "docker.io/library/busybox:latest"]
        );
        assert_eq!(
            shown(&conf, "ubi9/ubi:9.4"),
            ["registry.access.redhat.com/ubi9/ubi:9.4", "docker.io/ubi9/ubi:9.4"]
        );
        assert_eq!(shown(&RegistriesConf::default(), "busybox"), Vec::<String>::new());
    }

    #[test]
    fn files_beside_it_replace_entries_of_the_same_prefix() {
        let mut conf = RegistriesConf::read(CONF).unwrap();
        let more = RegistriesConf::read(
            "unqualified-search-registries = [\"q.example\"]\n[[registry]]\nlocation = \"forbidden.lab\"\n",
        );
        conf.overlay(more.unwrap());
        assert_eq!(shown(&conf, "a"), ["q.example/a:latest"]);
        assert!(!conf.rule_of("forbidden.lab/x").unwrap().is_blocked);
    }

    #[test]
    fn what_the_runtime_would_not_take_is_refused() {
        for (text, said) in [
            ("[[registry]\n", "not valid TOML"),
            ("[[registry]]\nblocked = true\n", "location \"\""),
            ("[[registry]]\nlocation = \"https://a.example\"\n", "without a scheme"),
            (
                "[[registry]]\nlocation = \"a\"\n[[registry.mirror]]\nlocation = \"b\"\npull-from-mirror = \"some\"\n",
                "none of all",
            ),
            (
                "[[registry]]\nlocation = \"a\"\nmirror-by-digest-only = true\n[[registry.mirror]]\nlocation = \"b\"\npull-from-mirror = \"all\"\n",
                "mirror-by-digest-only",
            ),
            (
                "[[registry]]\nlocation = \"a\"\n[[registry]]\nprefix = \"b\"\nlocation = \"a\"\nblocked = true\n",
                "once blocked",
            ),
        ] {
            let refused = RegistriesConf::read(text).unwrap_err().to_string();
            assert!(refused.contains(said), "{text}: {refused}");
        }
    }
}
