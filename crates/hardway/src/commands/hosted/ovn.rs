//! `hardway hosted ovn`

use hardway_base::Secret;
use hardway_hosted::ovn::{OvnFacts, OvnVerdict, SECRET, judge, secret};
use hardway_hosted::{HostedError, Management, names};
use jiff::Timestamp;

use super::{connect, failed};
use crate::cli::{ManagementArgs, OvnArgs};
use crate::clock;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// Says who makes the certificate; makes it where nobody else will, and looks again. Exit 9 while somebody is waited for.
pub(super) async fn run(args: &ManagementArgs, ovn: &OvnArgs, out: &Output) -> Result<Exit, Report> {
    let management = connect(args, &ovn.cluster).await?;
    let now = clock::now();
    let verdict = look(&management, now).await?;
    match &verdict {
        OvnVerdict::Fine => out.data(&format!("Secret {SECRET} is there\n")),
        OvnVerdict::NotNeeded => {
            out.data("nobody needs it yet: Deployment ovnkube-control-plane is not there\n")
        }
        OvnVerdict::Wait(why) => out.data(&format!("{why}\n")),
        OvnVerdict::Make(why) | OvnVerdict::Renew(why) if !ovn.fix => {
            out.data(&format!("{why}; nobody else makes it: run it with --fix\n"))
        }
        OvnVerdict::Make(why) | OvnVerdict::Renew(why) => {
            out.info(why);
            make(&management, matches!(verdict, OvnVerdict::Renew(_)), now)
                .await
                .map_err(|error| failed(&error))?;
            if look(&management, now).await? != OvnVerdict::Fine {
                return Err(Report::new(
                    Code::HostedFailed,
                    format!("Secret {SECRET} was made, and is not there"),
                ));
            }
            out.data(&format!(
                "Secret {SECRET} is made; the kubelet of the pod mounts it with its next try\n"
            ));
            return Ok(Exit::Done);
        }
    }
    Ok(if matches!(verdict, OvnVerdict::Fine | OvnVerdict::NotNeeded) { Exit::Done } else { Exit::Blocked })
}

async fn look(management: &Management, now: Timestamp) -> Result<OvnVerdict, Report> {
    let look = async {
        let cluster = management.hosted_cluster().await?;
        OvnFacts::collect(management, cluster.as_ref(), now).await
    };
    Ok(judge(&look.await.map_err(|error: HostedError| failed(&error))?, now))
}

async fn make(management: &Management, again: bool, now: Timestamp) -> Result<(), HostedError> {
    let missing = || {
        HostedError::Missing(format!(
            "Secret {} with ca.crt and ca.key in {}",
            names::ROOT_CA,
            management.control_plane()
        ))
    };
    let data = management.secret(names::ROOT_CA).await?.and_then(|secret| secret.data).ok_or_else(missing)?;
    let part = |key: &str| data.get(key).map(|bytes| bytes.0.clone()).ok_or_else(missing);
    let certificate = String::from_utf8(part("ca.crt")?).map_err(|_| missing())?;
    let owner = management.control_plane_owner().await?;
    let object =
        secret(&management.control_plane(), &certificate, &Secret::new(part("ca.key")?), owner.as_ref(), now)
            .map_err(|error| HostedError::Secret {
                name: names::ROOT_CA.to_owned(),
                why: error.to_string(),
            })?;
    management.make_secret(&object, again).await
}
