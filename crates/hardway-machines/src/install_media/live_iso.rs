//! A CoreOS live ISO: what is embedded in it, and copies of it with something else embedded.
//!
//! An image has a file of zeros, `images/ignition.img`, that the boot menus load as one more initramfs. What is written
//! there is part of the live system: `config.ign` is its Ignition config, files in `etc/coreos-firstboot-network` are its
//! network (coreos-installer `src/live/embed.rs`). Nothing in an image is covered by a checksum.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::error::MediaError;
use super::initrd::Initrd;
use super::iso9660::{Extent, Image, Volume, bytes};
use super::kernel_arguments::{KernelArgumentEdits, KernelArguments};
use super::patch::{self, Patch};

/// An image and the changes that a copy of it shall have.
#[derive(Clone, Debug)]
pub struct LiveIso {
    path: PathBuf,
    volume: String,
    area: Extent,
    used: u64,
    features: Features,
    found: Contents,
    wanted: Contents,
}

/// A copy that is ready to be written.
#[derive(Clone, Debug)]
pub struct Prepared {
    image: PathBuf,
    used: u64,
    patches: Vec<Patch>,
}

/// What can differ between an image and a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Contents {
    initrd: Initrd,
    arguments: Option<KernelArguments>,
}

/// What the OS on the image says it can do (`coreos/features.json`).
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, rename_all = "kebab-case")]
pub struct Features {
    /// The installer reads its settings from `/etc/coreos/installer.d`.
    pub installer_config: bool,
    /// The live system takes network keyfiles from the embed area.
    pub live_initrd_network: bool,
}

/// `coreos/igninfo.json`: where the embed area is.
#[derive(Deserialize)]
struct EmbedAreaInfo {
    file: String,
    #[serde(default)]
    offset: u64,
    length: Option<u64>,
}

const EMBED_AREA_INFO: &str = "coreos/igninfo.json";
const FEATURES: &str = "coreos/features.json";
/// Where it is in images that do not say.
const DEFAULT_EMBED_FILE: &str = "images/ignition.img";
const CONFIG: &str = "config.ign";
const NETWORK: &str = "etc/coreos-firstboot-network/";
const LARGEST_DESCRIPTION: u64 = 64 << 10;
/// Of embed areas that are read into memory; real ones have 256 KiB.
const LARGEST_AREA: u64 = 64 << 20;

impl LiveIso {
    /// Opens an image and reads what is embedded.
    pub fn open(path: &Path) -> Result<Self, MediaError> {
        let mut file = std::fs::File::open(path).map_err(MediaError::io(path, "read"))?;
        let named = |error| match error {
            MediaError::Io { action, source, .. } => MediaError::Io { path: path.to_owned(), action, source },
            other => other,
        };
        Ok(Self { path: path.to_owned(), ..Self::read(&mut file).map_err(named)? })
    }

    /// Reads an image from anything. A copy can only be written of one that was opened by its path.
    pub fn read(image: &mut dyn Image) -> Result<Self, MediaError> {
        let volume = Volume::read(image)?;
        let area = embed_area(&volume, image)?;
        let embedded = bytes(image, area)?;
        let used = embedded.iter().rposition(|byte| *byte != 0).map_or(0, |last| last as u64 + 1);
        let initrd = Initrd::read(&embedded).map_err(MediaError::Area)?;
        let arguments = KernelArguments::find(&volume, image)?;
        let features = match volume.contents(image, FEATURES, LARGEST_DESCRIPTION)? {
            Some(json) => described(FEATURES, &json)?,
            None => Features::default(),
        };
        let found = Contents { initrd, arguments };
        let (path, volume) = (PathBuf::new(), volume.id);
        Ok(Self { path, volume, area, used, features, wanted: found.clone(), found })
    }

    /// The name that the image gives itself, such as `rhcos-418.94.202602022246-0`.
    pub fn volume(&self) -> &str {
        &self.volume
    }

    /// What the OS on it can do.
    pub fn features(&self) -> Features {
        self.features
    }

    /// How many bytes can be embedded, compressed.
    pub fn capacity(&self) -> u64 {
        self.area.length
    }

    /// How many bytes of that are taken in the image as it is.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// The Ignition config of the live system.
    pub fn ignition(&self) -> Option<&[u8]> {
        self.wanted.initrd.get(CONFIG)
    }

    /// Embeds an Ignition config for the live system.
    pub fn set_ignition(&mut self, config: Vec<u8>) {
        self.wanted.initrd.set(CONFIG.to_owned(), config);
    }

    /// Network keyfiles, by name.
    pub fn keyfiles(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.wanted.initrd.iter().filter_map(|(path, text)| Some((path.strip_prefix(NETWORK)?, text)))
    }

