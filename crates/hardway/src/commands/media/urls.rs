//! `hardway media urls`

use hardway_assets::inventory::Provider;
use hardway_base::Secret;
use hardway_machines::install_media::BOOT_INDEX;
use hardway_machines::providers::bare_metal::BareMetalSettings;
use serde_json::json;

use crate::cli::{Format, Global, MediaUrlsArgs};
use crate::inputs::{InputFiles, Workdir};
use crate::project::{self, Checked};
use crate::release::Reach;
use crate::report::{Code, Exit, Report};
use crate::server::{media_paths, path_of_iso};
use crate::terminal::Output;

/// Prints the URLs of media, because somebody asked for them: nothing else that hardway prints or writes down has them.
pub(super) fn run(global: &Global, args: &MediaUrlsArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let files = InputFiles::open(&workdir)?;
    let checked = Checked::of(&workdir, &files, Reach::Here(args.release_dir.as_deref()), out)?;
    let hosts: Vec<String> = checked.inventory.hosts.iter().map(|host| host.name.clone()).collect();
    let url = match &args.url {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => media_url(&workdir, &files, checked)?,
    };
    let paths = media_paths(&workdir)?;
    let mut rows = Vec::new();
    for host in &hosts {
        let path = path_of_iso(&workdir, &paths, host)?;
        rows.push((host, path.map(|path| join(&url, &path, &format!("{host}.iso")))));
    }
    let boot = join(&url, &paths.boot(), BOOT_INDEX);
    out.info(
        "these URLs are secrets: whoever has one can read what its host is installed with, as long as the host needs it",
    );
    match args.output {
        Format::Text => {
            for (host, url) in &rows {
                let none = "no medium, or nobody needs it any more: `hardway media iso` makes one";
                out.data(&format!("{host:24} {}\n", url.as_deref().unwrap_or(none)));
            }
            out.data(&format!("{:24} {boot}\n", "for DHCP, with pxe"));
        }
        format => {
            let hosts: Vec<_> = rows.iter().map(|(host, url)| json!({"host": host, "iso": url})).collect();
            out.value(&json!({"hosts": hosts, "boot": boot}), format);
        }
    }
    Ok(Exit::Done)
}

fn join(url: &str, path: &Secret, name: &str) -> String {
    format!("{url}/{}/{name}", path.expose_text())
}

/// Where the inventory says that media are served.
fn media_url(workdir: &Workdir, files: &InputFiles, checked: Checked) -> Result<String, Report> {
    let unknown = || {
        Report::new(Code::Usage, "the inventory does not say where media are served").fix(
            "give --url http://ADDRESS:PORT, where `hardway media serve` or `hardway serve --boot` listens",
        )
    };
    if checked.inventory.machines.provider != Provider::BareMetal {
        return Err(unknown());
    }
    let cluster = project::cluster_of(workdir, checked)?;
    let settings = BareMetalSettings::read(&cluster).map_err(|violations| files.in_inventory(violations))?;
    settings.media_url.ok_or_else(unknown)
}
