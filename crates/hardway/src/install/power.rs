//! A whole cluster that is switched off, and on again: workers before masters, and masters before workers.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

use hardway_assets::inventory::{Host, Role};
use hardway_cluster::node_change::NodeRemoval;
use hardway_cluster::wait::Judgement;
use hardway_journal::{ClusterStarted, ClusterStopped, ClusterStopping, Entry, Fact, SwitchedOff};
use hardway_machines::actions::Program;
use hardway_machines::providers::{Power, Provider};
use jiff::Timestamp;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams};
use kube::core::GroupVersionKind;
use serde_json::json;

use super::Install;
use crate::clock;
use crate::cluster;
use crate::journal::journal_report;
use crate::machines::outside;
use crate::report::{Code, Report};
use crate::runtime;

/// Between two looks at a machine's power.
const PAUSE: Duration = Duration::from_secs(2);

/// Machines and how they are switched, in order.
pub(crate) struct Switching {
    pub(crate) steps: Vec<SwitchStep>,
}

/// One machine.
pub(crate) struct SwitchStep {
    pub(crate) host: Host,
    pub(crate) program: Program,
}

impl Switching {
    /// For people, a line each.
    pub(crate) fn text(&self) -> String {
        self.steps
            .iter()
            .map(|step| format!("{} ({}): {}\n", step.host.name, step.host.role, step.program))
            .collect()
    }
}

impl Install {
    /// How every machine is switched off or on, in the right order. Refused where a person has to.
    pub(crate) fn switching(&self, to: Power) -> Result<Switching, Report> {
        let provider = self.provider()?;
        let order = match to {
            Power::Off => [Role::Worker, Role::Master],
            _ => [Role::Master, Role::Worker],
        };
        let (mut steps, mut by_hand) = (Vec::new(), Vec::new());
        for host in order.into_iter().flat_map(|role| self.cluster.inventory.with_role(role)) {
            match provider.switch(host, to) {
                Some(program) => steps.push(SwitchStep { host: host.clone(), program }),
                None => by_hand.push(host.name.clone()),
            }
        }
        if by_hand.is_empty() {
            return Ok(Switching { steps });
        }
        let what = format!("nothing here can switch {}", by_hand.join(", "));
        Err(Report::new(Code::ByHand, what)
            .fix("set their management controllers in machines.bare-metal.hosts, or do it by hand: workers go off first and come on last"))
    }

    /// What the journal says of a cluster that was switched off.
    pub(crate) fn switched_off(&self) -> Result<Option<SwitchedOff>, Report> {
        Ok(self.history()?.power.off().cloned())
    }

    /// Nodes that take pods now. None where the API does not answer.
    pub(crate) fn open_nodes(&self) -> Result<Option<Vec<String>>, Report> {
        self.block_on(async {
            let Ok(nodes) = self.nodes_api().await else { return Ok(None) };
            let listed =
                tokio::time::timeout(Duration::from_secs(20), nodes.list(&ListParams::default())).await;
            let Ok(Ok(listed)) = listed else { return Ok(None) };
            let is_open = |node: &&DynamicObject| node.data["spec"]["unschedulable"] != true;
            let name = |node: &DynamicObject| node.metadata.name.clone().unwrap_or_default();
            Ok(Some(listed.items.iter().filter(is_open).map(name).collect()))
        })
    }

