//! Which cluster a folder belongs to, so that nothing is done to another one.

use std::path::Path;
use std::time::Duration;

use fs_err as fs;
use hardway_assets::pki;
use hardway_base::pem;
use hardway_cluster::api_error::Unanswered;
use hardway_cluster::kubeconfig::{self, without_retries};
use kube::api::{ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use kube::{Api, Config};
use serde_json::Value;

use super::KUBECONFIG;
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

/// Stops at a kubeconfig that leads to another cluster than the folder's. Certificates that both trust are enough, and no one
/// is asked; where there are none, the cluster is asked for its name. A folder that knows nothing of a cluster takes any.
pub(super) async fn ensure(workdir: &Workdir, path: Option<&Path>, config: &Config) -> Result<(), Report> {
    let Some(known) = FolderCluster::of(workdir).await else { return Ok(()) };
    let trusted = config.root_cert.iter().flatten();
    if trusted.into_iter().any(|certificate| known.authorities.contains(certificate)) {
        return Ok(());
    }
    let name = path.map_or("the pod's service account".to_owned(), |path| path.display().to_string());
    // A person put it there: perhaps with authorities that came after the install.
    let is_own = path == Some(&workdir.path(KUBECONFIG));
    let Some(wanted) = &known.infra_id else {
        return if is_own { Ok(()) } else { Err(other(workdir, &name, &[])) };
    };
    let wants = format!("the folder's cluster is {wanted}");
    match infra_id(config).await {
        Ok(found) if found == *wanted => Ok(()),
        Ok(found) => Err(other(workdir, &name, &[wants, format!("this one says that it is {found}")])),
        Err(_) if is_own => Ok(()),
        Err(why) => Err(other(
            workdir,
            &name,
            &[wants, "no certificate is trusted by both".to_owned(), format!("this one does not say: {why}")],
        )),
    }
}

impl FolderCluster {
    /// None where there is nothing to go by, as in a folder of input files alone.
    async fn of(workdir: &Workdir) -> Option<Self> {
        let infra_id = drawn_id(workdir).or_else(|| told_id(workdir));
        let authorities = match fs::read_to_string(workdir.path(&pki::path(AUTHORITIES))) {
            Ok(bundle) => {
                pem::decode(&bundle).unwrap_or_default().into_iter().map(|block| block.der).collect()
            }
            // openshift-install keeps them in the kubeconfig alone.
            Err(_) => {
                let own = workdir.path(KUBECONFIG);
                let config = kubeconfig::read(Some(&own)).await.ok();
                config.and_then(|config| config.root_cert).unwrap_or_default()
            }
        };
        (!authorities.is_empty()).then_some(Self { authorities, infra_id })
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
    #[error("its Infrastructure has no name yet")]
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

fn other(workdir: &Workdir, name: &str, evidence: &[String]) -> Report {
    let what = format!("{name} leads to another cluster than the one of {}", workdir.path("").display());
    Report::new(Code::ClusterOther, what)
        .evidence(evidence.iter().cloned())
        .fix("leave --kubeconfig out, or name the folder of that cluster with --dir")
        .exit(Exit::Usage)
}
