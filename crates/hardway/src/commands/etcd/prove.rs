//! `hardway etcd prove`

use std::fmt::Write as _;
use std::io::BufReader;
use std::path::Path;
use std::time::Instant;

use hardway_base::files;
use hardway_cluster::age::Identity;
use hardway_cluster::etcd::{
    BackupError, BackupManifest, Opened, Programs, Proof, ProofError, open_backup, prove,
};
use serde_json::json;

use super::size;
use crate::cli::{EtcdProveArgs, Format, Global};
use crate::clock;
use crate::cluster::folder_infra_id;
use crate::inputs::Workdir;
use crate::report::{Code, Exit, Report, is_there};
use crate::runtime;
use crate::terminal::Output;

/// Restores it beside the cluster, and says what it holds.
pub(super) fn run(global: &Global, args: &EtcdProveArgs, out: &Output) -> Result<Exit, Report> {
    is_there(&args.file)?;
    is_there(&args.identity)?;
    let programs = Programs::find(args.programs.as_deref()).map_err(|error| {
        Report::from_error(Code::BackupUnproven, &error)
            .fix("name the folder that has them with --programs; the release's etcd image has both in /usr/bin, and its hyperkube image has kube-apiserver")
            .exit(Exit::Usage)
    })?;
    let began = Instant::now();
    let scratch = scratch()?;
    let cluster = Workdir::open(&global.dir).ok().and_then(|workdir| folder_infra_id(&workdir));
    let opened = open(&args.file, &args.identity, scratch.path(), cluster.as_deref())?;
    let doing = || "still restoring and comparing".to_owned();
    let proof = runtime::run("proving", async {
        runtime::aloud(out, doing, prove(&opened, &programs, scratch.path()))
            .await
            .map_err(|error| unproven(&error))
    })?;
    let seconds = began.elapsed().as_secs_f32();
    match args.output {
        Format::Text => out.data(&text(&opened.manifest, &proof)),
        format => out.value(
            &json!({"backup": opened.manifest, "age": age(&opened.manifest), "proof": proof, "seconds": seconds}),
            format,
        ),
    }
    if !proof.has_api {
        out.warn("kube-apiserver was not found next to etcd: keys were only compared in etcd, and no API server was started on them");
    }
    out.info(&format!("proven in {seconds:.1} s"));
    Ok(Exit::Done)
}

/// Opens a backup in a folder of our own.
pub(super) fn open(
    file: &Path,
    identity: &Path,
    folder: &Path,
    cluster: Option<&str>,
) -> Result<Opened, Report> {
    let unreadable = |path: &Path, error: &std::io::Error| {
        Report::new(Code::BackupUnusable, format!("{} cannot be read: {error}", path.display()))
    };
    let text = fs_err::read_to_string(identity).map_err(|error| unreadable(identity, &error))?;
    let identity = Identity::read(&text).map_err(|error| {
        Report::new(Code::BackupUnusable, format!("{}: {error}", identity.display()))
            .fix("give --identity the file that `age-keygen -o FILE` wrote")
    })?;
    let source = std::fs::File::open(file).map_err(|error| unreadable(file, &error))?;
    open_backup(BufReader::new(source), &identity, folder, cluster).map_err(|error| unusable(file, &error))
}

/// Removed when it is dropped; for nobody but its owner.
pub(super) fn scratch() -> Result<tempfile::TempDir, Report> {
    files::private_folder("hardway-etcd-").map_err(|error| {
        Report::from_error(Code::BackupUnproven, &error).fix("set TMPDIR to a folder with enough space")
    })
}

fn unusable(file: &Path, error: &BackupError) -> Report {
    let report = Report::new(
        Code::BackupUnusable,
        format!("{}: {}", file.display(), hardway_base::error_sentence(error)),
    );
    match error {
        BackupError::Foreign { .. } => report.fix("name the folder of that cluster with --dir"),
        BackupError::Age(_) => report.fix("use the identity that it was encrypted for, or an older backup"),
        _ => report.fix("use an older backup"),
    }
}

fn unproven(error: &ProofError) -> Report {
    let report = Report::from_error(Code::BackupUnproven, error);
    match error {
        ProofError::Differs(_) | ProofError::NothingServed(..) => {
            report.fix("do not rely on this backup; make another one and prove it")
        }
        _ => report.fix("use the programs of the cluster's own release; --programs names their folder"),
    }
}

pub(super) fn age(manifest: &BackupManifest) -> String {
    let minutes = clock::now().duration_since(manifest.made).as_mins();
    match minutes {
        0..120 => format!("{minutes} minutes"),
        120..2880 => format!("{} hours", minutes / 60),
        _ => format!("{} days", minutes / 1440),
    }
}

fn text(manifest: &BackupManifest, proof: &Proof) -> String {
    let mut text = format!(
        "backup of {} from {}, {} old, {}, at revision {}\n{} keys, each with the same hash in the restored etcd\n",
        manifest.cluster,
        manifest.made,
        age(manifest),
        size(manifest.size),
        proof.revision,
        proof.keys,
    );
    for (kind, count) in &proof.kinds {
        let served = match (proof.has_api, count.served == count.objects) {
            (true, true) => "  all served by the API server".to_owned(),
            (true, false) => format!("  {} served by the API server", count.served),
            _ => String::new(),
        };
        let name = if kind.is_empty() { "(not Kubernetes objects)" } else { kind };
        let _ = writeln!(text, "{:>8}  {name}{served}", count.objects);
    }
    let pods = manifest.static_pods_of.as_deref();
    let _ = match pods {
        Some(master) => writeln!(text, "with the static pods of {master}"),
        None => writeln!(text, "WITHOUT static pods: a restore needs them from another source"),
    };
    text
}
