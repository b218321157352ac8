//! A backup: one encrypted file with a snapshot, what a master needs beside it, and a page that says what it is.
//!
//! ```text
//! backup.json                   what it is, of which cluster, how old        BackupManifest
//! snapshot.db                   as etcd sent it
//! static_kuberesources.tar.gz   the static pods of the master it came from   as OpenShift's cluster-restore.sh takes it
//! ```
//!
//! Plain bytes never have a name on the disk of whoever makes it: the snapshot is in a file without one until it is encrypted.

use std::fs::File;
use std::io::{self, BufRead, Read, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::database::{Contents, DatabaseError};
use crate::age::{AgeError, Identity, Opening, Recipient, Sealing};
use crate::remote::{Remote, RemoteError};

const MANIFEST: &str = "backup.json";
/// In a backup, and where OpenShift's own script looks for it.
pub const SNAPSHOT: &str = "snapshot.db";
/// In a backup, and where OpenShift's own script looks for it.
pub const STATIC_PODS: &str = "static_kuberesources.tar.gz";

/// No page that says what it is takes more.
const LONGEST_MANIFEST: u64 = 1 << 20;

/// What a backup is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupManifest {
    /// Of this page; a newer one is refused.
    pub format: u32,
    /// When it was begun.
    pub made: Timestamp,
    /// The cluster's infra id.
    pub cluster: String,
    /// What etcd calls the cluster.
    pub etcd_cluster_id: String,
    /// Who sent it.
    pub member: String,
    /// Of etcd.
    pub etcd_version: String,
    /// The newest change in it.
    pub revision: u64,
    /// What `etcdutl snapshot status` prints of it, in hexadecimal.
    pub hash: String,
    /// Keys that live in it.
    pub keys: usize,
    /// Bytes of the snapshot.
    pub size: u64,
    /// The master whose static pods are in it; none where they are left out.
    pub static_pods_of: Option<String>,
}

impl BackupManifest {
    /// The format of today.
    pub const FORMAT: u32 = 1;

    /// The file's name in a folder of backups: names are in the order of time.
    pub fn file_name(&self) -> String {
        format!("{}{SUFFIX}", self.stem())
    }

    /// The name of this page beside the file, where it can be read by whoever makes backups and cannot open them. There is nothing
    /// secret on it.
    pub fn page_name(&self) -> String {
        format!("{}{PAGE}", self.stem())
    }

    fn stem(&self) -> String {
        format!("etcd-{}-r{}", self.made.strftime("%Y%m%dT%H%M%SZ"), self.revision)
    }

    /// As it stands in a backup, and beside it.
    pub fn page(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }
}

const SUFFIX: &str = ".tar.age";
const PAGE: &str = ".json";

