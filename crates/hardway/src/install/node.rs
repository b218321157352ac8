//! One machine of a cluster that runs: it comes, or it goes.

use std::path::Path;
use std::time::Duration;

use hardway_assets::ignition::{HostPointer, TokenKey, first_boot_config, host_pointer, joining_config};
use hardway_assets::inventory::Host;
use hardway_assets::secrets::{Comes, TOKEN_KEY};
use hardway_assets::{Cluster, File, host_identity, pki};
use hardway_base::Secret;
use hardway_cluster::node_change::{NodeRemoval, NodeRemovalError, NodeState, authorities, user_data};
use hardway_journal::{Entry, MachineGone};
use hardway_machines::actions::{Action, Step};
use hardway_machines::providers::{ActionScope, is_of_machine};

use hardway_cluster::objects::{SERVING_SIGNER, SigningRequest};
use hardway_cluster::operators::WatchedCluster;
use hardway_cluster::wait::Judgement;

use super::Install;
use super::phases::{boot_one, has_joined};
use crate::clock;
use crate::cluster;
use crate::journal::journal_report;
use crate::machines::owned_actions;
use crate::project::{self, Checked};
use crate::release::Reach;
use crate::report::{Code, Exit, Report};
use crate::runtime;

/// How long a drain may make no progress: disruption budgets wait for pods that start elsewhere.
const PATIENCE: Duration = Duration::from_secs(20 * 60);

/// A host of the inventory that can be a node.
pub(crate) fn node_host(cluster: &Cluster, name: &str) -> Result<Host, Report> {
    let hosts = &cluster.inventory.hosts;
    let found = hosts.iter().find(|host| host.name == name).cloned();
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    let unknown = || {
        Report::new(Code::Usage, format!("no host {name:?} in the inventory")).fix(format!(
            "hosts in inventory.yaml: {}; add a new machine there first, and raise compute[].replicas in install-config.yaml",
            names.join(", ")
        ))
    };
    let host = found.ok_or_else(unknown)?;
    match host.role {
        hardway_assets::inventory::Role::Bootstrap => {
            Err(Report::new(Code::Usage, format!("{name} is the bootstrap host, which never becomes a node")))
        }
        _ => Ok(host),
    }
}

impl Install {
    /// A host of the inventory that can be a node.
    pub(crate) fn node_host(&self, name: &str) -> Result<Host, Report> {
        node_host(&self.cluster, name)
    }

    /// Gives it the cluster's present config, boots it, and waits until its node is Ready.
    pub(crate) fn add_node(&self, host: &Host, was_there: bool) -> Result<String, Report> {
        let node = self.cluster.node_name(host);
        self.fresh_config(host)?;
        let provider = self.provider()?;
        self.carry_out(&provider.infrastructure())?;
        let mut background = self.background();
        background.serve(self)?;
        background.serve_media(self, provider.as_ref())?;
        if was_there && !host.has_identity() {
            background.expect_again(&node)?;
        }
        background.approve(self)?;
        drop(background);
        boot_one(self, host)?;
        let ready = self.until(
            |what| Report::new(Code::NodesMissing, what),
            |index, _| match index.state().nodes.get(&node).map(hardway_cluster::objects::Node::is_ready) {
                // A node is Ready without its serving certificate, and nobody approves that once this command has ended.
                Some(true) if !has_serving(index, &node) && !has_joined(self, host).unwrap_or(false) => {
                    Judgement::Lacks(format!("the serving certificate of {node}"))
                }
                Some(true) => Judgement::Holds(format!("{node} is Ready")),
                Some(false) => Judgement::Lacks(format!("{node} to be Ready")),
                None => Judgement::Lacks(format!("{node} to become a node")),
            },
        )?;
        self.carry_out(&provider.after_join(host))?;
        Ok(ready)
    }

    /// Whether the cluster knows its node.
    pub(crate) fn has_node(&self, host: &Host) -> Result<bool, Report> {
        Ok(self.node_state(host)? != NodeState::Gone)
    }

