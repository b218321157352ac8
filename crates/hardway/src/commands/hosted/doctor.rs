//! `hardway hosted doctor`

use hardway_cluster::diagnosis::Diagnosis;
use hardway_hosted::diagnosis::{Evidence, ROWS, diagnose};
use serde_json::json;

use crate::cli::{DoctorArgs, Format, Global};
use crate::clock;
use crate::cluster::diagnosis;
use crate::hosted::{ManagementAccess, connect, consoles, failed, hosted_client, read};
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// Collects what can be known, and says what is broken. Exit code 1 when something is.
pub(super) async fn run(
    global: &Global,
    access: &ManagementAccess,
    doctor: &DoctorArgs,
    out: &Output,
) -> Result<Exit, Report> {
    let management = connect(access, &doctor.cluster).await?;
    let mut logs = doctor.log.iter().map(|file| read(file)).collect::<Result<Vec<_>, Report>>()?;
    let (workers, _) = management.workers().await.map_err(|error| failed(&error))?;
    logs.extend(consoles(&global.dir, (&access.namespace, &doctor.cluster), &workers, out).await);
    // A file that the command line names must be there; HyperShift's own may not be yet, and that is worth knowing.
    let hosted = match (&doctor.hosted_kubeconfig, management.hosted_client(None)) {
        (Some(named), _) => Some(hosted_client(&management, Some(named)).await?),
        (None, own) => own
            .await
            .map_err(|error| {
                out.warn(&format!(
                    "cannot reach the hosted cluster: {error}; its nodes and certificate requests are unknown"
                ));
            })
            .ok(),
    };
    let evidence = Evidence::collect(&management, hosted.as_ref(), logs, clock::now()).await;
    let broken = diagnose(&evidence.map_err(|error| failed(&error))?);
    match doctor.output {
        Format::Text => out.data(&text(&broken)),
        format => out.value(&json!({"broken": broken, "entries": ROWS.len()}), format),
    }
    Ok(if broken.is_empty() { Exit::Done } else { Exit::Error })
}

fn text(broken: &[Diagnosis]) -> String {
    if broken.is_empty() {
        return format!("no failure found: checked {} known failures\n", ROWS.len());
    }
    broken.iter().map(diagnosis::text).collect()
}