/// Why a backup cannot be made or used.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// It is for somebody else, cut, or changed.
    #[error(transparent)]
    Age(#[from] AgeError),
    /// It cannot be read or written.
    #[error("it cannot be read or written")]
    Io(#[from] io::Error),
    /// It can be opened, and is something else.
    #[error("it is not a backup of etcd: {0}")]
    NoBackup(&'static str),
    /// It was made by a newer hardway.
    #[error("it has format {0}, and this version of hardway only reads format {known}", known = BackupManifest::FORMAT)]
    Newer(u32),
    /// The snapshot in it is damaged.
    #[error("its snapshot is damaged")]
    Snapshot(#[from] DatabaseError),
    /// The snapshot in it is another than the page says.
    #[error(
        "its snapshot has revision {found} and hash {hash}, but backup.json says revision {told} and hash {told_hash}"
    )]
    Other {
        /// In the snapshot.
        found: u64,
        /// Of the snapshot.
        hash: String,
        /// On the page.
        told: u64,
        /// On the page.
        told_hash: String,
    },
    /// It is of another cluster.
    #[error("it is a backup of cluster {found}, but this folder belongs to {wanted}")]
    Foreign {
        /// In the backup.
        found: String,
        /// The folder's.
        wanted: String,
    },
}

/// A backup that was opened, in a folder.
#[derive(Debug)]
pub struct Opened {
    /// What it is.
    pub manifest: BackupManifest,
    /// What the snapshot holds.
    pub contents: Contents,
    /// Where the snapshot lies.
    pub snapshot: PathBuf,
    /// Where the static pods lie, if they are in it.
    pub static_pods: Option<PathBuf>,
}

/// Writes a backup.
///
/// # Errors
/// When it cannot be written.
pub fn write_backup(
    target: impl Write,
    recipients: &[Recipient],
    manifest: &BackupManifest,
    snapshot: &mut File,
    static_pods: Option<&[u8]>,
) -> Result<(), BackupError> {
    let mut archive = tar::Builder::new(Sealing::begin(target, recipients)?);
    let page = manifest.page();
    append(&mut archive, MANIFEST, page.len() as u64, &mut &page[..])?;
    let size = snapshot.seek(SeekFrom::End(0))?;
    snapshot.rewind()?;
    append(&mut archive, SNAPSHOT, size, snapshot)?;
    if let Some(static_pods) = static_pods {
        append(&mut archive, STATIC_PODS, static_pods.len() as u64, &mut &static_pods[..])?;
    }
    archive.into_inner()?.finish()?.flush()?;
    Ok(())
}

/// Opens a backup into a folder, and reads it through: nothing of a file that is cut or changed is believed.
///
/// # Errors
/// When it is for somebody else, cut, changed, or no backup; or of another cluster than this one.
pub fn open_backup(
    source: impl BufRead,
    identity: &Identity,
    folder: &Path,
    cluster: Option<&str>,
) -> Result<Opened, BackupError> {
    let mut opening = Opening::begin(source, identity)?;
    let manifest = unpack(&mut opening, folder).map_err(age_error)?;
    // tar stops at its own end: what is behind it has to be looked at for the file to be whole.
    io::copy(&mut opening, &mut io::sink()).map_err(|error| age_error(error.into()))?;
    let manifest = manifest.ok_or(BackupError::NoBackup("it has no backup.json"))?;
    if manifest.format > BackupManifest::FORMAT {
        return Err(BackupError::Newer(manifest.format));
    }
    if let Some(wanted) = cluster.filter(|wanted| *wanted != manifest.cluster) {
        return Err(BackupError::Foreign { found: manifest.cluster, wanted: wanted.to_owned() });
    }
    let snapshot = folder.join(SNAPSHOT);
    if !snapshot.is_file() {
        return Err(BackupError::NoBackup("it has no snapshot.db"));
    }
    let contents = Contents::of_snapshot(&mut File::open(&snapshot)?)?;
    let hash = format!("{:x}", contents.hash);
    if contents.revision != manifest.revision || hash != manifest.hash {
        return Err(BackupError::Other {
            found: contents.revision,
            hash,
            told: manifest.revision,
            told_hash: manifest.hash,
        });
    }
    let static_pods = Some(folder.join(STATIC_PODS)).filter(|path| path.is_file());
    Ok(Opened { manifest, contents, snapshot, static_pods })
}

/// The backups in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shelf {
    /// Those that are known to be of the cluster, the oldest first.
    pub ours: Vec<PathBuf>,
    /// Files with the name of a backup that are not known to be: without a page beside them, of another cluster, or no backup at all.
    pub others: Vec<PathBuf>,
}

impl Shelf {
    /// What is in a folder. A file is a backup of the cluster if it begins as age's files do, and the page beside it names that cluster and this
    /// very file: its name alone says nothing.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn read(folder: &Path, cluster: &str) -> io::Result<Self> {
        let (mut ours, mut others) = (Vec::new(), Vec::new());
        for entry in fs_err::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if !name.starts_with("etcd-") || !name.ends_with(SUFFIX) {
                continue;
            }
            match page_beside(&path).filter(|page| page.cluster == cluster && page.file_name() == name) {
                Some(page) if begins_as_age(&path) => ours.push((page.made, path)),
                _ => others.push(path),
            }
        }
        ours.sort();
        others.sort();
        Ok(Self { ours: ours.into_iter().map(|(_, path)| path).collect(), others })
    }

    /// Those that a rule of so many does not keep, the oldest first.
    pub fn surplus(&self, keep: usize) -> &[PathBuf] {
        &self.ours[..self.ours.len().saturating_sub(keep)]
    }
}

