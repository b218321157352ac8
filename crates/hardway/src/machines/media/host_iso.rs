//! The install medium of each host: the live system, with the host's config embedded.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use hardway_assets::ignition::host_keyfile;
use hardway_assets::install_media::{LiveConfig, Script, When};
use hardway_assets::inventory::Host;
use hardway_machines::install_media::{LiveIso, MediaError};

use super::base_image;
use super::host_config::HostConfig;
use super::live_iso::{LiveEdits, given, make_folder, open, read, unusable};
use super::media_site::MediaSite;
use crate::inputs::{FolderLock, Workdir};
use crate::project::{Forecast, Project};
use crate::report::{Code, Report};
use crate::terminal::Output;

/// Which media, made from what.
#[derive(Debug)]
pub(crate) struct HostIsoOptions {
    /// Names of hosts; of no use with `is_for_all`.
    pub(crate) hosts: Vec<String>,
    pub(crate) is_for_all: bool,
    /// The image that they are made from, in place of the release's.
    pub(crate) image: Option<PathBuf>,
    pub(crate) release_dir: Option<PathBuf>,
    /// A config in place of what the folder has for the one host.
    pub(crate) config: Option<PathBuf>,
    /// Where configs are served that do not fit.
    pub(crate) ignition_url: Option<String>,
    /// Whether a pointer is embedded although the config would fit.
    pub(crate) is_pointer: bool,
    pub(crate) live: LiveEdits,
    /// A config for the live system, beside ours.
    pub(crate) live_ignition: Option<PathBuf>,
    pub(crate) before_install: Vec<PathBuf>,
    pub(crate) after_install: Vec<PathBuf>,
    /// Kernel arguments of the installed system.
    pub(crate) append_kernel_arguments: Vec<String>,
    pub(crate) delete_kernel_arguments: Vec<String>,
    /// The folder that they are written to, in place of `media`.
    pub(crate) to: Option<PathBuf>,
    /// Nothing is written.
    pub(crate) only_looks: bool,
}

/// What a host's medium carries.
pub(crate) struct HostIso {
    pub(crate) path: PathBuf,
    /// Where the config comes from, if the medium has only a pointer.
    pub(crate) pointer: Option<String>,
    pub(crate) used: u64,
    pub(crate) capacity: u64,
}

/// A host's name, and its ISO or why there is none.
pub(crate) type MadeIso = (String, Result<HostIso, Report>);

/// An ISO for each host, several at a time; each is made, or says why not.
pub(crate) fn host_isos(
    workdir: &Workdir,
    options: &HostIsoOptions,
    out: &Output,
) -> Result<Vec<MadeIso>, Report> {
    let release_dir = options.release_dir.as_deref();
    let site = MediaSite::open(workdir, release_dir, out)?;
    let hosts = wanted(&site, options)?;
    if options.config.is_none() {
        warn_if_stale(site.project()?, out);
    }
    let image = base_image::find(options.image.as_deref(), workdir, release_dir, &site, out)?;
    let maker = Maker::new(&site, options, &image)?;
    let folder = options.to.clone().unwrap_or_else(|| workdir.path(base_image::FOLDER));
    let _held = if options.only_looks { None } else { Some(FolderLock::take(workdir)?) };
    if !options.only_looks {
        make_folder(&folder)?;
        if options.to.is_none() {
            sweep(&folder);
        }
    }
    let made = maker.make_all(&hosts, &folder);
    Ok(hosts.iter().map(|host| host.name.clone()).zip(made).collect())
}

fn wanted<'p>(site: &'p MediaSite, options: &HostIsoOptions) -> Result<Vec<&'p Host>, Report> {
    let hosts = &site.cluster().inventory.hosts;
    let unknown: Vec<&str> = options
        .hosts
        .iter()
        .filter(|name| hosts.iter().all(|host| host.name != **name))
        .map(String::as_str)
        .collect();
    if !unknown.is_empty() {
        let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
        return Err(Report::new(Code::Usage, format!("no host {} in the inventory", unknown.join(" or ")))
            .fix(format!("hosts in the inventory: {}", names.join(", "))));
    }
    Ok(hosts.iter().filter(|host| options.is_for_all || options.hosts.contains(&host.name)).collect())
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
    site: &'m MediaSite,
    options: &'m HostIsoOptions,
    image: &'m Path,
    base: LiveIso,
    scripts: Vec<Script>,
    user_config: Option<Vec<u8>>,
    /// In place of what the folder has.
    given: Option<Vec<u8>>,
}

