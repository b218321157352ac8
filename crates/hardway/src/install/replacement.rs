//! Another machine in the place of a node's: what it takes, and each of its steps.

use hardway_assets::inventory::{Host, Role};
use hardway_cluster::etcd::{EtcdAccess, ask_members, remove_member};
use hardway_cluster::node_change::{Replacement, ReplacementStep, forget_certificates, set_unsafe_etcd};

use super::Install;
use crate::cluster;
use crate::report::{Code, Report};

impl Install {
    /// What it takes to replace a node's machine, in order. A master's is refused when etcd would stop; a worker has no part in etcd.
    pub(crate) fn replacement(&self, host: &Host) -> Result<Replacement, Report> {
        let node = self.cluster.node_name(host);
        let state = self.node_state(host)?;
        if host.role == Role::Worker {
            return Ok(Replacement::of_worker(&node, state));
        }
        let access = self.etcd()?;
        let members = self.block_on(async { ask_members(&access).await.map_err(|error| refused(&error)) })?;
        Replacement::plan(&node, &members, state).map_err(|error| refused(&error))
    }

    /// A node goes for good, with its machine. A master's member leaves etcd before anything is switched off; nothing is done when etcd
    /// would stop.
    pub(crate) fn remove_node(&mut self, host: &Host, may_lose: bool) -> Result<(), Report> {
        // The same in order and guard, but for the machine that comes afterwards.
        let steps = self.replacement(host)?.steps;
        let comes =
            [ReplacementStep::BootMachine, ReplacementStep::AllowTwoMembers, ReplacementStep::InsistOnThree];
        for step in steps.into_iter().filter(|step| !comes.contains(step)) {
            if step == ReplacementStep::TakeMachineAway {
                // Nobody is sent there any more.
                self.surroundings_without(host)?;
            }
            self.replace(host, step, may_lose)?;
        }
        Ok(())
    }

    /// Does one step of it. `may_lose` lets a drain delete pods that nothing starts elsewhere.
    pub(crate) fn replace(&self, host: &Host, step: ReplacementStep, may_lose: bool) -> Result<(), Report> {
        let node = self.cluster.node_name(host);
        match step {
            ReplacementStep::Drain => self.empty_node(host, may_lose),
            ReplacementStep::RemoveMember => {
                let access = self.etcd()?;
                self.block_on(async {
                    remove_member(&access, &node).await.map(drop).map_err(|error| refused(&error))
                })
            }
            ReplacementStep::AllowTwoMembers => self.allow_two_members(true),
            ReplacementStep::ForgetCertificates => self.block_on(async {
                let client = cluster::folder_client(&self.workdir).await?;
                forget_certificates(&client, &node).await.map_err(|error| kept(&error))
            }),
            ReplacementStep::EndIdentity => self.end_identity(host),
            ReplacementStep::DeleteNode => self.delete_node(host),
            ReplacementStep::TakeMachineAway => {
                self.take_machine_away(host)?;
                // Its kubelet may have registered once more before it was off, and that would keep the next machine out.
                self.delete_node(host)
            }
            ReplacementStep::BootMachine => self.add_node(host, true).map(drop),
            ReplacementStep::InsistOnThree => self.allow_two_members(false),
        }
    }

    fn allow_two_members(&self, is_allowed: bool) -> Result<(), Report> {
        self.block_on(async {
            let client = cluster::folder_client(&self.workdir).await?;
            set_unsafe_etcd(&client, is_allowed).await.map_err(|error| kept(&error))
        })
    }

    fn etcd(&self) -> Result<EtcdAccess, Report> {
        let access = self.block_on(async { Ok(self.live().await?.etcd(&self.workdir)) })?;
        access.ok_or_else(|| {
            Report::new(Code::NodeKept, "the folder has no etcd client certificate: pki/etcd-client.crt")
                .fix("use the folder that the cluster was installed from")
        })
    }
}

fn kept(error: &dyn std::error::Error) -> Report {
    Report::from_error(Code::NodeKept, error)
}

fn refused(error: &dyn std::error::Error) -> Report {
    kept(error).fix("repair the other etcd members first: `hardway diagnose` shows what is wrong")
}
