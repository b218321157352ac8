//! The registries of the release, asked as the cluster's nodes will: with their pull secret, CA, proxy and mirrors.

use std::time::Duration;

use hardway_assets::Cluster;
use hardway_machines::preflight::{ImagesSeen, PlaceSeen, Refusal, RegistrySeen};
use hardway_release::{FetchOptions, ImagePlace, PullSpec, Retry, date_of, look_for};
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

use crate::clock;
use crate::inputs::{InputFile, InputFiles, Workdir};
use crate::project::ImageCheck;
use crate::release::{Logins, RegistryOptions, fetch_options, pull_spec_of, registry_report};
use crate::report::Report;
use crate::runtime;
use crate::terminal::Output;

/// Everything needed to ask, or why nobody can be asked.
pub(super) struct Registries(Result<(PullSpec, FetchOptions), Refusal>);

/// A registry that is well answers at once.
const PATIENCE: Duration = Duration::from_secs(10);

impl Registries {
    /// Reads pull secret, CA, proxy and mirrors.
    pub(super) fn of(
        workdir: &Workdir,
        cluster: &Cluster,
        config: &InputFile,
        registry: &RegistryOptions,
        out: &Output,
    ) -> Self {
        let prepared = || {
            let text = Some(config.text.0.as_str());
            let image = pull_spec_of(workdir, &cluster.inventory.release.image, text, registry, out)?;
            let mut options = fetch_options(registry, text, &[&image], Logins::OfCluster, out)?;
            options.connection.timeout = PATIENCE;
            options.connection.retry = Retry { attempts: 2, ..Retry::default() };
            Ok((image, options))
        };
        Self(prepared().map_err(refusal))
    }

    /// Asks all of them.
    pub(super) fn ask(&self) -> RegistrySeen {
        let (image, options) = match &self.0 {
            Ok(prepared) => prepared,
            Err(refusal) => return RegistrySeen { trouble: Some(refusal.clone()), places: Vec::new() },
        };
        let asked = runtime::block_on(async {
            let mut places = Vec::new();
            for place in look_for(image, options).await.map_err(|error| registry_report(&error))? {
                let date = date_of(&place.place, &options.connection).await;
                places.push(seen(place, date.as_deref()));
            }
            Ok(places)
        });
        match asked.flatten() {
            Ok(places) => RegistrySeen { places, trouble: None },
            Err(report) => RegistrySeen { places: Vec::new(), trouble: Some(refusal(report)) },
        }
    }
}

/// Must be called when the date has just come.
fn seen(place: ImagePlace, date: Option<&str>) -> PlaceSeen {
    let ahead = date.and_then(|date| Some(read(date)?.as_second() - clock::now().as_second()));
    PlaceSeen {
        name: place.place.name(),
        is_mirror: place.is_mirror,
        found: place.found.map(|digest| digest.to_string()).map_err(|error| refusal(registry_report(&error))),
        ahead,
    }
}

fn read(date: &str) -> Option<Timestamp> {
    DateTimeParser::new().parse_timestamp(date).ok()
}

fn refusal(report: Report) -> Refusal {
    Refusal {
        what: report.what,
        fix: report.fix.unwrap_or_else(|| format!("see `hardway explain {}`", report.code)),
    }
}

/// Looks for all images of the cluster as its nodes will. Checks run beside each other, so nobody is told how far it is.
pub(super) fn ask_for_images(
    workdir: &Workdir,
    files: &InputFiles,
    cluster: &Cluster,
    registry: &RegistryOptions,
) -> ImagesSeen {
    let out = Output::silent();
    let sought = ImageCheck::prepare(workdir, files, cluster, registry, false, &out)
        .and_then(|check| check.look(&out));
    match sought {
        Ok(sought) => {
            let rows = |rows: Vec<(String, String)>| {
                rows.into_iter().map(|(what, fix)| Refusal { what, fix }).collect()
            };
            let (missing, odd) = sought.sentences();
            ImagesSeen {
                looked_for: sought.images.len(),
                missing: rows(missing),
                odd: rows(odd),
                trouble: None,
            }
        }
        Err(report) => ImagesSeen { trouble: Some(refusal(report)), ..ImagesSeen::default() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_as_servers_write_it() {
        assert_eq!(read("Sun, 15 Nov 2026 10:41:49 GMT"), "2026-11-15T10:41:49Z".parse().ok());
        assert_eq!(read("yesterday"), None);
    }
}