impl<'m> Maker<'m> {
    fn new(site: &'m MediaSite, options: &'m HostIsoOptions, image: &'m Path) -> Result<Self, Report> {
        let mut base = open(image)?;
        if !base.is_pristine() {
            let what = format!("{} already has something embedded", image.display());
            return Err(Report::new(Code::MediaUnusable, what)
                .fix("use the image as downloaded, or clean it with `hardway media remove ISO --to FILE`"));
        }
        if !base.features().installer_config {
            return Err(unusable(image, &MediaError::Unsupported("settings for the installer")));
        }
        options.live.apply(&mut base, image)?;
        let mut scripts = Vec::new();
        for (when, files) in
            [(When::BeforeInstall, &options.before_install), (When::AfterInstall, &options.after_install)]
        {
            for file in files {
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                scripts.push(Script { when, name, text: read(file)? });
            }
        }
        let user_config = options.live_ignition.as_deref().map(read).transpose()?;
        let given = given(options.config.as_deref(), &options.hosts)?;
        Ok(Self { site, options, image, base, scripts, user_config, given })
    }

    /// As many at a time as there are processors: packing takes one each, and copying takes the disk.
    fn make_all(&self, hosts: &[&Host], folder: &Path) -> Vec<Result<HostIso, Report>> {
        let workers = std::thread::available_parallelism().map_or(1, NonZero::get).min(hosts.len());
        let next = AtomicUsize::new(0);
        let work = || {
            let mut made = Vec::new();
            while let Some(host) = hosts.get(next.fetch_add(1, Ordering::Relaxed)) {
                made.push((host.name.clone(), self.make(host, folder)));
            }
            made
        };
        let mut all: Vec<(String, Result<HostIso, Report>)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("no thread panics")).collect()
        });
        let place = |name: &str| hosts.iter().position(|host| host.name == name);
        all.sort_by_key(|(name, _)| place(name));
        all.into_iter().map(|(_, made)| made).collect()
    }

    fn make(&self, host: &Host, folder: &Path) -> Result<HostIso, Report> {
        let config = match (&self.given, &self.options.config) {
            (Some(given), Some(path)) => HostConfig::given(path, given),
            _ => HostConfig::find(self.site.project()?, host)?,
        };
        let mut iso = self.base.clone();
        let (name, text) = host_keyfile(self.site.cluster(), host);
        iso.set_keyfile(&name, text.into_bytes()).map_err(|error| unusable(self.image, &error))?;
        let url = self.options.ignition_url.as_deref();
        let mut pointer = match self.options.is_pointer {
            true => Some(config.pointer(self.site.tree(), host, url)?.ok_or_else(|| no_pointer(host))?),
            false => None,
        };
        let bytes = pointer.as_ref().map_or(config.bytes, |pointer| &pointer.bytes);
        iso.set_ignition(self.live_config(host, &config, bytes)?);
        let prepared = match iso.prepare() {
            Ok(prepared) => prepared,
            Err(error) => {
                let small = config.pointer(self.site.tree(), host, url)?;
                let small = small.filter(|_| matches!(error, MediaError::AreaTooSmall { .. }));
                let small = small.ok_or_else(|| unusable(self.image, &error))?;
                iso.set_ignition(self.live_config(host, &config, &small.bytes)?);
                pointer = Some(small);
                iso.prepare().map_err(|error| unusable(self.image, &error))?
            }
        };
        let path = folder.join(format!("{}.iso", host.name));
        if !self.options.only_looks {
            prepared.write(&path).map_err(|error| unusable(self.image, &error))?;
        }
        let pointer = pointer.map(|pointer| pointer.from);
        Ok(HostIso { path, pointer, used: prepared.used(), capacity: iso.capacity() })
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
            append_kernel_arguments: &self.options.append_kernel_arguments,
            delete_kernel_arguments: &self.options.delete_kernel_arguments,
            scripts: &self.scripts,
            ssh_key: &self.site.cluster().config.ssh_key,
            user_config: self.user_config.as_deref(),
        };
        live.write().map_err(|error| Report::from_error(Code::Usage, &error))
    }
}

fn no_pointer(host: &Host) -> Report {
    Report::new(Code::Usage, format!("{} has no pointer: inventory.yaml names no ignition server", host.name))
        .fix("set ignitionServer.url and run `hardway create ignition-configs`, or leave out --pointer")
}
