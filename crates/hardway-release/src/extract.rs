//! Writing a release's files to a folder.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use hardway_assets::release_payload::{Exclusion, InclusionRules, ManifestHead};

use crate::documents::documents;
use crate::release_image::FetchedRelease;

/// What was written and what was not.
#[derive(Debug, Default)]
pub struct Extracted {
    /// Names of the files.
    pub written: Vec<String>,
    /// Objects that were left out and why, where only included ones were asked for.
    pub excluded: Vec<ExcludedManifest>,
}

/// An object that a cluster does not get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExcludedManifest {
    /// The file it is in.
    pub file: String,
    /// Kind and name.
    pub object: String,
    /// The first test it fails.
    pub reason: Exclusion,
}

/// Why nothing, or not all, was written.
#[derive(Debug, thiserror::Error)]
pub enum ExtractError {
    /// The folder.
    #[error("{0}")]
    File(#[from] io::Error),
    /// Files would be mixed up with others.
    #[error("{} is not empty: choose an empty or new folder", .0.display())]
    NotEmpty(PathBuf),
    /// No such file.
    #[error("the release has no file {name:?}{}", listed(.near))]
    NoSuchFile {
        /// As asked for.
        name: String,
        /// Those that look alike.
        near: Vec<String>,
    },
    /// A manifest that is not YAML.
    #[error("{file}: {message}")]
    Malformed {
        /// Of the release.
        file: String,
        /// Why.
        message: String,
    },
}

/// Writes the files of a release, as `oc adm release extract` does but byte for byte, and what it leaves out:
/// `release-image`, `release-architecture`, and the cluster-version-operator's CRDs where they were fetched. The
/// folder can be read with [`crate::read_folder`]. With rules, manifests that a cluster does not get are left out.
pub fn extract(
    release: &FetchedRelease,
    to: &Path,
    included: Option<&InclusionRules>,
) -> Result<Extracted, ExtractError> {
    fs_err::create_dir_all(to)?;
    if fs_err::read_dir(to)?.next().is_some() {
        return Err(ExtractError::NotEmpty(to.to_owned()));
    }
    let mut extracted = Extracted::default();
    let mut kept = Vec::new();
    for (name, bytes) in files(release) {
        let text = included.filter(|_| is_manifest(&name)).and_then(|_| std::str::from_utf8(&bytes).ok());
        match (included, text) {
            (Some(rules), Some(text)) => {
                if let Some(text) = extracted.filter(&name, text, rules)? {
                    kept.push((name, Cow::Owned(text.into_bytes())));
                }
            }
            _ => kept.push((name, bytes)),
        }
    }
    write(to, &kept)?;
    extracted.written = kept.into_iter().map(|(name, _)| name).collect();
    Ok(extracted)
}

/// One file of a release.
pub fn extract_file<'r>(release: &'r FetchedRelease, name: &str) -> Result<&'r [u8], ExtractError> {
    release.files.get(name).map(Vec::as_slice).ok_or_else(|| {
        let names = release.files.keys();
        let near = names
            .filter(|other| other.contains(name) || name.contains(other.as_str()))
            .take(5)
            .cloned()
            .collect();
        ExtractError::NoSuchFile { name: name.to_owned(), near }
    })
}

impl Extracted {
    /// The documents of a file that a cluster gets; the file itself where those are all.
    fn filter(
        &mut self,
        name: &str,
        text: &str,
        rules: &InclusionRules,
    ) -> Result<Option<String>, ExtractError> {
        let all = documents(text);
        let mut kept = Vec::new();
        for (_, document) in &all {
            let head = ManifestHead::of(document).map_err(|errors| ExtractError::Malformed {
                file: name.to_owned(),
                message: errors.first().map(|error| error.message.clone()).unwrap_or_default(),
            })?;
            match rules.exclusion(&head) {
                None => kept.push(*document),
                Some(reason) => {
                    let object = format!("{} {}", head.kind, head.name);
                    self.excluded.push(ExcludedManifest { file: name.to_owned(), object, reason });
                }
            }
        }
        Ok(match kept.len() {
            0 => None,
            n if n == all.len() => Some(text.to_owned()),
            _ => Some(kept.iter().map(|document| format!("---\n{}\n", document.trim_end())).collect()),
        })
    }
}

type NamedBytes<'r> = (String, Cow<'r, [u8]>);

/// Making a file takes the system longer than filling it, so several are made at a time.
fn write(to: &Path, files: &[NamedBytes<'_>]) -> io::Result<()> {
    let folders: BTreeSet<&str> =
        files.iter().filter_map(|(name, _)| Some(name.rsplit_once('/')?.0)).collect();
    folders.iter().try_for_each(|folder| fs_err::create_dir_all(to.join(folder)))?;
    let share = files.len().div_ceil(WRITERS).max(1);
    std::thread::scope(|scope| {
        let writers: Vec<_> = files
            .chunks(share)
            .map(|files| {
                scope.spawn(move || {
                    files.iter().try_for_each(|(name, bytes)| fs_err::write(to.join(name), bytes))
                })
            })
            .collect();
        let ended = |writer: std::thread::ScopedJoinHandle<'_, io::Result<()>>| match writer.join() {
            Ok(result) => result,
            Err(_) => Err(io::Error::other("a writer of files has failed")),
        };
        writers.into_iter().try_for_each(ended)
    })
}

const WRITERS: usize = 4;

/// All files of a release folder by path.
fn files(release: &FetchedRelease) -> Vec<NamedBytes<'_>> {
    let mut files: Vec<NamedBytes<'_>> =
        release.files.iter().map(|(name, bytes)| (name.clone(), bytes.into())).collect();
    let own = release.own_manifests.iter().filter(|(name, _)| name.ends_with(".crd.yaml"));
    files.extend(own.map(|(name, bytes)| (format!("manifests/{name}"), bytes.into())));
    let line = |text: &dyn std::fmt::Display| Cow::Owned(format!("{text}\n").into_bytes());
    files.push(("release-image".to_owned(), line(&release.image)));
    files.push(("release-architecture".to_owned(), line(&release.architecture)));
    files
}

fn is_manifest(name: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end))
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; near: {}", names.join(", ")) }
}
