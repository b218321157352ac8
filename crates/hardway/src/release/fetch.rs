//! Phase fetch-release: the release out of its registry.

use hardway_assets::release_payload::ReleasePayload;
use hardway_release::{PullSpec, RegistryError, fetch, payload};

use super::{Logins, ReleaseOptions, check_signature, fetch_options, registry_report, unusable};
use crate::inputs::InputFile;
use crate::report::Report;
use crate::runtime;
use crate::terminal::{Downloads, Output};

/// Fetches a release with the pull secret, trust, mirrors and proxy of the cluster. What was fetched before comes from the
/// cache, down to nothing being asked for a release by digest.
pub(crate) fn fetch_release(
    image: &str,
    install_config: &InputFile,
    wanted: &ReleaseOptions,
    out: &Output,
) -> Result<ReleasePayload, Report> {
    let image: PullSpec = image.parse().map_err(|error| unusable(&error))?;
    let config = Some(install_config.text.0.as_str());
    let options = fetch_options(&wanted.registry, config, &[&image], Logins::OfCluster, out)?;
    out.info(&format!("fetching the release {image}"));
    let release = runtime::block_on(fetch(&image, &options, &Downloads::new(out)))?
        .map_err(|error| refused(&error, options.mirrors.are_passed_by(&image)))?;
    if release.pulled_from.name() != release.image.name() {
        out.info(&format!("it comes from {}", release.pulled_from));
    }
    check_signature(&wanted.signature, &image, release.image.digest.as_ref(), &options, out)?;
    let payload = payload(&release).map_err(|error| unusable(&error))?;
    out.info(&format!("release {} is {}", payload.version, payload.image));
    Ok(payload)
}

fn refused(error: &RegistryError, is_mirrored: bool) -> Report {
    let report = registry_report(error);
    if is_mirrored {
        let fix = "mirrors serve images by digest only, and release.image is by tag: name the digest in inventory.yaml";
        return report.fix(fix);
    }
    report
}
