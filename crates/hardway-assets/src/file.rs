//! A generated file, and the set of files that lie in a working directory.

use std::collections::BTreeMap;
use std::fmt;

/// A file to be written below the working directory.
#[derive(Clone, PartialEq, Eq)]
pub struct File {
    /// Path below the working directory, with `/`.
    pub path: String,
    /// Unix permissions: 0600 when the content holds a secret, else 0644.
    pub mode: u32,
    /// The content.
    pub bytes: Vec<u8>,
}

impl File {
    /// A file anyone may read.
    pub fn public(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), mode: 0o644, bytes: bytes.into() }
    }

    /// A file that holds a key, token or password: only its owner may read it.
    pub fn secret(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), mode: 0o600, bytes: bytes.into() }
    }
}

/// Names and sizes only: the content may be secret.
impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "File({} {:04o} {} bytes)", self.path, self.mode, self.bytes.len())
    }
}

/// The files of a working directory by path: what the graph reads, and what its assets read from each other.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Tree {
    files: BTreeMap<String, Vec<u8>>,
}

impl Tree {
    /// The content of a file, if it is there.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// Puts a file in, replacing what was there.
    pub fn insert(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.files.insert(path.into(), bytes.into());
    }

    /// Takes a file out.
    pub fn remove(&mut self, path: &str) {
        self.files.remove(path);
    }

    /// The files directly inside a folder (`manifests`), by path, in order.
    pub fn folder<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        let below = format!("{folder}/");
        let depth = below.len();
        let files = self.files.range(below.clone()..).take_while(move |(path, _)| path.starts_with(&below));
        let inside = files.filter(move |(path, _)| !path[depth..].contains('/'));
        inside.map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }

    /// All files by path, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.files.keys()).finish()
    }
}
