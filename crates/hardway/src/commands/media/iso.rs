//! `hardway media iso`

use crate::cli::{Global, HostIsoArgs};
use crate::inputs::Workdir;
use crate::machines::media::{HostIsoOptions, MadeIso, host_isos};
use crate::report::{Exit, Report};
use crate::server::media_paths;
use crate::terminal::Output;

/// Writes an ISO for each host; all that goes wrong is told at once.
pub(super) fn run(global: &Global, args: &HostIsoArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let made = host_isos(&workdir, &args.options(), out)?;
    if !args.dry_run && made.iter().any(|(_, made)| made.is_ok()) {
        // From now on it can be asked where they will be served.
        media_paths(&workdir)?;
    }
    tell(made, args.dry_run, out)
}

impl HostIsoArgs {
    fn options(&self) -> HostIsoOptions {
        HostIsoOptions {
            hosts: self.host.clone(),
            is_for_all: self.all,
            image: self.source.iso.clone(),
            release_dir: self.source.release_dir.clone(),
            config: self.config.clone(),
            ignition_url: self.source.ignition_url.clone(),
            is_pointer: self.pointer,
            live: self.live.edits(),
            live_ignition: self.live_ignition.clone(),
            before_install: self.pre_install.clone(),
            after_install: self.post_install.clone(),
            append_kernel_arguments: self.dest_karg_append.clone(),
            delete_kernel_arguments: self.dest_karg_delete.clone(),
            to: self.to.clone(),
            only_looks: self.dry_run,
        }
    }
}

fn tell(made: Vec<MadeIso>, dry_run: bool, out: &Output) -> Result<Exit, Report> {
    let (mut failed, all) = (Vec::new(), made.len());
    for (host, made) in made {
        match made {
            Ok(made) => {
                let verb = if dry_run { "would be written" } else { "written" };
                let carries = match made.pointer {
                    Some(from) => format!("a pointer with a hash ({from})"),
                    None => "the complete config".to_owned(),
                };
                let (path, used, capacity) = (made.path.display(), made.used, made.capacity);
                out.info(&format!("{path}: {verb}, with {carries}, {used} of {capacity} bytes"));
            }
            Err(report) => failed.push((host, report)),
        }
    }
    let count = failed.len();
    let Some((_, first)) = failed.iter().max_by_key(|(_, report)| report.exit) else { return Ok(Exit::Done) };
    if count == 1 {
        return Err(failed.remove(0).1);
    }
    let (code, exit, fix) = (first.code, first.exit, first.fix.clone());
    let evidence = failed.iter().map(|(host, report)| format!("{host}: {}", report.what));
    let what = format!("{count} of {all} media could not be made");
    Err(Report { code, exit, what, evidence: evidence.collect(), fix })
}
