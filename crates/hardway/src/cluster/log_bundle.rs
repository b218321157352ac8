//! A log bundle of the bootstrap host, fetched into the working folder.

use std::fs::File;
use std::io::Seek as _;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::Arc;

use hardway_base::Secret;
use hardway_base::redaction::Redactor;
use hardway_cluster::bootstrap_progress::Gateway;
use hardway_cluster::gather::{self, GatherError, Gathered, Master};
use hardway_cluster::remote::{KnownHost, Login, Remote};
use serde_json::Value;

use super::journal_gateway;
use super::shell::bootstrap_key;
use crate::clock;
use crate::inputs::{Workdir, io};
use crate::report::{Code, Exit, Report};
use crate::runtime;
use crate::terminal::Output;

/// Whom to ask, and as whom.
#[derive(Debug)]
pub(crate) struct BundleSource {
    /// The bootstrap host.
    pub(crate) host: KnownHost,
    /// With a key in place of the one in the working folder, or none.
    pub(crate) login: Login,
    /// Masters whose logs are wanted too.
    pub(crate) masters: Vec<Master>,
    /// A sentence for each master that cannot be asked.
    pub(crate) unknown: Vec<String>,
}

/// Fetches a bundle, and gives its name in the working folder and what is in it. Nothing stays behind on the hosts.
pub(crate) fn gather_bundle(
    workdir: &Workdir,
    source: BundleSource,
    out: &Output,
) -> Result<(String, Gathered), Report> {
    let BundleSource { host, login, masters, unknown } = source;
    let key = login.key.clone().unwrap_or_else(|| bootstrap_key(workdir));
    if !key.exists() {
        let what = format!("no ssh key for the bootstrap host: {}", key.display());
        return Err(Report::new(Code::GatherFailed, what)
            .exit(Exit::Config)
            .fix("use the folder that the cluster was installed from (`hardway create ignition-configs` generates the key), or \
             pass your own key with --key"));
    }
    let address = host.address.clone();
    let login = Login { key: Some(key), offers_only_key: true, ..login };
    let by_hand = Remote::by_hand(&host, &login);
    let remote = Remote::ssh(host, &login).as_the_user_itself();
    let id = clock::now().strftime("%Y%m%d%H%M%S").to_string();
    let name = format!("log-bundle-{id}.tar.gz");
    out.info(&format!("gathering logs on {address}; this takes a few minutes"));
    let target = tempfile::Builder::new()
        .prefix(".hardway-")
        .tempfile_in(workdir.path(""))
        .map_err(|error| io(&error))?;
    let redactor = Arc::new(Redactor::new(known_secrets(workdir)?));
    let wanted = Wanted { remote, id, masters, redactor };
    let gateway = resolve(&address).ok().and_then(|ip| journal_gateway(workdir, ip));
    let fetched =
        runtime::aloud(out, || "still gathering".to_owned(), fetch(wanted, gateway, target.as_file(), out));
    let mut gathered =
        runtime::run("gathering", fetched).map_err(|report| match (report.code, &report.fix) {
            (Code::GatherFailed, None) => report.fix(format!("try `{by_hand}` yourself")),
            _ => report,
        })?;
    gathered.missing.extend(unknown);
    target.persist_noclobber(workdir.path(&name)).map_err(|error| io(&error.error))?;
    Ok((name, gathered))
}

/// The first address of a name, or the address that it is.
pub(crate) fn resolve(name: &str) -> Result<IpAddr, ResolveError> {
    let mut found = (name, 22).to_socket_addrs()?;
    found.next().map(|address| address.ip()).ok_or(ResolveError::NoAddress)
}

/// Why a name leads nowhere.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResolveError {
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("it has no address")]
    NoAddress,
}

/// What is asked of a host over ssh.
struct Wanted {
    remote: Remote,
    id: String,
    masters: Vec<Master>,
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
        (Err(error @ GatherError::Remote(_)), Some(gateway)) => (error, gateway),
        (Err(error), _) => return Err(failed(&error)),
    };
    let report = failed(&error);
    target.set_len(0).map_err(|error| io(&error))?;
    match gather::from_journal(&gateway, redactor, again(target)?).await {
        Ok(gathered) => {
            out.warn(&format!("{}; the bundle has only what its journal gateway provides", report.what));
            Ok(gathered)
        }
        Err(other) => {
            let what =
                format!("{}; and {}", report.what, Report::from_error(Code::GatherFailed, &other).what);
            Err(Report { what, ..report })
        }
    }
}

fn failed(error: &GatherError) -> Report {
    let report = Report::from_error(Code::GatherFailed, error);
    match error {
        GatherError::Remote(error) => error.fix().into_iter().fold(report, Report::fix),
        _ => report,
    }
}

/// The same file, to be written from its beginning.
fn again(target: &File) -> Result<File, Report> {
    let mut file = target.try_clone().map_err(|error| io(&error))?;
    file.rewind().map_err(|error| io(&error))?;
    Ok(file)
}

/// What must not leave this host in any file: the password, every login of the pull secret, and those of proxies.
pub(crate) fn known_secrets(workdir: &Workdir) -> Result<Vec<Secret>, Report> {
    let mut known: Vec<Secret> =
        workdir.text("secrets/kubeadmin-password")?.map(Secret::new).into_iter().collect();
    let config = workdir.text("install-config.yaml")?;
    let config = config.and_then(|text| Some(hardway_assets::yaml::read(&text).ok()?.to_json()));
    let config = config.unwrap_or_default();
    for proxy in ["httpProxy", "httpsProxy"] {
        known.extend(config["proxy"][proxy].as_str().and_then(password_of).map(Secret::new));
    }
    let pull_secret = config["pullSecret"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let auths = pull_secret.as_ref().and_then(|secret| secret["auths"].as_object()).into_iter().flatten();
    known.extend(auths.filter_map(|(_, entry)| Some(Secret::new(entry["auth"].as_str()?))));
    Ok(known)
}

/// The password in an address, as it stands there.
fn password_of(address: &str) -> Option<&str> {
    let (user, _) = address.split_once("://").map_or(address, |(_, rest)| rest).rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password)
}
