//! Logins at registries: the pull secret, a docker config JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_base::Secret;
use serde_json::Value;

use crate::pull_spec::PullSpec;

/// The `auths` of a pull secret, or of several files of which the first that knows an image counts.
#[derive(Clone, Debug, Default)]
pub struct Credentials(Vec<BTreeMap<String, Credential>>);

/// One entry of `auths`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// Sent to the registry, or to the token server it names.
    Password {
        /// Not secret: errors name it.
        user: String,
        /// Never shown.
        password: Secret,
    },
    /// `identitytoken`: traded for an access token.
    IdentityToken(Secret),
}

/// What is wrong with a pull secret. Never holds any of its values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialsError {
    /// Not JSON.
    #[error("the pull secret is not JSON (line {line}, column {column})")]
    NotJson {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
    },
    /// JSON of another shape.
    #[error("the pull secret has no object \"auths\"")]
    NoAuths,
    /// An entry that cannot be used.
    #[error("the pull secret's entry for {registry:?}: {fault}")]
    Entry {
        /// The key.
        registry: String,
        /// Why.
        fault: EntryFault,
    },
}

/// What is wrong with an entry of `auths`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryFault {
    /// `auth` cannot be decoded.
    #[error("\"auth\" is not base64")]
    NotBase64,
    /// `auth` holds no colon.
    #[error("\"auth\" is not user:password in base64")]
    NoPassword,
    /// A number, say.
    #[error("a value is not a string")]
    NotText,
}

impl Credentials {
    /// Reads a docker config JSON such as the pull secret of the Red Hat console. Keys other than `auths`, such as
    /// `credHelpers`, name programs of another host and are passed over.
    pub fn read(config: &Secret) -> Result<Self, CredentialsError> {
        let config: Value = serde_json::from_slice(config.expose())
            .map_err(|error| CredentialsError::NotJson { line: error.line(), column: error.column() })?;
        let auths = config["auths"].as_object().ok_or(CredentialsError::NoAuths)?;
        let mut found = BTreeMap::new();
        for (registry, entry) in auths {
            let credential = credential(entry)
                .map_err(|fault| CredentialsError::Entry { registry: registry.clone(), fault })?;
            if let Some(credential) = credential {
                // An exact key wins over one that only means the same, such as with a scheme before it.
                let key = normalized(registry);
                if key == *registry || !found.contains_key(&*key) {
                    found.insert(key.into_owned(), credential);
                }
            }
        }
        Ok(Self(vec![found]))
    }

