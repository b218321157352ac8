//! Every certificate that is known from here: those of the folder, and those of the cluster that was made from it.

use std::time::Duration;

use hardway_assets::pki;
use hardway_assets::pki::catalogue::BUNDLES;
use hardway_assets::work_paths;
use hardway_cluster::certificates::{self, CertificatePlace, KnownCertificate, LiveCertificates};
use jiff::Timestamp;

use super::{Access, Intent, Live};
use crate::inputs::Workdir;
use crate::report::Report;
use crate::terminal::Output;

/// For each answer of the API.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is known, and of which cluster.
pub(crate) struct FolderCertificates {
    /// The cluster's domain, or where its API is.
    pub(crate) cluster: String,
    /// The first to end first.
    pub(crate) live: LiveCertificates,
}

/// Looks at the folder, and asks its cluster if there is one. Must run inside an async runtime.
pub(crate) async fn certificates(
    workdir: &Workdir,
    access: &Access,
    now: Timestamp,
    out: &Output,
) -> Result<FolderCertificates, Report> {
    let mut found = of_folder(workdir)?;
    let mut cluster = workdir.path("").display().to_string();
    let is_made = access.kubeconfig.is_some() || workdir.text(work_paths::KUBECONFIG)?.is_some();
    if !is_made && !found.known.is_empty() {
        out.info("no cluster was made from this folder yet: these are the folder's certificates alone");
    } else {
        let live = Live::open(workdir, access, Intent::Look, out).await?;
        cluster = match &live.cluster {
            Some(cluster) => cluster.domain(),
            None => live.config.cluster_url.to_string(),
        };
        match certificates::ask(&live.config, now, PATIENCE).await {
            Ok(live) => {
                found.known.extend(live.known);
                found.unknown.extend(live.unknown);
            }
            Err(why) => {
                let url = &live.config.cluster_url;
                found.unknown.push(format!("the cluster at {url} could not be queried: {why}"));
            }
        }
    }
    found.known.sort_by(|a, b| (a.not_after, a.place, &a.name).cmp(&(b.not_after, b.place, &b.name)));
    Ok(FolderCertificates { cluster, live: found })
}

/// Bundles hold what has a file of its own.
fn of_folder(workdir: &Workdir) -> Result<LiveCertificates, Report> {
    let mut found = LiveCertificates::default();
    let is_bundle = |path: &str| BUNDLES.iter().any(|bundle| pki::path(bundle.name) == path);
    for (path, bytes) in workdir.folder("pki")?.iter() {
        if !path.ends_with(".crt") || is_bundle(path) {
            continue;
        }
        match pki::inspect(&String::from_utf8_lossy(bytes)).ok().and_then(|all| all.into_iter().next()) {
            Some(facts) => found.known.push(KnownCertificate {
                place: CertificatePlace::Folder,
                name: path.to_owned(),
                signer: Some(facts.issuer_common_name),
                renewer: Some("hardway create".to_owned()),
                not_before: Some(facts.not_before),
                not_after: facts.not_after,
            }),
            None => found.unknown.push(format!("{path} holds no certificate that can be read")),
        }
    }
    Ok(found)
}