    /// What the cluster knows of its node.
    pub(crate) fn node_state(&self, host: &Host) -> Result<NodeState, Report> {
        self.leaving(host, false, |leaving| {
            self.block_on(async { leaving.state().await.map_err(|error| kept(&error)) })
        })
    }

    /// Its pods move, and no new ones come.
    pub(crate) fn empty_node(&self, host: &Host, may_lose: bool) -> Result<(), Report> {
        self.leaving(host, may_lose, |leaving| {
            self.block_on(async {
                if leaving.is_there().await.map_err(|error| kept(&error))? {
                    leaving.cordon().await.map_err(|error| kept(&error))?;
                    leaving.drain().await.map_err(|error| kept(&error))?;
                }
                Ok(())
            })
        })
    }

    /// Whatever its machine still asks for is not given to it, nor to whoever has its config. Before its Node is deleted: its machine may
    /// be on.
    pub(crate) fn end_identity(&self, host: &Host) -> Result<(), Report> {
        match host.has_identity() {
            true => project::next_generation(&self.workdir, &[host], Comes::WithConfig),
            false => Ok(()),
        }
    }

    /// The API forgets it.
    pub(crate) fn delete_node(&self, host: &Host) -> Result<(), Report> {
        self.leaving(host, false, |leaving| {
            self.block_on(async { leaving.delete().await.map_err(|error| kept(&error)) })
        })
    }

    /// Its machine goes for good.
    pub(crate) fn take_machine_away(&self, host: &Host) -> Result<(), Report> {
        let taken = self.executor().take_back(|action| is_of_machine(action, &host.name), &mut ());
        taken.map_err(|error| self.failed(&error))?;
        // Also where nothing of it was ours: what was seen of it says nothing about the next machine of that name.
        let gone = MachineGone { host: host.name.clone() };
        let entry = Entry::of(clock::now(), &gone);
        self.journal.append(&[entry]).map(drop).map_err(|error| journal_report(&error))
    }

    /// Names and load balancer as they are without a host: what only it needed is taken back, what changes is changed. What was never
    /// made from here is left alone.
    pub(crate) fn surroundings_without(&mut self, host: &Host) -> Result<(), Report> {
        let with = self.provider()?.infrastructure();
        self.cluster.inventory.hosts.retain(|other| other.name != host.name);
        let without = self.provider()?.infrastructure();
        let is_there = |action: &str| without.iter().any(|other| other.id == action);
        let is_gone = |action: &str| with.iter().any(|other| other.id == action) && !is_there(action);
        let is_around = |action: &&Action| {
            matches!(ActionScope::of(&action.id), Some(ActionScope::Names | ActionScope::Balancer))
        };
        let owned = owned_actions(&self.workdir)?;
        let is_ours = |action: &&Action| owned.contains(&action.id) || is_note(action, &self.dir);
        let changed: Vec<Action> = without.iter().filter(is_around).filter(is_ours).cloned().collect();
        self.carry_out(&changed)?;
        let taken = self
            .executor()
            .take_back(|action| is_gone(action) && !is_of_machine(action, &host.name), &mut ());
        taken.map_err(|error| self.failed(&error))
    }

    /// The cluster's own pointer for machines that join, with this host's name, addresses, ssh key and identity where it does not
    /// boot from that pointer alone, and a token for it.
    fn fresh_config(&self, host: &Host) -> Result<(), Report> {
        let failed = |error: &dyn std::error::Error| Report::from_error(Code::NodeConfigMissing, error);
        let (data, authorities) = self.block_on(async {
            let client = cluster::folder_client(&self.workdir).await?;
            let data = user_data(&client, host.role.name()).await.map_err(|error| failed(&error))?;
            Ok((data, authorities(&client).await.map_err(|error| failed(&error))?))
        })?;
        let config = match host.has_identity() {
            true => {
                let kubeconfig = self.identity(host, authorities.as_deref())?;
                let secrets = self.workdir.secrets()?;
                joining_config(
                    &self.cluster,
                    &secrets,
                    host,
                    data.expose(),
                    kubeconfig.expose(),
                    clock::now(),
                )
                .map_err(|error| failed(&error))?
            }
            // The pointer of its pool, as it is now.
            false => data.expose().to_vec(),
        };
        self.workdir.write(&File::secret(first_boot_config(&self.cluster, host), config.clone()))?;
        let Some(url) = &self.cluster.inventory.ignition_server.url else { return Ok(()) };
        let secrets = self.workdir.secrets()?;
        let key = TokenKey::new(secrets.get(TOKEN_KEY).map_err(|error| failed(&error))?);
        let ca = self.workdir.bytes(&pki::path("root-ca"))?.filter(|_| url.is_https);
        let pointer = host_pointer(url, &host.name, &config, &key, ca.as_deref());
        self.workdir.write(&File::secret(HostPointer::path(host), pointer))
    }

