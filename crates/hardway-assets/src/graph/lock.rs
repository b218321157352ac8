//! `assets.lock`: what was made last time, and from which hashes.
//!
//! Plain text, sorted, one fact per line, so that it can be read, compared and committed:
//!
//! ```text
//! release <as the inventory names it> <by digest>
//! resolved <when> <by whom, in words>        where the inventory has a word for it
//! file <path> <asset> <fingerprint of its sources> <sha256 of the content> <generator>
//! from <asset> <source> <hash>
//! end <number of these lines>
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use hardway_base::hex;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use super::Source;
use crate::Tree;
use crate::work_paths::MANIFEST_FOLDERS;

/// The lock as data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    /// What the files were made from, as it was asked for and as it was found.
    pub release: Option<LockedRelease>,
    /// By path.
    pub files: BTreeMap<String, LockedFile>,
    /// By asset: every source it was made from, with its hash then.
    pub sources: BTreeMap<String, BTreeMap<Source, String>>,
}

/// The `release` line: a tag is resolved once, and is this digest from then on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedRelease {
    /// `release.image` of the inventory then.
    pub asked: String,
    /// The release image by digest.
    pub image: String,
    /// Who said that this is it, where a word such as `4.18` was asked for.
    pub resolution: Option<Resolution>,
}

/// The `resolved` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// By the clock of the host that asked.
    pub at: Timestamp,
    /// In words: a channel and its service, or a tag.
    pub source: String,
}

/// A `file` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedFile {
    /// The asset that made it.
    pub asset: String,
    /// Over all sources of the asset.
    pub fingerprint: String,
    /// Of the content that was written.
    pub sha256: String,
    /// The version of hardway that made it.
    pub generator: String,
}

/// A line of the lock cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("assets.lock:{line}: not a line of a lock file: {text:?}")]
pub struct LockError {
    /// Counted from one.
    pub line: usize,
    /// What stands there.
    pub text: String,
}

const HEADER: &str =
    "# Written by hardway: what each file was made from. `hardway status` compares it with today.\n";