    /// Closes nodes, and empties the workers as far as that goes within the time: what cannot leave is stopped with its node, and starts
    /// with it again.
    pub(crate) fn close_nodes(
        &self,
        nodes: &[String],
        until: Option<Timestamp>,
        patience: Duration,
        warn: impl Fn(&str),
    ) -> Result<(), Report> {
        self.note(&ClusterStopping { cordoned: nodes.to_vec(), until })?;
        let workers: BTreeSet<String> =
            self.cluster.inventory.with_role(Role::Worker).map(|host| self.cluster.node_name(host)).collect();
        let config = self.block_on(cluster::folder_config(&self.workdir))?;
        let view = self.view.clone();
        let tell = move |what: &str| view.waits_for(what);
        let failed = |error: &dyn std::error::Error| Report::from_error(Code::SwitchFailed, error);
        let leaving = |node: &String| {
            runtime::block_on(async { NodeRemoval::new(&config, node.clone(), patience, &tell) })?
                .map(|leaving| leaving.losing_pods(true))
                .map_err(|error| failed(&error))
        };
        for node in nodes {
            let leaving = leaving(node)?;
            self.block_on(async { leaving.cordon().await.map_err(|error| failed(&error)) })?;
        }
        // Every worker that is there, whoever closed it.
        for node in &workers {
            let leaving = leaving(node)?;
            self.block_on(async {
                if leaving.is_there().await.map_err(|error| failed(&error))?
                    && let Err(error) = leaving.drain().await
                {
                    warn(&format!(
                        "{node} is not empty: {error}; these pods stop with it and start again with it"
                    ));
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Switches machines, those of one role at the same time, and waits until they are. One that is so already is left alone.
    pub(crate) fn switch(&self, switching: &Switching, to: Power, patience: Duration) -> Result<(), Report> {
        let provider = self.provider()?;
        let mut rest = switching.steps.as_slice();
        while let Some(first) = rest.first() {
            let same = rest.iter().take_while(|step| step.host.role == first.host.role).count();
            let (group, others) = rest.split_at(same);
            for step in group {
                self.go_on()?;
                if power(provider.as_ref(), &step.host)? != to {
                    outside().run(&step.program).map_err(|error| {
                        Report::from_error(Code::SwitchFailed, &error)
                            .fix("fix what the program reports, then run the same command again to continue")
                    })?;
                }
            }
            self.until_power(provider.as_ref(), group, to, patience)?;
            self.view.event(&format!("{} machines with role {} are {to}", group.len(), first.host.role));
            rest = others;
            if to == Power::On && first.host.role == Role::Master {
                self.until_api(patience)?;
            }
        }
        Ok(())
    }

    /// Every machine is off.
    pub(crate) fn is_off_now(&self) -> Result<(), Report> {
        self.note(&ClusterStopped {})
    }

    /// Waits until every node is Ready, while requests are approved by policy, and has what fell silent recovered.
    pub(crate) fn until_ready(&self) -> Result<(), Report> {
        self.background().approve(self)?;
        if self.all_ready().is_err() {
            self.view.event("some nodes do not come back by themselves: recovering their certificates");
            self.own(&["certs", "recover"])?;
            self.all_ready()?;
        }
        Ok(())
    }

    fn all_ready(&self) -> Result<String, Report> {
        let hosts =
            [Role::Master, Role::Worker].into_iter().flat_map(|role| self.cluster.inventory.with_role(role));
        let expected: Vec<String> = hosts.map(|host| self.cluster.node_name(host)).collect();
        self.until(
            |what| Report::new(Code::NodesMissing, what),
            |index, _| {
                let is_ready = |node: &String| {
                    index.state().nodes.get(node).is_some_and(hardway_cluster::objects::Node::is_ready)
                };
                match expected.iter().find(|node| !is_ready(node)) {
                    Some(node) => Judgement::Lacks(format!("{node} to be Ready")),
                    None => Judgement::Holds(format!("{} nodes are Ready", expected.len())),
                }
            },
        )
    }

    /// Opens the nodes that were closed for this, and no others.
    pub(crate) fn open_again(&self, off: &SwitchedOff) -> Result<(), Report> {
        self.block_on(async {
            let nodes = self.nodes_api().await?;
            for node in &off.cordoned {
                let patch = Patch::Merge(json!({"spec": {"unschedulable": null}}));
                match nodes.patch(node, &PatchParams::default(), &patch).await {
                    Err(kube::Error::Api(status)) if status.code == 404 => {}
                    patched => drop(patched.map_err(|error| Report::from_error(Code::SwitchFailed, &error))?),
                }
            }
            Ok(())
        })?;
        self.note(&ClusterStarted {})
    }

    /// A command of this very program, for this folder.
    pub(crate) fn own(&self, arguments: &[&str]) -> Result<(), Report> {
        let program =
            std::env::current_exe().map_err(|error| Report::from_error(Code::SwitchFailed, &error))?;
        let ran = Command::new(program).arg("--dir").arg(&self.dir).args(arguments).status();
        match ran {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Report::new(
                Code::SwitchFailed,
                format!("hardway {} ended with {status}", arguments.join(" ")),
            )
            .fix("see above; then run the same command again to continue")),
            Err(error) => Err(Report::from_error(Code::SwitchFailed, &error)),
        }
    }

    fn until_power(
        &self,
        provider: &dyn Provider,
        steps: &[SwitchStep],
        to: Power,
        patience: Duration,
    ) -> Result<(), Report> {
        let began = Instant::now();
        loop {
            let mut left = Vec::new();
            for step in steps {
                if power(provider, &step.host)? != to {
                    left.push(step.host.name.as_str());
                }
            }
            if left.is_empty() {
                return Ok(());
            }
            if began.elapsed() > patience {
                let what = format!("not {to} after {} s: {}", patience.as_secs(), left.join(", "));
                return Err(Report::new(Code::SwitchFailed, what)
                    .fix("look at their consoles; then run the same command again to continue"));
            }
            self.view.waits_for(&format!("{} to be {to}", left.join(", ")));
            self.pause(PAUSE)?;
        }
    }

    fn until_api(&self, patience: Duration) -> Result<(), Report> {
        let began = Instant::now();
        while self.open_nodes()?.is_none() {
            if began.elapsed() > patience {
                let what = format!(
                    "the API does not answer, {} s after the masters were switched on",
                    patience.as_secs()
                );
                return Err(Report::new(Code::SwitchFailed, what).fix(
                    "`hardway diagnose` shows what is broken; then run the same command again to continue",
                ));
            }
            self.view.waits_for("etcd's quorum and the API");
            self.pause(PAUSE)?;
        }
        Ok(())
    }

    async fn nodes_api(&self) -> Result<Api<DynamicObject>, Report> {
        let kind = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("", "v1", "Node"), "nodes");
        Ok(Api::all_with(cluster::folder_client(&self.workdir).await?, &kind))
    }

    fn note<F: Fact>(&self, fact: &F) -> Result<(), Report> {
        let entry = Entry::of(clock::now(), fact);
        self.journal.append(&[entry]).map(drop).map_err(|error| journal_report(&error))
    }
}

fn power(provider: &dyn Provider, host: &Host) -> Result<Power, Report> {
    let asked = provider.power(host).ask(&outside());
    let asked = asked.map_err(|error| {
        Report::from_error(Code::SwitchFailed, &error)
            .fix("fix what the program reports, then run the same command again")
    })?;
    Ok(asked.unwrap_or(Power::Unknown))
}
