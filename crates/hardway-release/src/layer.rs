//! Reading files out of a layer without unpacking it: only wanted paths are kept, and nothing is written to disk
//! unless asked for.

use std::io::{BufRead, Read, Write};

use hardway_base::archive::ArchiveMember;

use crate::archive::{LayerError, LayerLimits, read_file, walk};
use crate::overlay::{LayerFiles, parents};

/// Where a single file was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FileInLayer {
    /// Its bytes were written out.
    File(u64),
    /// It is a link to another path of the image.
    Link(String),
    /// This layer deletes it.
    Deleted,
    /// Not in this layer.
    Absent,
}

/// Reads the files directly in the wanted folders (`release-manifests/`), whatever the layer is compressed with.
pub(crate) fn read_layer(
    layer: impl BufRead,
    folders: &[&str],
    limits: LayerLimits,
) -> Result<LayerFiles, LayerError> {
    let mut found = LayerFiles::default();
    let mut kept = 0;
    let mut keep = |bytes: usize, folder: &str| {
        kept += bytes as u64;
        if kept > limits.total {
            return Err(LayerError::TooMuch { what: format!("bytes in {folder}"), limit: limits.total });
        }
        Ok(())
    };
    walk(layer, limits, |path, entry| {
        if let Some((parent, name)) = marker(path) {
            // Markers elsewhere are many and tell nothing about the wanted folders.
            let hidden = if parent.is_empty() { name.to_owned() } else { format!("{parent}/{name}") };
            let is_meant = |folder: &&&str| match name {
                OPAQUE => is_or_holds(parent, folder),
                _ => is_or_holds(&hidden, folder) || hidden.starts_with(**folder),
            };
            if let Some(folder) = folders.iter().find(is_meant) {
                keep(hidden.len(), folder)?;
                let _ = match name {
                    OPAQUE => found.opaque.insert(parent.to_owned()),
                    _ => found.whiteouts.insert(hidden),
                };
            }
            return Ok(true);
        }
        if let Some(folder) = folders.iter().find(|folder| is_or_holds(path, folder)) {
            // The folder itself or one above it: a link there would move the folder.
            if !path.is_empty() && folder.trim_end_matches('/') == path && !entry.kind.is_dir() {
                return Err(LayerError::refused(path, entry));
            }
            return Ok(true);
        }
        let Some(folder) = folders.iter().find(|folder| path.starts_with(**folder)) else { return Ok(true) };
        if entry.kind.is_dir() || path[folder.len()..].contains('/') {
            return Ok(true);
        }
        let bytes = read_file(path, entry, limits.file)?;
        keep(path.len() + bytes.len(), folder)?;
        found.files.insert(path.to_owned(), bytes);
        Ok(true)
    })?;
    Ok(found)
}

/// Writes one file of a layer out, of whatever size the limit allows.
pub(crate) fn find_file(
    layer: impl BufRead,
    wanted: &str,
    limits: LayerLimits,
    out: &mut dyn Write,
) -> Result<FileInLayer, LayerError> {
    let mut found = FileInLayer::Absent;
    walk(layer, limits, |path, entry| {
        if let Some((parent, name)) = marker(path) {
            let hidden = if parent.is_empty() { name.to_owned() } else { format!("{parent}/{name}") };
            let hides = if name == OPAQUE {
                parents(wanted).any(|p| p == parent)
            } else {
                hidden == wanted || parents(wanted).any(|p| p == hidden)
            };
            if hides && found == FileInLayer::Absent {
                found = FileInLayer::Deleted;
            }
            return Ok(true);
        }
        if path != wanted {
            return Ok(true);
        }
        if entry.kind.is_symlink() || entry.kind.is_hard_link() {
            found = FileInLayer::Link(link_target(path, entry)?);
            return Ok(false);
        }
        if !entry.is_plain() {
            return Err(LayerError::refused(path, entry));
        }
        if entry.size > limits.file {
            return Err(LayerError::TooMuch { what: format!("bytes in {path}"), limit: limits.file });
        }
        found = FileInLayer::File(copy(&mut entry.data, out)?);
        Ok(false)
    })?;
    Ok(found)
}

const WHITEOUT: &str = ".wh.";
const OPAQUE: &str = ".wh..opq";

/// A whiteout's folder and the name it hides; [`OPAQUE`] hides all.
fn marker(path: &str) -> Option<(&str, &str)> {
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    Some((parent, name.strip_prefix(WHITEOUT)?))
}

