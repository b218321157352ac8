//! The names and dates of a cluster that are drawn once.

use std::collections::BTreeMap;

use hardway_base::hex;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Random;

/// `secrets/identity.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// The UUID telemetry and updates know the cluster by.
    #[serde(rename = "clusterID")]
    pub cluster_id: String,
    /// The name infrastructure objects carry.
    #[serde(rename = "infraID")]
    pub infra_id: String,
    /// When the secrets were made: the first date of every certificate, to the second.
    pub created: Timestamp,
    /// When a certificate was issued again, by name. Its key and subject stay.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub renewed: BTreeMap<String, Timestamp>,
    /// Which generation of its boot identity a host is in; those that are not named are in their first.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub generations: BTreeMap<String, HostGeneration>,
    /// Keys the hashes in `assets.lock`, so that the lock tells nobody whether a guessed secret is right.
    pub fingerprint_key: String,
}

/// A later generation of a host's boot identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostGeneration {
    /// From two on.
    pub number: u32,
    /// When the one before ended.
    pub since: Timestamp,
    /// How it comes to the host.
    pub comes: Comes,
}

/// How an identity comes to its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comes {
    /// In the config that the host is installed with.
    WithConfig,
    /// Put in place on a host that is installed already; nothing is fetched.
    InPlace,
}

impl Identity {
    /// Draws a new one.
    pub fn draw(cluster_name: &str, now: Timestamp, random: &Random) -> Self {
        Self {
            cluster_id: uuid(random),
            infra_id: infra_id(cluster_name, random),
            created: Timestamp::from_second(now.as_second()).unwrap_or(now),
            renewed: BTreeMap::new(),
            generations: BTreeMap::new(),
            fingerprint_key: hex::encode(random.bytes::<16>()),
        }
    }

    /// When a certificate was last issued.
    pub fn issued(&self, certificate: &str) -> Timestamp {
        self.renewed.get(certificate).copied().unwrap_or(self.created)
    }

    /// The number of the generation that a host's boot identity is in.
    pub fn generation(&self, host: &str) -> u32 {
        self.generations.get(host).map_or(1, |generation| generation.number)
    }
}

/// At most 27 characters: the name made of `[A-Za-z0-9-]`, cut to 21, and five random ones (installer
/// `installconfig/clusterid.go`; the alphabet is that of Kubernetes' `rand` package).
pub fn infra_id(cluster_name: &str, random: &Random) -> String {
    let mut base = String::new();
    for c in cluster_name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }) {
        if !(c == '-' && base.ends_with('-')) {
            base.push(c);
        }
    }
    base.truncate(27 - 5 - 1);
    format!("{}-{}", base.trim_end_matches('-'), random.text(b"bcdfghjklmnpqrstvwxz2456789", 5))
}

fn uuid(random: &Random) -> String {
    let mut b = random.bytes::<16>();
    b[6] = b[6] & 0x0f | 0x40;
    b[8] = b[8] & 0x3f | 0x80;
    let hex = hex::encode(b);
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infra_ids_follow_the_installers_rule() {
        let id = |name: &str| infra_id(name, &Random::default());
        assert!(id("prod1").starts_with("prod1-") && id("prod1").len() == 11);
        assert!(id("a.b..c").starts_with("a-b-c-"));
        assert_eq!(id(&"x".repeat(54)).len(), 27);
        assert!(
            id("twenty-characters-ab-c").starts_with("twenty-characters-ab-")
                && !id("twenty-characters-ab-c").contains("--")
        );
    }

    #[test]
    fn uuids_are_version_four() {
        let id = uuid(&Random::default());
        assert_eq!((id.len(), &id[14..15]), (36, "4"));
        assert!("89ab".contains(&id[19..20]));
    }
}
