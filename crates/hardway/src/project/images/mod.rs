//! Whether every image that the cluster will run is where its nodes will look for it.
//!
//! ```text
//! ImageCheck       what is looked for, and as whom                   mod.rs
//! named_images()   images that manifests of the folder name          manifest_images.rs
//! NodeFiles        registries.conf of nodes and bootstrap host       node_files.rs
//! Hole             an image that is missing, and what to do          hole.rs
//! ```

mod hole;
mod manifest_images;
mod node_files;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hardway_assets::release_payload::{InclusionRules, ReleasePayload, SAMPLE};
use hardway_assets::{Cluster, Tree, no_proxy};
use hardway_release::node_images::{
    Depth, NamedImage, NodeRegistries, ReleaseImages, Search, Sought, WantedImage,
};
use hardway_release::{
    Connection, Contents, Credentials, FetchedRelease, Proxy, PullSpec, PullSpecError, Retry, Roots, fetch,
    payload,
};

pub(crate) use hole::{Hole, HoleKind};
use manifest_images::{ImageUse, RELEASE, named_images};
use node_files::NodeFiles;

use super::{Checked, Forecast, Project};
use crate::inputs::{InputFiles, Workdir};
use crate::release::{
    Logins, Reach, RegistryOptions, fetch_options, host_has_proxy, plain_http, pull_spec_of, registry_report,
    unusable,
};
use crate::report::{Code, Report};
use crate::runtime;
use crate::terminal::{Downloads, Output, Progress};

/// What came of looking.
#[derive(Debug)]
pub(crate) struct ImagesSought {
    /// Errors first, each in the order of names.
    pub(crate) holes: Vec<Hole>,
    /// Every image that was looked for.
    pub(crate) images: Vec<String>,
    /// Images of the release that this cluster does not run.
    pub(crate) left_out: Vec<String>,
    /// What nobody looked at, in sentences.
    pub(crate) unchecked: Vec<String>,
}

/// What is wrong, and what to do about it, for each cause.
pub(crate) type Sentences = Vec<(String, String)>;

/// Everything to look for, and where.
pub(crate) struct ImageCheck {
    uses: Vec<ImageUse>,
    left_out: Vec<String>,
    unchecked: Vec<String>,
    registries: NodeRegistries,
    files: NodeFiles,
    search: Search,
    hole: hole::Context,
    depth: Depth,
    architectures: Vec<String>,
}

/// A registry that is well answers at once.
const PATIENCE: Duration = Duration::from_secs(10);
impl ImageCheck {
    /// Reads the release, the manifests and what nodes get; asks for nothing but the release.
    pub(crate) fn prepare(
        workdir: &Workdir,
        files: &InputFiles,
        cluster: &Cluster,
        registry: &RegistryOptions,
        is_deep: bool,
        out: &Output,
    ) -> Result<Self, Report> {
        let named = &cluster.inventory.release.image;
        if named == SAMPLE {
            let what = "the images of the built-in sample release are placeholders: no registry has them";
            let fix = "name a release in inventory.yaml, such as release.image: quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64";
            return Err(Report::new(Code::Usage, what).fix(fix));
        }
        let tree = workdir.tree()?;
        let mut unchecked = vec![
            "whether a signature was made with the key that a policy names, only that there is one"
                .to_owned(),
            "images that operators and pods choose themselves, and those in files of MachineConfigs"
                .to_owned(),
        ];
        let kept = kept(workdir, files, out)?;
        let image = kept.as_ref().map_or(named, |kept| &kept.release.image);
        let config = Some(files.config.text.0.as_str());
        let image = pull_spec_of(workdir, image, config, registry, out)?;
        let known = Known::of(kept.as_ref(), &image, cluster, files, registry, out, &mut unchecked)?;
        let mut node_files = NodeFiles::of(cluster, files, &tree, &workdir.lock(&tree)?)?;
        for (file, text) in &known.images.policies {
            node_files.add_of_release(file, text);
        }
        if let Some(rendered) = kept.as_ref().and_then(|kept| kept.rendered.as_ref()) {
            node_files.take_rendered(rendered)?;
        }
        if let Some(version) = &known.version {
            node_files.take_bootstrap(cluster, version)?;
        }
        let mut uses = known.uses();
        uses.extend(named_images(&tree));
        let mut connection = connection(cluster, &mut unchecked)?;
        connection.plain_http = plain_http(registry, &[]);
        if !connection.plain_http.is_empty() {
            let names = connection.plain_http.join(", ");
            unchecked.push(format!(
                "whether nodes, like this command, are configured to access {names} without TLS"
            ));
        }
        let architectures = architectures(cluster);
        Ok(Self {
            uses: merged(uses),
            left_out: known.images.left_out,
            unchecked,
            hole: hole::Context { release: known.image.to_string(), architectures: architectures.len() },
            registries: node_files.registries.clone(),
            search: Search::new(connection, node_files.trusted.clone()),
            files: node_files,
            depth: if is_deep { Depth::Blobs } else { Depth::There },
            architectures,
        })
    }

