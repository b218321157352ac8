//! `hardway gather bootstrap`

use std::net::{IpAddr, ToSocketAddrs as _};

use hardway_assets::pki;
use hardway_assets::secrets::Secret;
use hardway_cluster::bootstrap_progress::Remote;
use hardway_cluster::gather::{self, Gathered};
use hardway_cluster::redaction::Redactor;
use serde_json::{Value, json};

use crate::cli::{Format, GatherArgs, GatherBootstrapArgs, GatherVerb, Global};
use crate::clock;
use crate::input::{self, Checked};
use crate::output::Output;
use crate::release_choice::Reach;
use crate::report::{EXIT_USAGE, Report};
use crate::workdir::Workdir;

/// Fetches a bundle to the working directory. Nothing stays behind on the host.
pub(crate) fn run(global: &Global, args: &GatherArgs, out: &Output) -> Result<u8, Report> {
    let GatherVerb::Bootstrap(args) = &args.verb;
    let workdir = Workdir::open(&global.dir)?;
    let host = host(&workdir, args, out)?;
    let key =
        args.key.clone().unwrap_or_else(|| workdir.path(&format!("secrets/{}.key", pki::catalogue::SSH_KEY)));
    let remote = Remote::ssh(host, args.ssh_port, &args.ssh_user, &key, &workdir.path(".known_hosts"))
        .as_the_user_itself()
        .forwarding_agent();
    let id = clock::now()?.strftime("%Y%m%d%H%M%S").to_string();
    let name = format!("log-bundle-{id}.tar.gz");
    out.info(&format!("gathering on {host}; this takes some minutes"));
    let mut target = tempfile::Builder::new()
        .prefix(".hardway-")
        .tempfile_in(workdir.path(""))
        .map_err(|error| crate::workdir::io(&error))?;
    let redactor = Redactor::new(known_secrets(&workdir)?);
    let gathered =
        gather::bootstrap(&remote, &id, &args.master, &redactor, &mut target).map_err(|error| {
            Report::from_error("gather-failed", &error).fix(format!(
                "try `ssh -i {} {}@{host}` yourself",
                key.display(),
                args.ssh_user
            ))
        })?;
    target.persist_noclobber(workdir.path(&name)).map_err(|error| crate::workdir::io(&error.error))?;
    show(&workdir, &name, &gathered, args.output, out);
    Ok(0)
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
        return Ok(input::cluster_of(workdir, checked)?.bootstrap_ip());
    };
    if let Ok(ip) = name.parse() {
        return Ok(ip);
    }
    let unknown = |why: String| {
        Report::new("usage", format!("--bootstrap {name}: {why}")).exit(EXIT_USAGE).fix("give its address")
    };
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
