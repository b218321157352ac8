//! What of a real release the lab's nodes can run, and whether a folder of programs is fit to be taken for it.
//!
//! The table is `lab/release/real.txt`, which the scripts read as well. What a program must be is told in `lab/release/README.md`.

use std::collections::BTreeSet;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A component that can be real.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealComponent {
    /// The tag of the payload.
    pub name: String,
    /// The word that its manifests are called by, for those that have some.
    pub manifests: Option<String>,
    /// What has to be real with it: whose images its pods start, whose CRDs it cannot do without, or who makes what its pod waits for.
    pub needs: Vec<String>,
}

/// All of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealComponents(pub Vec<RealComponent>);

impl RealComponents {
    /// Reads the table of the lab's files.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(lab_files: &Path) -> io::Result<Self> {
        Ok(Self::parse(&fs_err::read_to_string(lab_files.join("release/real.txt"))?))
    }

    fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let rows = lines.filter_map(|line| {
            let mut words = line.split_whitespace();
            let (name, manifests, needs) = (words.next()?, words.next()?, words.next()?);
            let is_said = |word: &&str| *word != "-";
            Some(RealComponent {
                name: name.to_owned(),
                manifests: Some(manifests).filter(is_said).map(str::to_owned),
                needs: needs.split(',').filter(is_said).map(str::to_owned).collect(),
            })
        });
        Self(rows.collect())
    }

    /// The one of this name.
    pub fn named(&self, name: &str) -> Option<&RealComponent> {
        self.0.iter().find(|component| component.name == name)
    }

    /// Every name, in order.
    pub fn names(&self) -> BTreeSet<String> {
        self.0.iter().map(|component| component.name.clone()).collect()
    }

    /// The components of a folder of programs. Everything that is wrong with them at once: a line for each, with its place.
    ///
    /// # Errors
    /// What is wrong.
    pub fn in_folder(&self, folder: &Path) -> Result<BTreeSet<String>, Vec<String>> {
        let mut wrong = Vec::new();
        let mut found = BTreeSet::new();
        match sorted(folder) {
            Err(error) => wrong.push(error.to_string()),
            Ok(entries) => {
                for path in entries.iter().filter(|path| !is_hidden(path)) {
                    let name = file_name(path);
                    match self.named(&name) {
                        Some(component) => {
                            wrong.extend(component.mistakes(path));
                            found.insert(name);
                        }
                        None => wrong.push(self.unknown(path)),
                    }
                }
                if found.is_empty() && wrong.is_empty() {
                    wrong.push(format!(
                        "{}: it is empty, and should have a folder for each component",
                        folder.display()
                    ));
                }
            }
        }
        if wrong.is_empty() { Ok(found) } else { Err(wrong) }
    }

    /// Components that need one that would not be real.
    pub fn unmet(&self, real: &BTreeSet<String>) -> Vec<String> {
        let components = self.0.iter().filter(|component| real.contains(&component.name));
        components
            .flat_map(|component| {
                let missing = component.needs.iter().filter(|needed| !real.contains(*needed));
                missing.map(|needed| format!("{} needs {needed}, which would be a stand-in", component.name))
            })
            .collect()
    }

    fn unknown(&self, path: &Path) -> String {
        let names: Vec<&str> = self.0.iter().map(|component| component.name.as_str()).collect();
        format!(
            "{}: not a component that the lab's nodes can run as it is; those are {}",
            path.display(),
            names.join(", ")
        )
    }
}

impl RealComponent {
    /// What is wrong with its folder, which has the layout of its image's root.
    fn mistakes(&self, folder: &Path) -> Vec<String> {
        if !folder.is_dir() {
            return vec![format!("{}: not a folder", folder.display())];
        }
        let mut wrong = Vec::new();
        let programs = sorted(&folder.join("usr/bin")).unwrap_or_default();
        let programs: Vec<&PathBuf> = programs.iter().filter(|path| is_program(path)).collect();
        if programs.is_empty() {
            wrong.push(format!("{}: no program in usr/bin", folder.display()));
        }
        wrong.extend(programs.iter().filter_map(|path| unfit(path)));
        if self.manifests.is_some() {
            wrong.extend(self.manifest_mistakes(&folder.join("manifests")));
        }
        wrong
    }

    /// The payload's part of it. The version operator fills in its own, and names no images in a file.
    fn manifest_mistakes(&self, folder: &Path) -> Option<String> {
        let files = sorted(folder).unwrap_or_default();
        let place = folder.display();
        if !files.iter().any(|path| path.extension().is_some_and(|ending| ending == "yaml")) {
            return Some(format!(
                "{place}: no manifests (*.yaml), which an operator has in its image's /manifests"
            ));
        }
        let has_references = files.iter().any(|path| file_name(path) == "image-references");
        (!has_references && self.name != "cluster-version-operator").then(|| {
            format!("{place}: no image-references, which says which placeholder stands for which image")
        })
    }
}

/// What is at the beginning of a program for Linux.
const ELF: &[u8] = b"\x7fELF";
/// The C library of the lab's images is Debian 12's.
const GLIBC: (u32, u32) = (2, 36);

/// Why a program would not start in the lab. Scripts are taken as they are.
fn unfit(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    if let Err(error) = fs_err::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        return Some(error.to_string());
    }
    if !bytes.starts_with(ELF) {
        return (!bytes.starts_with(b"#!"))
            .then(|| format!("{}: neither a program for Linux nor a script", path.display()));
    }
    let machine = bytes.get(18..20).map(|two| u16::from_le_bytes([two[0], two[1]]));
    let (name, number) = match std::env::consts::ARCH {
        "aarch64" => ("aarch64", 183),
        _ => ("x86_64", 62),
    };
    if machine != Some(number) {
        return Some(format!("{}: not a program for this computer's architecture, {name}", path.display()));
    }
    let newest = newest_glibc(&bytes).filter(|version| *version > GLIBC)?;
    Some(format!(
        "{}: needs the C library {}.{}, and the lab's images have {}.{}; link it statically (CGO_ENABLED=0)",
        path.display(),
        newest.0,
        newest.1,
        GLIBC.0,
        GLIBC.1
    ))
}

