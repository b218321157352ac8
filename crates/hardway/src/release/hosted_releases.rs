//! Looking into the releases of hosted clusters.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hardway_assets::release_payload::MissingImage;
use hardway_base::Secret;
use hardway_hosted::ReleaseUnread;
use hardway_hosted::controller::Releases;
use hardway_release::{
    BlobCache, Contents, Credentials, CredentialsError, FetchOptions, InfoError, PullSpec, PullSpecError,
    Silent, info,
};

use super::{Logins, RegistryOptions, fetch_options_with};
use crate::inputs::Workdir;
use crate::report::Report;
use crate::runtime;
use crate::terminal::Output;

/// The image whose daemon applies configs.
const OPERATOR: &str = "machine-config-operator";
/// A registry that said no is not asked again sooner, however many workers wait.
const PAUSE: Duration = Duration::from_secs(60);

/// Asks registries, each release once.
pub(crate) struct HostedReleases {
    options: FetchOptions,
    /// Whether a person named the logins: then the cluster's own do not count.
    has_logins: bool,
    known: Mutex<BTreeMap<(String, String), Known>>,
}

/// Why a registry did not tell.
#[derive(Debug, thiserror::Error)]
enum LookError {
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    #[error(transparent)]
    Image(#[from] MissingImage),
    #[error(transparent)]
    Info(#[from] InfoError),
    #[error(transparent)]
    PullSpec(#[from] PullSpecError),
    #[error("{0}")]
    Runtime(String),
}

struct Known {
    answer: Result<String, ReleaseUnread>,
    asked: Instant,
}

impl HostedReleases {
    /// As flags and the working folder say. Blobs are kept in the folder: a pod can write nowhere else.
    pub(crate) fn new(
        workdir: &Workdir,
        folder: &Path,
        args: &RegistryOptions,
        out: &Output,
    ) -> Result<Self, Report> {
        let config = workdir.text("install-config.yaml")?;
        let cache = BlobCache::at(folder.join("hosted/blobs"));
        let options = fetch_options_with(cache, args, config.as_deref(), &[], Logins::OfCluster, out)?;
        let has_logins = args.pull_secret.is_some();
        Ok(Self {
            options: FetchOptions { contents: Contents::Manifests, ..options },
            has_logins,
            known: Mutex::default(),
        })
    }

    fn ask(&self, release: &str, architecture: &str, logins: &Secret) -> Result<String, LookError> {
        let image: PullSpec = release.parse()?;
        let mut options = FetchOptions { architecture: architecture.to_owned(), ..self.options.clone() };
        if !self.has_logins {
            options.connection.credentials = Credentials::read(logins)?;
        }
        let found = runtime::block_on(info(&image, &options, &Silent));
        let found = found.map_err(|report| LookError::Runtime(report.what))??;
        Ok(found.images.get(OPERATOR).map(str::to_owned)?)
    }
}

impl Releases for HostedReleases {
    fn daemon_image(
        &self,
        release: &str,
        architecture: &str,
        logins: &Secret,
    ) -> Result<String, ReleaseUnread> {
        // Held while a registry is asked: all workers of a pool want the same answer.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (release.to_owned(), architecture.to_owned());
        match known.get(&key) {
            Some(known) if known.answer.is_ok() || known.asked.elapsed() < PAUSE => known.answer.clone(),
            _ => {
                let answer = self.ask(release, architecture, logins).map_err(ReleaseUnread::new);
                known.insert(key, Known { answer: answer.clone(), asked: Instant::now() });
                answer
            }
        }
    }
}
