//! `hardway hosted controller`, and the same for as long as `hardway hosted workers` waits.

use std::sync::Arc;

use hardway_assets::Cluster;
use hardway_assets::host_services::Stage;
use hardway_assets::inventory::{self, Host, Role};
use hardway_cluster::csr_policy::{self, IgnitionEvidence};
use hardway_hosted::controller::{Controller, ControllerEvent, Metrics, MetricsServer};
use hardway_hosted::pointer::OwnServer;
use hardway_hosted::reconcile::{Settings, StepKind};
use hardway_hosted::{MachineMaker, ProgramProvider};
use hardway_machines::providers::Provider;
use tokio::sync::mpsc;

use super::registries::Registries;
use super::{connect, failed, hosted_client, read};
use crate::cli::{ControllerArgs, Global, IgnitionArg, ManagementArgs, ReconcileArgs};
use crate::clock;
use crate::cluster::identity;
use crate::inputs::{FolderLock, InputFiles, Workdir};
use crate::machines;
use crate::project;
use crate::report::{Code, Exit, Report};
use crate::runtime::{Stop, interrupted, told_to_stop};
use crate::terminal::Output;

pub(super) async fn run(
    global: &Global,
    management: &ManagementArgs,
    args: &ControllerArgs,
    out: &Output,
) -> Result<Exit, Report> {
    let (controller, events) =
        controller(global, management, &args.reconcile, !args.no_machines, out).await?;
    let metrics = match args.metrics {
        Some(address) => {
            let server = MetricsServer::start(address, Arc::clone(&controller.metrics)).await;
            let server = server.map_err(|error| {
                Report::from_error(Code::HostedFailed, &error)
                    .exit(Exit::Infrastructure)
                    .fix("choose another address with --metrics, or end what has it")
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

/// A controller as the flags say, and what it tells.
pub(super) async fn controller(
    global: &Global,
    management: &ManagementArgs,
    args: &ReconcileArgs,
    makes_machines: bool,
    out: &Output,
) -> Result<(Controller, mpsc::UnboundedReceiver<ControllerEvent>), Report> {
    let folder = std::path::absolute(&global.dir)
        .map_err(|error| Report::from_error(Code::WorkdirUnusable, &error))?;
    let now: hardway_cluster::clock::Now = Arc::new(clock::now);
    let machines = match makes_machines {
        true => {
            let (provider, hosts) = provider(global, args)?;
            Some(
                MachineMaker::new(provider, hosts, &folder, Arc::clone(&now))
                    .map_err(|error| failed(&error))?
                    .on(machines::outside()),
            )
        }
        false => None,
    };
    let server = match (&args.ignition_server, &args.ignition_ca) {
        (Some(address), Some(file)) => Some(OwnServer { address: address.clone(), authority: read(file)? }),
        _ => None,
    };
    let releases = Registries::new(&Workdir::open(&global.dir)?, &folder, &(&args.registry).into(), out)?;
    let management = connect(management, &args.cluster).await?;
    let hosted = hosted_client(&management, args.hosted_kubeconfig.as_deref()).await?;
    let (sender, events) = mpsc::unbounded_channel();
    let controller = Controller {
        hosted,
        management,
        machines,
        folder,
        settings: settings(args),
        rest: args.config_rest,
        policy: csr_policy::Settings {
            ignition: match args.ignition {
                IgnitionArg::Required => IgnitionEvidence::Required,
                IgnitionArg::IfServed => IgnitionEvidence::IfServed,
                IgnitionArg::Ignored => IgnitionEvidence::Ignored,
            },
            join_window: args.join_window,
            ..csr_policy::Settings::default()
        },
        server,
        daemon_image: args.daemon_image.clone(),
        releases: Some(Arc::new(releases)),
        identity: identity(),
        now,
        metrics: Arc::new(Metrics::default()),
        tell: Arc::new(move |event| {
            let _ = sender.send(event.clone());
        }),
    };
    Ok((controller, events))
}

fn settings(args: &ReconcileArgs) -> Settings {
    Settings {
        boots_at_once: args.boots_at_once,
        startup: args.startup_timeout,
        unready: args.unready_timeout,
        most_unwell: args.max_unhealthy,
        repairs_per_hour: args.repairs_per_hour,
        drain: args.drain_timeout,
        upgrades: !args.no_upgrades,
        ..Settings::default()
    }
}

/// Who makes machines, and of which hosts.
fn provider(global: &Global, args: &ReconcileArgs) -> Result<(Arc<dyn Provider>, Vec<Host>), Report> {
    let workdir = Workdir::open(&global.dir)?;
    let folder = std::path::absolute(&global.dir)
        .map_err(|error| Report::from_error(Code::WorkdirUnusable, &error))?;
    if let Some(program) = &args.machine_program {
        return Ok((Arc::new(ProgramProvider::new(program, &folder)), hosts(global)?));
    }
    // What is built is named after the cluster's identity, which is drawn once and kept.
    let files = InputFiles::open(&workdir)?;
    let cluster = match workdir.path("secrets/identity.json").exists() {
        true => project::cluster_before_release(&workdir, &files)?,
        false => {
            let _lock = FolderLock::take(&workdir)?;
            project::cluster_to_build(&workdir, &files)?
        }
    };
    // A provider looks at its cluster for as long as it lives, which here is as long as the program.
    let cluster: &'static Cluster = Box::leak(Box::new(cluster));
    // A hosted cluster has no bootstrap host.
    let provider = machines::provider_of(cluster, &files, &folder, Stage::Installed)?;
    let hosts = cluster.inventory.with_role(Role::Worker).cloned().collect();
    Ok((Arc::from(provider), hosts))
}

/// The hosts of the inventory that can become workers. It need not fit an install-config: a hosted cluster has none.
pub(super) fn hosts(global: &Global) -> Result<Vec<Host>, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let text = read(&workdir.path("inventory.yaml"))?;
    let inventory = inventory::read(&text, None).map_err(|violations| {
        Report::new(Code::InventoryInvalid, format!("{} mistakes in inventory.yaml", violations.len()))
            .evidence(violations.iter().map(ToString::to_string))
    })?;
    Ok(inventory.value.with_role(Role::Worker).cloned().collect())
}

/// Until there is nothing more to come.
pub(super) async fn print(mut events: mpsc::UnboundedReceiver<ControllerEvent>, out: &Output) {
    let mut last = String::new();
    while let Some(event) = events.recv().await {
        let (is_bad, line) = line(&event);
        // What is tried again and fails in the same way is said once.
        if line == last {
            continue;
        }
        match (is_bad, &event) {
            (true, _) => out.warn(&line),
            (false, ControllerEvent::Took { step: StepKind::Record, .. }) => out.debug(&line),
            (false, _) => out.info(&line),
        }
        last = line;
    }
}

fn line(event: &ControllerEvent) -> (bool, String) {
    match event {
        ControllerEvent::Leading(of) => (false, format!("this one acts for the {of}")),
        ControllerEvent::Took { worker, step } => (false, format!("{worker}: {step}")),
        ControllerEvent::Failed { worker, step, why } => (true, format!("{worker}: {step}: {why}")),
        ControllerEvent::ByHand { worker, steps } => {
            let steps: String = steps.iter().zip(1..).map(|(step, n)| format!("\n  {n}. {step}")).collect();
            (true, format!("{worker} waits for a person:{steps}"))
        }
        ControllerEvent::Decided { node, what } => {
            (false, format!("{node}: {}", what.split(": ").next().unwrap_or(what)))
        }
        ControllerEvent::Trouble(what) => (true, format!("{what}; trying again")),
    }
}