    /// Asks for all of them.
    pub(crate) fn look(self, out: &Output) -> Result<ImagesSought, Report> {
        let wanted: Vec<WantedImage> = self.uses.iter().map(|used| self.wanted(used)).collect();
        let of_bootstrap: Vec<usize> =
            (0..wanted.len()).filter(|at| self.uses[*at].is_of_bootstrap()).collect();
        let progress = Progress::new("looking for images", wanted.len(), out);
        let on_done = |done| progress.at(done, wanted.len());
        let mut holes = Vec::new();
        let sought = runtime::block_on(async {
            let mut sought: Vec<(&'static str, usize, Result<Sought, PullSpecError>)> = Vec::new();
            for (who, conf) in &self.files.confs {
                let found = self.search.look(&wanted, conf, &on_done).await;
                sought.extend(found.into_iter().enumerate().map(|(at, found)| (*who, at, found)));
            }
            if let Some(conf) = &self.files.bootstrap {
                let wanted: Vec<WantedImage> = of_bootstrap.iter().map(|at| wanted[*at].clone()).collect();
                let found = self.search.look(&wanted, conf, &|_| {}).await;
                sought.extend(
                    of_bootstrap.iter().zip(found).map(|(at, found)| (node_files::BOOTSTRAP, *at, found)),
                );
            }
            sought
        })?;
        for (who, at, found) in sought {
            let used = &self.uses[at];
            let conf = self.files.conf_of(who);
            holes.extend(self.hole.judge(used, who, &found, conf, &self.registries));
        }
        holes.sort_by(|a, b| {
            (a.severity, &a.name, &a.image, a.kind).cmp(&(b.severity, &b.name, &b.image, b.kind))
        });
        holes.dedup_by(|next, first| next.is_same(first));
        let images = self.uses.iter().map(|used| used.image.clone()).collect();
        Ok(ImagesSought { holes, images, left_out: self.left_out, unchecked: self.unchecked })
    }

    fn wanted(&self, used: &ImageUse) -> WantedImage {
        let named: Option<NamedImage> = used.image.parse().ok();
        let candidates = named.as_ref().and_then(|image| image.candidates(&[]).ok()).unwrap_or_default();
        let is_signed =
            candidates.iter().any(|image| self.registries.signature_asked_of(&image.name()).is_some());
        // All images of a release are built for the same architectures, so one of them tells.
        let own = if used.is_component() { Depth::There } else { Depth::Platform };
        WantedImage {
            image: used.named.clone(),
            architectures: self.architectures.clone(),
            depth: own.max(self.depth),
            is_signed,
        }
    }
}

/// The release as it lies in the folder.
struct Kept {
    release: ReleasePayload,
    /// Node configs that no later run would make anew.
    rendered: Option<BTreeMap<String, serde_json::Value>>,
}

fn kept(workdir: &Workdir, files: &InputFiles, out: &Output) -> Result<Option<Kept>, Report> {
    if Checked::reason_to_fetch(workdir, files)?.is_some() {
        return Ok(None);
    }
    let (checked, _) = Checked::with_warnings(workdir, files, Reach::Kept, out)?;
    let project = Project::look(workdir, checked)?.around_the_broken();
    let forecast = Forecast::of(&project, |_| true)?;
    let release = project.release().clone();
    let is_stand_in = release.stand_ins.iter().any(|name| name == "machine-config-operator");
    let rendered = (forecast.render.is_empty() && !is_stand_in && !release.rendered.is_empty()).then(|| {
        release.rendered.iter().map(|(pool, config)| (pool.clone(), config.machine_config.clone())).collect()
    });
    Ok(Some(Kept { release, rendered }))
}

/// What is known of the release.
struct Known {
    image: PullSpec,
    images: ReleaseImages,
    version: Option<String>,
}

impl Known {
    /// Its manifests, out of the registry or the cache, say which of its images the cluster runs.
    fn of(
        kept: Option<&Kept>,
        image: &PullSpec,
        cluster: &Cluster,
        files: &InputFiles,
        registry: &RegistryOptions,
        out: &Output,
        unchecked: &mut Vec<String>,
    ) -> Result<Self, Report> {
        let text = Some(files.config.text.0.as_str());
        let mut options = fetch_options(registry, text, &[image], Logins::OfCluster, out)?;
        options.connection.timeout = PATIENCE;
        options.connection.retry = Retry { attempts: 2, ..Retry::default() };
        options.contents = Contents::Payload;
        let fetched = runtime::block_on(fetch(image, &options, &Downloads::new(out)))?;
        match (fetched, kept) {
            (Ok(fetched), _) => Self::fetched(&fetched, cluster),
            (Err(error), Some(kept)) => {
                unchecked.push(format!(
                    "which images of the release this cluster does not run, because its manifests cannot be read: {error}"
                ));
                let images =
                    kept.release.images.iter().map(|(name, image)| (name.to_owned(), image.to_owned()));
                let images = ReleaseImages::all(images.collect::<Vec<_>>());
                Ok(Self { image: image.clone(), images, version: Some(kept.release.version.clone()) })
            }
            (Err(error), None) => {
                let report = registry_report(&error);
                unchecked
                    .push(format!("the images of the release, because it cannot be read: {}", report.what));
                Ok(Self { image: image.clone(), images: ReleaseImages::default(), version: None })
            }
        }
    }

