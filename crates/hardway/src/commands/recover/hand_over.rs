//! Silent hosts get the next generation of their identity, and what brings it to them.

use hardway_assets::inventory::{Host, Inventory};
use hardway_assets::pki::catalogue;
use hardway_assets::secrets::{Comes, Identity};
use hardway_assets::{File, host_identity};
use hardway_base::{Secret, error_sentence, shell_word};
use hardway_cluster::bootstrap_progress::{Login, Remote};
use hardway_cluster::declared::Declared;
use hardway_cluster::node_change::authorities;
use hardway_cluster::recovery::{Assessment, deliver, put_in_place};
use hardway_journal::{FILE_NAME, LiveHistory};
use kube::Client;
use serde::Serialize;
use tokio::task::JoinSet;

use crate::cli::RecoverCertsArgs;
use crate::cluster::{DeclaredHere, known_host};
use crate::inputs::{FolderLock, Workdir};
use crate::journal::journal_report;
use crate::project::{Checked, host_kubeconfigs, next_generation};
use crate::release::Reach;
use crate::report::{Code, Report};
use crate::terminal::Output;

/// What became of one host.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HandedOver {
    /// As in the inventory.
    pub(super) host: String,
    /// The script that puts the identity in place, in the working folder.
    file: String,
    /// What a person runs when nobody could log in.
    command: String,
    /// Why it was not put in place over ssh; none where it was.
    why_not: Option<String>,
}

/// The folder that the cluster was made in, held for as long as this lives.
pub(super) struct Folder<'w> {
    workdir: &'w Workdir,
    inventory: Inventory,
    _held: FolderLock,
}

impl<'w> Folder<'w> {
    /// None where the folder has never made identities: then none can be made that the cluster would know.
    pub(super) fn open(workdir: &'w Workdir, out: &Output) -> Result<Option<Self>, Report> {
        let held = FolderLock::take(workdir)?;
        let inventory = Checked::load(workdir, Reach::Here(None), out)?.inventory;
        let signer = workdir.path(&format!("secrets/{}.key", catalogue::HOST_SIGNER));
        let is_made = workdir.identity()?.is_some() && signer.exists();
        Ok(is_made.then_some(Self { workdir, inventory, _held: held }))
    }

    /// Silent hosts with identities get their next generation and a script each; the scripts are run there, where somebody can log in.
    pub(super) async fn hand_over(
        &self,
        found: &Assessment,
        declared: &Declared,
        args: &RecoverCertsArgs,
        client: &Client,
        out: &Output,
    ) -> Result<Vec<HandedOver>, Report> {
        let silent: Vec<&Host> = found
            .silent()
            .filter_map(|one| declared.node(&one.node))
            .filter_map(|node| self.inventory.hosts.iter().find(|host| host.name == node.host))
            .filter(|host| host.has_identity())
            .collect();
        if silent.is_empty() {
            return Ok(Vec::new());
        }
        next_generation(self.workdir, &self.in_need(&silent)?, Comes::InPlace)?;
        // An API server that does not tell has those that it was installed with.
        let trusted = authorities(client).await.unwrap_or_default();
        let checked = Checked::load(self.workdir, Reach::Here(None), &Output::silent())?;
        let kubeconfigs = host_kubeconfigs(self.workdir, checked, &silent, trusted.as_deref())?;
        let mut running = JoinSet::new();
        for (place, (host, kubeconfig)) in silent.iter().zip(&kubeconfigs).enumerate() {
            let script = put_in_place(kubeconfig);
            self.workdir.write(&File::secret(script_of(host), script.expose()))?;
            let node = declared.nodes.of_host(&host.name);
            let remote = self.remote(node.map_or(&host.name, |node| &node.name), host, args);
            running.spawn(async move { (place, run(remote, &script).await) });
        }
        out.info(&format!("bringing {} hosts their next identity", silent.len()));
        let mut whys = vec![None; silent.len()];
        while let Some(done) = running.join_next().await {
            if let Ok((place, why)) = done {
                whys[place] = why;
            }
        }
        Ok(silent.iter().zip(whys).map(|(host, why_not)| self.handed_over(host, args, why_not)).collect())
    }

