//! Releases that are named by a word, such as `4.18` or `okd-scos`: asked for once, and a digest from then on.

use std::net::IpAddr;

use hardway_assets::release_payload::ReleaseWord;
use hardway_assets::yaml;
use hardway_base::redaction::without_password;
use hardway_release::{
    FetchOptions, OKD_REPOSITORY, PUBLIC_GRAPH, PullSpec, PullSpecError, ResolveError, ResolvedWord, resolve,
};

use super::{Logins, RegistryOptions, fetch_options, registry_report, unusable};
use crate::inputs::Workdir;
use crate::report::{Code, Report};
use crate::runtime;
use crate::terminal::Output;

const OFFLINE: &str = "without a way to it, name the release by digest, which nobody has to be asked about: release.image: \
 quay.io/openshift-release-dev/ocp-release@sha256:…; an update service of your own is release.graph in inventory.yaml, and a \
 mirror of OKD's releases release.repository";

/// Who is asked what a word means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WordSources {
    graph: String,
    repository: String,
}

impl WordSources {
    /// As the inventory of a folder says; the public ones where it says nothing. What is wrong with it is told with its other mistakes.
    pub(crate) fn of(workdir: &Workdir) -> Self {
        let text = workdir.text("inventory.yaml").ok().flatten().unwrap_or_default();
        let inventory = yaml::read(&text).map(|node| node.to_json()).unwrap_or_default();
        let field = |name: &str, public: &str| {
            inventory["release"][name].as_str().filter(|text| !text.is_empty()).unwrap_or(public).to_owned()
        };
        Self { graph: field("graph", PUBLIC_GRAPH), repository: field("repository", OKD_REPOSITORY) }
    }

    /// Asks, and says what came of it.
    pub(crate) fn resolve(
        &self,
        word: &ReleaseWord,
        asked: &str,
        options: &FetchOptions,
        out: &Output,
    ) -> Result<ResolvedWord, Report> {
        if !matches!(word, ReleaseWord::Okd(_)) && self.is_open_to_others() {
            out.warn(&format!(
                "{} is queried without TLS: anyone on the way there can choose the release; only a signature (--keyring) says who made it",
                without_password(&self.graph)
            ));
        }
        let asked = resolve(word, asked, &self.graph, &self.repository, options);
        let resolved = runtime::block_on(asked)?.map_err(|error| report(&error))?;
        out.info(&format!("{} is {}, by {}", resolved.version, resolved.image, resolved.source));
        if !resolved.risks.is_empty() {
            let risks = resolved.risks.join(", ");
            out.info(&format!("known risks of updates to {}: {risks}", resolved.version));
        }
        Ok(resolved)
    }

    /// With options for whoever is asked.
    pub(crate) fn options(
        &self,
        registry: &RegistryOptions,
        install_config: Option<&str>,
        logins: Logins,
        out: &Output,
    ) -> Result<FetchOptions, Report> {
        let place: PullSpec = format!("{}:any", self.repository).parse().map_err(|error| wrong(&error))?;
        fetch_options(registry, install_config, &[&place], logins, out)
    }

    fn is_open_to_others(&self) -> bool {
        let Some(rest) = self.graph.strip_prefix("http://") else { return false };
        let host = rest.split(['/', '?']).next().unwrap_or_default();
        let host = host.rsplit_once(':').map_or(host, |(host, _)| host).trim_matches(['[', ']']);
        host != "localhost" && !host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }
}

/// The pull spec of what an inventory names: as it is; or what its word was resolved to, now if not before.
pub(crate) fn pull_spec_of(
    workdir: &Workdir,
    image: &str,
    install_config: Option<&str>,
    registry: &RegistryOptions,
    out: &Output,
) -> Result<PullSpec, Report> {
    let Some(word) = ReleaseWord::read(image) else { return image.parse().map_err(|error| wrong(&error)) };
    let locked = workdir.locked_release()?.filter(|locked| locked.asked == image);
    if let Some(locked) = locked {
        return locked.image.parse().map_err(|error| wrong(&error));
    }
    let sources = WordSources::of(workdir);
    let options = sources.options(registry, install_config, Logins::OfCluster, out)?;
    Ok(sources.resolve(&word, image, &options, out)?.image)
}

/// A signature says who made a release, and not that it is the one that was asked for.
pub(crate) fn not_meant(image: &str, word: &str, version: &str) -> Report {
    let what = format!("{image} is release {version}, which is not what {word} means");
    Report::new(Code::ReleaseUnusable, what)
        .fix("the service that resolves the word is wrong, or not the one it should be: name the release by digest")
}

fn wrong(error: &PullSpecError) -> Report {
    unusable(error)
}

fn report(error: &ResolveError) -> Report {
    match error {
        ResolveError::Registry(error) => registry_report(error).fix(OFFLINE),
        ResolveError::Refused { .. } => Report::from_error(Code::RegistryRefused, error).fix(OFFLINE),
        ResolveError::NoChannel { .. } | ResolveError::NoVersion { .. } => {
            Report::from_error(Code::ImageNotFound, error).fix(
                "name a minor version or channel that exists, such as 4.18, fast-4.18 or okd-scos-4.19, or a release by digest",
            )
        }
        ResolveError::Malformed { .. } | ResolveError::NotByDigest { .. } => {
            unusable(error).fix("release.graph must be the address of an update service's graph, such as https://HOST/api/upgrades_info/v1/graph")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_may_be_asked_in_the_open() {
        for (graph, expected) in [
            ("https://updates.example.com/graph", false),
            ("http://127.0.0.1:8080/graph", false),
            ("http://[::1]:8080/graph", false),
            ("http://localhost/graph", false),
            ("http://updates.example.com/graph", true),
            ("http://192.0.2.1:8080/graph", true),
        ] {
            let sources = WordSources { graph: graph.to_owned(), repository: String::new() };
            assert_eq!(sources.is_open_to_others(), expected, "{graph}");
        }
    }
}
