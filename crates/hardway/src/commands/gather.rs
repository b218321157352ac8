//! `hardway gather bootstrap`

use std::fs::File;
use std::io::Seek as _;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::Arc;

use hardway_assets::pki;
use hardway_base::Secret;
use hardway_base::redaction::Redactor;
use hardway_cluster::bootstrap_progress::{Gateway, Remote};
use hardway_cluster::gather::{self, GatherError, Gathered};
use serde_json::{Value, json};

use crate::cli::{Format, GatherArgs, GatherBootstrapArgs, GatherVerb, Global};
use crate::clock;
use crate::cluster;
use crate::inputs::Workdir;
use crate::project::{self, Checked};
use crate::release::Reach;
use crate::report::{Code, Exit, Report, is_there};
use crate::runtime;
use crate::terminal::Output;

/// Fetches a bundle to the working directory. Nothing stays behind on the host.
pub(crate) fn run(global: &Global, args: &GatherArgs, out: &Output) -> Result<Exit, Report> {
    let GatherVerb::Bootstrap(args) = &args.verb;
    let workdir = Workdir::open(&global.dir)?;
    args.key.as_deref().map_or(Ok(()), is_there)?;
    let host = host(&workdir, args, out)?;
    let key =
        args.key.clone().unwrap_or_else(|| workdir.path(&format!("secrets/{}.key", pki::catalogue::SSH_KEY)));
    if !key.exists() {
        let what = format!("there is no key for the bootstrap host: {}", key.display());
        return Err(Report::new(Code::GatherFailed, what)
            .exit(Exit::Config)
            .fix("work in the folder that the cluster was made in (`hardway create ignition-configs` draws the key), or give yours with --key"));
    }
    let remote = Remote::ssh(host, args.ssh_port, &args.ssh_user, &key, &workdir.path(".known_hosts"))
        .as_the_user_itself()
        .forwarding_agent();
    let id = clock::now().strftime("%Y%m%d%H%M%S").to_string();
    let name = format!("log-bundle-{id}.tar.gz");
    out.info(&format!("gathering on {host}; this takes some minutes"));
    let target = tempfile::Builder::new()
        .prefix(".hardway-")
        .tempfile_in(workdir.path(""))
        .map_err(|error| crate::inputs::io(&error))?;
    let redactor = Arc::new(Redactor::new(known_secrets(&workdir)?));
    let wanted = Wanted { remote, id, masters: args.master.clone(), redactor };
    let gateway = cluster::journal_gateway(&workdir, host);
    let fetched =
        runtime::aloud(out, || "still gathering".to_owned(), fetch(wanted, gateway, target.as_file(), out));
    let gathered = runtime::run("gathering", fetched).map_err(|report| match report.code {
        Code::GatherFailed => {
            report.fix(format!("try `ssh -i {} {}@{host}` yourself", key.display(), args.ssh_user))
        }
        _ => report,
    })?;
    target.persist_noclobber(workdir.path(&name)).map_err(|error| crate::inputs::io(&error.error))?;
    show(&workdir, &name, &gathered, args.output, out);
    Ok(Exit::Done)
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
    target.set_len(0).map_err(|error| crate::inputs::io(&error))?;
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
    let mut file = target.try_clone().map_err(|error| crate::inputs::io(&error))?;
    file.rewind().map_err(|error| crate::inputs::io(&error))?;
    Ok(file)
}

fn show(workdir: &Workdir, name: &str, gathered: &Gathered, format: Format, out: &Output) {
    let Gathered { files, redacted, left_out } = gathered;
    match format {
        Format::Text => out.data(&format!("{}\n", workdir.shown(name))),
        format => out.value(&json!({"bundle": workdir.shown(name), "files": files, "redacted": redacted, "leftOut": left_out}), format),
    }
    out.info(&format!(
        "{files} files, of which {redacted} had something taken out; {} left out",
        left_out.len()
    ));
    out.info(&format!("look into it with: hardway diagnose --bundle {}", workdir.shown(name)));
}

/// As named, or as the inventory says.
fn host(workdir: &Workdir, args: &GatherBootstrapArgs, out: &Output) -> Result<IpAddr, Report> {
    let Some(name) = &args.bootstrap else {
        let checked = Checked::load(workdir, Reach::Here(None), out)?;
        return Ok(project::cluster_of(workdir, checked)?.bootstrap_ip());
    };
    if let Ok(ip) = name.parse() {
        return Ok(ip);
    }
    let unknown =
        |why: String| Report::new(Code::Usage, format!("--bootstrap {name}: {why}")).fix("give its address");
    let mut found =
        (name.as_str(), args.ssh_port).to_socket_addrs().map_err(|error| unknown(error.to_string()))?;
    found.next().map(|address| address.ip()).ok_or_else(|| unknown("it has no address".to_owned()))
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