/// `a` and `a/b` are or hold `a/b/`.
fn is_or_holds(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.is_empty() || folder == path || folder.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
}

/// Where a link leads, as a path below the root.
fn link_target(path: &str, entry: &ArchiveMember<'_>) -> Result<String, LayerError> {
    let is_relative = entry.kind.is_symlink() && !entry.target.starts_with('/');
    let mut parts: Vec<&str> = match path.rsplit_once('/') {
        Some((parent, _)) if is_relative => parent.split('/').collect(),
        _ => Vec::new(),
    };
    for part in entry.target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or_else(|| LayerError::PathOutside(format!("{path} -> {}", entry.target)))?;
            }
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

fn copy(from: &mut dyn Read, to: &mut dyn Write) -> Result<u64, LayerError> {
    let mut buffer = vec![0; 1 << 16];
    let mut copied = 0;
    loop {
        let n = from.read(&mut buffer).map_err(LayerError::Unreadable)?;
        if n == 0 {
            return Ok(copied);
        }
        to.write_all(&buffer[..n]).map_err(LayerError::Write)?;
        copied += n as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tar::{Builder, EntryType, Header};

    const FOLDERS: [&str; 1] = ["release-manifests/"];

    /// An archive of (path, kind, target or content).
    fn tar(members: &[(&str, EntryType, &str)]) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        for (path, kind, text) in members {
            let mut header = Header::new_gnu();
            let is_link = kind.is_symlink() || kind.is_hard_link();
            // Written by hand: the builder refuses the paths that are tested here.
            header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
            if is_link {
                header.as_mut_bytes()[157..157 + text.len()].copy_from_slice(text.as_bytes());
            }
            header.set_entry_type(*kind);
            header.set_size(if is_link { 0 } else { text.len() as u64 });
            header.set_cksum();
            builder.append(&header, if is_link { &[][..] } else { text.as_bytes() }).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn read(members: &[(&str, EntryType, &str)]) -> Result<LayerFiles, LayerError> {
        read_layer(&tar(members)[..], &FOLDERS, LayerLimits::default())
    }

    const FILE: EntryType = EntryType::Regular;

    #[test]
    fn only_files_of_the_wanted_folder_are_kept() {
        let found = read(&[
            ("release-manifests/", EntryType::Directory, ""),
            ("./release-manifests/a.yaml", FILE, "a"),
            ("release-manifests/deep/b.yaml", FILE, "b"),
            ("release-manifests-not/c.yaml", FILE, "c"),
            ("etc/passwd", FILE, "root"),
            ("bin", EntryType::Symlink, "/usr/bin"),
        ])
        .unwrap();
        assert_eq!(found.files.keys().collect::<Vec<_>>(), ["release-manifests/a.yaml"]);
    }

    #[test]
    fn compression_is_told_by_the_first_bytes() {
        let plain = tar(&[("release-manifests/a", FILE, "text")]);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain).unwrap();
        let zstd = zstd::encode_all(&plain[..], 1).unwrap();
        for layer in [plain, gzip.finish().unwrap(), zstd] {
            let found = read_layer(&layer[..], &FOLDERS, LayerLimits::default()).unwrap();
            assert_eq!(found.files["release-manifests/a"], b"text");
            let cut = &layer[..layer.len() / 3];
            assert!(matches!(
                read_layer(cut, &FOLDERS, LayerLimits::default()),
                Err(LayerError::Unreadable(_))
            ));
        }
    }

    #[test]
    fn paths_and_links_that_lead_out_are_refused() {
        for path in ["release-manifests/../../etc/x", "/release-manifests/x", "../x", "a/.."] {
            let error = read(&[(path, FILE, "x")]).unwrap_err();
            assert!(matches!(&error, LayerError::PathOutside(found) if found == path), "{error}");
        }
        for kind in [EntryType::Symlink, EntryType::Link] {
            let error = read(&[("release-manifests/a", kind, "/etc/shadow")]).unwrap_err().to_string();
            assert!(error.contains("link to \"/etc/shadow\""), "{error}");
            let error = read(&[("release-manifests", kind, "etc")]).unwrap_err();
            assert!(matches!(error, LayerError::Link { .. }), "{error}");
        }
        let error = read(&[("release-manifests/a", EntryType::Fifo, "")]).unwrap_err();
        assert!(matches!(error, LayerError::NotAFile(_)), "{error}");
    }

    #[test]
    fn every_limit_holds() {
        let layer = tar(&[("release-manifests/a", FILE, "12345"), ("release-manifests/b", FILE, "12345")]);
        let limits = LayerLimits::default();
        for (limits, what) in [
            (LayerLimits { file: 4, ..limits }, "bytes in release-manifests/a"),
            (LayerLimits { total: 47, ..limits }, "bytes in release-manifests/"),
            (LayerLimits { entries: 1, ..limits }, "entries"),
            (LayerLimits { archive: 1024, ..limits }, "bytes"),
        ] {
            match read_layer(&layer[..], &FOLDERS, limits) {
                Err(LayerError::TooMuch { what: found, .. }) => assert_eq!(found, what),
                other => panic!("{what}: {other:?}"),
            }
        }
    }

    #[test]
    fn names_of_what_is_deleted_count_too() {
        let layer = tar(&[("release-manifests/.wh.a", FILE, ""), ("release-manifests/.wh.b", FILE, "")]);
        let read = |total| read_layer(&layer[..], &FOLDERS, LayerLimits { total, ..LayerLimits::default() });
        assert_eq!(read(38).unwrap().whiteouts.len(), 2);
        assert!(matches!(read(37), Err(LayerError::TooMuch { .. })));
    }

    #[test]
    fn long_names_are_read_and_bounded() {
        let name = format!("release-manifests/{}.yaml", "n".repeat(200));
        let found =
            read(&[("././@LongLink", EntryType::GNULongName, &format!("{name}\0")), ("short", FILE, "x")])
                .unwrap();
        assert_eq!(found.files[&name], b"x");
        let pax = format!("{} path={name}\n", name.len() + 10);
        let found = read(&[("pax", EntryType::XHeader, &pax), ("short", FILE, "x")]).unwrap();
        assert_eq!(found.files[&name], b"x");
        let long = "n".repeat(70_000);
        let error = read(&[("l", EntryType::GNULongName, &long), ("short", FILE, "x")]).unwrap_err();
        assert!(matches!(error, LayerError::TooMuch { .. }), "{error}");
        let error = read(&[("pax", EntryType::XHeader, "10 size=9\n"), ("short", FILE, "x")]).unwrap_err();
        assert!(matches!(error, LayerError::TwoSizes(_)), "{error}");
    }

    #[test]
    fn whiteouts_of_wanted_folders_are_remembered() {
        let found = read(&[
            ("release-manifests/.wh.a.yaml", FILE, ""),
            ("release-manifests/.wh..wh..opq", FILE, ""),
            (".wh.release-manifests", FILE, ""),
            ("etc/.wh.passwd", FILE, ""),
        ])
        .unwrap();
        assert_eq!(
            found.whiteouts.iter().collect::<Vec<_>>(),
            ["release-manifests", "release-manifests/a.yaml"]
        );
        assert_eq!(found.opaque.iter().collect::<Vec<_>>(), ["release-manifests"]);
    }

    #[test]
    fn one_file_is_found_also_through_links() {
        let layer = tar(&[
            ("usr/bin/oc", FILE, "program"),
            ("usr/bin/kubectl", EntryType::Symlink, "oc"),
            ("usr/share/oc", EntryType::Symlink, "../bin/oc"),
            ("usr/lib/oc", EntryType::Link, "usr/bin/oc"),
            ("evil", EntryType::Symlink, "../../etc/shadow"),
            ("opt/.wh.oc", FILE, ""),
        ]);
        let find = |path: &str, out: &mut Vec<u8>| find_file(&layer[..], path, LayerLimits::default(), out);
        let mut out = Vec::new();
        assert_eq!(find("usr/bin/oc", &mut out).unwrap(), FileInLayer::File(7));
        assert_eq!(out, b"program");
        for path in ["usr/bin/kubectl", "usr/share/oc", "usr/lib/oc"] {
            assert_eq!(find(path, &mut out).unwrap(), FileInLayer::Link("usr/bin/oc".to_owned()), "{path}");
        }
        assert!(matches!(find("evil", &mut out), Err(LayerError::PathOutside(_))));
        assert_eq!(find("opt/oc", &mut out).unwrap(), FileInLayer::Deleted);
        assert_eq!(find("opt/other", &mut out).unwrap(), FileInLayer::Absent);
    }
}
