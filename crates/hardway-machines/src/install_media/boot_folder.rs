//! A folder that machines boot from over HTTP, and what to answer each of them.
//!
//! ```text
//! boot.ipxe                             what DHCP names; sends every machine to its own script
//! ipxe/52-54-00-7e-00-65                the script of a machine
//! vmlinuz, initrd.img, rootfs.img       what the scripts load
//! hosts.json                            which script is whose
//! ipxe.efi                              iPXE, for firmware that boots over HTTP; not in every folder
//! ignition/master-0.ign                 what the machine's installer puts on the disk
//! ```
//!
//! Any web server can serve it. One that calls [`BootFolder::answer`] can also keep machines that are installed from
//! being installed again, and have them ask by other paths than these, which anybody can guess ([`BootFolder::moved`]).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use hardway_assets::install_media::{Mac, boot_local};
use hardway_assets::work_paths;
use hardway_base::files::Replacement;

use super::error::MediaError;
use super::iso9660::Volume;

/// The script that DHCP names.
pub const BOOT_INDEX: &str = "boot.ipxe";
/// iPXE itself, for firmware that boots over HTTP: copied here where the inventory says where it is.
pub const BOOT_EFI: &str = "ipxe.efi";
/// MAC addresses and the hosts that have them.
pub const BOOT_HOSTS: &str = "hosts.json";

/// The folder, as it was when it was opened.
#[derive(Clone, Debug)]
pub struct BootFolder {
    folder: PathBuf,
    /// Where the scripts say that the folder is; nothing of a folder that was not written by `hardway media pxe`.
    url: Option<String>,
    index: String,
    /// Host and script.
    scripts: BTreeMap<Mac, (String, String)>,
}

/// What to send back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BootAnswer {
    /// A file, as `application/octet-stream`. It is large: stream it, and answer HEAD, which the live system asks first.
    File(PathBuf),
    /// The script that installs a host, as `text/plain`. It names the host's config.
    Install {
        /// As in the inventory.
        host: String,
        /// The script.
        script: String,
    },
    /// Status 404. That of a host's config too, which is for whoever has its path.
    NotFound,
    /// An iPXE script of no host's own, as `text/plain`.
    Script(String),
}

impl BootFolder {
    /// Reads the scripts of a folder that `hardway media pxe` wrote.
    pub fn open(folder: &Path) -> Result<Self, MediaError> {
        let text = |name: &str| {
            let path = folder.join(name);
            fs_err::read_to_string(&path).map_err(MediaError::io(&path, "read"))
        };
        let hosts: BTreeMap<String, String> = serde_json::from_str(&text(BOOT_HOSTS)?)
            .map_err(|error| MediaError::Description { file: BOOT_HOSTS, reason: error.to_string() })?;
        let mut scripts = BTreeMap::new();
        for (mac, host) in hosts {
            let reason = format!("{mac:?} is not a MAC address");
            let parsed = mac.parse::<Mac>();
            let parsed = parsed.map_err(|()| MediaError::Description { file: BOOT_HOSTS, reason })?;
            scripts.insert(parsed, (host, text(&format!("ipxe/{parsed}"))?));
        }
        let index = text(BOOT_INDEX)?;
        Ok(Self { folder: folder.to_owned(), url: url_in(&index), index, scripts })
    }

    /// What a machine gets that asks for a path. `is_installed` says of a host's name whether it must not be installed
    /// again; such a machine starts from its disk, and so does one that nobody knows.
    pub fn answer(&self, path: &str, is_installed: impl Fn(&str) -> bool) -> BootAnswer {
        let path = path.split(['?', '#']).next().unwrap_or_default().trim_start_matches('/');
        if path == BOOT_INDEX {
            return BootAnswer::Script(self.index.clone());
        }
        if let Some(name) = PXE_FILES.iter().find(|name| **name == path) {
            return BootAnswer::File(self.folder.join(name));
        }
        if path == BOOT_EFI {
            return BootAnswer::File(self.folder.join(BOOT_EFI));
        }
        match path.strip_prefix("ipxe/").map(str::parse) {
            Some(Ok(mac)) => self.script(mac, is_installed),
            _ => BootAnswer::NotFound,
        }
    }

    /// A script of this folder, with everything that it loads from here under another path, and its host's config, if it is one
    /// of a host, under one more.
    pub fn moved(&self, script: &str, to: &str, config: Option<(&str, &str)>) -> String {
        let Some(url) = &self.url else { return script.to_owned() };
        let there = format!("{url}/{to}/");
        let moved = script.replace(&format!("{url}/"), &there);
        let Some((host, part)) = config else { return moved };
        moved.replace(&format!("{there}ignition/{host}.ign"), &format!("{there}{part}/{host}.ign"))
    }

    /// Where a host's config lies, whether or not it is there.
    pub fn config(&self, host: &str) -> PathBuf {
        self.folder.join(work_paths::host_config(host))
    }

    /// Hosts and the MAC addresses they are known by.
    pub fn hosts(&self) -> impl Iterator<Item = (Mac, &str)> {
        self.scripts.iter().map(|(mac, (host, _))| (*mac, host.as_str()))
    }

