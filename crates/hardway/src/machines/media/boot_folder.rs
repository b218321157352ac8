//! The folder that machines boot from over the network: scripts, what they load, and configs unless those are served elsewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hardway_assets::File;
use hardway_assets::install_media::{BootFiles, Mac, boot_index, boot_script};
use hardway_assets::inventory::{Host, Role};
use hardway_assets::work_paths;
use hardway_machines::install_media::{BOOT_HOSTS, BOOT_INDEX, extract_pxe_files};

use super::base_image;
use super::host_config::HostConfig;
use super::live_iso::{given, make_folder, unusable};
use super::media_site::MediaSite;
use crate::inputs::Workdir;
use crate::report::{Code, Report};
use crate::terminal::Output;

/// For whom, and from what.
#[derive(Debug)]
pub(crate) struct BootFolderOptions<'o> {
    /// Where machines find the folder, without a slash at its end.
    pub(crate) url: &'o str,
    /// Names of hosts; none for all of them.
    pub(crate) hosts: &'o [String],
    /// The image that is booted, in place of the release's.
    pub(crate) image: Option<&'o Path>,
    pub(crate) release_dir: Option<&'o Path>,
    /// A config in place of what the folder has for the one host.
    pub(crate) config: Option<&'o Path>,
    /// Where configs are served, if not from this folder.
    pub(crate) ignition_url: Option<&'o str>,
    /// The folder, in place of `pxe`.
    pub(crate) to: Option<&'o Path>,
}

/// What was written.
pub(crate) struct BootFolder {
    pub(crate) path: PathBuf,
    /// Hosts that have a script now.
    pub(crate) hosts: usize,
    /// Configs that hold everything.
    pub(crate) complete: usize,
}

/// Writes the folder.
pub(crate) fn boot_folder(
    workdir: &Workdir,
    options: &BootFolderOptions<'_>,
    out: &Output,
) -> Result<BootFolder, Report> {
    let release_dir = options.release_dir;
    let site = MediaSite::open(workdir, release_dir, out)?;
    let hosts = bootable(&site, options.hosts)?;
    let given = given(options.config, options.hosts)?;
    let image = base_image::find(options.image, workdir, release_dir, &site, out)?;
    let folder = options.to.map_or_else(|| workdir.path(work_paths::PXE), Path::to_owned);
    if given.is_none() {
        // Before a gigabyte is written.
        hosts.values().try_for_each(|host| HostConfig::find(site.project()?, host).map(drop))?;
    }
    make_folder(&folder)?;
    extract_pxe_files(&image, &folder).map_err(|error| {
        // Only goes if nothing is in it.
        let _ = std::fs::remove_dir(&folder);
        unusable(&image, &error)
    })?;
    let files = Files {
        url: options.url,
        site: &site,
        configs_at: options.ignition_url,
        given: given.as_deref(),
        is_partial: !options.hosts.is_empty(),
    };
    let complete = files.write(&hosts, &folder)?.complete;
    Ok(BootFolder { path: folder, hosts: hosts.len(), complete })
}

/// Every host, or every one that is named, has a card that it is known by, and a disk.
fn bootable<'p>(site: &'p MediaSite, named: &[String]) -> Result<BTreeMap<Mac, &'p Host>, Report> {
    let mut hosts = BTreeMap::new();
    let all = &site.cluster().inventory.hosts;
    let unknown = named.iter().filter(|name| all.iter().all(|host| host.name != **name));
    let mut faults: Vec<String> = unknown.map(|name| format!("no host {name} in the inventory")).collect();
    for host in all.iter().filter(|host| named.is_empty() || named.contains(&host.name)) {
        match host.mac.as_deref().map(str::parse::<Mac>) {
            Some(Ok(mac)) => drop(hosts.insert(mac, host)),
            _ => faults.push(format!("{} has no mac, by which its boot script is found", host.name)),
        }
        if host.install_disk.is_none() && !site.cluster().is_bootstrap_in_place() {
            faults.push(format!(
                "{} has no installDisk: the installer must be told which disk to overwrite",
                host.name
            ));
        }
    }
    if faults.is_empty() {
        return Ok(hosts);
    }
    let what = "not every host can boot from the network";
    Err(Report::new(Code::InventoryInvalid, what).evidence(faults))
}

struct Files<'f> {
    url: &'f str,
    site: &'f MediaSite,
    configs_at: Option<&'f str>,
    /// In place of what the folder has for the one host.
    given: Option<&'f [u8]>,
    /// Whether other hosts stay as they are.
    is_partial: bool,
}

struct Written {
    /// Configs that hold everything.
    complete: usize,
}

impl Files<'_> {
    fn write(&self, hosts: &BTreeMap<Mac, &Host>, folder: &Path) -> Result<Written, Report> {
        let place = Workdir::open(folder)?;
        let at = |name: &str| format!("{}/{name}", self.url);
        let files =
            BootFiles { kernel: at("vmlinuz"), initramfs: at("initrd.img"), rootfs: at("rootfs.img") };
        let mut written = Written { complete: 0 };
        let mut names = self.known(folder);
        for (mac, host) in hosts {
            let config_url = self.config(host, &place, &mut written)?;
            let script = boot_script(self.site.cluster(), host, &files, &config_url);
            place.write(&File::public(format!("ipxe/{mac}"), script))?;
            names.retain(|_, name| *name != host.name);
            names.insert(mac.to_string(), host.name.clone());
        }
        place.write(&File::public(BOOT_INDEX, boot_index(self.url)))?;
        place.write(&File::public(BOOT_HOSTS, format!("{:#}\n", serde_json::json!(names))))?;
        Ok(written)
    }

    /// Hosts that have a script already, by card.
    fn known(&self, folder: &Path) -> BTreeMap<String, String> {
        let text = fs_err::read(folder.join(BOOT_HOSTS)).ok().filter(|_| self.is_partial);
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    /// Where a host's config is: elsewhere, or in the folder, and there the pointer rather than the whole.
    fn config(&self, host: &Host, place: &Workdir, written: &mut Written) -> Result<String, Report> {
        let path = work_paths::host_config(&host.name);
        if let Some(bytes) = self.given {
            place.write(&File::secret(path.clone(), bytes.to_vec()))?;
            return Ok(format!("{}/{path}", self.url));
        }
        let config = HostConfig::find(self.site.project()?, host)?;
        if let Some(url) = self.configs_at {
            return Ok(format!("{}/{}", url.trim_end_matches('/'), config.path));
        }
        let pointer = config.pointer(self.site.tree(), host, None)?;
        let is_complete =
            pointer.is_none() && (host.role == Role::Bootstrap || config.path == path || config.is_live);
        written.complete += usize::from(is_complete);
        let bytes = pointer.map_or_else(|| config.bytes.to_vec(), |pointer| pointer.bytes);
        place.write(&File::secret(path.clone(), bytes))?;
        Ok(format!("{}/{path}", self.url))
    }
}