    /// Embeds a NetworkManager keyfile: it counts in the live system, and with the installer's `copy-network` also at the
    /// first boot of the installed one.
    pub fn set_keyfile(&mut self, name: &str, text: Vec<u8>) -> Result<(), MediaError> {
        if !self.features.live_initrd_network {
            return Err(MediaError::Unsupported("network keyfiles in the embed area"));
        }
        if !name.ends_with(".nmconnection") || name.contains(['/', '\0']) {
            return Err(MediaError::KeyfileName(name.to_owned()));
        }
        self.wanted.initrd.set(format!("{NETWORK}{name}"), text);
        Ok(())
    }

    /// Other files that somebody embedded.
    pub fn other_files(&self) -> impl Iterator<Item = &str> {
        self.wanted
            .initrd
            .iter()
            .map(|(path, _)| path)
            .filter(|path| *path != CONFIG && !path.starts_with(NETWORK))
    }

    /// Kernel arguments of the live system: those that are there, and those it was made with. `None` when the image has no
    /// place for them.
    pub fn kernel_arguments(&self) -> Option<(&str, &str)> {
        let arguments = self.wanted.arguments.as_ref()?;
        Some((&arguments.current, &arguments.default))
    }

    /// Changes the kernel arguments in every boot menu.
    pub fn edit_kernel_arguments(&mut self, edits: &KernelArgumentEdits) -> Result<(), MediaError> {
        if edits.is_empty() {
            return Ok(());
        }
        match &mut self.wanted.arguments {
            Some(arguments) => arguments.edit(edits),
            None => {
                Err(MediaError::Unsupported("other kernel arguments: its boot menus have no room for them"))
            }
        }
    }

    /// Takes everything away that was ever embedded or changed.
    pub fn reset(&mut self) {
        self.wanted.initrd = Initrd::default();
        if let Some(arguments) = &mut self.wanted.arguments {
            arguments.reset();
        }
    }

    /// Whether it is as it was made.
    pub fn is_pristine(&self) -> bool {
        self.wanted.initrd.is_empty()
            && self.wanted.arguments.as_ref().is_none_or(|arguments| arguments.current == arguments.default)
    }

    /// Packs what shall be embedded; says whether it fits, and writes nothing yet.
    pub fn prepare(&self) -> Result<Prepared, MediaError> {
        let mut prepared = Prepared { image: self.path.clone(), used: self.used, patches: Vec::new() };
        if self.wanted.initrd != self.found.initrd {
            let mut bytes = self.wanted.initrd.write();
            let (needed, capacity) = (bytes.len() as u64, self.area.length);
            if needed > capacity {
                return Err(MediaError::AreaTooSmall { needed, capacity });
            }
            bytes.resize(usize::try_from(capacity).unwrap_or(usize::MAX), 0);
            prepared.used = needed;
            prepared.patches.push(Patch { offset: self.area.offset, bytes });
        }
        let arguments = self.wanted.arguments.as_ref();
        if let Some(arguments) = arguments.filter(|_| self.wanted.arguments != self.found.arguments) {
            prepared.patches.extend(arguments.patches());
        }
        Ok(prepared)
    }

    /// Writes a copy with the changes, complete or not at all. The image itself stays as it is.
    pub fn write(&self, to: &Path) -> Result<(), MediaError> {
        self.prepare()?.write(to)
    }
}

impl Prepared {
    /// How many bytes of the embed area it takes.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Writes the copy, complete or not at all, for its owner alone.
    pub fn write(&self, to: &Path) -> Result<(), MediaError> {
        patch::copy(&self.image, &self.patches, to)
    }
}

fn embed_area(volume: &Volume, image: &mut dyn Image) -> Result<Extent, MediaError> {
    let description = volume.contents(image, EMBED_AREA_INFO, LARGEST_DESCRIPTION)?;
    let info = match &description {
        Some(json) => described(EMBED_AREA_INFO, json)?,
        None => EmbedAreaInfo { file: DEFAULT_EMBED_FILE.to_owned(), offset: 0, length: None },
    };
    let file = match (volume.find(image, &info.file)?, description) {
        (Some(file), _) => file,
        (None, None) => return Err(MediaError::NotCoreOs { volume: volume.id.clone() }),
        (None, Some(_)) => {
            let reason = format!("there is no {}", info.file);
            return Err(MediaError::Description { file: EMBED_AREA_INFO, reason });
        }
    };
    let length = info.length.unwrap_or_else(|| file.length.saturating_sub(info.offset));
    let area = file.piece(info.offset, length, "the embed area")?;
    if length == 0 || length > LARGEST_AREA {
        let reason = format!("an embed area of {length} bytes");
        return Err(MediaError::Description { file: EMBED_AREA_INFO, reason });
    }
    Ok(area)
}

fn described<T: for<'d> Deserialize<'d>>(file: &'static str, json: &[u8]) -> Result<T, MediaError> {
    serde_json::from_slice(json).map_err(|error| MediaError::Description { file, reason: error.to_string() })
}
