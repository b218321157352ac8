//! Versions of Ignition's config format, and which can be written as which.

use serde_json::{Value, json};

/// `3.4` of `3.4.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpecVersion {
    /// 3 for everything since 2019.
    pub major: u64,
    /// Within a major version a newer reader reads older configs.
    pub minor: u64,
}

/// A config cannot be told in an older version: it uses what came later.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} came with Ignition spec 3.{since}, and 3.{asked} was asked for")]
pub struct TooNew {
    /// What is used.
    pub field: &'static str,
    /// Since when it exists.
    pub since: u64,
    /// What was asked for.
    pub asked: u64,
}

impl SpecVersion {
    /// From `3.4.0`, as coreos/go-semver reads it: three numbers, perhaps with suffixes. What comes before a version is of
    /// the version below: `3.4.0-rc1` is not 3.4 yet.
    pub fn parse(text: &str) -> Option<Self> {
        let (text, metadata) = text.split_once('+').unwrap_or((text, ""));
        let (core, early) = text.split_once('-').unwrap_or((text, ""));
        let is_name = |text: &str| {
            let is_part =
                |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
            text.is_empty() || text.split('.').all(is_part)
        };
        let number = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            text.parse().ok().filter(|n: &u64| is_number && i64::try_from(*n).is_ok())
        };
        let numbers: Option<Vec<u64>> = core.split('.').map(number).collect();
        let (major, minor) = match numbers?[..] {
            [major, minor, 0] if !early.is_empty() => match minor.checked_sub(1) {
                Some(below) => (major, below),
                None => (major.checked_sub(1)?, u64::MAX),
            },
            [major, minor, _] => (major, minor),
            _ => return None,
        };
        (is_name(early) && is_name(metadata)).then_some(Self { major, minor })
    }
}

/// A config of spec 3 as another minor version. Going up, only the number changes: every field keeps its meaning. Going
/// down, too, as long as nothing newer is used.
pub fn as_minor(config: &Value, minor: u64) -> Result<Value, TooNew> {
    if let Some((field, since, _)) =
        NEWER.iter().find(|(_, since, is_used)| *since > minor && is_used(config))
    {
        return Err(TooNew { field, since: *since, asked: minor });
    }
    let mut config = config.clone();
    config["ignition"]["version"] = json!(format!("3.{minor}.0"));
    Ok(config)
}

/// What a config may have, the minor version that added it, and whether a config has it.
type SpecFeature = (&'static str, u64, fn(&Value) -> bool);

/// What each version added, from the list in coreos/ignition `docs/migrating-configs.md`.
const NEWER: &[SpecFeature] = &[
    ("ignition.proxy", 1, |c| !c["ignition"]["proxy"].is_null()),
    ("httpHeaders", 1, |c| has_key(c, "httpHeaders")),
    ("mountOptions", 1, |c| has_key(&c["storage"]["filesystems"], "mountOptions")),
    ("a hash other than SHA-512", 1, |c| {
        has(c, &|key, value| key == "hash" && value.as_str().is_some_and(|hash| !hash.starts_with("sha512-")))
    }),
    ("storage.luks", 2, |c| has_entries(&c["storage"]["luks"])),
    ("a partition's resize", 2, |c| has_key(&c["storage"]["disks"], "resize")),
    ("a user's shouldExist", 2, |c| has_key(&c["passwd"], "shouldExist")),
    ("kernelArguments", 3, |c| {
        let kargs = &c["kernelArguments"];
        has_entries(&kargs["shouldExist"]) || has_entries(&kargs["shouldNotExist"])
    }),
    ("special mode bits", 4, |c| {
        has(&c["storage"], &|key, value| key == "mode" && value.as_u64().is_some_and(|mode| mode > 0o777))
    }),
    ("LUKS discard or openOptions", 4, |c| {
        has_key(&c["storage"]["luks"], "discard") || has_key(&c["storage"]["luks"], "openOptions")
    }),
    ("LUKS cex", 5, |c| has_key(&c["storage"]["luks"], "cex")),
];

fn has_entries(value: &Value) -> bool {
    value.as_array().is_some_and(|entries| !entries.is_empty())
}

fn has_key(value: &Value, name: &str) -> bool {
    has(value, &|key, value| key == name && !value.is_null())
}

fn has(value: &Value, is_it: &dyn Fn(&str, &Value) -> bool) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| has(item, is_it)),
        Value::Object(fields) => fields.iter().any(|(key, value)| is_it(key, value) || has(value, is_it)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_semver() {
        assert_eq!(SpecVersion::parse("3.4.0"), Some(SpecVersion { major: 3, minor: 4 }));
        assert_eq!(SpecVersion::parse("3.4.1-x.1+y"), Some(SpecVersion { major: 3, minor: 4 }));
        assert_eq!(SpecVersion::parse("3.04.0"), Some(SpecVersion { major: 3, minor: 4 }));
        assert_eq!(SpecVersion::parse("3.5.0-experimental"), Some(SpecVersion { major: 3, minor: 4 }));
        assert_eq!(SpecVersion::parse("4.0.0-rc1"), Some(SpecVersion { major: 3, minor: u64::MAX }));
        for text in
            ["", "3", "3.4", "3.4.0.0", "v3.4.0", "3.4.0-ä", "3.-4.0", "3.+4.0", "99999999999999999999.0.0"]
        {
            assert_eq!(SpecVersion::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_plain_config_can_be_any_version() {
        let config =
            json!({"ignition": {"version": "3.4.0"}, "storage": {"files": [{"path": "/a", "mode": 0o644}]}});
        for minor in 0..=5 {
            let other = as_minor(&config, minor).unwrap();
            assert_eq!(other["ignition"]["version"], format!("3.{minor}.0"));
            assert_eq!(other["storage"], config["storage"]);
        }
    }

    #[test]
    fn what_an_older_reader_would_not_know_is_refused() {
        for (config, field, since) in [
            (json!({"ignition": {"proxy": {"httpProxy": "http://p"}}}), "ignition.proxy", 1),
            (json!({"passwd": {"users": [{"name": "a", "shouldExist": false}]}}), "a user's shouldExist", 2),
            (json!({"storage": {"luks": [{"name": "x"}]}}), "storage.luks", 2),
            (json!({"kernelArguments": {"shouldExist": ["a"]}}), "kernelArguments", 3),
            (json!({"storage": {"files": [{"path": "/a", "mode": 0o4755}]}}), "special mode bits", 4),
            (json!({"storage": {"luks": [{"name": "x", "cex": {"enabled": true}}]}}), "LUKS cex", 5),
        ] {
            assert_eq!(as_minor(&config, since - 1), Err(TooNew { field, since, asked: since - 1 }));
            assert!(as_minor(&config, since).is_ok(), "{field}");
        }
        let unused = json!({"kernelArguments": {"shouldExist": [], "shouldNotExist": []}});
        assert!(as_minor(&unused, 0).is_ok());
    }
}