    fn fetched(fetched: &FetchedRelease, cluster: &Cluster) -> Result<Self, Report> {
        let release = payload(fetched).map_err(|error| unusable(&error))?;
        let rules = InclusionRules::of_config(&release, &cluster.config);
        let images: Vec<(String, String)> =
            release.images.iter().map(|(name, image)| (name.to_owned(), image.to_owned())).collect();
        let images = ReleaseImages::of(fetched, images, &rules);
        Ok(Self { image: fetched.image.clone(), images, version: Some(release.version) })
    }

    fn uses(&self) -> Vec<ImageUse> {
        let release = ImageUse::of_release(RELEASE, &self.image.to_string(), Vec::new(), false);
        let components = self.images.run.iter().map(|component| {
            ImageUse::of_release(
                &component.name,
                &component.pull_spec,
                component.users.clone(),
                component.is_on_demand,
            )
        });
        std::iter::once(release).chain(components).flatten().collect()
    }
}

/// As nodes reach registries: with the pull secret of the install-config and nobody else's, trusting what they will trust,
/// through the cluster's proxy.
fn connection(cluster: &Cluster, unchecked: &mut Vec<String>) -> Result<Connection, Report> {
    let config = &cluster.config;
    let credentials = Credentials::read(&config.pull_secret)
        .map_err(|error| Report::from_error(Code::PullSecretInvalid, &error))?;
    let proxy = match &config.proxy {
        Some(proxy) => Proxy::Through {
            http: proxy.http_proxy.clone(),
            https: proxy.https_proxy.clone(),
            no_proxy: no_proxy(cluster, proxy),
        },
        None if host_has_proxy() => {
            unchecked.push(
                "whether registries can be reached without a proxy: this host has one, and nodes will have none".to_owned(),
            );
            Proxy::Environment
        }
        None => Proxy::Direct,
    };
    Ok(Connection {
        credentials,
        trust_bundle: config.additional_trust_bundle.clone(),
        roots: Roots::Mozilla,
        proxy,
        timeout: PATIENCE,
        retry: Retry { attempts: 2, ..Retry::default() },
        ..Connection::default()
    })
}

fn architectures(cluster: &Cluster) -> Vec<String> {
    let config = &cluster.config;
    let pools = std::iter::once(&config.control_plane).chain(&config.compute);
    let names: BTreeSet<String> =
        pools.map(|pool| pool.architecture.clone()).filter(|name| !name.is_empty()).collect();
    names.into_iter().collect()
}

/// Each image once, with all its users.
fn merged(uses: Vec<ImageUse>) -> Vec<ImageUse> {
    let mut all: Vec<ImageUse> = Vec::new();
    for used in uses {
        match all.iter_mut().find(|other| other.image == used.image) {
            Some(other) => other.join(used),
            None => all.push(used),
        }
    }
    all
}

impl ImagesSought {
    /// Those that a node would stumble over.
    pub(crate) fn errors(&self) -> impl Iterator<Item = &Hole> {
        self.holes.iter().filter(|hole| hole.severity == hardway_manifests::Severity::Error)
    }

