//! Asking registries for images, as nodes will: place after place until one has it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{StreamExt as _, stream};
use tokio::sync::{Mutex, OnceCell};

use super::{ImageLookup, NamedImage, PullPlace, RegistriesConf};
use crate::digest::Digest;
use crate::pull_spec::{PullSpec, PullSpecError};
use crate::registry::{Connection, Head, ManifestContent, RegistryError, Repository, choose};

/// An image that is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedImage {
    /// As it is named.
    pub image: NamedImage,
    /// Go's names of the architectures that it must run on.
    pub architectures: Vec<String>,
    /// How closely it is looked at.
    pub depth: Depth,
    /// Whether nodes run it only with a signature beside it.
    pub is_signed: bool,
}

/// How closely an image is looked at. A list of images is always read, since it may lack an architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// It is there: one HEAD.
    There,
    /// It is for the right architecture: its manifest and config are read.
    Platform,
    /// Every blob of it is there, too.
    Blobs,
}

/// Where an image was looked for.
#[derive(Clone, Debug)]
pub struct Sought {
    /// One for each registry that it may be in; several only for names without one.
    pub outcomes: Vec<LookupOutcome>,
}

/// What came of looking for an image in the places of one lookup.
#[derive(Clone, Debug)]
pub struct LookupOutcome {
    /// In order, up to the first that has it.
    pub asked: Vec<AskedPlace>,
    /// Whether the last of them has it.
    pub is_found: bool,
}

/// A place that was asked.
#[derive(Clone, Debug)]
pub struct AskedPlace {
    /// The image there.
    pub image: PullSpec,
    /// Whether it is a mirror.
    pub is_mirror: bool,
    /// Why it cannot be had there.
    pub fault: Option<PlaceFault>,
}

/// Why an image cannot be had in a place.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PlaceFault {
    /// registries.conf forbids to ask there.
    #[error("registries.conf blocks {prefix}")]
    Blocked {
        /// Of the entry.
        prefix: String,
    },
    /// It is there, and nobody signed it.
    #[error("it has no signature there: tag sha256-{}.sig does not exist", .0.hex())]
    Unsigned(Digest),
    /// The registry.
    #[error(transparent)]
    Registry(Arc<RegistryError>),
}

impl Sought {
    /// Whether a node will find it.
    pub fn is_found(&self) -> bool {
        self.outcomes.iter().any(|outcome| outcome.is_found)
    }
}

/// Asks, and remembers what was answered: bootstrap host and nodes mostly look in the same places.
pub struct Search {
    connection: Connection,
    /// CAs of single registries.
    trusted: BTreeMap<String, String>,
    parallel: usize,
    registries: Cells<(String, bool), bool>,
    repositories: Mutex<BTreeMap<(String, bool), Arc<Repository>>>,
    answers: Cells<(String, bool, Depth, Vec<String>), Digest>,
    signatures: Cells<(String, bool), ()>,
}

/// Answers by question, each asked for once.
type Cells<Q, A> = Mutex<BTreeMap<Q, Arc<OnceCell<Result<A, Arc<RegistryError>>>>>>;

/// Requests at a time. A registry on the other side of the world then takes a second for twenty images.
const PARALLEL: usize = 16;

impl Search {
    /// With the access that nodes have. `trusted` are certificates (PEM) by registry that are trusted for that one alone.
    pub fn new(connection: Connection, trusted: BTreeMap<String, String>) -> Self {
        Self {
            connection,
            trusted,
            parallel: PARALLEL,
            registries: Mutex::default(),
            repositories: Mutex::default(),
            answers: Mutex::default(),
            signatures: Mutex::default(),
        }
    }