/// Deletes a backup, and then the page beside it: without that, nobody deletes the backup.
///
/// # Errors
/// When it cannot be deleted.
pub fn remove_backup(path: &Path) -> io::Result<()> {
    fs_err::remove_file(path)?;
    match page_path(path) {
        Some(page) => fs_err::remove_file(page),
        None => Ok(()),
    }
}

fn page_path(backup: &Path) -> Option<PathBuf> {
    let name = backup.file_name()?.to_str()?.strip_suffix(SUFFIX)?;
    Some(backup.with_file_name(format!("{name}{PAGE}")))
}

fn page_beside(backup: &Path) -> Option<BackupManifest> {
    let mut text = Vec::new();
    let page = page_path(backup).filter(|page| is_regular(page))?;
    File::open(page).ok()?.take(LONGEST_MANIFEST).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

fn begins_as_age(path: &Path) -> bool {
    let mut begin = [0; crate::age::MAGIC.len()];
    is_regular(path)
        && File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok()
        && begin == *crate::age::MAGIC
}

/// Neither a link, nor a pipe that whoever opens it would wait at.
fn is_regular(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
}

/// The static pods of a master with the resources of the revision that runs, as a gzipped tar: what OpenShift's own backup takes
/// (openshift/cluster-etcd-operator `bindata/etcd/cluster-backup.sh`).
///
/// # Errors
/// When nobody can log in there, or one is missing.
pub async fn static_pods(master: &Remote) -> Result<Vec<u8>, RemoteError> {
    use base64::Engine as _;
    let said = master.run(TAKE_STATIC_PODS).await?;
    let text: String = said.split_whitespace().collect();
    base64::engine::general_purpose::STANDARD.decode(text).map_err(|error| RemoteError::Failed {
        command: "tar of /etc/kubernetes/static-pod-resources".to_owned(),
        status: "its output is not base64".to_owned(),
        said: error.to_string(),
    })
}

const TAKE_STATIC_PODS: &str = r#"set -euo pipefail
cd /etc/kubernetes
folders=()
for pod in kube-apiserver kube-controller-manager kube-scheduler etcd; do
  folder=$(grep -o -m 1 "static-pod-resources/$pod-pod-[0-9]*" "manifests/$pod-pod.yaml") ||
    { echo "manifests/$pod-pod.yaml names no revision: does $pod run here?" >&2; exit 1; }
  folders+=("$folder")
done
tar -cpz -- "${folders[@]}" | base64 -w0
"#;

fn append<W: Write>(
    archive: &mut tar::Builder<W>,
    name: &str,
    size: u64,
    content: &mut impl Read,
) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(size);
    header.set_mode(0o600);
    archive.append_data(&mut header, name, content)
}

/// Only the three names that there are, so that nothing can be written elsewhere.
fn unpack(opening: &mut impl Read, folder: &Path) -> Result<Option<BackupManifest>, BackupError> {
    let mut manifest = None;
    let mut archive = tar::Archive::new(opening);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = entry.path()?.to_string_lossy().into_owned();
        // A sparse file is as large as it says, however small the archive.
        if entry.header().entry_type() != tar::EntryType::Regular {
            return Err(BackupError::NoBackup("it contains something other than plain files"));
        }
        match name.as_str() {
            MANIFEST if entry.size() <= LONGEST_MANIFEST => {
                let mut text = Vec::new();
                entry.read_to_end(&mut text)?;
                let page = serde_json::from_slice(&text);
                manifest = Some(page.map_err(|_| BackupError::NoBackup("its backup.json is invalid"))?);
            }
            SNAPSHOT | STATIC_PODS => {
                let mut file = private_file(&folder.join(&name))?;
                io::copy(&mut entry, &mut file)?;
            }
            _ => return Err(BackupError::NoBackup("it contains files that do not belong to a backup")),
        }
    }
    Ok(manifest)
}

fn private_file(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    File::options().write(true).create_new(true).mode(0o600).open(path)
}

