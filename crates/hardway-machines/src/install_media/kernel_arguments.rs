//! The kernel arguments in an image's boot menus.
//!
//! Every boot menu (isolinux for BIOS, GRUB for EFI) has an area of the same size for them, filled up with a character
//! that the menu takes for a comment. `coreos/kargs.json` says where; images of 2021 have a header in the system area
//! instead (coreos-installer `src/live/embed.rs`).

use std::fmt;

use serde::Deserialize;

use super::error::MediaError;
use super::iso9660::{Extent, Image, SYSTEM_AREA, Volume, bytes};
use super::patch::Patch;

/// The arguments of an image, and where they are kept.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct KernelArguments {
    /// What the image was made with.
    pub(super) default: String,
    /// What is there.
    pub(super) current: String,
    /// Of each area, in bytes.
    pub(super) size: usize,
    areas: Vec<Area>,
}

/// What to do with the arguments, in this order: delete, append, replace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelArgumentEdits {
    /// Arguments to take away, whole.
    pub delete: Vec<String>,
    /// Arguments to put at the end.
    pub append: Vec<String>,
    /// `KEY=OLD=NEW`.
    pub replace: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Area {
    offset: u64,
    end: u8,
    pad: u8,
}

#[derive(Deserialize)]
struct Description {
    default: String,
    files: Vec<DescribedArea>,
    size: usize,
}

#[derive(Deserialize)]
struct DescribedArea {
    path: String,
    offset: u64,
    #[serde(default = "newline")]
    end: char,
    #[serde(default = "hash")]
    pad: char,
}

const FILE: &str = "coreos/kargs.json";
/// The kernel takes no longer command line on x86.
const LARGEST_AREA: usize = 2048;
const LARGEST_FILE: u64 = 64 << 10;
const MOST_AREAS: usize = 6;
/// The old header: before the 24 bytes of another one at the end of the system area.
const HEADER: Extent = Extent { offset: SYSTEM_AREA - 24 - 72, length: 72 };
const HEADER_MAGIC: &[u8] = b"coreKarg";

impl fmt::Debug for KernelArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} in {} areas of {} bytes", self.current, self.areas.len(), self.size)
    }
}

impl KernelArguments {
    /// Finds the areas and reads them. `None` for an image without any, such as that of an old release.
    pub(super) fn find(volume: &Volume, image: &mut dyn Image) -> Result<Option<Self>, MediaError> {
        match volume.contents(image, FILE, LARGEST_FILE)? {
            Some(json) => Self::described(volume, image, &json).map(Some),
            None => Self::in_system_area(volume, image),
        }
    }

    /// Changes what is there.
    pub(super) fn edit(&mut self, edits: &KernelArgumentEdits) -> Result<(), MediaError> {
        let arguments = edits.apply(&self.current)?;
        self.set(arguments)
    }

    /// Back to what the image was made with.
    pub(super) fn reset(&mut self) {
        self.current.clone_from(&self.default);
    }

    /// The bytes of every area.
    pub(super) fn patches(&self) -> Vec<Patch> {
        let patch = |area: &Area| {
            let mut bytes = self.current.clone().into_bytes();
            bytes.push(area.end);
            bytes.resize(self.size, area.pad);
            Patch { offset: area.offset, bytes }
        };
        self.areas.iter().map(patch).collect()
    }

    fn set(&mut self, arguments: String) -> Result<(), MediaError> {
        // The character at the end must fit, too.
        if arguments.len() >= self.size {
            let needed = arguments.len() + 1;
            return Err(MediaError::KernelArgumentsTooLong { needed, capacity: self.size });
        }
        self.current = arguments;
        Ok(())
    }

    fn described(volume: &Volume, image: &mut dyn Image, json: &[u8]) -> Result<Self, MediaError> {
        let wrong = |reason: String| MediaError::Description { file: FILE, reason };
        let description: Description =
            serde_json::from_slice(json).map_err(|error| wrong(error.to_string()))?;
        if description.files.is_empty() || description.size > LARGEST_AREA {
            return Err(wrong(format!("{} areas of {} bytes", description.files.len(), description.size)));
        }
        if description.default.len() >= description.size {
            return Err(wrong("its default does not fit into its areas".to_owned()));
        }
        let mut areas = Vec::new();
        for DescribedArea { path, offset, end, pad } in description.files {
            let file = volume.find(image, &path)?.ok_or_else(|| wrong(format!("there is no {path}")))?;
            let (Ok(end), Ok(pad)) = (u8::try_from(end), u8::try_from(pad)) else {
                return Err(wrong(format!("{path} contains non-ASCII bytes")));
            };
            let place = file.piece(offset, description.size as u64, &path)?;
            areas.push(Area { offset: place.offset, end, pad });
        }
        Self::read(image, description.default, description.size, areas)
    }

