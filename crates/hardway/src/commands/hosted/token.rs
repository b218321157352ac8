//! `hardway hosted token`

use std::time::Duration;

use hardway_base::Secret;
use hardway_hosted::AccountToken;

use crate::cli::TokenArgs;
use crate::clock;
use crate::hosted::{failed, read};
use crate::report::{Exit, Report};
use crate::runtime::{Stop, interrupted, told_to_stop};
use crate::terminal::Output;

/// After a try that failed.
const PAUSE: Duration = Duration::from_secs(10);

/// Keeps a token of a service account fresh until told to stop.
pub(super) async fn run(args: &TokenArgs, out: &Output) -> Result<Exit, Report> {
    let admin = Secret::new(read(&args.admin_kubeconfig)?);
    let name = args.admin_kubeconfig.display().to_string();
    let folder = std::path::absolute(&args.into).unwrap_or_else(|_| args.into.clone());
    let account = (args.account.0.as_str(), args.account.1.as_str());
    let token = AccountToken::new((&name, &admin), account, &folder, args.lifetime).await;
    let token = token.map_err(|error| failed(&error))?;
    let renewed = token.renew(clock::now()).await;
    if args.once {
        renewed.map_err(|error| failed(&error))?;
        return Ok(Exit::Done);
    }
    let keep = async {
        let mut renewed = renewed;
        loop {
            let pause = match &renewed {
                Ok(next) => Duration::try_from(*next).unwrap_or(PAUSE),
                Err(error) => {
                    out.warn(&format!("{error}; retrying"));
                    PAUSE
                }
            };
            tokio::time::sleep(pause).await;
            renewed = token.renew(clock::now()).await;
        }
    };
    tokio::select! {
        stop = told_to_stop() => match stop {
            Stop::Interrupted => Err(interrupted("keeping a token fresh")),
            Stop::Terminated => Ok(Exit::Done),
        },
        () = keep => Ok(Exit::Done),
    }
}
