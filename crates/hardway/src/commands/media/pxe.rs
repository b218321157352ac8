//! `hardway media pxe`

use hardway_machines::install_media::BOOT_INDEX;

use crate::cli::{Global, PxeArgs};
use crate::inputs::Workdir;
use crate::machines::media::{BootFolderOptions, boot_folder};
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// Writes the folder: scripts, what they load, and configs unless those are served elsewhere.
pub(super) fn run(global: &Global, args: &PxeArgs, out: &Output) -> Result<Exit, Report> {
    let url = args.url.trim_end_matches('/');
    if !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme))
        || url.contains(char::is_whitespace)
    {
        let what = format!("{url:?} is no URL that machines can boot from: http:// or https:// is wanted");
        return Err(Report::new(Code::Usage, what));
    }
    let options = BootFolderOptions {
        url,
        hosts: &args.host,
        image: args.source.iso.as_deref(),
        release_dir: args.source.release_dir.as_deref(),
        config: args.config.as_deref(),
        ignition_url: args.source.ignition_url.as_deref(),
        to: args.to.as_deref(),
    };
    let written = boot_folder(&Workdir::open(&global.dir)?, &options, out)?;
    if written.complete > 0 {
        out.warn(&format!(
            "{} complete configs lie in {}: they hold keys and the pull secret; serve them to the machines alone, and only as long as it takes",
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