impl Lock {
    /// Reads the text form.
    ///
    /// ```
    /// use hardway_assets::graph::Lock;
    ///
    /// let lock = Lock::parse("release sample sample@sha256:0\nend 1\n")?;
    /// assert_eq!(lock.release.as_ref().unwrap().asked, "sample");
    /// assert_eq!(Lock::parse(&lock.write())?, lock);
    /// # Ok::<(), hardway_assets::graph::LockError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, LockError> {
        let mut lock = Self::default();
        let mut count = 0;
        let mut end = None;
        for (i, line) in text.lines().enumerate() {
            let wrong = || LockError { line: i + 1, text: line.to_owned() };
            if line.is_empty() || line.starts_with('#') {
                continue;
            } else if let Some(number) = line.strip_prefix("end ") {
                end = Some(number.parse::<usize>().map_err(|_| wrong())?);
            } else {
                lock.line(line).ok_or_else(wrong)?;
                count += 1;
            }
        }
        // A file that was cut off may end in a line that still reads well.
        if end == Some(count) || text.is_empty() {
            Ok(lock)
        } else {
            Err(LockError {
                line: text.lines().count(),
                text: "the last line says how many there are".to_owned(),
            })
        }
    }

    /// Files of `secrets/` that something was made from.
    pub fn secrets(&self) -> BTreeSet<&str> {
        let sources = self.sources.values().flat_map(|sources| sources.keys());
        sources.filter_map(Source::secret_file).collect()
    }

    /// Writes the text form.
    pub fn write(&self) -> String {
        let mut text = HEADER.to_owned();
        if let Some(release) = &self.release {
            let _ = writeln!(text, "release {} {}", release.asked, release.image);
            if let Some(Resolution { at, source }) = &release.resolution {
                let _ = writeln!(text, "resolved {at:.0} {source}");
            }
        }
        for (path, f) in &self.files {
            let path = on_one_line(path);
            let _ = writeln!(text, "file {path} {} {} {} {}", f.asset, f.fingerprint, f.sha256, f.generator);
        }
        for (asset, sources) in &self.sources {
            for (source, hash) in sources {
                let source = on_one_line(&source.to_string());
                let _ = writeln!(text, "from {asset} {source} {hash}");
            }
        }
        let resolution = self.release.as_ref().and_then(|release| release.resolution.as_ref());
        let count = usize::from(self.release.is_some())
            + usize::from(resolution.is_some())
            + self.files.len()
            + self.sources.values().map(BTreeMap::len).sum::<usize>();
        text + &format!("end {count}\n")
    }

    /// This lock after a run that was cut off while it wrote: files that are already as `next` says are ours. What they were made
    /// from is forgotten, so that the next run makes them again, whatever its inputs are. The release stays as that run resolved it.
    #[must_use]
    pub fn recover(mut self, next: &Self, tree: &Tree) -> Self {
        self.release = next.release.clone().or(self.release);
        for (path, file) in &next.files {
            let is_known = self.files.get(path).is_some_and(|known| known.sha256 == file.sha256);
            if !is_known && tree.get(path).is_some_and(|bytes| sha256(bytes) == file.sha256) {
                self.sources.insert(file.asset.clone(), BTreeMap::new());
                self.files.insert(path.clone(), file.clone());
            }
        }
        self
    }

    /// Whether a file on disk is what was written there.
    pub fn is_ours(&self, path: &str, tree: &Tree) -> bool {
        tree.get(path).zip(self.files.get(path)).is_some_and(|(bytes, locked)| sha256(bytes) == locked.sha256)
    }

    /// Whether somebody took a manifest of ours away: it stays away, as openshift-install's users expect. A folder that is
    /// empty or gone is no such wish.
    pub fn is_deleted(&self, path: &str, tree: &Tree) -> bool {
        let Some((folder, _)) = path.rsplit_once('/') else { return false };
        MANIFEST_FOLDERS.contains(&folder)
            && self.files.contains_key(path)
            && tree.get(path).is_none()
            && tree.folder(folder).next().is_some()
    }

    /// The files that each asset made, in the order of their paths.
    pub(super) fn by_asset(&self) -> BTreeMap<&str, Vec<&LockedFile>> {
        let mut made: BTreeMap<&str, Vec<&LockedFile>> = BTreeMap::new();
        for file in self.files.values() {
            made.entry(&file.asset).or_default().push(file);
        }
        made
    }

    /// Paths are people's own and may hold spaces; nothing else in a line does.
    fn line(&mut self, line: &str) -> Option<()> {
        let (kind, rest) = line.split_once(' ')?;
        match kind {
            "release" => {
                let (asked, image) = rest.split_once(' ').filter(|(_, image)| !image.contains(' '))?;
                let (asked, image) = (asked.to_owned(), image.to_owned());
                self.release = Some(LockedRelease { asked, image, resolution: None });
            }
            "resolved" => {
                let (at, source) = rest.split_once(' ')?;
                let resolution = Resolution { at: at.parse().ok()?, source: source.to_owned() };
                self.release.as_mut()?.resolution = Some(resolution);
            }
            "file" => {
                let mut words = rest.rsplitn(5, ' ').map(str::to_owned);
                let [generator, sha256, fingerprint, asset, path] = std::array::from_fn(|_| words.next());
                let file = LockedFile {
                    asset: asset?,
                    fingerprint: fingerprint?,
                    sha256: sha256?,
                    generator: generator?,
                };
                self.files.insert(read_back(&path?)?, file);
            }
            "from" => {
                let (asset, rest) = rest.split_once(' ')?;
                let (source, hash) = rest.rsplit_once(' ')?;
                let source = Source::parse(&read_back(source)?)?;
                self.sources.entry(asset.to_owned()).or_default().insert(source, hash.to_owned());
            }
            _ => return None,
        }
        Some(())
    }
}

/// A file's name may hold anything but `/`, a line break too.
fn on_one_line(name: &str) -> String {
    name.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn read_back(text: &str) -> Option<String> {
    let mut name = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        name.push(match letter {
            '\\' => match letters.next()? {
                'n' => '\n',
                'r' => '\r',
                '\\' => '\\',
                _ => return None,
            },
            letter => letter,
        });
    }
    Some(name)
}

