//! An Ignition config, spec 3.2.0: as much of it as we write.
//!
//! 3.2.0 is what openshift-install 4.18 writes and what every RHCOS since can read.

use std::collections::BTreeMap;
use std::io::Write as _;

use flate2::{Compression, GzBuilder};
use serde_json::{Map, Value, json};

use crate::ignition_spec::{VERSION, data_url, plain_data_url};

/// A config in the making. Paths are unique by construction.
#[derive(Clone, Debug, Default)]
pub struct Config {
    files: BTreeMap<String, Entry>,
    units: BTreeMap<String, Value>,
    users: Vec<Value>,
    ignition: Map<String, Value>,
}

#[derive(Clone)]
struct Entry(Value);

/// Where the rest of a config is.
#[derive(Clone, Copy)]
pub struct Remote<'a> {
    /// Its address.
    pub url: &'a str,
    /// Headers of the request.
    pub headers: &'a [(&'a str, &'a str)],
    /// `sha512-…` of what must come back.
    pub hash: Option<&'a str>,
    /// PEM certificate to trust beside the system's.
    pub ca: Option<&'a [u8]>,
}

/// A path that is written twice. Ignition refuses such a config at boot, so we refuse it now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is written twice")]
pub struct DuplicatePath(pub String);

/// Never shows contents: they are mostly keys.
impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("<file>")
    }
}

impl Config {
    /// A file, replacing whatever the OS image has there.
    pub fn file(&mut self, path: &str, mode: u32, bytes: &[u8]) -> Result<(), DuplicatePath> {
        self.put(path, file_entry(path, mode, &json!({"source": data_url(bytes)})))
    }

    /// A file with its contents as plain text, for configs that are compressed as a whole.
    pub fn plain_file(&mut self, path: &str, mode: u32, bytes: &[u8]) -> Result<(), DuplicatePath> {
        self.put(path, file_entry(path, mode, &json!({"source": plain_data_url(bytes)})))
    }

    /// A file shipped compressed: CRDs are long and repeat themselves.
    pub fn compressed_file(&mut self, path: &str, mode: u32, bytes: &[u8]) -> Result<(), DuplicatePath> {
        let contents = json!({"compression": "gzip", "source": data_url(&gzip(bytes))});
        self.put(path, file_entry(path, mode, &contents))
    }

    /// Text added to a file of the OS image.
    pub fn append(&mut self, path: &str, mode: u32, bytes: &[u8]) -> Result<(), DuplicatePath> {
        let append = [json!({"source": data_url(bytes)})];
        self.put(path, json!({"path": path, "user": {"name": "root"}, "overwrite": false, "mode": mode, "append": append}))
    }

    /// A systemd unit.
    pub fn unit(&mut self, name: &str, enabled: Option<bool>, text: Option<&str>, dropins: &[(&str, &str)]) {
        let mut unit = Map::from_iter([("name".to_owned(), json!(name))]);
        if let Some(enabled) = enabled {
            unit.insert("enabled".to_owned(), json!(enabled));
        }
        if let Some(text) = text {
            unit.insert("contents".to_owned(), json!(text));
        }
        if !dropins.is_empty() {
            let list = dropins.iter().map(|(name, text)| json!({"name": name, "contents": text}));
            unit.insert("dropins".to_owned(), list.collect());
        }
        self.units.insert(name.to_owned(), Value::Object(unit));
    }

    /// A user who may log in with these keys.
    pub fn user(&mut self, name: &str, ssh_keys: &[&str]) {
        self.users.push(json!({"name": name, "sshAuthorizedKeys": ssh_keys}));
    }

    /// Fetches the rest of the config from an address, trusting one more CA.
    pub fn merge_from(&mut self, url: &str, ca: &[u8]) {
        self.merge_remote(&Remote { url, headers: &[], hash: None, ca: Some(ca) });
    }

    /// Fetches the rest of the config from somewhere else.
    pub fn merge_remote(&mut self, remote: &Remote<'_>) {
        let mut merge = json!({"source": remote.url});
        if !remote.headers.is_empty() {
            let headers = remote.headers.iter().map(|(name, value)| json!({"name": name, "value": value}));
            merge["httpHeaders"] = headers.collect();
        }
        if let Some(hash) = remote.hash {
            merge["verification"] = json!({"hash": hash});
        }
        self.ignition.insert("config".to_owned(), json!({"merge": [merge]}));
        if let Some(ca) = remote.ca {
            let cas = [json!({"source": data_url(ca)})];
            self.ignition.insert("security".to_owned(), json!({"tls": {"certificateAuthorities": cas}}));
        }
    }

    /// Adds another config, which may replace what this one says.
    pub fn merge(&mut self, config: &[u8]) {
        self.ignition.insert("config".to_owned(), json!({"merge": [{"source": plain_data_url(config)}]}));
    }

    /// As compact JSON; empty parts are left out.
    pub fn write(&self) -> Vec<u8> {
        let mut ignition = self.ignition.clone();
        ignition.insert("version".to_owned(), json!(VERSION));
        let mut config = Map::from_iter([("ignition".to_owned(), Value::Object(ignition))]);
        if !self.users.is_empty() {
            config.insert("passwd".to_owned(), json!({"users": self.users}));
        }
        if !self.files.is_empty() {
            config.insert(
                "storage".to_owned(),
                json!({"files": self.files.values().map(|e| &e.0).collect::<Vec<_>>()}),
            );
        }
        if !self.units.is_empty() {
            config.insert("systemd".to_owned(), json!({"units": self.units.values().collect::<Vec<_>>()}));
        }
        Value::Object(config).to_string().into_bytes()
    }

    fn put(&mut self, path: &str, entry: Value) -> Result<(), DuplicatePath> {
        match self.files.insert(path.to_owned(), Entry(entry)) {
            None => Ok(()),
            Some(_) => Err(DuplicatePath(path.to_owned())),
        }
    }
}

/// A file of root's, replacing whatever the OS image has there.
pub(super) fn file_entry(path: &str, mode: u32, contents: &Value) -> Value {
    json!({"path": path, "user": {"name": "root"}, "overwrite": true, "mode": mode, "contents": contents})
}

/// Without a time stamp, so that the same bytes come out every time.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    // Writing to memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}
