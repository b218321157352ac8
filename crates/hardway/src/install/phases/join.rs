//! join-control-plane and join-workers: expected machines become nodes, with certificates given by policy.

use hardway_assets::inventory::Role;
use hardway_cluster::operators::WatchedCluster;
use hardway_cluster::wait::Judgement;

use crate::install::Install;
use crate::install::work::{Effect, Observed, Work};
use crate::report::{Code, Exit, Report};

pub(super) struct Join<'i> {
    pub(super) install: &'i Install,
    pub(super) role: Role,
}

impl Work for Join<'_> {
    fn observe(&self) -> Result<Observed, Report> {
        self.install.judge(|index, _| judge(index, self.role))
    }

    fn run(&self) -> Result<String, Report> {
        if self.role == Role::Master {
            self.install.check_certificates()?;
        }
        self.install.background().serve(self.install)?;
        self.install.background().approve(self.install)?;
        let exit = if self.role == Role::Master { Exit::Bootstrap } else { Exit::Install };
        let joined = self.install.until(
            |what| Report::new(Code::NodesMissing, what).exit(exit),
            |index, _| judge(index, self.role),
        )?;
        // Tokens and media that nobody needs any more.
        let provider = self.install.provider()?;
        for host in self.install.hosts(self.role)? {
            self.install.carry_out(&provider.after_join(host))?;
        }
        Ok(joined)
    }

    fn plan(&self) -> Result<Vec<Effect>, Report> {
        let names: Vec<String> =
            self.install.hosts(self.role)?.iter().map(|host| self.install.cluster.node_name(host)).collect();
        Ok(vec![Effect::of(format!("approves certificate requests of {} only", names.join(", ")))])
    }
}

/// Masters have to be nodes: without a pod network, which comes later, they are not Ready. At the end all nodes are.
fn judge(index: &WatchedCluster, role: Role) -> Judgement {
    let declared = index.declared();
    if role == Role::Worker {
        let missing: Vec<String> = index.missing_nodes().into_iter().map(|link| link.what).collect();
        return match missing.is_empty() {
            true => Judgement::Holds(format!("declared nodes that are Ready: {}", declared.nodes.len())),
            false => Judgement::Lacks(missing.join("; ")),
        };
    }
    let names: Vec<&str> = declared.with_role(role).map(|node| node.name.as_str()).collect();
    let missing: Vec<&str> =
        names.iter().filter(|name| !index.state().nodes.contains_key(**name)).copied().collect();
    match missing.is_empty() {
        true => Judgement::Holds(format!("nodes: {}", names.join(", "))),
        false => Judgement::Lacks(format!("{} to become nodes", missing.join(", "))),
    }
}