    fn in_system_area(volume: &Volume, image: &mut dyn Image) -> Result<Option<Self>, MediaError> {
        let header = bytes(image, HEADER)?;
        let (magic, numbers) = header.split_at(8);
        if magic != HEADER_MAGIC {
            return Ok(None);
        }
        let mut numbers =
            numbers.chunks_exact(8).map(|eight| eight.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)));
        let (size, default) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
        let size = usize::try_from(size).ok().filter(|size| *size <= LARGEST_AREA).ok_or_else(|| {
            MediaError::Damaged(format!("the system area names areas of {size} bytes for kernel arguments"))
        })?;
        let whole = Extent { offset: 0, length: volume.length };
        let place = whole.piece(default, size as u64, "the default kernel arguments")?;
        let default = Area { offset: place.offset, end: b'\n', pad: b'#' };
        let areas: Vec<Area> = numbers
            .take(MOST_AREAS)
            .take_while(|offset| *offset != 0)
            .map(|offset| whole.piece(offset, size as u64, "an area for kernel arguments"))
            .map(|place| place.map(|place| Area { offset: place.offset, ..default }))
            .collect::<Result<_, _>>()?;
        if areas.is_empty() {
            return Err(MediaError::Damaged(
                "the system area names no areas for kernel arguments".to_owned(),
            ));
        }
        let default = default.text(image, size)?;
        Self::read(image, default, size, areas).map(Some)
    }

    /// All areas must say the same: which of them counts depends on the machine.
    fn read(
        image: &mut dyn Image,
        default: String,
        size: usize,
        areas: Vec<Area>,
    ) -> Result<Self, MediaError> {
        let mut texts = areas.iter().map(|area| area.text(image, size)).collect::<Result<Vec<_>, _>>()?;
        let first = texts.remove(0);
        if let Some((other, area)) = texts.into_iter().zip(&areas[1..]).find(|(text, _)| *text != first) {
            return Err(MediaError::KernelArgumentsDiffer { first, offset: area.offset, other });
        }
        Ok(Self { default, current: first, size, areas })
    }
}

impl Area {
    fn text(self, image: &mut dyn Image, size: usize) -> Result<String, MediaError> {
        let bytes = bytes(image, Extent { offset: self.offset, length: size as u64 })?;
        let text = String::from_utf8(bytes).map_err(|_| {
            MediaError::Damaged(format!("the kernel arguments at byte {} are not text", self.offset))
        })?;
        let text = text.trim_end_matches(char::from(self.pad)).trim_end_matches(char::from(self.end));
        Ok(text.trim().to_owned())
    }
}

impl KernelArgumentEdits {
    /// The arguments after the edits.
    pub fn apply(&self, arguments: &str) -> Result<String, MediaError> {
        let mut words: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
        for argument in &self.delete {
            let argument = sound(argument)?;
            let before = words.len();
            words.retain(|word| word != argument);
            if words.len() == before {
                return Err(refused(argument, "cannot delete it: no such argument"));
            }
        }
        for argument in &self.append {
            words.push(sound(argument)?.to_owned());
        }
        for edit in &self.replace {
            let parts: Vec<&str> = sound(edit)?.split('=').collect();
            let [key, old, new] = parts[..] else {
                return Err(refused(edit, "to replace one, write KEY=OLD=NEW"));
            };
            let (old, new) = (format!("{key}={old}"), format!("{key}={new}"));
            if !words.contains(&old) {
                return Err(refused(&old, "cannot replace it: no such argument"));
            }
            words.iter_mut().filter(|word| **word == old).for_each(|word| word.clone_from(&new));
        }
        Ok(words.join(" "))
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One word of printable ASCII: a line break would end the line of the boot menu, and what follows would be a command of
/// it.
fn sound(argument: &str) -> Result<&str, MediaError> {
    let argument = argument.trim();
    if argument.is_empty() || !argument.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(refused(argument, "expected one word of printable ASCII characters"));
    }
    Ok(argument)
}

fn refused(argument: &str, reason: &'static str) -> MediaError {
    MediaError::KernelArgument { argument: argument.to_owned(), reason }
}

fn newline() -> char {
    '\n'
}

fn hash() -> char {
    '#'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(delete: &[&str], append: &[&str], replace: &[&str]) -> KernelArgumentEdits {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        KernelArgumentEdits { delete: owned(delete), append: owned(append), replace: owned(replace) }
    }

    #[test]
    fn arguments_are_deleted_appended_and_replaced_in_this_order() {
        let before = "coreos.liveiso=x console=tty0 quiet quiet";
        let after = edits(&["quiet"], &["console=ttyS0", "a=b=c"], &["console=tty0=tty1"]).apply(before);
        assert_eq!(after.unwrap(), "coreos.liveiso=x console=tty1 console=ttyS0 a=b=c");
        assert_eq!(edits(&[], &[], &[]).apply("  a  b ").unwrap(), "a b");
    }

    #[test]
    fn what_would_do_nothing_or_harm_is_refused() {
        for wrong in [
            edits(&["nosmt"], &[], &[]),
            edits(&[], &[], &["console=tty9=tty1"]),
            edits(&[], &[], &["console=tty0"]),
            edits(&[], &["a\nconfigfile /evil"], &[]),
            edits(&[], &["two words"], &[]),
            edits(&[], &[""], &[]),
            edits(&[], &["ü"], &[]),
        ] {
            let error = wrong.apply("console=tty0").unwrap_err();
            assert!(matches!(error, MediaError::KernelArgument { .. }), "{error}");
        }
    }
}
