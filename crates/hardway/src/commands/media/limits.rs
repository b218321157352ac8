//! `hardway media limits`

use std::fmt::Write as _;
use std::path::Path;

use hardway_assets::ignition;
use hardway_assets::install_media::LIMITS;
use serde_json::{Value, json};

use crate::cli::{Format, Global};
use crate::inputs::Workdir;
use crate::machines::media::HostConfig;
use crate::project::{Checked, Project};
use crate::release::Reach;
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// How much each platform takes; and, in a working folder, what each host's config and pointer take.
pub(super) fn run(
    global: &Global,
    release_dir: Option<&Path>,
    format: Format,
    out: &Output,
) -> Result<Exit, Report> {
    let Some(hosts) = hosts(global, release_dir, out)? else {
        out.info("no inventory.yaml here: showing only the limits");
        return show(&[], format, out);
    };
    if hosts.is_empty() {
        out.info("no host has a config yet: run `hardway create ignition-configs` to see which configs fit");
    }
    show(&hosts, format, out)
}

fn show(hosts: &[Sizes], format: Format, out: &Output) -> Result<Exit, Report> {
    if format != Format::Text {
        let limits: Vec<Value> = LIMITS
            .iter()
            .map(|limit| {
                json!({"platform": limit.platform, "bytes": limit.bytes, "what": limit.what, "source": limit.source})
            })
            .collect();
        let hosts: Vec<Value> = hosts.iter().map(Sizes::value).collect();
        out.value(&json!({"limits": limits, "hosts": hosts}), format);
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for limit in &LIMITS {
        let _ = writeln!(text, "{:10} {:>8} bytes  {}", limit.platform, limit.bytes, limit.what);
    }
    for host in hosts {
        let _ = writeln!(text, "\n{} ({})  {} bytes", host.name, host.path, host.bytes);
        for limit in &LIMITS {
            let fits = match (limit.check(host.bytes), host.pointer.map(|bytes| limit.check(bytes))) {
                (Ok(()), _) => "fits",
                (Err(_), Some(Ok(()))) => "its pointer fits",
                _ => "needs a pointer",
            };
            let _ = writeln!(text, "  {:10} {fits}", limit.platform);
        }
    }
    out.data(&text);
    Ok(Exit::Done)
}

struct Sizes {
    name: String,
    path: String,
    bytes: u64,
    pointer: Option<u64>,
}

impl Sizes {
    fn value(&self) -> Value {
        let fits: Vec<&str> = LIMITS
            .iter()
            .filter(|limit| limit.check(self.bytes).is_ok())
            .map(|limit| limit.platform)
            .collect();
        json!({"host": self.name, "config": self.path, "bytes": self.bytes, "pointerBytes": self.pointer, "fits": fits})
    }
}

/// Nothing outside a working folder; nobody before configs are made.
fn hosts(global: &Global, release_dir: Option<&Path>, out: &Output) -> Result<Option<Vec<Sizes>>, Report> {
    let workdir = Workdir::open(&global.dir)?;
    if !workdir.path("inventory.yaml").exists() {
        return Ok(None);
    }
    let project = Project::look(&workdir, Checked::load(&workdir, Reach::local(release_dir), out)?)?;
    let sizes = project.cluster().inventory.hosts.iter().filter_map(|host| {
        let config = HostConfig::find(&project, host).ok()?;
        let pointer = project.tree().get(&ignition::HostPointer::path(host));
        Some(Sizes {
            name: host.name.clone(),
            bytes: config.bytes.len() as u64,
            pointer: pointer.map(|bytes| bytes.len() as u64),
            path: config.path,
        })
    });
    Ok(Some(sizes.collect()))
}