/// What was wrong with the encryption came through tar as an error of reading.
fn age_error(error: BackupError) -> BackupError {
    match error {
        BackupError::Io(error) => match error.downcast::<AgeError>() {
            Ok(error) => BackupError::Age(error),
            Err(error) => BackupError::Io(error),
        },
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of one entry, by somebody who knows the recipient, which is public.
    fn forged(header: &tar::Header) -> Result<Opened, BackupError> {
        let identity = Identity::draw().unwrap();
        let mut archive = tar::Builder::new(Sealing::begin(Vec::new(), &[identity.recipient()]).unwrap());
        archive.append(header, &b""[..]).unwrap();
        let file = archive.into_inner().unwrap().finish().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let opened = open_backup(&file[..], &identity, folder.path(), None);
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 0);
        opened
    }

    #[test]
    fn only_what_is_a_backup_of_the_cluster_is_thinned_out() {
        let folder = tempfile::tempdir().unwrap();
        let recipient = Identity::draw().unwrap().recipient();
        let page = |cluster: &str, second: i64| BackupManifest {
            format: BackupManifest::FORMAT,
            made: Timestamp::from_second(1_800_000_000 + second).unwrap(),
            cluster: cluster.to_owned(),
            etcd_cluster_id: String::new(),
            member: "m".to_owned(),
            etcd_version: String::new(),
            // Revisions go up with a restore, and down with an older hardway's: time is what counts.
            revision: 100 - second.unsigned_abs(),
            hash: String::new(),
            keys: 0,
            size: 0,
            static_pods_of: None,
        };
        let put = |page: &BackupManifest, has_page: bool| {
            let path = folder.path().join(page.file_name());
            let mut snapshot = tempfile::tempfile().unwrap();
            write_backup(File::create(&path).unwrap(), &[recipient], page, &mut snapshot, None).unwrap();
            if has_page {
                fs_err::write(folder.path().join(page.page_name()), page.page()).unwrap();
            }
            path
        };
        let ours: Vec<PathBuf> = (0..3).map(|second| put(&page("a", second), true)).collect();
        let foreign = put(&page("b", -5), true);
        let unknown = put(&page("a", -9), false);
        // A file that was put in the place of a backup, and a page of another file.
        let replaced = put(&page("a", -7), true);
        fs_err::write(&replaced, "something that somebody needs").unwrap();
        let renamed = folder.path().join("etcd-20200101T000000Z-r1.tar.age");
        fs_err::copy(&ours[0], &renamed).unwrap();
        fs_err::write(folder.path().join("etcd-20200101T000000Z-r1.json"), page("a", 0).page()).unwrap();
        fs_err::write(folder.path().join("etcd-notes.txt"), "mine").unwrap();
        // A pipe where the page should be: whoever opened it would wait for good.
        let piped = put(&page("a", -3), false);
        let pipe = folder.path().join(page("a", -3).page_name());
        hardway_testing::succeed(std::process::Command::new("mkfifo").arg(pipe));

        let shelf = Shelf::read(folder.path(), "a").unwrap();
        assert_eq!(shelf.ours, ours);
        let mut others = vec![foreign, unknown, replaced, renamed, piped];
        others.sort();
        assert_eq!(shelf.others, others);
        assert_eq!((shelf.surplus(1), shelf.surplus(9).len()), (&ours[..2], 0));
        let before = fs_err::read_dir(folder.path()).unwrap().count();
        shelf.surplus(1).iter().for_each(|path| remove_backup(path).unwrap());
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), before - 4, "each with its page");
        assert_eq!(Shelf::read(folder.path(), "a").unwrap().ours, ours[2..]);
    }

    #[test]
    fn a_small_file_cannot_fill_the_disk_and_a_link_leads_nowhere() {
        let mut header = tar::Header::new_gnu();
        header.set_path(SNAPSHOT).unwrap();
        let mut sparse = header.clone();
        sparse.set_entry_type(tar::EntryType::GNUSparse);
        let gnu = sparse.as_gnu_mut().unwrap();
        // A hole of 64 GiB, and nothing behind it.
        gnu.realsize = *b"777777777777";
        gnu.sparse[0].offset = gnu.realsize;
        gnu.sparse[0].numbytes = *b"00000000000\0";
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_link_name("/etc/passwd").unwrap();
        for mut header in [sparse, header] {
            header.set_size(0);
            header.set_mode(0o600);
            header.set_cksum();
            let refused = forged(&header).unwrap_err();
            assert!(
                matches!(refused, BackupError::NoBackup(why) if why.contains("other than plain files")),
                "{refused:?}"
            );
        }
    }
}
