//! Which release a run is about, and where it comes from.
//!
//! ```text
//! --release-dir       a folder: it counts, whatever the inventory names
//! sample              in the program
//! as kept             release/, if assets.lock says that it is what the inventory names; no registry is asked
//! otherwise           the registry: by the digest in assets.lock if the inventory still names the same, else as named; a word
//!                     such as 4.18 is first resolved by an update service, or by a repository's tags (words.rs)
//! ```
//!
//! So a tag is resolved once. Where it points later does not matter until the inventory names something else, or
//! somebody asks for it.

use std::path::Path;

use hardway_assets::graph::{Facet, LockedRelease, Resolution, Source, Stale};
use hardway_assets::release_payload::{ReleasePayload, ReleaseWord, SAMPLE, VersionContract, sample};
use hardway_assets::work_paths;
use hardway_release::{PullSpec, read_kept_rendered};

use super::fetch::fetch_release;
use super::registry_access::read_named;
use super::words::{WordSources, not_meant};
use super::{Logins, ReleaseOptions};
use crate::clock;
use crate::inputs::{InputFile, Workdir, version_in};
use crate::report::{Code, Exit, Report, is_there};
use crate::terminal::Output;

/// Where the release may come from.
#[derive(Clone, Copy)]
pub(crate) enum Reach<'a> {
    /// Wherever these options lead; a registry is asked where nothing nearer has it.
    Registry(&'a ReleaseOptions),
    /// This folder.
    Folder(&'a Path),
    /// The working folder, where an earlier command has put it.
    Kept,
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

const FOLDER: &str = work_paths::RELEASE;
/// In every release folder; a folder with only rendered configs is none.
const MARK: &str = work_paths::RELEASE_IMAGE;

impl<'a> Reach<'a> {
    /// Without a registry: the folder of `--release-dir`, or else what is kept.
    pub(crate) fn local(release_dir: Option<&'a Path>) -> Self {
        release_dir.map_or(Self::Kept, Self::Folder)
    }

    fn folder(self) -> Option<&'a Path> {
        match self {
            Self::Registry(options) => options.release_dir.as_deref(),
            Self::Folder(folder) => Some(folder),
            Self::Kept => None,
        }
    }

    fn anew(self) -> bool {
        matches!(self, Self::Registry(options) if options.refetch)
    }

    /// Whoever asks for a check hears that it was not made.
    fn warn_unchecked(self, why: &str, out: &Output) {
        let Self::Registry(ReleaseOptions { signature, .. }) = self else { return };
        let is_asked =
            signature.keyring.is_some() || !signature.files.is_empty() || !signature.stores.is_empty();
        if is_asked && !signature.is_skipped {
            out.warn(&format!("the signature of the release was not checked: {why}"));
        }
    }
}

impl Chosen {
    /// Finds the release. `image` is `release.image` as in the inventory, `None` where that is missing or no text:
    /// which is the inventory's mistake, and is told with the others.
    pub(crate) fn find(
        workdir: &Workdir,
        install_config: &InputFile,
        image: Option<&str>,
        reach: Reach<'_>,
        out: &Output,
    ) -> Result<Self, Report> {
        if let Reach::Registry(options) = reach {
            read_named(options)?;
        }
        let chosen = match (reach.folder(), image) {
            (Some(folder), image) => {
                reach.warn_unchecked("it comes from a folder", out);
                Self::from_folder(workdir, folder, image, out)?
            }
            (None, None) => return Ok(Self::new(sample(), true, None)),
            (None, Some(SAMPLE)) => {
                reach.warn_unchecked("the built-in sample has none", out);
                Self::new(sample(), true, image)
            }
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
        let locked = asked.map(|asked| LockedRelease { asked: asked.to_owned(), image, resolution: None });
        Self { is_rendered: is_rendered || payload.is_sample, payload, locked }
    }

    fn from_folder(
        workdir: &Workdir,
        folder: &Path,
        image: Option<&str>,
        out: &Output,
    ) -> Result<Self, Report> {
        let payload = read_named_release(folder)?;
        let is_named = image.is_some_and(|image| image == SAMPLE || is_named(image, &payload));
        if let Some(image) = image.filter(|_| !is_named) {
            let (dir, version) = (folder.display(), &payload.version);
            out.warn(&format!(
                "{dir} holds release {version}, but the inventory names {image}: using the folder"
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
        let before = workdir.locked_release()?.filter(|locked| locked.asked == image);
        let resolution = before.and_then(|before| before.resolution);
        let need = Need::of(workdir, image, reach.anew())?;
        let wanted = match (need, reach) {
            (Need::Nothing(kept), _) => {
                out.info(&format!("release {} as kept in release/: {}", kept.version, kept.image));
                reach.warn_unchecked(
                    "it was fetched before; --refetch-release fetches it again and checks it",
                    out,
                );
                return Ok(Self::new(*kept, false, Some(image)).with(resolution));
            }
            (Need::Fetch { why, .. }, Reach::Folder(_) | Reach::Kept) => {
                return Err(not_fetched(image, &why));
            }
            (Need::Fetch { digest, .. }, Reach::Registry(options)) => {
                (digest.unwrap_or_else(|| image.to_owned()), options)
            }
        };
        let (wanted, options) = wanted;
        let config = Some(install_config.text.0.as_str());
        let (wanted, resolution) = match ReleaseWord::read(&wanted) {
            None => (wanted, resolution),
            Some(word) => {
                let sources = WordSources::of(workdir);
                let asked = sources.options(&options.registry, config, Logins::OfCluster, out)?;
                let resolved = sources.resolve(&word, &wanted, &asked, out)?;
                let resolution = Resolution { at: clock::now(), source: resolved.source };
                (resolved.image.to_string(), Some(resolution))
            }
        };
        let mut payload = fetch_release(&wanted, install_config, options, out)?;
        // Another release may be signed as well: whoever was asked does not decide what a word means.
        if ReleaseWord::read(image).is_some() && !is_named(image, &payload) {
            return Err(not_meant(&wanted, image, &payload.version));
        }
        // Keeps what was rendered last time, so that the reason for making it again can be given.
        payload.rendered = read_kept_rendered(&workdir.path(FOLDER)).map_err(|error| unusable(&error))?;
        Ok(Self::new(payload, false, Some(image)).with(resolution))
    }

    fn with(mut self, resolution: Option<Resolution>) -> Self {
        if let Some(locked) = &mut self.locked {
            locked.resolution = resolution;
        }
        self
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
        Some(folder) => Ok(read_named_release(folder)?.is_sample),
        None => Ok(image == SAMPLE),
    }
}

/// Whether a pull spec is that of this release, by digest.
fn is_same(image: &str, release: &ReleasePayload) -> bool {
    let spec: Option<PullSpec> = image.parse().ok();
    spec.and_then(|spec| Some(spec.at(spec.digest.as_ref()?).to_string()))
        .is_some_and(|image| image == release.image)
}

/// Whether a pull spec names this release: by its digest, or by a tag such as `4.18.1` or `4.18.1-x86_64`. A word names what it means.
fn is_named(image: &str, release: &ReleasePayload) -> bool {
    if let Some(word) = ReleaseWord::read(image) {
        return word.best([release.version.as_str()]).is_some();
    }
    match image.split_once('@') {
        Some((_, digest)) => release.image.ends_with(digest),
        None => image.rsplit_once(':').and_then(|(_, tag)| version_in(tag)) == Some(&release.version),
    }
}

/// Whoever names a folder answers for it.
fn read_named_release(folder: &Path) -> Result<ReleasePayload, Report> {
    read_release(folder).map_err(|report| report.exit(Exit::Usage))
}

fn read_release(folder: &Path) -> Result<ReleasePayload, Report> {
    is_there(folder)?;
    hardway_release::read_folder(folder)
        .map_err(|error| unusable(&error).fix("pass a folder as written by `oc adm release extract`"))
}

fn not_fetched(image: &str, why: &Stale) -> Report {
    Report::new(Code::ReleaseNotFetched, format!("{image} is not kept in release/ ({why})"))
        .fix("fetch it with `hardway create manifests`, or in a lab with `hardway create cluster`; --release-dir reads it from \
         a folder")
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
            ("4.18", true),
            ("stable-4.19", false),
            ("okd-scos", false),
        ] {
            assert_eq!(is_named(image, &release), expected, "{image}");
        }
        assert!(is_named(&release.image.clone(), &release) && is_same(&release.image.clone(), &release));
        assert!(!is_same("quay.io/ocp:4.18.1", &release));
    }
}
