//! `hardway media show`

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use hardway_machines::install_media::LiveIso;
use serde_json::{Value, json};

use crate::cli::Format;
use crate::machines::media::open;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// Says what is embedded; contents only on request, because configs hold keys.
pub(super) fn run(image: &Path, ignition: bool, format: Format, out: &Output) -> Result<Exit, Report> {
    let iso = open(image)?;
    if ignition {
        return print(&iso, image);
    }
    match format {
        Format::Text => out.data(&text(&iso)),
        _ => out.value(&value(&iso), format),
    }
    Ok(Exit::Done)
}

/// The config as it is, byte for byte.
fn print(iso: &LiveIso, image: &Path) -> Result<Exit, Report> {
    let Some(config) = iso.ignition() else {
        let what = format!("{} has no Ignition config embedded", image.display());
        return Err(Report::new(Code::MediaUnusable, what));
    };
    let mut stdout = std::io::stdout();
    let written = stdout.write_all(config).and_then(|()| stdout.flush());
    written.map_err(|error| Report::from_error(Code::WorkdirUnusable, &error))?;
    Ok(Exit::Done)
}

fn value(iso: &LiveIso) -> Value {
    let keyfiles: Vec<&str> = iso.keyfiles().map(|(name, _)| name).collect();
    let arguments =
        iso.kernel_arguments().map(|(current, default)| json!({"current": current, "default": default}));
    json!({
        "volume": iso.volume(),
        "pristine": iso.is_pristine(),
        "embedArea": {"capacity": iso.capacity(), "used": iso.used()},
        "ignition": iso.ignition().map(installs),
        "networkKeyfiles": keyfiles,
        "otherFiles": iso.other_files().collect::<Vec<_>>(),
        "kernelArguments": arguments,
        "features": {
            "installerConfig": iso.features().installer_config,
            "networkKeyfiles": iso.features().live_initrd_network,
        },
    })
}

/// Size of a config, and what it does if it is one of ours: which disk it overwrites.
fn installs(config: &[u8]) -> Value {
    let parsed: Value = serde_json::from_slice(config).unwrap_or_default();
    let paths = parsed["storage"]["files"].as_array().into_iter().flatten();
    let installs = { paths }
        .any(|file| file["path"].as_str().is_some_and(|path| path.starts_with("/etc/coreos/installer.d/")));
    json!({"bytes": config.len(), "version": parsed["ignition"]["version"], "runsInstaller": installs})
}

fn text(iso: &LiveIso) -> String {
    let value = value(iso);
    let mut text = format!("volume            {}\n", iso.volume());
    let _ = writeln!(text, "embed area        {} of {} bytes", iso.used(), iso.capacity());
    let ignition = &value["ignition"];
    let _ = match ignition["runsInstaller"].as_bool() {
        None => writeln!(text, "ignition config   none"),
        Some(installs) => {
            let does = if installs { ", runs the installer" } else { "" };
            writeln!(text, "ignition config   {} bytes{does}", ignition["bytes"])
        }
    };
    for (name, contents) in iso.keyfiles() {
        let _ = writeln!(text, "network keyfile   {name}, {} bytes", contents.len());
    }
    for path in iso.other_files() {
        let _ = writeln!(text, "other file        {path}");
    }
    match iso.kernel_arguments() {
        None => text += "kernel arguments  cannot be changed in this image\n",
        Some((current, default)) => {
            let _ = writeln!(text, "kernel arguments  {current}");
            if current != default {
                let _ = writeln!(text, "  as made         {default}");
            }
        }
    }
    text
}
