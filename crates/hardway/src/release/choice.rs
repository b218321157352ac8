//! Which release a run is about, and where it comes from.
//!
//! ```text
//! --release-dir       a folder: it counts, whatever the inventory names
//! sample              in the program
//! as kept             release/, if assets.lock says that it is what the inventory names; no registry is asked
//! otherwise           the registry: by the digest in assets.lock if the inventory still names the same, else as named
//! ```
//!
//! So a tag is resolved once. Where it points later does not matter until the inventory names something else, or
//! somebody asks for it.

use std::path::Path;

use hardway_assets::graph::{Facet, LockedRelease, Source, Stale};
use hardway_assets::release_payload::{ReleasePayload, SAMPLE, VersionContract, sample};
use hardway_release::{PullSpec, read_kept_rendered};

use super::ReleaseOptions;
use super::fetch::fetch_release;
use crate::inputs::{InputFile, Workdir, version_in};
use crate::report::{Code, Report, is_there};
use crate::terminal::Output;

/// What may be done to have the release.
#[derive(Clone, Copy)]
pub(crate) enum Reach<'a> {
    /// Whatever it takes.
    Registry(&'a ReleaseOptions),
    /// Nothing but looking: into this folder, or into what is kept.
    Here(Option<&'a Path>),
}

/// The release of a run.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) payload: ReleasePayload,
    /// Whether its node configs came with it, so that nothing is rendered here.
    pub(crate) is_rendered: bool,
    /// What assets.lock will say about it; nothing for a folder that is not what the inventory names.
    pub(crate) locked: Option<LockedRelease>,
}

const FOLDER: &str = "release";
/// In every release folder; a folder with only rendered configs is none.
const MARK: &str = "release/release-image";

impl<'a> Reach<'a> {
    fn folder(self) -> Option<&'a Path> {
        match self {
            Self::Registry(options) => options.release_dir.as_deref(),
            Self::Here(folder) => folder,
        }
    }

    fn anew(self) -> bool {
        matches!(self, Self::Registry(options) if options.refetch)
    }
}

impl Chosen {
    /// Finds the release. `image` is `release.image` as the inventory has it, `None` where that is missing or no text:
    /// which is the inventory's mistake, and is told with the others.
    pub(crate) fn find(
        workdir: &Workdir,
        install_config: &InputFile,
        image: Option<&str>,
        reach: Reach<'_>,
        out: &Output,
    ) -> Result<Self, Report> {
        let chosen = match (reach.folder(), image) {
            (Some(folder), image) => Self::from_folder(workdir, folder, image, out)?,
            (None, None) => return Ok(Self::new(sample(), true, None)),
            (None, Some(SAMPLE)) => Self::new(sample(), true, image),
            (None, Some(image)) => Self::named(workdir, install_config, image, reach, out)?,
        };
        VersionContract::new(&chosen.payload.version)
            .and_then(|version| version.supports())
            .map_err(|error| unusable(&error))?;
        if let Some(notice) = hardway_release::sample_notice(&chosen.payload) {
            out.warn(notice);
        }
        Ok(chosen)
    }

    fn new(mut payload: ReleasePayload, is_rendered: bool, asked: Option<&str>) -> Self {
        // Its node configs are built in, also where only the rest of it was kept.
        if payload.is_sample && payload.rendered.is_empty() {
            payload.rendered = sample().rendered;
        }
        let image = payload.image.clone();
        let locked = asked.map(|asked| LockedRelease { asked: asked.to_owned(), image });
        Self { is_rendered: is_rendered || payload.is_sample, payload, locked }
    }

    fn from_folder(
        workdir: &Workdir,
        folder: &Path,
        image: Option<&str>,
        out: &Output,
    ) -> Result<Self, Report> {
        let payload = read_release(folder)?;
        let is_named = image.is_some_and(|image| image == SAMPLE || is_named(image, &payload));
        if let Some(image) = image.filter(|_| !is_named) {
            let (dir, version) = (folder.display(), &payload.version);
            out.warn(&format!(
                "{dir} holds release {version}, but the inventory names {image}: the folder counts"
            ));
        }
        let is_own = folder.canonicalize().ok() == workdir.path(FOLDER).canonicalize().ok();
        let is_rendered = !is_own && !payload.rendered.is_empty();
        Ok(Self::new(payload, is_rendered, image.filter(|_| is_named)))
    }

    /// A release that the inventory names by pull spec.
    fn named(
        workdir: &Workdir,
        install_config: &InputFile,
        image: &str,
        reach: Reach<'_>,
        out: &Output,
    ) -> Result<Self, Report> {
        let need = Need::of(workdir, image, reach.anew())?;
        let wanted = match (need, reach) {
            (Need::Nothing(kept), _) => {
                out.info(&format!("release {} as kept in release/: {}", kept.version, kept.image));
                if matches!(reach, Reach::Registry(options) if options.signature.keyring.is_some()) {
                    out.info(
                        "signatures are checked when a release is fetched; --refetch-release does both again",
                    );
                }
                return Ok(Self::new(*kept, false, Some(image)));
            }
            (Need::Fetch { why, .. }, Reach::Here(_)) => return Err(not_fetched(image, &why)),
            (Need::Fetch { digest, .. }, Reach::Registry(options)) => {
                (digest.unwrap_or_else(|| image.to_owned()), options)
            }
        };
        let mut payload = fetch_release(&wanted.0, install_config, wanted.1, out)?;
        // Keeps what was rendered last time, so that the reason for making it again can be given.
        payload.rendered = read_kept_rendered(&workdir.path(FOLDER)).map_err(|error| unusable(&error))?;
        Ok(Self::new(payload, false, Some(image)))
    }
}