    fn script(&self, mac: Mac, is_installed: impl Fn(&str) -> bool) -> BootAnswer {
        match self.scripts.get(&mac) {
            Some((host, _)) if is_installed(host) => {
                BootAnswer::Script(boot_local(&format!("{host} is installed")))
            }
            Some((host, script)) => BootAnswer::Install { host: host.clone(), script: script.clone() },
            None => BootAnswer::Script(boot_local(&format!("no host has the address {mac}"))),
        }
    }
}

/// Their names in the image's folder `images/pxeboot`, and in the folder they are written to.
pub const PXE_FILES: [&str; 3] = ["vmlinuz", "initrd.img", "rootfs.img"];

/// Writes the three files to a folder, each by rename.
pub fn extract_pxe_files(image: &Path, to: &Path) -> Result<(), MediaError> {
    let mut file = File::open(image).map_err(MediaError::io(image, "read"))?;
    let volume = Volume::read(&mut file)?;
    for name in PXE_FILES {
        let extent = volume.find(&mut file, &format!("images/pxeboot/{name}"))?;
        let extent = extent.ok_or_else(|| MediaError::NotCoreOs { volume: volume.id.clone() })?;
        let path = to.join(name);
        // Anybody may read them: a web server will.
        let mut unfinished =
            Replacement::begin(&path, 0o644).map_err(MediaError::io(to, "make a temporary file"))?;
        file.seek(SeekFrom::Start(extent.offset))
            .and_then(|_| io::copy(&mut (&mut file).take(extent.length), unfinished.file()))
            .map_err(MediaError::io(&path, "write"))?;
        unfinished.commit().map_err(MediaError::io(&path, "rename"))?;
    }
    Ok(())
}

/// What stands before `/ipxe/${…}` in the script that sends machines to their own.
fn url_in(index: &str) -> Option<String> {
    let (before, _) = index.split_once("/ipxe/${")?;
    before.rsplit(char::is_whitespace).next().map(str::to_owned).filter(|url| !url.is_empty())
}

#[cfg(test)]
mod tests {
    use hardway_assets::install_media::boot_index;

    use super::*;

    fn folder() -> (tempfile::TempDir, BootFolder) {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs_err::write(dir.path().join(name), text).unwrap();
        fs_err::create_dir(dir.path().join("ipxe")).unwrap();
        write(BOOT_INDEX, "#!ipxe\nindex");
        write(BOOT_HOSTS, r#"{"52-54-00-7e-00-65": "master-0"}"#);
        write("ipxe/52-54-00-7e-00-65", "#!ipxe\nmaster-0");
        let folder = BootFolder::open(dir.path()).unwrap();
        (dir, folder)
    }

    #[test]
    fn every_machine_gets_its_own_script_until_it_is_installed() {
        let (dir, folder) = folder();
        let script = |path: &str, installed: bool| match folder.answer(path, |_| installed) {
            BootAnswer::Script(text) => text,
            BootAnswer::Install { host, script } if host == "master-0" => script,
            other => panic!("{path}: {other:?}"),
        };
        assert_eq!(script("/boot.ipxe", false), "#!ipxe\nindex");
        for mac in ["52-54-00-7e-00-65", "52:54:00:7E:00:65", "5254007e0065?x=1"] {
            assert_eq!(script(&format!("/ipxe/{mac}"), false), "#!ipxe\nmaster-0");
        }
        assert!(script("/ipxe/52-54-00-7e-00-65", true).ends_with("master-0 is installed.\nexit\n"));
        assert!(script("/ipxe/52-54-00-7e-00-66", false).ends_with("exit\n"));
        assert_eq!(folder.answer("/vmlinuz", |_| false), BootAnswer::File(dir.path().join("vmlinuz")));
        assert_eq!(folder.answer("/ipxe.efi", |_| false), BootAnswer::File(dir.path().join("ipxe.efi")));
        for path in [
            "/ignition/master-0.ign",
            "/ignition/master-1.ign",
            "/ignition/../hosts.json",
            "/",
            "/hosts.json",
            "/ipxe/",
            "/ipxe/../hosts.json",
            "/../vmlinuz",
            "/ipxe",
        ] {
            assert_eq!(folder.answer(path, |_| false), BootAnswer::NotFound, "{path}");
        }
    }

    #[test]
    fn scripts_can_lead_elsewhere() {
        let url = "http://192.168.126.1:8080";
        let (dir, plain) = folder();
        fs_err::write(dir.path().join(BOOT_INDEX), boot_index(url)).unwrap();
        let folder = BootFolder::open(dir.path()).unwrap();
        let script = format!("kernel {url}/vmlinuz a={url}/rootfs.img b={url}/ignition/m.ign c={url}0/x");
        assert_eq!(plain.moved(&script, "p", None), script, "nobody knows where it is");
        assert_eq!(
            folder.moved(&script, "p", Some(("m", "q"))),
            format!("kernel {url}/p/vmlinuz a={url}/p/rootfs.img b={url}/p/q/m.ign c={url}0/x")
        );
        assert!(folder.moved(&boot_index(url), "p", None).contains(&format!(" {url}/p/ipxe/${{netX/mac")));
    }

    #[test]
    fn a_folder_of_something_else_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(BootFolder::open(dir.path()), Err(MediaError::Io { .. })));
        fs_err::write(dir.path().join(BOOT_INDEX), "").unwrap();
        fs_err::write(dir.path().join(BOOT_HOSTS), r#"{"x": "y"}"#).unwrap();
        assert!(matches!(BootFolder::open(dir.path()), Err(MediaError::Description { .. })));
    }
}
