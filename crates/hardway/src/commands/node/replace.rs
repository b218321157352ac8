//! `hardway node replace`

use std::fmt::Write as _;

use hardway_assets::inventory::{Host, Role};
use hardway_cluster::node_change::{Replacement, Step, forget_certificates, set_unsafe_etcd};
use hardway_cluster::pivot::{EtcdAccess, ask_members, remove_member};
use kube::Client;
use serde_json::{Value, json};

use super::open;
use crate::cli::{Format, Global, RunArgs};
use crate::cluster;
use crate::install::Install;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

pub(super) struct Replace<'r> {
    pub(super) name: &'r str,
    pub(super) is_applied: bool,
    pub(super) may_lose: bool,
    pub(super) format: Format,
}

impl Replace<'_> {
    /// The plan, or the deed. A master's is refused when etcd would stop.
    pub(super) fn run(&self, global: &Global, run: &RunArgs, out: &Output) -> Result<Exit, Report> {
        let (_held, install) = open(global, run)?;
        let host = install.node_host(self.name)?;
        let plan = plan(&install, &host)?;
        if !self.is_applied {
            show(&plan, self.format, out);
            return Ok(Exit::Done);
        }
        for step in &plan.steps {
            out.info(&format!("{}: {}", self.name, step.why()));
            self.carry_out(&install, &host, *step)?;
        }
        out.info(&format!("{} was replaced", self.name));
        Ok(Exit::Done)
    }

    fn carry_out(&self, install: &Install, host: &Host, step: Step) -> Result<(), Report> {
        let node = install.cluster.node_name(host);
        let asked = |error: &dyn std::error::Error| Report::from_error(Code::NodeKept, error);
        let with_client = |f: &dyn Fn(Client) -> Call| {
            let client = install.block_on(client(install))?;
            install.block_on(async { f(client).await.map_err(|error| asked(&error)) })
        };
        match step {
            Step::Drain => install.empty_node(host, self.may_lose),
            Step::RemoveMember => {
                let access = etcd(install)?;
                install.block_on(async {
                    remove_member(&access, &node).await.map(drop).map_err(|error| refused(&error))
                })
            }
            Step::AllowTwoMembers => {
                with_client(&|client| Box::pin(async move { set_unsafe_etcd(&client, true).await }))
            }
            Step::ForgetCertificates => with_client(&|client| {
                let node = node.clone();
                Box::pin(async move { forget_certificates(&client, &node).await })
            }),
            Step::DeleteNode => install.delete_node(host),
            Step::TakeMachineAway => install.take_machine_away(host),
            Step::BootMachine => install.add_node(host, true).map(drop),
            Step::InsistOnThree => {
                with_client(&|client| Box::pin(async move { set_unsafe_etcd(&client, false).await }))
            }
        }
    }
}

type Call = std::pin::Pin<Box<dyn Future<Output = Result<(), kube::Error>> + Send>>;

/// A worker has no part in etcd.
fn plan(install: &Install, host: &Host) -> Result<Replacement, Report> {
    let node = install.cluster.node_name(host);
    let is_there = install.has_node(host)?;
    if host.role == Role::Worker {
        let mut steps = Vec::new();
        steps.extend(is_there.then_some(Step::Drain));
        steps.extend(is_there.then_some(Step::DeleteNode));
        steps.extend([Step::TakeMachineAway, Step::BootMachine]);
        return Ok(Replacement { node, steps, has_spare: true });
    }
    let access = etcd(install)?;
    let members = install.block_on(async { ask_members(&access).await.map_err(|error| refused(&error)) })?;
    Replacement::plan(&node, &members, is_there).map_err(|error| refused(&error))
}

fn show(plan: &Replacement, format: Format, out: &Output) {
    if format != Format::Text {
        let step =
            |step: &Step| json!({"step": step, "why": step.why(), "command": step.command(&plan.node)});
        let steps: Vec<Value> = plan.steps.iter().map(step).collect();
        out.value(&json!({"node": plan.node, "hasSpare": plan.has_spare, "steps": steps}), format);
        return;
    }
    let mut text = String::new();
    for (i, step) in plan.steps.iter().enumerate() {
        let _ = writeln!(text, "{}. {}\n   {}", i + 1, step.why(), step.command(&plan.node));
    }
    out.data(&text);
    if !plan.has_spare {
        out.warn("meanwhile no other etcd member may fail: back up first, on another master: /usr/local/bin/cluster-backup.sh /home/core/backup");
    }
    out.info("nothing was done; --apply does it");
}

fn etcd(install: &Install) -> Result<EtcdAccess, Report> {
    let access = install.block_on(async { Ok(install.live().await?.etcd(&install.workdir)) })?;
    access.ok_or_else(|| {
        Report::new(Code::NodeKept, "the folder has no certificate to ask etcd with: pki/etcd-client.crt")
            .fix("work in the folder that the cluster was installed from")
    })
}

async fn client(install: &Install) -> Result<Client, Report> {
    let config = cluster::folder_config(&install.workdir).await?;
    Client::try_from(config).map_err(|error| Report::from_error(Code::KubeconfigUnusable, &error))
}

fn refused(error: &dyn std::error::Error) -> Report {
    Report::from_error(Code::NodeKept, error)
        .fix("mend the other etcd members first: hardway diagnose says what is wrong with them")
}
