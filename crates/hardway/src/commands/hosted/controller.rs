//! `hardway hosted controller`

use std::sync::Arc;

use hardway_hosted::controller::MetricsServer;

use crate::cli::{ControllerArgs, Global};
use crate::hosted::{ManagementAccess, controller, failed, print};
use crate::report::{Code, Exit, Report};
use crate::runtime::{Stop, interrupted, told_to_stop};
use crate::terminal::Output;

pub(super) async fn run(
    global: &Global,
    access: &ManagementAccess,
    args: &ControllerArgs,
    out: &Output,
) -> Result<Exit, Report> {
    let (controller, events) =
        controller(&global.dir, access, &(&args.reconcile).into(), !args.no_machines, out).await?;
    let metrics = match args.metrics {
        Some(address) => {
            let server = MetricsServer::start(address, Arc::clone(&controller.metrics)).await;
            let server = server.map_err(|error| {
                Report::from_error(Code::HostedFailed, &error)
                    .exit(Exit::Infrastructure)
                    .fix("choose another address with --metrics, or stop the process that uses it")
            })?;
            out.info(&format!("metrics at http://{}/metrics", server.address()));
            Some(server)
        }
        None => None,
    };
    let mut ended_by = None;
    let running = async {
        let stop = async { ended_by = Some(told_to_stop().await) };
        let ended = controller.run(stop, Box::new(|_| false)).await;
        // Whoever prints knows that there is nothing more to come.
        drop(controller);
        ended
    };
    let (ended, ()) = tokio::join!(running, print(events, out));
    drop(metrics);
    ended.map_err(|error| failed(&error))?;
    if ended_by == Some(Stop::Interrupted) {
        return Err(interrupted("keeping workers true"));
    }
    Ok(Exit::Done)
}
