//! `hardway media dhcp`

use hardway_assets::host_services::BootOptions;
use hardway_assets::inventory::Provider;
use hardway_base::{Secret, files};
use hardway_machines::install_media::{BOOT_EFI, BOOT_INDEX};
use hardway_machines::providers::bare_metal::{BareMetalSettings, DhcpBy};

use crate::cli::{DhcpFormat, Global, MediaDhcpArgs};
use crate::inputs::{InputFiles, Workdir};
use crate::project::{self, Checked};
use crate::release::Reach;
use crate::report::{Code, Exit, Report};
use crate::server::{drawn_media_paths, media_paths};
use crate::terminal::Output;

/// Writes the file, for its owner alone; or says whether it is as it would be written.
pub(super) fn run(global: &Global, args: &MediaDhcpArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let inputs = InputFiles::open(&workdir)?;
    let checked = Checked::of(&workdir, &inputs, Reach::local(args.release_dir.as_deref()), out)?;
    let settings = match checked.inventory.machines.provider {
        Provider::BareMetal => {
            let cluster = project::cluster_of(&workdir, checked)?;
            BareMetalSettings::read(&cluster).map_err(|violations| inputs.in_inventory(violations))?
        }
        other => {
            let what = format!("machines of {} do not boot from the network", other.name());
            return Err(Report::new(Code::Usage, what).fix("this is for machines.provider: bare-metal"));
        }
    };
    let url = settings.media_url.clone().ok_or_else(|| {
        Report::new(Code::Usage, "mediaUrl is not set in the inventory")
            .fix("set machines.bare-metal.mediaUrl to where machines reach `hardway serve --boot`")
    })?;
    // Looking draws nothing.
    let paths = if args.check { drawn_media_paths(&workdir)? } else { Some(media_paths(&workdir)?) };
    let Some(paths) = paths else { return Err(differs(args)) };
    let boot = paths.boot();
    let at = |name: &str| format!("{url}/{}/{name}", boot.expose_text());
    let options = BootOptions {
        script: at(BOOT_INDEX),
        efi: settings.ipxe.as_ref().map(|_| at(BOOT_EFI)),
        tftp_root: settings.ipxe.clone().filter(|_| settings.dhcp != DhcpBy::Kea),
    };
    let text = Secret::new(match args.format {
        DhcpFormat::Dnsmasq => options.dnsmasq(),
        DhcpFormat::Kea => options.kea4(),
    });
    if args.check {
        let is_so = fs_err::read(&args.to).is_ok_and(|found| found == text.expose_text().as_bytes());
        return if is_so { Ok(Exit::Done) } else { Err(differs(args)) };
    }
    let folder = args.to.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder
        .map_or(Ok(()), fs_err::create_dir_all)
        .and_then(|()| files::replace(&args.to, 0o600, text.expose_text().as_bytes()))
        .map_err(|error| {
            Report::from_error(Code::ActionFailed, &error).fix("name a folder that you may write to")
        })?;
    out.info(&format!("{}: the URLs in it are secrets, so only its owner can read it", args.to.display()));
    Ok(Exit::Done)
}

fn differs(args: &MediaDhcpArgs) -> Report {
    let what = format!("{} is not as it would be written", args.to.display());
    Report::new(Code::ActionFailed, what).fix("the same command without --check writes it")
}
