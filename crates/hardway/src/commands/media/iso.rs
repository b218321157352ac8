//! `hardway media iso`

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use hardway_assets::ignition::host_keyfile;
use hardway_assets::install_media::{LiveConfig, Script, When};
use hardway_assets::inventory::Host;
use hardway_machines::install_media::{LiveIso, MediaError};

use super::host_config::HostConfig;
use super::{base_image, given, make_folder, open, read, unusable};
use crate::cli::{Global, HostIsoArgs};
use crate::inputs::{FolderLock, Workdir};
use crate::project::{Checked, Forecast, Project};
use crate::release::Reach;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// Writes an ISO for each host, several at a time; all that goes wrong is told at once.
pub(super) fn run(global: &Global, args: &HostIsoArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let checked = Checked::load(&workdir, Reach::Here(args.source.release_dir.as_deref()), out)?;
    let project = Project::load(&workdir, checked)?;
    let hosts = wanted(&project, args)?;
    if args.config.is_none() {
        warn_if_stale(&project, out);
    }
    let release_dir = args.source.release_dir.as_deref();
    let image = base_image::find(args.source.iso.as_deref(), &workdir, release_dir, &project, out)?;
    let maker = Maker::new(&project, args, &image)?;
    let folder = args.to.clone().unwrap_or_else(|| workdir.path(base_image::FOLDER));
    let _held = if args.dry_run { None } else { Some(FolderLock::take(&workdir)?) };
    if !args.dry_run {
        make_folder(&folder)?;
        if args.to.is_none() {
            sweep(&folder);
        }
    }
    let made = maker.make_all(&hosts, &folder);
    tell(&hosts, made, args.dry_run, out)
}

fn wanted<'p>(project: &'p Project, args: &HostIsoArgs) -> Result<Vec<&'p Host>, Report> {
    let hosts = &project.cluster().inventory.hosts;
    let unknown: Vec<&str> = args
        .host
        .iter()
        .filter(|name| hosts.iter().all(|host| host.name != **name))
        .map(String::as_str)
        .collect();
    if !unknown.is_empty() {
        let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
        return Err(Report::new(Code::Usage, format!("no host is called {}", unknown.join(" or ")))
            .fix(format!("the inventory has: {}", names.join(", "))));
    }
    Ok(hosts.iter().filter(|host| args.all || args.host.contains(&host.name)).collect())
}

/// A medium carries what lies in the folder, whether or not that is still what the inputs say.
fn warn_if_stale(project: &Project, out: &Output) {
    let forecast = Forecast::of(project, |_| true);
    if forecast.is_ok_and(|forecast| !forecast.plan.writes.is_empty() || !forecast.render.is_empty()) {
        out.warn("the working folder is not up to date: run `hardway create ignition-configs` first, and `hardway status` to see why");
    }
}

/// Unfinished images of a run that was cut off; nobody else works in our own folder now.
fn sweep(folder: &Path) {
    for entry in fs_err::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(".hardway-") {
            let _ = fs_err::remove_file(entry.path());
        }
    }
}

/// Everything that is the same for all hosts.
struct Maker<'m> {
    project: &'m Project,
    args: &'m HostIsoArgs,
    image: &'m Path,
    base: LiveIso,
    scripts: Vec<Script>,
    user_config: Option<Vec<u8>>,
    /// In place of what the folder has.
    given: Option<Vec<u8>>,
}

/// What a host's medium carries.
struct Made {
    path: PathBuf,
    /// Where the config comes from, if the medium has only a pointer.
    pointer: Option<String>,
    used: u64,
    capacity: u64,
}

impl<'m> Maker<'m> {
    fn new(project: &'m Project, args: &'m HostIsoArgs, image: &'m Path) -> Result<Self, Report> {
        let mut base = open(image)?;
        if !base.is_pristine() {
            let what = format!("{} has something embedded already", image.display());
            return Err(Report::new(Code::MediaUnusable, what)
                .fix("take the image as downloaded, or `hardway media remove ISO --to FILE`"));
        }
        if !base.features().installer_config {
            return Err(unusable(image, &MediaError::Unsupported("settings for the installer")));
        }
        args.live.apply(&mut base, image)?;
        let mut scripts = Vec::new();
        for (when, files) in
            [(When::BeforeInstall, &args.pre_install), (When::AfterInstall, &args.post_install)]
        {
            for file in files {
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                scripts.push(Script { when, name, text: read(file)? });
            }
        }
        let user_config = args.live_ignition.as_deref().map(read).transpose()?;
        let given = given(args.config.as_deref(), &args.host)?;
        Ok(Self { project, args, image, base, scripts, user_config, given })
    }