/// Of a file's content, as `sha256sum` prints it.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_resolved_a_word_is_read_back() {
        let text = "release 4.18 q/a@sha256:0\nresolved 2026-11-18T06:00:00Z channel stable-4.18 of https://updates.example.com\nend 2\n";
        let lock = Lock::parse(text).unwrap();
        let resolution = lock.release.as_ref().and_then(|release| release.resolution.clone()).unwrap();
        assert_eq!(resolution.source, "channel stable-4.18 of https://updates.example.com");
        assert_eq!(lock.write(), format!("{HEADER}{text}"));
        assert_eq!(Lock::parse(&lock.write()).unwrap(), lock);
        assert!(Lock::parse("resolved 2026-11-18T06:00:00Z nobody\nend 1\n").is_err());
    }

    #[test]
    fn the_text_reads_back() {
        let text = format!(
            "{HEADER}release r:1 r@sha256:0\nfile manifests/a.yaml dns 1111 2222 0.1.0\nfrom dns install-config:baseDomain 33\nfrom dns identity 44\nend 4\n"
        );
        let lock = Lock::parse(&text).unwrap();
        assert_eq!(Lock::parse(&lock.write()), Ok(lock.clone()));
        assert_eq!(lock.files["manifests/a.yaml"].asset, "dns");
    }

    #[test]
    fn a_file_may_be_called_anything() {
        for name in [
            "manifests/my file.yaml",
            "openshift/a  b c d e.yaml",
            "manifests/a\nend 1\\n\r.yaml",
            "manifests/ ",
        ] {
            let file = LockedFile {
                asset: "dns".to_owned(),
                fingerprint: "1".to_owned(),
                sha256: "2".to_owned(),
                generator: "0.1.0".to_owned(),
            };
            let mut lock = Lock::default();
            lock.files.insert(name.to_owned(), file);
            let sources = BTreeMap::from([(Source::file(name), "33".to_owned())]);
            lock.sources.insert("dns".to_owned(), sources);
            assert_eq!(Lock::parse(&lock.write()), Ok(lock), "{name:?}");
        }
    }

    #[test]
    fn a_manifest_is_deleted_where_others_of_its_folder_are_left() {
        let files =
            ["manifests/a.yaml", "manifests/b.yaml", "operator-seeds/a.yaml", "pki/a.crt", "pki/b.crt"];
        let lines: String = files.iter().map(|path| format!("file {path} x 1 2 0.1.0\n")).collect();
        let lock = Lock::parse(&format!("{lines}end 5\n")).unwrap();
        let mut tree = Tree::default();
        tree.insert("manifests/b.yaml", "");
        tree.insert("pki/b.crt", "");
        assert!(lock.is_deleted("manifests/a.yaml", &tree));
        assert!(!lock.is_deleted("manifests/b.yaml", &tree), "it is there");
        assert!(!lock.is_deleted("manifests/c.yaml", &tree), "it never was");
        assert!(!lock.is_deleted("operator-seeds/a.yaml", &tree), "the whole folder is gone");
        assert!(!lock.is_deleted("pki/a.crt", &tree), "no manifest");
    }

    #[test]
    fn what_a_cut_off_run_wrote_is_ours_and_made_again_even_from_the_old_sources() {
        let lock = |content: &str, hash: &str| {
            let sha256 = sha256(content.as_bytes());
            Lock::parse(&format!("file a dns 1 {sha256} 0.1.0\nfrom dns identity {hash}\nend 2\n")).unwrap()
        };
        let mut tree = Tree::default();
        tree.insert("a", "new");
        let recovered = lock("old", "11").recover(&lock("new", "22"), &tree);
        assert!(recovered.is_ours("a", &tree));
        assert!(recovered.sources["dns"].is_empty());
        tree.insert("a", "old");
        assert_eq!(lock("old", "11").recover(&lock("new", "22"), &tree), lock("old", "11"));
    }

    #[test]
    fn a_damaged_line_is_named() {
        let error = Lock::parse("# x\nfile a b\n").unwrap_err();
        assert_eq!(error.to_string(), "assets.lock:2: not a line of a lock file: \"file a b\"");
        assert!(Lock::parse("file a b c d e\n").is_err(), "cut off before its end");
        assert!(Lock::parse("file a b c d e\nend 2\n").is_err(), "a line went missing");
    }
}
