//! The gates of a NodePool: what has to be true before its machines can boot.

use std::time::Duration;

use hardway_hosted::config_watch::ConfigWatch;
use hardway_hosted::gates::first_held;
use hardway_hosted::objects::NodePool;
use hardway_hosted::{Management, PoolStatus, pool_status};
use jiff::SignedDuration;

use super::failed;
use crate::clock;
use crate::report::{Code, Report};
use crate::terminal::Output;

/// How often the gates are looked at.
const LOOK: Duration = Duration::from_secs(2);

/// Waits, and tells each gate once.
pub(crate) async fn await_gates(
    management: &Management,
    name: &str,
    timeout: SignedDuration,
    rest: SignedDuration,
    out: &Output,
) -> Result<(), Report> {
    let late = clock::now() + timeout;
    let (mut config, mut told) = (ConfigWatch::default(), None);
    loop {
        let pool = management.node_pool(name).await.map_err(|error| failed(&error))?;
        let status = look_at_gates(management, &pool, &mut config, rest).await?;
        let Some(gate) = first_held(&status.gates) else {
            out.info(&format!(
                "all gates are open: machines can boot with config {}",
                status.config_hash.unwrap_or_default()
            ));
            return Ok(());
        };
        if told != Some(gate.name) {
            told = Some(gate.name);
            out.info(&format!("waiting at gate {}: {}", gate.name, gate.seen));
        }
        if clock::now() >= late {
            let what = format!("NodePool {name} is blocked at gate {}: {}", gate.name, gate.seen);
            return Err(Report { fix: gate.fix.map(str::to_owned), ..Report::new(Code::HostedHeld, what) });
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Where a pool stands, gate by gate.
pub(crate) async fn look_at_gates(
    management: &Management,
    pool: &NodePool,
    config: &mut ConfigWatch,
    rest: SignedDuration,
) -> Result<PoolStatus, Report> {
    pool_status(management, pool, config, rest, clock::now()).await.map_err(|error| failed(&error))
}
