//! A log bundle of the bootstrap host, fetched into the working folder.

use std::fs::File;
use std::io::Seek as _;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use hardway_assets::pki;
use hardway_base::Secret;
use hardway_base::redaction::Redactor;
use hardway_cluster::bootstrap_progress::{Gateway, Remote};
use hardway_cluster::gather::{self, GatherError, Gathered};
use serde_json::Value;

use super::journal_gateway;
use crate::clock;
use crate::inputs::{Workdir, io};
use crate::report::{Code, Exit, Report};
use crate::runtime;
use crate::terminal::Output;

/// Whom to ask, and as whom.
#[derive(Debug)]
pub(crate) struct BundleSource {
    /// The bootstrap host.
    pub(crate) host: IpAddr,
    pub(crate) port: u16,
    pub(crate) user: String,
    /// In place of the key in the working folder.
    pub(crate) key: Option<PathBuf>,
    /// Masters whose logs are wanted too.
    pub(crate) masters: Vec<String>,
}

/// Fetches a bundle, and gives its name in the working folder and what is in it. Nothing stays behind on the host.
pub(crate) fn gather_bundle(
    workdir: &Workdir,
    source: BundleSource,
    out: &Output,
) -> Result<(String, Gathered), Report> {
    let BundleSource { host, port, user, key, masters } = source;
    let key = key.unwrap_or_else(|| workdir.path(&format!("secrets/{}.key", pki::catalogue::SSH_KEY)));
    if !key.exists() {
        let what = format!("there is no key for the bootstrap host: {}", key.display());
        return Err(Report::new(Code::GatherFailed, what)
            .exit(Exit::Config)
            .fix("work in the folder that the cluster was made in (`hardway create ignition-configs` draws the key), or give yours with --key"));
    }
    let remote = Remote::ssh(host, port, &user, &key, &workdir.path(".known_hosts"))
        .as_the_user_itself()
        .forwarding_agent();
    let id = clock::now().strftime("%Y%m%d%H%M%S").to_string();
    let name = format!("log-bundle-{id}.tar.gz");
    out.info(&format!("gathering on {host}; this takes some minutes"));
    let target = tempfile::Builder::new()
        .prefix(".hardway-")
        .tempfile_in(workdir.path(""))
        .map_err(|error| io(&error))?;
    let redactor = Arc::new(Redactor::new(known_secrets(workdir)?));
    let wanted = Wanted { remote, id, masters, redactor };
    let gateway = journal_gateway(workdir, host);
    let fetched =
        runtime::aloud(out, || "still gathering".to_owned(), fetch(wanted, gateway, target.as_file(), out));
    let gathered = runtime::run("gathering", fetched).map_err(|report| match report.code {
        Code::GatherFailed => report.fix(format!("try `ssh -i {} {user}@{host}` yourself", key.display())),
        _ => report,
    })?;
    target.persist_noclobber(workdir.path(&name)).map_err(|error| io(&error.error))?;
    Ok((name, gathered))
}

/// What is asked of a host over ssh.
struct Wanted {
    remote: Remote,
    id: String,
    masters: Vec<String>,
    redactor: Arc<Redactor>,
}

/// Over ssh; and if nobody can log in, what the journal gateway gives.
async fn fetch(
    wanted: Wanted,
    gateway: Option<Gateway>,
    target: &File,
    out: &Output,
) -> Result<Gathered, Report> {
    let Wanted { remote, id, masters, redactor } = &wanted;
    let over_ssh = gather::bootstrap(remote, id, masters, redactor, again(target)?).await;
    let (error, gateway) = match (over_ssh, gateway) {
        (Ok(gathered), _) => return Ok(gathered),
        (Err(error @ GatherError::Failed { .. }), Some(gateway)) => (error, gateway),
        (Err(error), _) => return Err(Report::from_error(Code::GatherFailed, &error)),
    };
    let report = Report::from_error(Code::GatherFailed, &error);
    target.set_len(0).map_err(|error| io(&error))?;
    match gather::from_journal(&gateway, redactor, again(target)?).await {
        Ok(gathered) => {
            out.warn(&format!("{}; only what its journal gateway gives is in the bundle", report.what));
            Ok(gathered)
        }
        Err(other) => {
            let what =
                format!("{}; and {}", report.what, Report::from_error(Code::GatherFailed, &other).what);
            Err(Report { what, ..report })
        }
    }
}

/// The same file, to be written from its beginning.
fn again(target: &File) -> Result<File, Report> {
    let mut file = target.try_clone().map_err(|error| io(&error))?;
    file.rewind().map_err(|error| io(&error))?;
    Ok(file)
}

/// What must not leave this host in any file: the password, and every login of the pull secret.
fn known_secrets(workdir: &Workdir) -> Result<Vec<Secret>, Report> {
    let mut known = Vec::new();
    if let Ok(password) = workdir.secrets()?.get("kubeadmin-password") {
        known.push(password.clone());
    }
    let config = workdir.text("install-config.yaml")?;
    let pull_secret = config.and_then(|text| {
        let config = hardway_assets::yaml::read(&text).ok()?.to_json();
        serde_json::from_str::<Value>(config["pullSecret"].as_str()?).ok()
    });
    let auths = pull_secret.as_ref().and_then(|secret| secret["auths"].as_object()).into_iter().flatten();
    known.extend(auths.filter_map(|(_, entry)| Some(Secret::new(entry["auth"].as_str()?))));
    Ok(known)
}
