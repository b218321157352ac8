//! Whoever keeps workers true: for good, or for as long as somebody waits for them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hardway_assets::Cluster;
use hardway_assets::host_services::InstallStage;
use hardway_assets::inventory::{Host, Role};
use hardway_assets::work_paths;
use hardway_cluster::csr_policy::{self, IgnitionEvidence};
use hardway_hosted::controller::{Controller, ControllerEvent, Metrics};
use hardway_hosted::expected::Witness;
use hardway_hosted::pointer::OwnServer;
use hardway_hosted::reconcile::{RoundSettings, StepKind};
use hardway_hosted::{MachineMaker, PoolHosts, ProgramProvider};
use hardway_machines::providers::Provider;
use jiff::SignedDuration;
use tokio::sync::mpsc;

use super::pools::{own_hosts, pool_hosts};
use super::{ManagementAccess, absolute, connect, failed, hosted_client, read};
use crate::clock;
use crate::cluster::identity;
use crate::inputs::{FolderLock, InputFiles, Workdir};
use crate::machines::{self, HostedSite};
use crate::project;
use crate::release::{HostedReleases, RegistryOptions};
use crate::report::Report;
use crate::terminal::Output;

/// What whoever keeps workers true goes by.
#[derive(Clone, Debug)]
pub(crate) struct ReconcileOptions {
    /// The hosted cluster.
    pub(crate) cluster: String,
    /// In place of HyperShift's own.
    pub(crate) hosted_kubeconfig: Option<PathBuf>,
    /// In place of the inventory's provider.
    pub(crate) machine_program: Option<PathBuf>,
    /// A server of hardway's from which machines fetch their configs, and the file with its CA.
    pub(crate) ignition_server: Option<(String, PathBuf)>,
    pub(crate) evidence: Option<EvidenceRule>,
    /// The longest time from switching a machine on to its first certificate request.
    pub(crate) join_window: SignedDuration,
    /// How long a config must be unchanged before machines boot with it.
    pub(crate) config_rest: SignedDuration,
    /// How the workers are looked after.
    pub(crate) round: RoundSettings,
    /// In place of the image in the pool's release.
    pub(crate) daemon_image: Option<String>,
    pub(crate) registry: RegistryOptions,
}

/// What proves that a machine is the one it says, besides its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EvidenceRule {
    /// It fetched its config from its own address, as the journal says.
    Required,
    /// The same, as the records in the management cluster say.
    Recorded,
    /// Nothing.
    Ignored,
}

/// A controller, and what it tells.
pub(crate) async fn controller(
    dir: &Path,
    access: &ManagementAccess,
    options: &ReconcileOptions,
    makes_machines: bool,
    out: &Output,
) -> Result<(Controller, mpsc::UnboundedReceiver<ControllerEvent>), Report> {
    let folder = absolute(dir)?;
    let now: hardway_journal::Now = Arc::new(clock::now);
    let (machines, hosts) = match makes_machines {
        true => {
            let Makers { provider, hosts, pools } = provider(dir, access, options)?;
            let maker = MachineMaker::new(provider, hosts, &folder, Arc::clone(&now));
            (Some(maker.map_err(|error| failed(&error))?.on(machines::outside())), pools)
        }
        false => (None, PoolHosts::AnyPool(Vec::new())),
    };
    let server = match &options.ignition_server {
        Some((address, file)) => Some(OwnServer { address: address.clone(), authority: read(file)? }),
        None => None,
    };
    // Machines that this one boots fetch where it says, and what they fetch there is in the journal.
    let evidence = options.evidence.unwrap_or(match server {
        Some(_) => EvidenceRule::Required,
        None => EvidenceRule::Ignored,
    });
    let releases = HostedReleases::new(&Workdir::open(dir)?, &folder, &options.registry, out)?;
    let management = connect(access, &options.cluster).await?;
    let hosted = hosted_client(&management, options.hosted_kubeconfig.as_deref()).await?;
    let (sender, events) = mpsc::unbounded_channel();
    let controller = Controller {
        hosted,
        management,
        machines,
        hosts,
        folder,
        settings: options.round.clone(),
        rest: options.config_rest,
        policy: csr_policy::PolicySettings {
            ignition: match evidence {
                EvidenceRule::Required | EvidenceRule::Recorded => IgnitionEvidence::Required,
                EvidenceRule::Ignored => IgnitionEvidence::Ignored,
            },
            join_window: options.join_window,
            ..csr_policy::PolicySettings::default()
        },
        witness: match evidence {
            EvidenceRule::Recorded => Witness::Records,
            EvidenceRule::Required | EvidenceRule::Ignored => Witness::Journal,
        },
        server,
        daemon_image: options.daemon_image.clone(),
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

/// Who makes machines, and of which hosts.
struct Makers {
    provider: Arc<dyn Provider>,
    hosts: Vec<Host>,
    pools: PoolHosts,
}

fn provider(dir: &Path, access: &ManagementAccess, options: &ReconcileOptions) -> Result<Makers, Report> {
    let workdir = Workdir::open(dir)?;
    let folder = absolute(dir)?;
    let program =
        |program: &PathBuf| -> Arc<dyn Provider> { Arc::new(ProgramProvider::new(program, &folder)) };
    if let Some(site) = HostedSite::to_build(&workdir)? {
        let pools = pool_hosts(&site.file, access, &options.cluster)?;
        let hosts = site.hosts_of(&access.namespace, &options.cluster);
        let provider = match &options.machine_program {
            Some(path) => program(path),
            None => Arc::from(site.provider(&folder)?),
        };
        return Ok(Makers { provider, hosts, pools });
    }
    if let Some(path) = &options.machine_program {
        let hosts = own_hosts(&workdir)?;
        return Ok(Makers { provider: program(path), pools: PoolHosts::of_any_pool(&hosts), hosts });
    }
    // What is built is named after the cluster's identity, which is drawn once and kept.
    let files = InputFiles::open(&workdir)?;
    let cluster = match workdir.path(work_paths::IDENTITY).exists() {
        true => project::cluster_before_release(&workdir, &files)?,
        false => {
            let _lock = FolderLock::take(&workdir)?;
            project::cluster_to_build(&workdir, &files)?
        }
    };
    // A provider looks at its cluster for as long as it lives, which here is as long as the program.
    let cluster: &'static Cluster = Box::leak(Box::new(cluster));
    // A hosted cluster has no bootstrap host.
    let provider = machines::provider_of(cluster, &files, &folder, InstallStage::Installed)?;
    let hosts: Vec<Host> = cluster.inventory.with_role(Role::Worker).cloned().collect();
    Ok(Makers { provider: Arc::from(provider), pools: PoolHosts::of_any_pool(&hosts), hosts })
}

/// What a controller tells, until there is nothing more to come.
pub(crate) async fn print(mut events: mpsc::UnboundedReceiver<ControllerEvent>, out: &Output) {
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
        ControllerEvent::Leading(of) => (false, format!("this process holds the lease for the {of}")),
        ControllerEvent::Took { worker, step } => (false, format!("{worker}: {step}")),
        ControllerEvent::Failed { worker, step, why } => (true, format!("{worker}: {step}: {why}")),
        ControllerEvent::ByHand { worker, steps } => {
            let steps: String = steps.iter().zip(1..).map(|(step, n)| format!("\n  {n}. {step}")).collect();
            (true, format!("{worker} needs a person:{steps}"))
        }
        ControllerEvent::Decided { node, what } => {
            (false, format!("{node}: {}", what.split(": ").next().unwrap_or(what)))
        }
        ControllerEvent::Trouble(what) => (true, format!("{what}; retrying")),
    }
}