    /// These, and those of another file for what these do not know.
    pub fn or(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The entry with the longest matching key and the key: `host/namespace/repository`, then its parents, then
    /// `host`, file by file, as podman looks them up (containers/image `pkg/docker/config`).
    pub fn find(&self, image: &PullSpec) -> Option<(&str, &Credential)> {
        let name = image.name();
        let name = normalized(&name);
        let keys = || std::iter::successors(Some(&*name), |key| Some(key.rsplit_once('/')?.0));
        let found = self.0.iter().find_map(|file| keys().find_map(|key| file.get_key_value(key)));
        found.map(|(key, credential)| (key.as_str(), credential))
    }

    /// Whether a host has an entry of its own with that very login.
    pub(crate) fn has(&self, host: &str, credential: &Credential) -> bool {
        self.0.iter().any(|file| file.get(host) == Some(credential))
    }
}

/// Nothing for an entry without any values: docker writes such for logins kept elsewhere.
fn credential(entry: &Value) -> Result<Option<Credential>, EntryFault> {
    let text = |key: &str| match &entry[key] {
        Value::Null => Ok(""),
        value => value.as_str().ok_or(EntryFault::NotText),
    };
    let (token, auth) = (text("identitytoken")?, text("auth")?);
    if !token.is_empty() {
        return Ok(Some(Credential::IdentityToken(Secret::new(token))));
    }
    if !auth.is_empty() {
        let decoded = STANDARD.decode(auth.trim()).map_err(|_| EntryFault::NotBase64)?;
        let decoded = Secret::new(decoded);
        let (user, password) = decoded.expose_text().split_once(':').ok_or(EntryFault::NoPassword)?;
        // Docker pads what it writes with zero bytes.
        let password = Secret::new(password.trim_end_matches('\0'));
        return Ok(Some(Credential::Password { user: user.to_owned(), password }));
    }
    let (user, password) = (text("username")?, text("password")?);
    if user.is_empty() {
        return Ok(None);
    }
    Ok(Some(Credential::Password { user: user.to_owned(), password: Secret::new(password) }))
}

/// The names that Docker Hub goes by besides `docker.io`; `docker login` writes the first.
const DOCKER_HUB: [&str; 2] = ["index.docker.io", "registry-1.docker.io"];

/// `https://quay.io/v1/` and `quay.io` are the same key, and so are the names of Docker Hub.
fn normalized(key: &str) -> Cow<'_, str> {
    let key = key.strip_prefix("https://").or_else(|| key.strip_prefix("http://")).unwrap_or(key);
    let key = key.trim_end_matches('/');
    let key = key.strip_suffix("/v1").or_else(|| key.strip_suffix("/v2")).unwrap_or(key);
    let (host, rest) = key.find('/').map_or((key, ""), |slash| key.split_at(slash));
    if DOCKER_HUB.contains(&host) { format!("docker.io{rest}").into() } else { key.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(config: &Value) -> Result<Credentials, CredentialsError> {
        Credentials::read(&Secret::new(config.to_string()))
    }

    fn auth(text: &str) -> Value {
        json!({"auth": STANDARD.encode(text)})
    }

    #[test]
    fn the_longest_key_wins() {
        let credentials = read(&json!({"auths": {
            "quay.io": auth("host:1"), "quay.io/ns": auth("ns:2"), "quay.io/ns/repo": auth("repo:3"),
            "https://index.example.com/v1/": auth("url:4"), "lab:5000": auth("port:5"),
            "idle.example.com": {}, "id.example.com": {"identitytoken": "t"}, "plain.example.com": {"username": "u", "password": "p:q"},
        }}))
        .unwrap();
        for (image, key, user) in [
            ("quay.io/ns/repo:1", "quay.io/ns/repo", "repo"),
            ("quay.io/ns/other:1", "quay.io/ns", "ns"),
            ("quay.io/ns/repo/deep:1", "quay.io/ns/repo", "repo"),
            ("quay.io/nsx/repo:1", "quay.io", "host"),
            ("index.example.com/a:1", "index.example.com", "url"),
            ("lab:5000/a:1", "lab:5000", "port"),
            ("plain.example.com/a:1", "plain.example.com", "u"),
        ] {
            let (found, credential) = credentials.find(&image.parse().unwrap()).unwrap();
            let Credential::Password { user: name, .. } = credential else { panic!("{image}") };
            assert_eq!((found, name.as_str()), (key, user), "{image}");
        }
        for image in ["lab:5001/a:1", "idle.example.com/a:1", "registry.redhat.io/a:1"] {
            assert_eq!(credentials.find(&image.parse().unwrap()), None, "{image}");
        }
        let (_, token) = credentials.find(&"id.example.com/a:1".parse().unwrap()).unwrap();
        assert_eq!(*token, Credential::IdentityToken(Secret::new("t")));
    }

    #[test]
    fn files_are_asked_one_after_the_other() {
        let first = read(&json!({"auths": {"quay.io": auth("a:1")}})).unwrap();
        let second = read(&json!({"auths": {"quay.io/ns": auth("b:2"), "lab:5000": auth("c:3")}})).unwrap();
        let both = first.or(second);
        let user = |image: &str| match both.find(&image.parse().unwrap()) {
            Some((_, Credential::Password { user, .. })) => user.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!([user("quay.io/ns/r:1"), user("lab:5000/r:1")], ["a", "c"]);
    }

    #[test]
    fn docker_hub_has_several_names() {
        for key in ["docker.io", "index.docker.io", "https://index.docker.io/v1/", "registry-1.docker.io"] {
            let credentials = read(&json!({"auths": {key: auth("a:1")}})).unwrap();
            for image in ["docker.io/library/x:1", "index.docker.io/library/x:1"] {
                assert!(credentials.find(&image.parse().unwrap()).is_some(), "{key} {image}");
            }
        }
        let credentials = read(&json!({"auths": {"docker.io/ns": auth("a:1")}})).unwrap();
        assert!(credentials.find(&"docker.io/other/x:1".parse().unwrap()).is_none());
    }

    #[test]
    fn passwords_may_hold_colons_and_nothing_is_shown() {
        let credentials = read(&json!({"auths": {"quay.io": auth("user:pa:ss")}})).unwrap();
        let (_, credential) = credentials.find(&"quay.io/a:1".parse().unwrap()).unwrap();
        let Credential::Password { password, .. } = credential else { panic!() };
        assert_eq!(password.expose_text(), "pa:ss");
        assert!(!format!("{credentials:?}").contains("pa:ss"));
    }

    #[test]
    fn faults_name_the_entry_but_no_value() {
        let error = |config: Value| read(&config).unwrap_err().to_string();
        assert_eq!(error(json!({})), "the pull secret has no object \"auths\"");
        for (entry, fault) in [
            (json!({"auth": "!!"}), "\"auth\" is not base64"),
            (auth("nocolon"), "\"auth\" is not user:password in base64"),
            (json!({"auth": 1}), "a value is not a string"),
        ] {
            let expected = format!("the pull secret's entry for \"quay.io\": {fault}");
            assert_eq!(error(json!({"auths": {"quay.io": entry}})), expected);
        }
        let error = Credentials::read(&Secret::new("{\n hunter2")).unwrap_err();
        assert_eq!(error, CredentialsError::NotJson { line: 2, column: 2 });
    }
}