/// The newest version among the symbols that a program asks the C library for.
fn newest_glibc(bytes: &[u8]) -> Option<(u32, u32)> {
    const MARK: &[u8] = b"\0GLIBC_2.";
    let found = memchr_all(bytes, MARK).filter_map(|at| {
        let rest = &bytes[at + MARK.len()..];
        let digits: String = rest
            .iter()
            .take(3)
            .map_while(|byte| char::from(*byte).to_digit(10).map(|_| char::from(*byte)))
            .collect();
        Some((2, digits.parse().ok()?))
    });
    found.max()
}

fn memchr_all<'b>(bytes: &'b [u8], mark: &'b [u8]) -> impl Iterator<Item = usize> + 'b {
    bytes.windows(mark.len()).enumerate().filter(move |(_, window)| *window == mark).map(|(at, _)| at)
}

fn is_program(path: &Path) -> bool {
    fs_err::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths =
        fs_err::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn is_hidden(path: &Path) -> bool {
    file_name(path).starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> RealComponents {
        RealComponents::read(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab"))).unwrap()
    }

    fn write(folder: &Path, name: &str, bytes: &[u8], mode: u32) {
        let path = folder.join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, bytes).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn the_table_is_read() {
        let table = table();
        let etcd = table.named("cluster-etcd-operator").unwrap();
        assert_eq!(
            (etcd.manifests.as_deref(), etcd.needs.join(" ").as_str()),
            (Some("etcd-operator"), "etcd cluster-config-api")
        );
        assert_eq!(table.named("hyperkube").unwrap().manifests, None);
        assert!(table.named("ovn-kubernetes").is_none());
    }

    #[test]
    fn a_good_folder_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "etcd/usr/bin/etcd", b"#!/bin/sh\n", 0o755);
        write(folder.path(), "cluster-etcd-operator/usr/bin/cluster-etcd-operator", &this_program(), 0o755);
        write(folder.path(), "cluster-etcd-operator/manifests/image-references", b"{}", 0o644);
        write(folder.path(), "cluster-etcd-operator/manifests/0000_20.yaml", b"{}", 0o644);
        let found = table().in_folder(folder.path()).unwrap();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["cluster-etcd-operator", "etcd"]);
    }

    /// Any ELF for this computer that needs no libraries.
    fn this_program() -> Vec<u8> {
        let mut bytes = b"\x7fELF".to_vec();
        bytes.resize(64, 0);
        bytes[18..20]
            .copy_from_slice(&(if std::env::consts::ARCH == "aarch64" { 183_u16 } else { 62 }).to_le_bytes());
        bytes
    }

    #[test]
    fn everything_wrong_is_told_at_once_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "ovn-kubernetes/usr/bin/ovn", b"#!", 0o755);
        write(folder.path(), "etcd/usr/bin/etcd", b"#!/bin/sh\n", 0o644);
        write(folder.path(), "hyperkube/usr/bin/hyperkube", b"MZ", 0o755);
        let mut other = this_program();
        other[18] = 21;
        write(folder.path(), "pod/usr/bin/pod", &other, 0o755);
        let mut newer = this_program();
        newer.extend(b"\0GLIBC_2.4\0GLIBC_2.39\0");
        write(folder.path(), "cli/usr/bin/oc", &newer, 0o755);
        write(folder.path(), "service-ca-operator/usr/bin/service-ca-operator", &this_program(), 0o755);
        write(folder.path(), "cluster-config-operator/usr/bin/x", &this_program(), 0o755);
        write(folder.path(), "cluster-config-operator/manifests/0000.yaml", b"{}", 0o644);
        write(folder.path(), "cluster-bootstrap", b"", 0o755);
        let wrong = table().in_folder(folder.path()).unwrap_err();
        let expected = [
            "cli/usr/bin/oc: needs the C library 2.39, and the lab's images have 2.36",
            "cluster-bootstrap: not a folder",
            "cluster-config-operator/manifests: no image-references",
            "etcd: no program in usr/bin",
            "hyperkube/usr/bin/hyperkube: neither a program for Linux nor a script",
            "ovn-kubernetes: not a component that the lab's nodes can run as it is; those are cli, cluster-bootstrap",
            "pod/usr/bin/pod: not a program for this computer's architecture",
            "service-ca-operator/manifests: no manifests (*.yaml)",
        ];
        assert_eq!(wrong.len(), expected.len(), "{wrong:#?}");
        for (said, part) in wrong.iter().zip(expected) {
            assert!(said.contains(part), "{said}: {part}");
        }
        let empty = tempfile::tempdir().unwrap();
        assert!(table().in_folder(empty.path()).unwrap_err()[0].contains("it is empty"));
        assert!(!table().in_folder(&empty.path().join("no")).unwrap_err().is_empty());
    }

    #[test]
    fn an_operator_is_not_real_without_what_its_pods_are_made_of() {
        let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(
            table().unmet(&named(&["cluster-etcd-operator", "cluster-config-api", "service-ca-operator"])),
            ["cluster-etcd-operator needs etcd, which would be a stand-in"]
        );
        assert!(table().unmet(&named(&["cluster-etcd-operator", "cluster-config-api", "etcd"])).is_empty());
        assert!(table().unmet(&table().names()).is_empty());
    }
}