    /// Who is expected now.
    pub(super) fn declared(&self, out: &Output) -> Result<Declared, Report> {
        Ok(DeclaredHere::load(self.workdir, out)?.now())
    }

    /// Scripts of hosts that are back have done their part.
    pub(super) fn clear(&self, hosts: &[HandedOver], back: &[String], declared: &Declared) {
        let is_back = |host: &str| declared.nodes.of_host(host).is_some_and(|node| back.contains(&node.name));
        for one in hosts.iter().filter(|one| is_back(&one.host)) {
            let _ = fs_err::remove_file(self.workdir.path(&one.file));
        }
    }

    /// Those whose generation a machine came in with, or that they were installed with. One that was put in place and that nobody came
    /// with yet stays: it may be on its way.
    fn in_need<'h>(&self, hosts: &[&'h Host]) -> Result<Vec<&'h Host>, Report> {
        let mut history = LiveHistory::of(&self.workdir.path(FILE_NAME));
        let history = history.now().map_err(|error| journal_report(&error))?;
        let identity = self.workdir.identity()?;
        let is_fresh = |host: &Host, identity: &Identity| {
            let user = host_identity::user(&host.name, identity.generation(&host.name));
            let comes = identity.generations.get(&host.name).map(|generation| generation.comes);
            comes == Some(Comes::InPlace) && !history.requests.has_served(&user)
        };
        let needs = |host: &&&Host| !identity.as_ref().is_some_and(|identity| is_fresh(host, identity));
        Ok(hosts.iter().filter(needs).copied().collect())
    }

    /// Why there is none, otherwise.
    fn remote(&self, node: &str, host: &Host, args: &RecoverCertsArgs) -> Result<Remote, NoWay> {
        let address = host.ip.first().ok_or(NoWay::NoAddress)?;
        let known = known_host(self.workdir, node, address.to_string(), Code::RecoveryFailed)
            .map_err(|report| NoWay::HostKey(report.what))?;
        let login = Login {
            user: args.ssh_user.clone(),
            port: args.ssh_port,
            key: args.key.clone(),
            offers_only_key: args.key.is_some(),
        };
        Ok(Remote::ssh(known, &login))
    }

    fn handed_over(&self, host: &Host, args: &RecoverCertsArgs, why_not: Option<String>) -> HandedOver {
        let file = script_of(host);
        let address = host.ip.first().map(ToString::to_string).unwrap_or_default();
        let key = args
            .key
            .as_ref()
            .map(|key| format!("-i {} ", shell_word(&key.display().to_string())))
            .unwrap_or_default();
        let port = if args.ssh_port == 22 { String::new() } else { format!("-p {} ", args.ssh_port) };
        let root = if args.ssh_user == "root" { "" } else { "sudo " };
        let path = shell_word(&self.workdir.shown(&file));
        let command = format!("ssh {key}{port}{}@{address} {root}bash -s <{path}", args.ssh_user);
        HandedOver { host: host.name.clone(), file, command, why_not }
    }
}

/// What people read.
pub(super) fn text(all: &[HandedOver]) -> String {
    let line = |one: &HandedOver| match &one.why_not {
        None => format!("identity {:40} put in place over ssh\n", one.host),
        Some(why) => format!(
            "identity {:40} not put in place: {why}\n         run this, or {} as root on the host:\n         {}\n",
            one.host, one.file, one.command
        ),
    };
    all.iter().map(line).collect()
}

fn script_of(host: &Host) -> String {
    format!("recovery/{}.sh", host.name)
}

/// Why a host cannot be logged in to.
#[derive(Debug, thiserror::Error)]
enum NoWay {
    #[error("{0}")]
    HostKey(String),
    #[error("it has no address")]
    NoAddress,
}

async fn run(remote: Result<Remote, NoWay>, script: &Secret) -> Option<String> {
    match remote {
        Ok(remote) => deliver(&remote, script).await.err().map(|error| error_sentence(&error)),
        Err(why) => Some(why.to_string()),
    }
}
