//! `release/rendered/<pool>.yaml`: what the release's machine-config-operator rendered for the nodes of each pool.
//!
//! Rendering needs a container, so it is not done here. This asset says what the result depends on, keeps it, and ties
//! the node configs to it. Everything in `manifests/` and `openshift/` counts, the user's own files included: the
//! operator reads all of it (installer `bootkube.sh.template`).

use crate::Phase;
use crate::graph::{Asset, Facet, Inputs, MakeError, Output, Source, Stale};
use crate::release_payload::ReleasePayload;
use crate::yaml;

/// The asset's name.
pub const ID: &str = "rendered-nodes";
/// Pools that every cluster has.
pub const POOLS: [&str; 2] = ["master", "worker"];
/// Certificates that the operator is given besides the manifests.
const CERTIFICATES: [&str; 2] = ["root-ca", "kube-apiserver-complete-client-ca-bundle"];

/// The rendered MachineConfigs of a cluster.
pub struct RenderedNodes {
    /// Those that are there.
    pools: Vec<String>,
}

impl RenderedNodes {
    /// Of the pools that the release comes with.
    pub fn of(release: &ReleasePayload) -> Self {
        Self { pools: release.rendered.keys().cloned().collect() }
    }

    /// The working-directory path of a pool's config.
    pub fn path(pool: &str) -> String {
        format!("release/rendered/{pool}.yaml")
    }

    /// Whether a reason to make the files again is one to render again. What was rendered is itself a source, and a new
    /// hardway renders nothing else than the one before.
    pub fn is_outdated_by(reason: &Stale) -> bool {
        !matches!(
            reason,
            Stale::Changed(Source::Release(Facet::Rendered(_))) | Stale::GeneratorChanged { .. }
        )
    }
}

impl Asset for RenderedNodes {
    fn id(&self) -> String {
        ID.to_owned()
    }

    fn phase(&self) -> Phase {
        Phase::RenderNodes
    }

    fn sources(&self) -> Vec<Source> {
        let mut sources = vec![
            Source::Folder("manifests".into()),
            Source::Folder("openshift".into()),
            Source::Release(Facet::Image),
            Source::config("featureSet"),
            Source::Release(Facet::ImagePolicies),
            Source::Release(Facet::Images),
            Source::Release(Facet::Version),
        ];
        sources.extend(CERTIFICATES.map(|name| Source::file(crate::pki::path(name))));
        sources.extend(self.gives().into_iter().map(Source::Release));
        sources
    }

    fn outputs(&self) -> Vec<Output> {
        // They hold the pull secret.
        self.pools.iter().map(|pool| Output::secret(Self::path(pool))).collect()
    }

    fn gives(&self) -> Vec<Facet> {
        let always = POOLS.iter().map(|pool| (*pool).to_owned());
        let mut pools: Vec<String> = self.pools.iter().cloned().chain(always).collect();
        pools.sort();
        pools.dedup();
        pools.into_iter().map(Facet::Rendered).collect()
    }

    fn make(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<u8>>, MakeError> {
        let text = |pool: &String| {
            let config = inputs.release.rendered.get(pool);
            config.map(|config| yaml::write(&config.machine_config).into_bytes())
        };
        let missing = || MakeError::Release("node configs went away while they were kept".to_owned());
        self.pools.iter().map(|pool| text(pool).ok_or_else(missing)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release_payload::sample;

    #[test]
    fn what_was_rendered_and_who_keeps_it_are_no_reasons_to_render() {
        let changed = |facet| Stale::Changed(Source::Release(facet));
        for (reason, expected) in [
            (Stale::New, true),
            (Stale::Added("manifests/mine.yaml".to_owned()), true),
            (Stale::Missing(RenderedNodes::path("master")), true),
            (changed(Facet::Images), true),
            (changed(Facet::Rendered("master".to_owned())), false),
            (Stale::GeneratorChanged { from: "1".to_owned(), to: "2".to_owned() }, false),
        ] {
            assert_eq!(RenderedNodes::is_outdated_by(&reason), expected, "{reason}");
        }
    }

    #[test]
    fn pools_of_ones_own_are_kept_too() {
        let mut release = sample();
        let worker = release.rendered["worker"].clone();
        release.rendered.insert("infra".to_owned(), worker);
        let paths: Vec<_> = RenderedNodes::of(&release).outputs().into_iter().map(|o| o.path).collect();
        assert_eq!(paths, ["infra", "master", "worker"].map(RenderedNodes::path));
        release.rendered.clear();
        let none = RenderedNodes::of(&release);
        assert!(none.outputs().is_empty());
        assert_eq!(none.gives().len(), 2, "node configs wait for it all the same");
    }
}
