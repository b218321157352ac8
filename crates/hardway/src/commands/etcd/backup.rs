//! `hardway etcd backup`

use hardway_cluster::etcd::BackupManifest;
use serde_json::json;

use super::{schedule, size};
use crate::cli::{EtcdBackupArgs, Format, Global};
use crate::cluster::etcd::{EtcdBackup, thin_out};
use crate::inputs::Workdir;
use crate::report::{Exit, Report};
use crate::runtime;
use crate::terminal::Output;

/// One backup, or the timer that makes them.
pub(super) fn run(global: &Global, args: &EtcdBackupArgs, out: &Output) -> Result<Exit, Report> {
    if let Some(calendar) = &args.schedule {
        out.data(&schedule::units(global, args, calendar)?);
        return Ok(Exit::Done);
    }
    let workdir = Workdir::open(&global.dir)?;
    let backup = EtcdBackup {
        access: (&args.look.cluster).into(),
        folder: workdir.path("").join(&args.to),
        recipients: args.recipient.clone(),
        login: (!args.without_static_pods).then(|| (&args.ssh).into()),
        without_lease: args.without_lease,
    };
    let manifest = runtime::run("backing up", backup.make(&workdir, out))?;
    out.info(&summary(&manifest));
    let removed = match args.keep {
        Some(keep) => thin_out(&backup.folder, &manifest, keep.into(), out)?,
        None => Vec::new(),
    };
    let path = backup.folder.join(manifest.file_name());
    match args.look.output {
        Format::Text => out.data(&format!("{}\n", path.display())),
        format => {
            let removed: Vec<String> = removed.iter().map(|path| path.display().to_string()).collect();
            out.value(
                &json!({"file": path.display().to_string(), "backup": manifest, "removed": removed}),
                format,
            );
        }
    }
    Ok(Exit::Done)
}

fn summary(manifest: &BackupManifest) -> String {
    let BackupManifest { keys, revision, member, .. } = manifest;
    format!("{keys} keys, {}, at revision {revision} from {member}", size(manifest.size))
}