    /// An error, when images are missing.
    pub(crate) fn refused(&self) -> Option<Report> {
        let groups = hole::grouped(self.errors());
        if groups.is_empty() {
            return None;
        }
        let (count, all) =
            (self.errors().map(|hole| &hole.image).collect::<BTreeSet<_>>().len(), self.images.len());
        let what = format!("{count} of {all} images cannot be pulled as the cluster's nodes will pull them");
        Some(Report::new(Code::ImagesMissing, what).evidence(groups).fix("see the fix for each one above"))
    }

    /// Errors and warnings in a sentence each, with what to do.
    pub(crate) fn sentences(&self) -> (Sentences, Sentences) {
        let is_error = |hole: &&Hole| hole.severity == hardway_manifests::Severity::Error;
        let (errors, warnings): (Vec<&Hole>, Vec<&Hole>) = self.holes.iter().partition(is_error);
        (hole::sentences(errors), hole::sentences(warnings))
    }

    /// Everything odd.
    pub(crate) fn warnings(&self) -> Vec<String> {
        hole::grouped(self.holes.iter().filter(|hole| hole.severity == hardway_manifests::Severity::Warning))
    }
}

/// An image that somebody's own manifest names.
#[derive(Clone, Debug)]
pub(crate) struct OwnImage {
    pub(crate) image: PullSpec,
    /// `file:line:column`.
    pub(crate) place: String,
}

/// Images that the folder's manifests name, as far as people wrote or edited them: those of generated ones are of the release. Behind
/// them those that nobody can fetch, in sentences.
pub(crate) fn own_images(workdir: &Workdir) -> Result<(Vec<OwnImage>, Vec<String>), Report> {
    let tree = workdir.tree()?;
    let lock = workdir.lock(&tree)?;
    let (mut own, mut unknown) = (Vec::new(), Vec::new());
    for used in merged(named_images(&tree)) {
        let Some((file, line, column)) = used.place.as_ref().filter(|(file, ..)| !lock.is_ours(file, &tree))
        else {
            continue;
        };
        let place = format!("{file}:{line}:{column}");
        match used.named.candidates(&[]).ok().and_then(|all| all.into_iter().next()) {
            Some(image) => own.push(OwnImage { image, place }),
            None => unknown.push(format!("{place}: {} names no registry", used.image)),
        }
    }
    Ok((own, unknown))
}

/// Whether a folder's files name mirrors, as far as can be told without asking anybody.
pub(crate) fn declares_mirrors(cluster: &Cluster, tree: &Tree) -> bool {
    let config = &cluster.config;
    !config.image_digest_sources.is_empty()
        || !config.image_content_sources.is_empty()
        || node_files::names_mirrors(tree)
}
