//! `hardway hosted verify`

use serde_json::json;

use crate::cli::{Format, HostedVerifyArgs};
use crate::cluster::verification;
use crate::hosted::verification::{look, verdict};
use crate::hosted::{ManagementAccess, connect};
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// Looks at the hosted cluster from outside.
pub(super) async fn run(
    access: &ManagementAccess,
    verify: &HostedVerifyArgs,
    out: &Output,
) -> Result<Exit, Report> {
    let management = connect(access, &verify.cluster).await?;
    let outcomes = look(&management, &verify.into()).await?;
    match verify.output {
        Format::Text => out.painted(&out.advice(&verification::text(&outcomes))),
        format => {
            let passed = verification::failed(&outcomes).is_empty();
            out.value(&json!({"passed": passed, "checks": outcomes}), format);
        }
    }
    verdict(&outcomes)?;
    Ok(Exit::Done)
}
