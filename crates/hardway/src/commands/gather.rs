//! `hardway gather bootstrap`

use std::net::{IpAddr, ToSocketAddrs as _};

use hardway_cluster::gather::Gathered;
use serde_json::json;

use crate::cli::{Format, GatherArgs, GatherBootstrapArgs, GatherVerb, Global};
use crate::cluster::{BundleSource, gather_bundle};
use crate::inputs::Workdir;
use crate::project::{self, Checked};
use crate::release::Reach;
use crate::report::{Code, Exit, Report, is_there};
use crate::terminal::Output;

/// Fetches a bundle to the working directory. Nothing stays behind on the host.
pub(crate) fn run(global: &Global, args: &GatherArgs, out: &Output) -> Result<Exit, Report> {
    let GatherVerb::Bootstrap(args) = &args.verb;
    let workdir = Workdir::open(&global.dir)?;
    args.key.as_deref().map_or(Ok(()), is_there)?;
    let source = BundleSource {
        host: host(&workdir, args, out)?,
        port: args.ssh_port,
        user: args.ssh_user.clone(),
        key: args.key.clone(),
        masters: args.master.clone(),
    };
    let (name, gathered) = gather_bundle(&workdir, source, out)?;
    show(&workdir, &name, &gathered, args.output, out);
    Ok(Exit::Done)
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
