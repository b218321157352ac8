//! `hardway media pxe`

use hardway_machines::install_media::BOOT_INDEX;

use super::served_at;
use crate::cli::{Global, PxeArgs};
use crate::inputs::Workdir;
use crate::machines::media::{BootFolderOptions, boot_folder};
use crate::report::{Exit, Report};
use crate::server::media_paths;
use crate::terminal::Output;

/// Writes the folder: scripts, what they load, and configs unless those are served elsewhere.
pub(super) fn run(global: &Global, args: &PxeArgs, out: &Output) -> Result<Exit, Report> {
    let url = &served_at(&args.url)?;
    let options = BootFolderOptions {
        url,
        hosts: &args.host,
        image: args.source.iso.as_deref(),
        release_dir: args.source.release_dir.as_deref(),
        config: args.config.as_deref(),
        ignition_url: args.source.ignition_url.as_deref(),
        to: args.to.as_deref(),
    };
    let workdir = Workdir::open(&global.dir)?;
    let written = boot_folder(&workdir, &options, out)?;
    // From now on it can be asked where it will be served.
    media_paths(&workdir)?;
    if written.complete > 0 {
        out.warn(&format!(
            "{} complete configs in {} contain keys and the pull secret: serve them to the machines only, and only during the \
             install",
            written.complete,
            written.path.join("ignition").display()
        ));
    }
    out.info(&format!(
        "{}: scripts for {} hosts; serve it at {url} with `hardway serve --boot`, and have DHCP name what `hardway media urls --url {url}` \
         prints for it; a web server of your own has it at {url}/{BOOT_INDEX}, for whoever asks",
        written.path.display(),
        written.hosts
    ));
    Ok(Exit::Done)
}
