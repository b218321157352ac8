//! `hardway media urls`

use std::path::Path;

use hardway_assets::Cluster;
use hardway_assets::inventory::Provider;
use hardway_assets::violation::Violation;
use hardway_base::Secret;
use hardway_machines::install_media::BOOT_INDEX;
use hardway_machines::providers::bare_metal::BareMetalSettings;
use serde_json::json;

use super::served_at;
use crate::cli::{Format, Global, MediaUrlsArgs};
use crate::inputs::{InputFiles, Workdir};
use crate::machines::HostedSite;
use crate::project::{self, Checked};
use crate::release::Reach;
use crate::report::{Code, Exit, Report};
use crate::server::{drawn_media_paths, path_of_iso};
use crate::terminal::Output;

/// Prints the URLs of media, because somebody asked for them: nothing else that hardway prints or writes down has them.
pub(super) fn run(global: &Global, args: &MediaUrlsArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let ServedHosts { hosts, media_url } = ServedHosts::of(&workdir, args.release_dir.as_deref(), out)?;
    let url = match &args.url {
        Some(url) => served_at(url)?,
        None => media_url?.ok_or_else(|| {
            Report::new(Code::Usage, "mediaUrl is not set in the inventory").fix(
                "pass --url http://ADDRESS:PORT, where `hardway media serve` or `hardway serve --boot` listens",
            )
        })?,
    };
    let paths = drawn_media_paths(&workdir)?.ok_or_else(|| {
        Report::new(
            Code::ServeUnprepared,
            "no media were made or served from this folder yet, so they have no paths",
        )
        .fix("`hardway media iso --all` or `hardway media pxe --url URL` makes them")
    })?;
    let mut rows = Vec::new();
    for host in &hosts {
        let path = path_of_iso(&workdir, &paths, host)?;
        rows.push((host, path.map(|path| join(&url, &path, &format!("{host}.iso")))));
    }
    let boot = join(&url, &paths.boot(), BOOT_INDEX);
    out.info(
        "these URLs are secrets: until its host has joined, anyone with the URL can read the host's config",
    );
    match args.output {
        Format::Text => {
            for (host, url) in &rows {
                let none = || {
                    let make = format!("`hardway media iso --host {host}` makes one");
                    format!("no medium, or no longer needed: {}", out.advice(&make))
                };
                out.data(&format!("{host:24} {}\n", url.clone().unwrap_or_else(none)));
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

/// Whose media can be served, and where the inventory says that they are, if it does.
pub(super) struct ServedHosts {
    /// Their names.
    pub(super) hosts: Vec<String>,
    /// An error where the provider's settings cannot be read; who names a URL needs none of them.
    pub(super) media_url: Result<Option<String>, Report>,
}

impl ServedHosts {
    /// Of the folder's own cluster, or of hosted clusters.
    pub(super) fn of(workdir: &Workdir, release_dir: Option<&Path>, out: &Output) -> Result<Self, Report> {
        if let Some(HostedSite { file, cluster }) = HostedSite::open(workdir)? {
            return Ok(Self::read(&cluster, |violations| file.invalid(violations)));
        }
        let files = InputFiles::open(workdir)?;
        let checked = Checked::of(workdir, &files, Reach::local(release_dir), out)?;
        let cluster = project::cluster_of(workdir, checked)?;
        Ok(Self::read(&cluster, |violations| files.in_inventory(violations)))
    }

    fn read(cluster: &Cluster, invalid: impl FnOnce(Vec<Violation>) -> Report) -> Self {
        let hosts = cluster.inventory.hosts.iter().map(|host| host.name.clone()).collect();
        let media_url = match cluster.inventory.machines.provider {
            Provider::BareMetal => {
                BareMetalSettings::read(cluster).map(|settings| settings.media_url).map_err(invalid)
            }
            _ => Ok(None),
        };
        Self { hosts, media_url }
    }
}