    /// As many at a time as there are processors: packing takes one each, and copying takes the disk.
    fn make_all(&self, hosts: &[&Host], folder: &Path) -> Vec<Result<Made, Report>> {
        let workers = std::thread::available_parallelism().map_or(1, NonZero::get).min(hosts.len());
        let next = AtomicUsize::new(0);
        let work = || {
            let mut made = Vec::new();
            while let Some(host) = hosts.get(next.fetch_add(1, Ordering::Relaxed)) {
                made.push((host.name.clone(), self.make(host, folder)));
            }
            made
        };
        let mut all: Vec<(String, Result<Made, Report>)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("no thread panics")).collect()
        });
        let place = |name: &str| hosts.iter().position(|host| host.name == name);
        all.sort_by_key(|(name, _)| place(name));
        all.into_iter().map(|(_, made)| made).collect()
    }

    fn make(&self, host: &Host, folder: &Path) -> Result<Made, Report> {
        let config = match (&self.given, &self.args.config) {
            (Some(given), Some(path)) => HostConfig::given(path, given),
            _ => HostConfig::find(self.project, host)?,
        };
        let mut iso = self.base.clone();
        let (name, text) = host_keyfile(self.project.cluster(), host);
        iso.set_keyfile(&name, text.into_bytes()).map_err(|error| unusable(self.image, &error))?;
        let url = self.args.source.ignition_url.as_deref();
        let mut pointer = match self.args.pointer {
            true => Some(config.pointer(self.project.tree(), host, url)?.ok_or_else(|| no_pointer(host))?),
            false => None,
        };
        let bytes = pointer.as_ref().map_or(config.bytes, |pointer| &pointer.bytes);
        iso.set_ignition(self.live_config(host, &config, bytes)?);
        let prepared = match iso.prepare() {
            Ok(prepared) => prepared,
            Err(error) => {
                let small = config.pointer(self.project.tree(), host, url)?;
                let small = small.filter(|_| matches!(error, MediaError::AreaTooSmall { .. }));
                let small = small.ok_or_else(|| unusable(self.image, &error))?;
                iso.set_ignition(self.live_config(host, &config, &small.bytes)?);
                pointer = Some(small);
                iso.prepare().map_err(|error| unusable(self.image, &error))?
            }
        };
        let path = folder.join(format!("{}.iso", host.name));
        if !self.args.dry_run {
            prepared.write(&path).map_err(|error| unusable(self.image, &error))?;
        }
        let pointer = pointer.map(|pointer| pointer.from);
        Ok(Made { path, pointer, used: prepared.used(), capacity: iso.capacity() })
    }

    /// A config that bootstraps in place is the live system's own.
    fn live_config(&self, host: &Host, config: &HostConfig<'_>, bytes: &[u8]) -> Result<Vec<u8>, Report> {
        if config.is_live {
            return Ok(bytes.to_vec());
        }
        let Some(disk) = &host.install_disk else {
            let what = format!(
                "{} has no installDisk: the installer must be told which disk to overwrite",
                host.name
            );
            return Err(Report::new(Code::InventoryInvalid, what));
        };
        let live = LiveConfig {
            disk,
            config: bytes,
            copy_network: true,
            append_kernel_arguments: &self.args.dest_karg_append,
            delete_kernel_arguments: &self.args.dest_karg_delete,
            scripts: &self.scripts,
            ssh_key: &self.project.cluster().config.ssh_key,
            user_config: self.user_config.as_deref(),
        };
        live.write().map_err(|error| Report::from_error(Code::Usage, &error))
    }
}

fn no_pointer(host: &Host) -> Report {
    Report::new(Code::Usage, format!("{} has no pointer: inventory.yaml names no ignition server", host.name))
        .fix("set ignitionServer.url and run `hardway create ignition-configs`, or leave out --pointer")
}

fn tell(
    hosts: &[&Host],
    made: Vec<Result<Made, Report>>,
    dry_run: bool,
    out: &Output,
) -> Result<Exit, Report> {
    let mut failed = Vec::new();
    for (host, made) in hosts.iter().zip(made) {
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
            Err(report) => failed.push((host.name.as_str(), report)),
        }
    }
    let count = failed.len();
    let Some((_, first)) = failed.iter().max_by_key(|(_, report)| report.exit) else { return Ok(Exit::Done) };
    if count == 1 {
        return Err(failed.remove(0).1);
    }
    let (code, exit, fix) = (first.code, first.exit, first.fix.clone());
    let evidence = failed.iter().map(|(host, report)| format!("{host}: {}", report.what));
    let what = format!("{count} of {} media could not be made", hosts.len());
    Err(Report { code, exit, what, evidence: evidence.collect(), fix })
}