    /// Looks for all of them. `on_done` is told how many are done.
    pub async fn look(
        &self,
        wanted: &[WantedImage],
        conf: &RegistriesConf,
        on_done: &(dyn Fn(usize) + Sync),
    ) -> Vec<Result<Sought, PullSpecError>> {
        let done = AtomicUsize::new(0);
        let looks = stream::iter(wanted).map(|wanted| {
            let done = &done;
            async move {
                let sought = self.look_for(wanted, conf).await;
                on_done(done.fetch_add(1, Ordering::Relaxed) + 1);
                sought
            }
        });
        looks.buffered(self.parallel).collect().await
    }

    async fn look_for(&self, wanted: &WantedImage, conf: &RegistriesConf) -> Result<Sought, PullSpecError> {
        let mut outcomes = Vec::new();
        for lookup in conf.lookups(&wanted.image)? {
            let outcome = self.try_places(wanted, &lookup).await;
            let is_found = outcome.is_found;
            outcomes.push(outcome);
            if is_found {
                break;
            }
        }
        Ok(Sought { outcomes })
    }

    async fn try_places(&self, wanted: &WantedImage, lookup: &ImageLookup<'_>) -> LookupOutcome {
        let mut asked = Vec::new();
        for place in &lookup.places {
            let fault = self.try_place(wanted, place).await.err();
            let is_found = fault.is_none();
            asked.push(AskedPlace { image: place.image.clone(), is_mirror: place.mirror.is_some(), fault });
            if is_found {
                return LookupOutcome { asked, is_found };
            }
        }
        LookupOutcome { asked, is_found: false }
    }

    async fn try_place(&self, wanted: &WantedImage, place: &PullPlace<'_>) -> Result<(), PlaceFault> {
        if let Some(rule) = place.blocked_by {
            return Err(PlaceFault::Blocked { prefix: rule.prefix.clone() });
        }
        let key = (place.image.to_string(), place.is_insecure, wanted.depth, wanted.architectures.clone());
        let answer = once(&self.answers, key, || self.ask(wanted, place)).await;
        let digest = answer.map_err(PlaceFault::Registry)?;
        if !wanted.is_signed {
            return Ok(());
        }
        let tag = format!("sha256-{}.sig", digest.hex());
        let signature = PullSpec { tag: Some(tag), digest: None, ..place.image.clone() };
        let key = (signature.to_string(), place.is_insecure);
        let signed = once(&self.signatures, key, || async {
            self.repository(&signature, place.is_insecure).await?.head_manifest(&signature).await.map(drop)
        });
        signed.await.map_err(|error| match &*error {
            RegistryError::NoSuchTag { .. } => PlaceFault::Unsigned(digest),
            _ => PlaceFault::Registry(error),
        })
    }

    /// Looks at the image in one place; gives its digest.
    async fn ask(&self, wanted: &WantedImage, place: &PullPlace<'_>) -> Result<Digest, RegistryError> {
        let image = &place.image;
        let repository = self.repository(image, place.is_insecure).await?;
        let head = repository.head_manifest(image).await?;
        if let (Head::Image, Depth::There, Some(digest)) = (head, wanted.depth, &image.digest) {
            return Ok(digest.clone());
        }
        let manifest = repository.manifest_there(image).await?;
        let digest = manifest.digest.clone();
        match &manifest.content {
            ManifestContent::List(list) => {
                for architecture in &wanted.architectures {
                    let chosen = choose(image, list, architecture)?;
                    let there = image.at(&chosen.image.digest);
                    match wanted.depth {
                        // A list may be copied without what it lists.
                        Depth::There | Depth::Platform => drop(repository.head_manifest(&there).await?),
                        Depth::Blobs => blobs_of(&repository, &there).await?,
                    }
                }
            }
            ManifestContent::Image { config, .. } => {
                if wanted.depth >= Depth::Platform {
                    let platform = repository.platform(image, config).await?;
                    fits(image, &platform, &wanted.architectures)?;
                }
                if wanted.depth >= Depth::Blobs {
                    blobs_of(&repository, image).await?;
                }
            }
        }
        Ok(digest)
    }