/// What it takes to have the release that the inventory names.
enum Need {
    Nothing(Box<ReleasePayload>),
    Fetch {
        why: Stale,
        /// What the same name was resolved to before.
        digest: Option<String>,
    },
}

impl Need {
    fn of(workdir: &Workdir, image: &str, is_anew: bool) -> Result<Self, Report> {
        let changed = Stale::Changed(Source::inventory("release.image"));
        if is_anew {
            return Ok(Self::Fetch { why: changed, digest: None });
        }
        let locked = workdir.locked_release()?;
        let is_unlocked = locked.is_none();
        let kept = match workdir.path(MARK).exists() {
            true => Some(read_release(&workdir.path(FOLDER))?),
            false => None,
        };
        let before = locked.filter(|locked| locked.asked == image);
        match (kept, before) {
            (Some(kept), Some(before)) if kept.image == before.image => Ok(Self::Nothing(Box::new(kept))),
            // By digest there is nothing to resolve; and without a lock, a name that fits has to do.
            (Some(kept), None) if is_same(image, &kept) || is_unlocked && is_named(image, &kept) => {
                Ok(Self::Nothing(Box::new(kept)))
            }
            (kept, Some(before)) => {
                let missing = Stale::Missing(MARK.to_owned());
                let why =
                    if kept.is_some() { Stale::Changed(Source::Release(Facet::Image)) } else { missing };
                Ok(Self::Fetch { why, digest: Some(before.image) })
            }
            (Some(_), None) => Ok(Self::Fetch { why: changed, digest: None }),
            (None, None) => Ok(Self::Fetch { why: Stale::New, digest: None }),
        }
    }
}

/// Why the release that the inventory names cannot be looked at without asking a registry, if so.
pub(crate) fn reason_to_fetch(workdir: &Workdir, image: &str) -> Result<Option<Stale>, Report> {
    Ok(match Need::of(workdir, image, false)? {
        Need::Nothing(_) => None,
        Need::Fetch { why, .. } => Some(why),
    })
}

/// Whether the release would be the built-in one, or a folder with it. No registry is asked.
pub(crate) fn is_sample(image: &str, folder: Option<&Path>) -> Result<bool, Report> {
    match folder {
        Some(folder) => Ok(read_release(folder)?.is_sample),
        None => Ok(image == SAMPLE),
    }
}

/// Whether a pull spec is that of this release, by digest.
fn is_same(image: &str, release: &ReleasePayload) -> bool {
    let spec: Option<PullSpec> = image.parse().ok();
    spec.and_then(|spec| Some(spec.at(spec.digest.as_ref()?).to_string()))
        .is_some_and(|image| image == release.image)
}

/// Whether a pull spec names this release: by its digest, or by a tag such as `4.18.1` or `4.18.1-x86_64`.
fn is_named(image: &str, release: &ReleasePayload) -> bool {
    match image.split_once('@') {
        Some((_, digest)) => release.image.ends_with(digest),
        None => image.rsplit_once(':').and_then(|(_, tag)| version_in(tag)) == Some(&release.version),
    }
}

fn read_release(folder: &Path) -> Result<ReleasePayload, Report> {
    is_there(folder)?;
    hardway_release::read_folder(folder)
        .map_err(|error| unusable(&error).fix("give a folder as `oc adm release extract` writes it"))
}

fn not_fetched(image: &str, why: &Stale) -> Report {
    Report::new(Code::ReleaseNotFetched, format!("{image} is not kept in release/ ({why})"))
        .fix("hardway create manifests fetches it; --release-dir reads it from a folder")
}

/// The release cannot be used.
pub(crate) fn unusable(error: &dyn std::error::Error) -> Report {
    Report::from_error(Code::ReleaseUnusable, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_names_a_version_and_not_one_that_begins_alike() {
        let mut release = sample();
        release.version = "4.18.1".to_owned();
        release.image = format!("quay.io/ocp@sha256:{}", "a".repeat(64));
        for (image, expected) in [
            ("quay.io/ocp:4.18.1", true),
            ("mirror.example.com:5000/ocp:4.18.1-x86_64", true),
            ("quay.io/ocp:4.18.1-multi", true),
            ("quay.io/ocp:4.18.10", false),
            ("quay.io/ocp:4.18.1-rc.2", false),
            ("quay.io/ocp:latest", false),
        ] {
            assert_eq!(is_named(image, &release), expected, "{image}");
        }
        assert!(is_named(&release.image.clone(), &release) && is_same(&release.image.clone(), &release));
        assert!(!is_same("quay.io/ocp:4.18.1", &release));
    }
}
