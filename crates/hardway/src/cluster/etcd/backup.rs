//! A backup of etcd: a snapshot of one member with the static pods of its master, encrypted, in a folder.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hardway_assets::Cluster;
use hardway_base::files::{Replacement, replace, sync_folder};
use hardway_cluster::age::Recipient;
use hardway_cluster::etcd::{
    BackupManifest, EtcdAccess, EtcdStatus, MemberStatus, Shelf, Turn, TurnError, ask_status, remove_backup,
    snapshot_source, static_pods, take_snapshot, write_backup,
};
use hardway_cluster::remote::{Login, Remote};
use kube::Client;

use super::{no_certificate, unreachable};
use crate::clock;
use crate::cluster::{Access, Intent, Live, identity, known_host};
use crate::inputs::Workdir;
use crate::report::{Code, Exit, Report};
use crate::runtime;
use crate::terminal::Output;

/// What is backed up, how, and to where.
#[derive(Debug)]
pub(crate) struct EtcdBackup {
    pub(crate) access: Access,
    /// Made if it is not there.
    pub(crate) folder: PathBuf,
    /// Each of them can open it.
    pub(crate) recipients: Vec<Recipient>,
    /// As whom the static pods of a master are fetched; without, they are left out.
    pub(crate) login: Option<Login>,
    /// Goes ahead where the API server cannot say whether somebody else is at it.
    pub(crate) without_lease: bool,
}

impl EtcdBackup {
    /// Takes the snapshot and writes it, whole and on the disk, or not at all.
    pub(crate) async fn make(&self, workdir: &Workdir, out: &Output) -> Result<BackupManifest, Report> {
        let live = Live::open(workdir, &self.access, Intent::Change, out).await?;
        let access = live.etcd(workdir).ok_or_else(no_certificate)?;
        let cluster = live.cluster.as_ref().ok_or_else(no_certificate)?;
        let turn = match turn(&live).await {
            Err(TurnError::Unknown) if self.without_lease => None,
            turn => Some(turn.map_err(|error| not_ours(&error))?),
        };
        let made = self.make_in(turn.as_ref(), &access, cluster, workdir, out).await;
        if let Some(turn) = turn {
            turn.end().await;
        }
        made
    }

    async fn make_in(
        &self,
        turn: Option<&Turn>,
        access: &EtcdAccess,
        cluster: &Cluster,
        workdir: &Workdir,
        out: &Output,
    ) -> Result<BackupManifest, Report> {
        let status = ask_status(access).await.map_err(|error| unreachable(&error))?;
        let source = snapshot_source(&status).map_err(|error| failed(&error))?;
        let static_pods = match &self.login {
            None => None,
            Some(login) => Some(pods_of(workdir, cluster, source, login).await?),
        };
        fs_err::create_dir_all(&self.folder).map_err(|error| failed(&error))?;
        // A file without a name: plain bytes are gone with this process, however it ends.
        let mut snapshot = tempfile::tempfile_in(&self.folder).map_err(|error| failed(&error))?;
        let doing = || format!("{} sends its snapshot", source.member.shown());
        let taken = runtime::aloud(out, doing, take_snapshot(access, source, &mut snapshot)).await;
        let contents = taken.map_err(|error| failed(&error))?;
        let manifest = BackupManifest {
            revision: contents.revision,
            hash: format!("{:x}", contents.hash),
            keys: contents.keys.len(),
            size: snapshot.metadata().map_err(|error| failed(&error))?.len(),
            static_pods_of: static_pods.as_ref().map(|_| source.member.shown()),
            ..described(&status, source, cluster)
        };
        if turn.is_some_and(|turn| !turn.is_ours()) {
            return Err(not_ours(&TurnError::Unknown));
        }
        self.write(&manifest, &mut snapshot, static_pods.as_deref())?;
        Ok(manifest)
    }

