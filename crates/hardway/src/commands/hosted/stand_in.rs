//! `hardway hosted stand-in`

use std::time::Duration;

use hardway_base::Secret;
use hardway_hosted::stand_in::{StandIn, StandInConfig};

use crate::cli::StandInArgs;
use crate::clock;
use crate::hosted::{ManagementAccess, connect, failed, read};
use crate::report::{Code, Exit, Report};
use crate::runtime::{Stop, interrupted, told_to_stop};
use crate::terminal::Output;

/// How often to check whether something is due.
const LOOK: Duration = Duration::from_secs(30);

/// Publishes, and keeps tokens until told to stop.
pub(super) async fn run(
    access: &ManagementAccess,
    stand_in: &StandInArgs,
    out: &Output,
) -> Result<Exit, Report> {
    let text = read(&stand_in.config)?;
    let is_config = serde_json::from_str::<serde_json::Value>(&text)
        .is_ok_and(|config| config["ignition"]["version"].is_string());
    if !is_config {
        let what = format!("{} is not an Ignition config", stand_in.config.display());
        return Err(Report::new(Code::HostedRequest, what));
    }
    let config = StandInConfig {
        node_pool: stand_in.pool.clone(),
        config: Secret::new(text),
        endpoint: stand_in.ignition_server.clone(),
        authority: read(&stand_in.ignition_ca)?,
        release_version: stand_in.release_version.clone(),
    };
    let management = connect(access, &stand_in.cluster).await?;
    let keeper = StandIn::new(management, clock::now);
    keeper.publish(&config).await.map_err(|error| failed(&error))?;
    out.info(&format!(
        "config {} of NodePool {} is published by hardway's stand-in",
        config.hash(),
        config.node_pool
    ));
    if stand_in.once {
        return Ok(Exit::Done);
    }
    let keep = async {
        loop {
            if let Err(error) = keeper.keep(&config).await {
                out.warn(&format!("{error}; retrying"));
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::select! {
        stop = told_to_stop() => match stop {
            Stop::Interrupted => Err(interrupted("keeping tokens")),
            Stop::Terminated => Ok(Exit::Done),
        },
        () = keep => Ok(Exit::Done),
    }
}
