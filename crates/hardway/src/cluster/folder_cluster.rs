//! Which cluster a folder belongs to, so that nothing is done to another one.

use std::path::Path;
use std::time::Duration;

use fs_err as fs;
use hardway_assets::pki;
use hardway_assets::work_paths;
use hardway_base::pem;
use hardway_cluster::api_error::Unanswered;
use hardway_cluster::kubeconfig::{self, Source, without_retries};
use kube::api::{ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use kube::{Api, Config};
use serde_json::Value;

use crate::inputs::Workdir;
use crate::report::{Code, Exit, Report};

/// For the one question that is asked of a cluster before anything is done to it.
const PATIENCE: Duration = Duration::from_secs(10);
/// What clients of the API trust, as it was made for the folder.
const AUTHORITIES: &str = "kube-apiserver-complete-server-ca-bundle";

/// What a folder knows of its cluster.
struct FolderCluster {
    /// Certificates, DER.
    authorities: Vec<Vec<u8>>,
    infra_id: Option<String>,
}

/// What somebody is about to do with a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    /// To look at it: one that says nothing is looked at as well, to find out why.
    Look,
    /// To change it, if only for a test: it has to be the folder's, beyond doubt.
    Change,
}

/// Stops at a kubeconfig that leads to another cluster than the folder's. Certificates that both trust are enough, and no one
/// is asked; where there are none, the cluster is asked for its name. A folder that knows nothing of a cluster takes any.
pub(super) async fn ensure(
    workdir: &Workdir,
    path: Option<&Path>,
    config: &Config,
    intent: Intent,
) -> Result<(), Report> {
    let Some(known) = FolderCluster::of(workdir).await else { return Ok(()) };
    let name = path.map_or("the pod's service account".to_owned(), |path| path.display().to_string());
    if config.accept_invalid_certs {
        return Err(unchecked(&name));
    }
    if known.vouches_for(config) {
        return Ok(());
    }
    // A person put it there: perhaps with authorities that came after the install.
    let is_own = path == Some(&workdir.path(work_paths::KUBECONFIG));
    let may_be_unknown = is_own && intent == Intent::Look;
    let Some(wanted) = &known.infra_id else {
        return if may_be_unknown { Ok(()) } else { Err(unknown(workdir, &name, is_own, &[])) };
    };
    let wants = format!("this folder's cluster is {wanted}");
    match infra_id(config).await {
        Ok(found) if found == *wanted => Ok(()),
        Ok(found) => {
            Err(other(workdir, &name, is_own, &[wants, format!("the cluster that answered is {found}")]))
        }
        Err(_) if may_be_unknown => Ok(()),
        Err(why) => {
            let silent = format!("the cluster that answered did not identify itself: {why}");
            Err(unknown(workdir, &name, is_own, &[wants, silent]))
        }
    }
}

impl FolderCluster {
    /// None where there is nothing to go by, as in a folder of input files alone.
    async fn of(workdir: &Workdir) -> Option<Self> {
        let infra_id = folder_infra_id(workdir);
        let authorities = match fs::read_to_string(workdir.path(&pki::path(AUTHORITIES))) {
            Ok(bundle) => {
                pem::decode(&bundle).unwrap_or_default().into_iter().map(|block| block.der).collect()
            }
            // openshift-install keeps them in the kubeconfig alone.
            Err(_) => {
                let own = workdir.path(work_paths::KUBECONFIG);
                let config = kubeconfig::read(Source::Folder(&own)).await.ok();
                config.and_then(|config| config.root_cert).unwrap_or_default()
            }
        };
        (!authorities.is_empty()).then_some(Self { authorities, infra_id })
    }
}

/// What the folder calls its cluster, if it knows.
pub(crate) fn folder_infra_id(workdir: &Workdir) -> Option<String> {
    drawn_id(workdir).or_else(|| told_id(workdir))
}

impl FolderCluster {
    /// Whether nobody but the folder's cluster can answer: every certificate that is trusted is the folder's, and for the name that is called.
    fn vouches_for(&self, config: &Config) -> bool {
        let trusted = config.root_cert.as_deref().unwrap_or_default();
        !trusted.is_empty()
            && trusted.iter().all(|certificate| self.authorities.contains(certificate))
            && config.tls_server_name.is_none()
            && config.cluster_url.scheme_str() == Some("https")
    }
}

fn drawn_id(workdir: &Workdir) -> Option<String> {
    Some(workdir.secrets().ok()?.identity().ok()?.infra_id)
}

/// As openshift-install writes it down.
fn told_id(workdir: &Workdir) -> Option<String> {
    let metadata: Value = serde_json::from_slice(&fs::read(workdir.path("metadata.json")).ok()?).ok()?;
    Some(metadata["infraID"].as_str()?.to_owned())
}

/// Why a cluster does not say what it calls itself.
#[derive(Debug, thiserror::Error)]
enum Untold {
    #[error(transparent)]
    Unanswered(#[from] Unanswered),
    #[error("its Infrastructure object has no infrastructureName yet")]
    Unnamed,
}

/// What a cluster calls itself.
async fn infra_id(config: &Config) -> Result<String, Untold> {
    let client = without_retries(config).map_err(Unanswered::from)?;
    let kind = ApiResource::from_gvk_with_plural(
        &GroupVersionKind::gvk("config.openshift.io", "v1", "Infrastructure"),
        "infrastructures",
    );
    let infrastructures: Api<DynamicObject> = Api::all_with(client, &kind);
    let asked = tokio::time::timeout(PATIENCE, infrastructures.get("cluster")).await;
    let object = asked.map_err(Unanswered::from)?.map_err(Unanswered::from)?;
    let id = object.data["status"]["infrastructureName"].as_str();
    id.map(str::to_owned).ok_or(Untold::Unnamed)
}

fn unchecked(name: &str) -> Report {
    Report::new(Code::ClusterOther, format!("{name} does not check who answers: insecure-skip-tls-verify"))
        .evidence(["anybody on the way could answer as the cluster".to_owned()])
        .fix("put the certificates of the cluster's authorities into it: certificate-authority-data, as in auth/kubeconfig of its folder")
        .exit(Exit::Usage)
}

/// Nothing shows that it is the folder's.
fn unknown(workdir: &Workdir, name: &str, is_own: bool, evidence: &[String]) -> Report {
    let no_certificate = "the two trust no CA in common".to_owned();
    let evidence: Vec<String> = evidence.iter().cloned().chain([no_certificate]).collect();
    let report = other(workdir, name, is_own, &evidence);
    match is_own {
        true => Report {
            what: format!(
                "cannot tell whether {name} points to the cluster of {}",
                workdir.path("").display()
            ),
            ..report
        },
        false => report,
    }
}

fn other(workdir: &Workdir, name: &str, is_own: bool, evidence: &[String]) -> Report {
    let what = format!("{name} points to a different cluster than {}", workdir.path("").display());
    let fix = match is_own {
        true => {
            "restore the kubeconfig that was generated for this folder, or use one with the CA of the cluster's API"
        }
        false => "omit --kubeconfig, or name that cluster's folder with --dir",
    };
    Report::new(Code::ClusterOther, what).evidence(evidence.iter().cloned()).fix(fix).exit(Exit::Usage)
}
