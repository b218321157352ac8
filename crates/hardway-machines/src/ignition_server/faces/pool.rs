//! `/config/<pool>`: what the machine-config-server answers (openshift/machine-config-operator `pkg/server/api.go`).
//!
//! Nobody is asked who they are: a stock pointer carries no token. So this face is off unless it is asked for.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::Value;

use crate::ignition_server::accept::{WantedSpec, wanted};
use crate::ignition_server::spec_version::{TooNew, as_minor};
use crate::ignition_server::{Answer, ConfigDecision, ConfigRequest, PreparedConfig, Redemption};

/// A pool's config in every version that is served.
#[derive(Clone, Debug)]
pub struct Pool {
    by_minor: BTreeMap<u64, Result<PreparedConfig, TooNew>>,
}

/// The one answer that differs. The release's server rewrites a config for Ignition from before spec 3, with a
/// converter of its own; such pointers exist only in clusters that were born before 4.6, and none is made here. So whoever
/// asks like that, mostly a person with curl, is told how to ask.
const OLD: &str = "Ignition spec 2.2, the default without an Accept header, is not supported here; send Accept: \
 application/vnd.coreos.ignition+json;version=3.4.0";
/// Older than 3.1 there is no way down in the release's server either.
const OLDEST_MINOR: u64 = 1;

impl Pool {
    /// Prepares a config of spec 3 for everybody up to `newest_minor`: 4 for releases up to 4.18, 5 after that.
    pub fn new(config: &Value, newest_minor: u64) -> Self {
        let prepare = |minor| as_minor(config, minor).map(|config| PreparedConfig::new(config.to_string()));
        Self { by_minor: (OLDEST_MINOR..=newest_minor).map(|minor| (minor, prepare(minor))).collect() }
    }

    /// The version for a client: its own, or the newest for those that read newer ones.
    fn find(&self, minor: u64) -> Option<&Result<PreparedConfig, TooNew>> {
        self.by_minor.get(&minor).or_else(|| {
            let (newest, config) = self.by_minor.last_key_value()?;
            (minor > *newest).then_some(config)
        })
    }
}

/// The face.
#[derive(Clone, Debug, Default)]
pub struct PoolFace {
    pools: BTreeMap<String, Pool>,
}

impl PoolFace {
    /// With a config for each pool that is rendered.
    pub fn new(pools: BTreeMap<String, Pool>) -> Self {
        Self { pools }
    }

    /// Whether there is anything to give out.
    pub fn is_empty(&self) -> bool {
        self.pools.is_empty()
    }

    /// In the order of the server it stands in for: method, version, pool. What that one refuses with 500, a machine
    /// tries again; a pool that is not known yet may be known later.
    pub fn decide(&self, asked: &ConfigRequest<'_>, pool: &str) -> ConfigDecision {
        if !asked.is_read() {
            return refuse(StatusCode::METHOD_NOT_ALLOWED, format!("{} instead of GET", asked.method));
        }
        let minor = match wanted(asked.text("accept").unwrap_or_default()) {
            WantedSpec::Minor(minor) => minor,
            WantedSpec::Unsupported => return refuse(StatusCode::BAD_REQUEST, "no config of that spec"),
            WantedSpec::Old => return ConfigDecision::refuse(StatusCode::BAD_REQUEST, OLD),
        };
        let Some(known) = self.pools.get(pool) else {
            return refuse(
                StatusCode::INTERNAL_SERVER_ERROR,
                format!("no pool {:?}", pool.chars().take(60).collect::<String>()),
            );
        };
        match known.find(minor) {
            Some(Ok(config)) => ConfigDecision::Serve {
                config: config.clone(),
                content_type: "application/json",
                redemption: Redemption::Pool {
                    pool: pool.to_owned(),
                    digest: config.digest().to_string(),
                    source: asked.source,
                },
            },
            Some(Err(too_new)) => refuse(StatusCode::INTERNAL_SERVER_ERROR, too_new.to_string()),
            None => refuse(StatusCode::BAD_REQUEST, format!("no config of spec 3.{minor}")),
        }
    }
}

fn refuse(status: StatusCode, reason: impl Into<String>) -> ConfigDecision {
    ConfigDecision::refuse_as(Answer::empty(status), reason)
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, Method};
    use serde_json::json;

    use super::*;

    fn face() -> PoolFace {
        let plain = json!({"ignition": {"version": "3.4.0"}});
        let with_kargs = json!({"ignition": {"version": "3.4.0"}, "kernelArguments": {"shouldExist": ["a"]}});
        let pools = [("master", plain), ("kargs", with_kargs)];
        PoolFace::new(
            pools.into_iter().map(|(name, config)| (name.to_owned(), Pool::new(&config, 4))).collect(),
        )
    }

    fn answer(method: &Method, pool: &str, version: &str) -> (u16, String) {
        let mut headers = HeaderMap::new();
        if !version.is_empty() {
            let accept = format!("application/vnd.coreos.ignition+json;version={version}, */*;q=0.1");
            headers.insert("accept", HeaderValue::from_str(&accept).unwrap());
        }
        let asked =
            ConfigRequest { method, path: "/", headers: &headers, source: "10.0.0.5".parse().unwrap() };
        match face().decide(&asked, pool) {
            ConfigDecision::Refuse { answer, .. } => {
                assert_eq!(answer.body.is_empty(), !["", "2.2.0"].contains(&version));
                (answer.status.as_u16(), String::new())
            }
            ConfigDecision::Serve { config, .. } => {
                let config: Value = serde_json::from_slice(config.identity()).unwrap();
                (200, config["ignition"]["version"].as_str().unwrap().to_owned())
            }
        }
    }

    #[test]
    fn versions_are_negotiated_as_by_the_machine_config_server() {
        for (asked, status, served) in [
            ("3.6.0", 200, "3.4.0"),
            ("3.5.0", 200, "3.4.0"),
            ("3.4.0", 200, "3.4.0"),
            ("3.3.0", 200, "3.3.0"),
            ("3.2.0", 200, "3.2.0"),
            ("3.1.0", 200, "3.1.0"),
            ("3.0.0", 400, ""),
            ("2.2.0", 400, ""),
            ("2.1.0", 400, ""),
            ("4.0.0", 400, ""),
            ("", 400, ""),
        ] {
            assert_eq!(answer(&Method::GET, "master", asked), (status, served.to_owned()), "{asked}");
        }
    }

    #[test]
    fn the_rest_of_its_table() {
        assert_eq!(answer(&Method::HEAD, "master", "3.4.0").0, 200);
        assert_eq!(answer(&Method::POST, "master", "3.4.0").0, 405);
        assert_eq!(answer(&Method::GET, "infra", "3.4.0").0, 500);
        assert_eq!(answer(&Method::GET, "", "3.4.0").0, 500);
        assert_eq!(answer(&Method::GET, "kargs", "3.3.0").0, 200);
        assert_eq!(answer(&Method::GET, "kargs", "3.2.0").0, 500);
    }
}
