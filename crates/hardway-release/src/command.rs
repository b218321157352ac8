//! Programs out of a release's component images.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hardway_assets::release_payload::MissingImage;
use hardway_base::files::Replacement;

use crate::archive::{LayerError, LayerLimits};
use crate::layer::{FileInLayer, find_file};
use crate::placeholders::{Filling, fill};
use crate::progress::DownloadProgress;
use crate::pull_spec::PullSpecError;
use crate::registry::{RegistryError, Repository};
use crate::release_image::{FetchOptions, ResolvedImage, open_layer, resolve};
use crate::release_info::ReleaseInfo;

/// Why a program was not extracted.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// Not one that releases have.
    #[error("releases have no program {name:?}; choose one of {}", PROGRAMS.map(|program| program.name).join(", "))]
    Unknown {
        /// As asked for.
        name: String,
    },
    /// The release lacks the image it should be in.
    #[error(transparent)]
    Image(#[from] MissingImage),
    /// `image-references` is wrong.
    #[error(transparent)]
    PullSpec(#[from] PullSpecError),
    /// The image could not be had.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The image lacks it.
    #[error("{image} has no file {path}")]
    Absent {
        /// Pull spec.
        image: String,
        /// In the image.
        path: String,
    },
    /// Links that go round.
    #[error("{path} in {image} is a broken link")]
    Links {
        /// Pull spec.
        image: String,
        /// In the image.
        path: String,
    },
}

/// A program that releases have, and where.
struct Program {
    name: &'static str,
    /// Tag of the component image it is in.
    image: &'static str,
    /// Path in the image.
    path: &'static str,
}

/// All of them (openshift/oc `pkg/cli/admin/release/extract_tools.go`).
const PROGRAMS: [Program; 7] = [
    program("oc", "cli", "usr/bin/oc"),
    program("openshift-install", "installer", "usr/bin/openshift-install"),
    program("openshift-baremetal-install", "baremetal-installer", "usr/bin/openshift-install"),
    program("openshift-install-fips", "baremetal-installer", "usr/bin/openshift-install"),
    program("ccoctl", "cloud-credential-operator", "usr/bin/ccoctl"),
    program("ccoctl.rhel8", "cloud-credential-operator", "usr/bin/ccoctl.rhel8"),
    program("ccoctl.rhel9", "cloud-credential-operator", "usr/bin/ccoctl.rhel9"),
];

const fn program(name: &'static str, image: &'static str, path: &'static str) -> Program {
    Program { name, image, path }
}

/// Programs are large: the limit for manifests is not for them.
const LIMITS: LayerLimits =
    LayerLimits { file: 4 << 30, total: 4 << 30, entries: 1_000_000, archive: 32 << 30 };
/// As many links in a row as Linux follows.
const LINKS: usize = 40;

/// Says whether releases have a program of that name.
pub fn check_command(name: &str) -> Result<(), CommandError> {
    find(name).map(|_| ())
}

/// Writes a program of a release into a folder, and returns its path. An installer is told its release, version and
/// architecture, as it is when it is published; otherwise it would install some other release.
pub async fn extract_command(
    release: &ReleaseInfo,
    name: &str,
    to: &Path,
    options: &FetchOptions,
    progress: &dyn DownloadProgress,
) -> Result<PathBuf, CommandError> {
    let program = find(name)?;
    let image = release.images.get(program.image)?.to_owned();
    let (repository, resolved) = resolve(&image.parse()?, options).await?;
    fs_err::create_dir_all(to).map_err(RegistryError::File)?;
    let mut wanted = program.path.to_owned();
    for _ in 0..LINKS {
        let source = Source { repository: &repository, image: &resolved, release };
        match source.file(&wanted, &to.join(name), options, progress).await? {
            FileInLayer::File(_) => return Ok(to.join(name)),
            FileInLayer::Link(target) => wanted = target,
            FileInLayer::Absent | FileInLayer::Deleted => {
                return Err(CommandError::Absent { image, path: wanted });
            }
        }
    }
    Err(CommandError::Links { image, path: program.path.to_owned() })
}

fn find(name: &str) -> Result<&'static Program, CommandError> {
    let program = PROGRAMS.iter().find(|program| program.name == name);
    program.ok_or_else(|| CommandError::Unknown { name: name.to_owned() })
}

/// The image a program is in, and the release it is of.
struct Source<'a> {
    repository: &'a Repository,
    image: &'a ResolvedImage,
    release: &'a ReleaseInfo,
}

impl Source<'_> {
    /// Looks for a file from the top layer down; what lies below a whiteout is not looked at.
    async fn file(
        &self,
        path: &str,
        to: &Path,
        options: &FetchOptions,
        progress: &dyn DownloadProgress,
    ) -> Result<FileInLayer, RegistryError> {
        for layer in self.image.layers.iter().rev() {
            let blob = self.repository.blob(layer, &options.cache, progress).await?;
            let (wanted, to, fillings) = (path.to_owned(), to.to_owned(), fillings(self.release));
            let found = open_layer(blob, move |layer| {
                let mut out = Pending::new(&to);
                let found = find_file(layer, &wanted, LIMITS, &mut out)?;
                if matches!(found, FileInLayer::File(_)) {
                    out.finish(&fillings).map_err(LayerError::Write)?;
                }
                Ok::<_, LayerError>(found)
            });
            let found = found.await?.map_err(|error| RegistryError::Layer {
                what: format!("layer {} of {}", layer.digest, self.image.place.name()),
                error,
            })?;
            if found != FileInLayer::Absent {
                return Ok(found);
            }
        }
        Ok(FileInLayer::Absent)
    }
}

/// Programs without placeholders stay as they are.
fn fillings(release: &ReleaseInfo) -> [Filling; 3] {
    let platform = format!("{}/{}", release.os, release.architecture);
    let architecture = if release.is_multi { format!("multi ({platform})") } else { platform };
    [
        Filling { marker: "_RELEASE_IMAGE_LOCATION_", value: release.image.to_string() },
        Filling { marker: "_RELEASE_VERSION_LOCATION_", value: release.version.clone() },
        Filling { marker: "_RELEASE_ARCHITECTURE_LOCATION_", value: architecture },
    ]
}

/// A file that gets its name once it is whole, and is made only when there is something to write.
struct Pending {
    path: PathBuf,
    file: Option<Replacement>,
}

impl Pending {
    fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), file: None }
    }

    fn file(&mut self) -> io::Result<&mut Replacement> {
        match &mut self.file {
            Some(file) => Ok(file),
            none => Ok(none.insert(Replacement::begin(&self.path, 0o755)?)),
        }
    }

    fn finish(mut self, fillings: &[Filling]) -> io::Result<()> {
        // A program may be empty, and then nothing was written.
        fill(self.file()?.file(), fillings)?;
        self.file.map_or(Ok(()), Replacement::commit)
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file()?.flush()
    }
}
