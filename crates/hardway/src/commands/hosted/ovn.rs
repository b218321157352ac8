//! `hardway hosted ovn`

use hardway_hosted::ovn::{OvnFacts, OvnVerdict, SECRET, judge};
use hardway_hosted::{HostedError, Management};
use jiff::Timestamp;

use crate::cli::OvnArgs;
use crate::clock;
use crate::hosted::{ManagementAccess, connect, failed};
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// Says who makes the certificate; makes it where nobody else will, and looks again. Exit 9 while somebody is waited for.
pub(super) async fn run(access: &ManagementAccess, ovn: &OvnArgs, out: &Output) -> Result<Exit, Report> {
    let management = connect(access, &ovn.cluster).await?;
    let now = clock::now();
    let verdict = look(&management, now).await?;
    match &verdict {
        OvnVerdict::Fine => out.data(&format!("Secret {SECRET} exists\n")),
        OvnVerdict::NotNeeded => {
            out.data("not needed yet: Deployment ovnkube-control-plane does not exist\n")
        }
        OvnVerdict::Wait(why) => out.data(&format!("{why}\n")),
        OvnVerdict::Make(why) | OvnVerdict::Renew(why) if !ovn.fix => {
            out.data(&format!("{why}; nothing else creates it: run the command with --fix\n"))
        }
        OvnVerdict::Make(why) | OvnVerdict::Renew(why) => {
            out.info(why);
            let again = matches!(verdict, OvnVerdict::Renew(_));
            management.make_ovn_certificate(again, now).await.map_err(|error| failed(&error))?;
            if look(&management, now).await? != OvnVerdict::Fine {
                return Err(Report::new(
                    Code::HostedFailed,
                    format!("Secret {SECRET} was created, but does not exist"),
                ));
            }
            out.data(&format!("created Secret {SECRET}; the pod's kubelet mounts it on its next attempt\n"));
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
