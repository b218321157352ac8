//! Keeps the network's certificate from running out, where hardway made it.

use std::time::Duration;

use tokio::task::JoinHandle;

use super::{Controller, ControllerEvent};
use crate::error::HostedError;
use crate::ovn::{OvnFacts, OvnVerdict, judge};

/// How often it is looked at. It is renewed a month before it ends.
const AGAIN: Duration = Duration::from_secs(3600);
/// How often where that did not work.
const SOON: Duration = Duration::from_secs(60);

/// Looks at the certificate as long as it lives.
pub(super) struct OvnKeeper(JoinHandle<()>);

impl OvnKeeper {
    pub(super) fn begin(controller: &Controller) -> Self {
        let controller = controller.clone();
        Self(tokio::spawn(async move {
            let mut told = None;
            loop {
                let (what, pause) = match look(&controller).await {
                    Ok(what) => (what, AGAIN),
                    Err(error) => (Some(format!("the network's certificate: {error}")), SOON),
                };
                // Told once, not with every try.
                if let Some(what) = what.filter(|what| told.as_ref() != Some(what)) {
                    (controller.tell)(&ControllerEvent::Trouble(what.clone()));
                    told = Some(what);
                }
                tokio::time::sleep(pause).await;
            }
        }))
    }
}

impl Drop for OvnKeeper {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Renews it where it ends soon, or has ended. One that somebody else made, or would make, is theirs.
async fn look(controller: &Controller) -> Result<Option<String>, HostedError> {
    let management = &controller.management;
    let cluster = management.hosted_cluster().await?;
    let now = (controller.now)();
    let facts = OvnFacts::collect(management, cluster.as_ref(), now).await?;
    controller.metrics.see_ovn(facts.ours_until);
    let OvnVerdict::Renew(why) = judge(&facts, now) else { return Ok(None) };
    management.make_ovn_certificate(true, now).await?;
    let facts = OvnFacts::collect(management, cluster.as_ref(), now).await?;
    controller.metrics.see_ovn(facts.ours_until);
    Ok(Some(format!("{why}: renewed")))
}