    /// The client of a repository, made once. A registry that may be insecure is asked with TLS first, then without.
    async fn repository(
        &self,
        image: &PullSpec,
        is_insecure: bool,
    ) -> Result<Arc<Repository>, RegistryError> {
        let registry = image.registry();
        let is_plain =
            once(&self.registries, (registry.clone(), is_insecure), || self.greet(image, is_insecure)).await;
        let is_plain = is_plain.map_err(|error| again(&error))?;
        let key = (image.name(), is_insecure);
        let mut repositories = self.repositories.lock().await;
        if let Some(known) = repositories.get(&key) {
            return Ok(Arc::clone(known));
        }
        let made =
            Arc::new(Repository::to_pull(image, &self.connection_to(&registry, is_insecure, is_plain))?);
        repositories.insert(key, Arc::clone(&made));
        Ok(made)
    }

    /// Whether a registry answers, and whether without TLS.
    async fn greet(&self, image: &PullSpec, is_insecure: bool) -> Result<bool, RegistryError> {
        let registry = image.registry();
        let to = |is_plain| Repository::to_pull(image, &self.connection_to(&registry, is_insecure, is_plain));
        match to(false)?.greet().await {
            Ok(()) => Ok(false),
            Err(error) if !is_insecure => Err(error),
            Err(error) => to(true)?.greet().await.map(|()| true).map_err(|_| error),
        }
    }

    fn connection_to(&self, registry: &str, is_insecure: bool, is_plain: bool) -> Connection {
        let mut connection = Connection { is_unverified: is_insecure, ..self.connection.clone() };
        if let Some(certificates) = self.trusted.get(registry) {
            connection.trust_bundle.push('\n');
            connection.trust_bundle += certificates;
        }
        if is_plain {
            connection.plain_http.push(registry.to_owned());
        }
        connection
    }
}

async fn blobs_of(repository: &Repository, image: &PullSpec) -> Result<(), RegistryError> {
    let manifest = repository.manifest_there(image).await?;
    if let ManifestContent::Image { config, layers } = &manifest.content {
        for blob in std::iter::once(config).chain(layers) {
            repository.head_blob(image, blob).await?;
        }
    }
    Ok(())
}

fn fits(image: &PullSpec, platform: &str, architectures: &[String]) -> Result<(), RegistryError> {
    match architectures.iter().map(|name| format!("linux/{name}")).find(|wanted| wanted != platform) {
        None => Ok(()),
        Some(wanted) => Err(RegistryError::NoSuchPlatform {
            image: Box::new(image.clone()),
            wanted,
            there: vec![platform.to_owned()],
        }),
    }
}

async fn once<Q, A, F>(
    cells: &Cells<Q, A>,
    question: Q,
    ask: impl FnOnce() -> F,
) -> Result<A, Arc<RegistryError>>
where
    Q: Ord,
    A: Clone,
    F: Future<Output = Result<A, RegistryError>>,
{
    let cell = Arc::clone(cells.lock().await.entry(question).or_default());
    cell.get_or_init(|| async { ask().await.map_err(Arc::new) }).await.clone()
}

/// The same error for the next image of a registry that does not answer.
fn again(error: &RegistryError) -> RegistryError {
    use RegistryError as E;
    match error {
        E::Unreachable { registry, detail } => {
            E::Unreachable { registry: registry.clone(), detail: detail.clone() }
        }
        E::Timeout { registry, detail } => E::Timeout { registry: registry.clone(), detail: detail.clone() },
        E::BrokeOff { registry, detail } => {
            E::BrokeOff { registry: registry.clone(), detail: detail.clone() }
        }
        E::UnknownCa { registry } => E::UnknownCa { registry: registry.clone() },
        E::Certificate { registry, detail } => {
            E::Certificate { registry: registry.clone(), detail: detail.clone() }
        }
        E::PlainHttp { registry } => E::PlainHttp { registry: registry.clone() },
        other => E::Setting(other.to_string()),
    }
}