    fn write(
        &self,
        manifest: &BackupManifest,
        snapshot: &mut File,
        static_pods: Option<&[u8]>,
    ) -> Result<(), Report> {
        let path = self.folder.join(manifest.file_name());
        let mut file = Replacement::begin(&path, 0o600).map_err(|error| failed(&error))?;
        write_backup(&mut file, &self.recipients, manifest, snapshot, static_pods)
            .map_err(|error| failed(&error))?;
        file.commit().map_err(|error| failed(&error))?;
        let page = self.folder.join(manifest.page_name());
        replace(&page, 0o600, &manifest.page()).map_err(|error| failed(&error))
    }
}

/// Deletes all but the newest backups of a cluster in a folder, and says which. For once the new one is there. Whatever else has the name of
/// a backup is left alone, and told. The new one stays in any case: others may be of a clock that was ahead, or of somebody who says so.
pub(crate) fn thin_out(
    folder: &Path,
    new: &BackupManifest,
    keep: usize,
    out: &Output,
) -> Result<Vec<PathBuf>, Report> {
    let cluster = &new.cluster;
    let shelf = Shelf::read(folder, cluster).map_err(|error| failed(&error))?;
    let newest = folder.join(new.file_name());
    let old: Vec<PathBuf> = shelf.surplus(keep).iter().filter(|path| **path != newest).cloned().collect();
    for path in &old {
        remove_backup(path).map_err(|error| failed(&error))?;
    }
    sync_folder(folder).map_err(|error| failed(&error))?;
    if let Some(first) = shelf.others.first() {
        out.warn(&format!(
            "{} files are called like backups but not known to be of {cluster}, and --keep left them alone: {}{}",
            shelf.others.len(),
            first.display(),
            if shelf.others.len() > 1 { ", …" } else { "" }
        ));
    }
    Ok(old)
}

async fn turn(live: &Live) -> Result<Turn, TurnError> {
    let client = Client::try_from(live.config.clone()).map_err(|_| TurnError::Unknown)?;
    Turn::take(client, &identity(), Arc::new(clock::now)).await
}

fn not_ours(error: &TurnError) -> Report {
    let report = failed(error);
    match error {
        TurnError::Taken(_) => report.fix("wait until it is done").exit(Exit::Blocked),
        TurnError::Unknown => report.fix(
            "if the API server is down and you know that no other backup is running: hardway etcd backup --without-lease",
        ),
    }
}

fn described(status: &EtcdStatus, source: &MemberStatus, cluster: &Cluster) -> BackupManifest {
    BackupManifest {
        format: BackupManifest::FORMAT,
        made: clock::second(),
        cluster: cluster.identity.infra_id.clone(),
        etcd_cluster_id: status.cluster_id.clone(),
        member: source.member.shown(),
        etcd_version: source.answer.as_ref().map(|answer| answer.version.clone()).unwrap_or_default(),
        revision: 0,
        hash: String::new(),
        keys: 0,
        size: 0,
        static_pods_of: None,
    }
}

/// Of the master that the snapshot comes from: both are of one moment, as far as can be.
async fn pods_of(
    workdir: &Workdir,
    cluster: &Cluster,
    source: &MemberStatus,
    login: &Login,
) -> Result<Vec<u8>, Report> {
    let master = master(workdir, cluster, &source.member.name, login, Code::BackupFailed)?;
    static_pods(&master).await.map_err(|error| {
        let fix = error.fix().unwrap_or_else(|| {
            "name a key that the masters accept with --key, or leave the static pods out with --without-static-pods: a restore then needs them from another source"
                .to_owned()
        });
        failed(&error).fix(fix)
    })
}

/// A shell on a master, by the name of its node.
///
/// # Errors
/// With this code, when there is no such host or no key of it is known.
pub(super) fn master(
    workdir: &Workdir,
    cluster: &Cluster,
    node: &str,
    login: &Login,
    code: Code,
) -> Result<Remote, Report> {
    let host =
        cluster.inventory.hosts.iter().find(|host| cluster.node_name(host) == node).ok_or_else(|| {
            Report::new(code, format!("etcd member {node} is not a host in inventory.yaml"))
        })?;
    let address = host.ip.first().map(ToString::to_string).unwrap_or_default();
    let known = known_host(workdir, node, address, code)?;
    Ok(Remote::ssh(known, login))
}

fn failed(error: &dyn std::error::Error) -> Report {
    Report::from_error(Code::BackupFailed, error)
}
