//! The data of a member that begins anew with what a backup holds.

use std::fs::File;
use std::io::{BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};

use hardway_base::hex;
use sha2::{Digest as _, Sha256};
use tokio::process::Command;

use crate::etcd::Opened;
use crate::etcd::database::{Contents, DatabaseError};

/// So much is added to every revision that follows: more than any cluster writes between a backup and its loss, so that no number
/// is used a second time for something else. It is what OpenShift's restore adds where it knows no better: a thousand
/// writes a second for eleven days (openshift/cluster-etcd-operator 4.18 `bindata/etcd/restore-pod.yaml`).
pub const BUMP: u64 = 1_000_000_000;

/// Who the data are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoredMember {
    /// The node.
    pub name: String,
    /// Where others reach it.
    pub peer_url: String,
    /// Of this restore: members of another cluster are not mistaken for this one's.
    pub token: String,
}

/// The data as one archive, in a folder of our own.
#[derive(Debug)]
pub struct RestoredData {
    /// A tar of `member`.
    pub archive: PathBuf,
    /// Bytes of the archive.
    pub size: u64,
    /// SHA-256 of the archive, in hexadecimal.
    pub sum: String,
    /// The newest revision in it: the backup's, and [`BUMP`].
    pub revision: u64,
}

/// Why there are none.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// A file cannot be read or written.
    #[error("the restored data cannot be written")]
    Io(#[from] std::io::Error),
    /// etcdutl cannot be started.
    #[error("{program} cannot be started")]
    Start {
        /// Where it is.
        program: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It is of another etcd.
    #[error(
        "etcdutl is of etcd {found}, but the backup was made by etcd {wanted}: data of one may not start with the other"
    )]
    Version {
        /// Of etcdutl.
        found: String,
        /// Of the backup.
        wanted: String,
    },
    /// It refuses.
    #[error("etcdutl cannot restore the backup: {0}")]
    Refused(String),
    /// What it made cannot be read.
    #[error("what etcdutl restored is damaged")]
    Damaged(#[from] DatabaseError),
    /// What it made is something else.
    #[error("what etcdutl restored differs from the backup: {0}")]
    Differs(String),
}

impl RestoredData {
    /// Restores, compares every key by its hash, and packs.
    ///
    /// # Errors
    /// When etcdutl is not fit for it, or makes something else.
    pub async fn make(
        etcdutl: &Path,
        opened: &Opened,
        member: &RestoredMember,
        folder: &Path,
    ) -> Result<Self, DataError> {
        ensure_version(etcdutl, &opened.manifest.etcd_version).await?;
        let data = folder.join("restored");
        let said = run(Command::new(etcdutl).args(["snapshot", "restore"]).arg(&opened.snapshot).args([
            format!("--data-dir={}", data.display()),
            format!("--name={}", member.name),
            format!("--initial-cluster={}={}", member.name, member.peer_url),
            format!("--initial-advertise-peer-urls={}", member.peer_url),
            format!("--initial-cluster-token={}", member.token),
            format!("--bump-revision={BUMP}"),
            "--mark-compacted".to_owned(),
        ]))
        .await;
        said.map_err(|error| start(etcdutl, error))?.map_err(DataError::Refused)?;
        let restored = Contents::of_database(&File::open(data.join("member/snap/db"))?)?;
        let revision = compare(&opened.contents, &restored)?;
        let archive = folder.join("restored.tar");
        pack(&data, &archive)?;
        fs_err::remove_dir_all(&data)?;
        let (size, sum) = sum(&archive)?;
        Ok(Self { archive, size, sum, revision })
    }
}

/// Only the minor version counts: it is what the form of the data goes by.
async fn ensure_version(etcdutl: &Path, wanted: &str) -> Result<(), DataError> {
    let said = run(Command::new(etcdutl).arg("version")).await.map_err(|error| start(etcdutl, error))?;
    let said = said.map_err(DataError::Refused)?;
    let found =
        said.lines().find_map(|line| line.strip_prefix("etcdutl version:")).unwrap_or_default().trim();
    let minor = |version: &str| version.splitn(3, '.').take(2).map(str::to_owned).collect::<Vec<_>>();
    if wanted.is_empty() || minor(found) == minor(wanted) {
        return Ok(());
    }
    Err(DataError::Version { found: found.to_owned(), wanted: wanted.to_owned() })
}

/// Every key with its value and revision, and nothing else but the entry that raises the revision: it has no name.
fn compare(backup: &Contents, restored: &Contents) -> Result<u64, DataError> {
    let expected = backup.revision + BUMP;
    if restored.revision != expected {
        return Err(DataError::Differs(format!("its revision is {}, not {expected}", restored.revision)));
    }
    let mut found = restored.keys.clone();
    if !backup.keys.contains_key(&b""[..]) {
        found.remove(&b""[..]);
    }
    if found == backup.keys {
        return Ok(expected);
    }
    let differing = backup.keys.iter().find(|(key, live)| found.get(*key) != Some(*live));
    let name = differing.map_or_else(
        || "there are more keys in it".to_owned(),
        |(key, _)| String::from_utf8_lossy(key).into_owned(),
    );
    Err(DataError::Differs(name))
}

fn pack(data: &Path, archive: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let file = File::options().write(true).create_new(true).mode(0o600).open(archive)?;
    let mut builder = tar::Builder::new(BufWriter::new(file));
    builder.append_dir_all("member", data.join("member"))?;
    builder.into_inner()?.flush()
}

fn sum(archive: &Path) -> std::io::Result<(u64, String)> {
    let (mut file, mut sum, mut buffer) = (File::open(archive)?, Sha256::new(), vec![0; 1 << 20]);
    let mut size = 0;
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok((size, hex::encode(sum.finalize())));
        }
        sum.update(&buffer[..read]);
        size += read as u64;
    }
}

/// What it prints; inside, its last words if it fails.
async fn run(command: &mut Command) -> std::io::Result<Result<String, String>> {
    let output = command.kill_on_drop(true).output().await?;
    if output.status.success() {
        return Ok(Ok(String::from_utf8_lossy(&output.stdout).into_owned()));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Ok(Err(last.to_owned()))
}

fn start(program: &Path, source: std::io::Error) -> DataError {
    DataError::Start { program: program.display().to_string(), source }
}