    /// What a host asks with: of the next generation, when a machine came in with this one.
    fn identity(&self, host: &Host, authorities: Option<&[u8]>) -> Result<Secret, Report> {
        let identity = self.workdir.identity()?;
        let generation = identity.map_or(1, |identity| identity.generation(&host.name));
        let user = host_identity::user(&host.name, generation);
        if self.history()?.requests.has_served(&user) {
            project::next_generation(&self.workdir, &[host], Comes::WithConfig)?;
        }
        let reach = Reach::local(self.options.make.release.release_dir.as_deref());
        let checked = Checked::of(&self.workdir, &self.inputs, reach, &self.out)?;
        let mut made = project::host_kubeconfigs(&self.workdir, checked, &[host], authorities)?;
        Ok(made.remove(0))
    }

    fn leaving<T>(
        &self,
        host: &Host,
        may_lose: bool,
        f: impl FnOnce(&NodeRemoval<'_>) -> Result<T, Report>,
    ) -> Result<T, Report> {
        let config = self.block_on(cluster::folder_config(&self.workdir))?;
        let view = self.view.clone();
        let tell = move |what: &str| view.waits_for(what);
        let name = self.cluster.node_name(host);
        let leaving = runtime::block_on(async { NodeRemoval::new(&config, name, PATIENCE, &tell) })?
            .map_err(|error| kept(&error))?;
        f(&leaving.losing_pods(may_lose))
    }
}

/// Whether an action does no more than write files into the folder, for whoever changes names and load balancer by hand.
fn is_note(action: &Action, folder: &Path) -> bool {
    let is_inside = |step: &Step| matches!(step, Step::WriteFile { path, .. } if path.starts_with(folder));
    action.does.iter().all(is_inside)
}

/// Whether somebody, here or elsewhere, has approved what this very node's kubelet serves with.
fn has_serving(index: &WatchedCluster, node: &str) -> bool {
    let user = format!("system:node:{node}");
    let since = index.state().nodes.get(node).and_then(|node| node.metadata.creation_timestamp.clone());
    let is_its = |request: &&SigningRequest| {
        request.spec.signer_name == SERVING_SIGNER
            && request.spec.username.as_deref() == Some(&user)
            && request.metadata.creation_timestamp >= since
    };
    let is_approved = |request: &SigningRequest| {
        request.status.conditions.iter().flatten().any(|condition| condition.r#type == "Approved")
    };
    index.state().requests.values().filter(is_its).any(is_approved)
}

/// A node that does not go.
fn kept(error: &NodeRemovalError) -> Report {
    let report = Report::from_error(Code::NodeKept, error).exit(Exit::Error);
    match error {
        NodeRemovalError::Api { source: kube::Error::Api(_), .. } => report
            .fix("the API server refused the request, for the reason above; check the cluster with `hardway verify`"),
        NodeRemovalError::Api { .. } => report.fix(
            "make sure that the cluster runs and this computer reaches its API (`hardway diagnose` shows what is broken), then \
             run the same command again to continue",
        ),
        NodeRemovalError::WouldBeLost(_) => {
            report.exit(Exit::Blocked).fix("make sure that these pods may be lost and pass --force, or start them elsewhere \
             first")
        }
        NodeRemovalError::Kept { .. } => report
            .exit(Exit::Blocked)
            .fix("add replicas or relax the PodDisruptionBudget, then run the same command again"),
    }
}
