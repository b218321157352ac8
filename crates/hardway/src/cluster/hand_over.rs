//! Handing silent hosts the next generation of their identity.

use hardway_assets::inventory::{Host, Inventory};
use hardway_assets::pki::catalogue;
use hardway_assets::secrets::{Comes, Identity};
use hardway_assets::work_paths;
use hardway_assets::{File, host_identity};
use hardway_base::{Secret, error_sentence, shell_word};
use hardway_cluster::declared::Declared;
use hardway_cluster::node_change::authorities;
use hardway_cluster::recovery::{Assessment, deliver, put_in_place};
use hardway_cluster::remote::{Login, Remote};
use hardway_journal::{FILE_NAME, LiveHistory};
use kube::Client;
use serde::Serialize;
use tokio::task::JoinSet;

use super::{DeclaredHere, known_host};
use crate::inputs::{FolderLock, Workdir};
use crate::journal::journal_report;
use crate::project::{Checked, host_kubeconfigs, next_generation};
use crate::release::Reach;
use crate::report::{Code, Report};
use crate::terminal::Output;

/// What became of one host.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HandedOver {
    /// As in the inventory.
    pub(crate) host: String,
    /// The script that puts the identity in place, in the working folder.
    pub(crate) file: String,
    /// What a person runs when nobody could log in.
    pub(crate) command: String,
    /// Why it was not put in place over ssh; none where it was.
    pub(crate) why_not: Option<String>,
}

/// The folder that the cluster was made in, held for as long as this lives.
pub(crate) struct HandOverFolder<'w> {
    workdir: &'w Workdir,
    inventory: Inventory,
    _held: FolderLock,
}

impl<'w> HandOverFolder<'w> {
    /// None where the folder has never made identities: then none can be made that the cluster would know.
    pub(crate) fn open(workdir: &'w Workdir) -> Result<Option<Self>, Report> {
        let held = FolderLock::take(workdir)?;
        let inventory = Checked::load(workdir, Reach::Kept, &Output::silent())?.inventory;
        let signer = workdir.path(&work_paths::key(catalogue::HOST_SIGNER));
        let is_made = workdir.identity()?.is_some() && signer.exists();
        Ok(is_made.then_some(Self { workdir, inventory, _held: held }))
    }

    /// Silent hosts with identities get their next generation and a script each; the scripts are run there, where somebody can log in.
    pub(crate) async fn hand_over(
        &self,
        found: &Assessment,
        declared: &Declared,
        login: &Login,
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
        let checked = Checked::load(self.workdir, Reach::Kept, &Output::silent())?;
        let kubeconfigs = host_kubeconfigs(self.workdir, checked, &silent, trusted.as_deref())?;
        let (mut running, mut calls) = (JoinSet::new(), Vec::new());
        for (place, (host, kubeconfig)) in silent.iter().zip(&kubeconfigs).enumerate() {
            let script = put_in_place(kubeconfig);
            self.workdir.write(&File::secret(script_of(host), script.expose()))?;
            let node = declared.nodes.of_host(&host.name);
            let remote = self.remote(node.map_or(&host.name, |node| &node.name), host, login);
            calls.push(remote.as_ref().ok().map(Remote::typed));
            running.spawn(async move { (place, run(remote, &script).await) });
        }
        out.info(&format!("delivering new identities to {} hosts", silent.len()));
        let mut whys = vec![None; silent.len()];
        while let Some(done) = running.join_next().await {
            if let Ok((place, why)) = done {
                whys[place] = why;
            }
        }
        let all = silent.iter().zip(calls).zip(whys);
        Ok(all.map(|((host, call), why_not)| self.handed_over(host, call, login, why_not)).collect())
    }

    /// Who is expected now.
    pub(crate) fn declared(&self, out: &Output) -> Result<Declared, Report> {
        Ok(DeclaredHere::load(self.workdir, out)?.now())
    }

    /// Scripts of hosts that are back have done their part.
    pub(crate) fn clear(&self, hosts: &[HandedOver], back: &[String], declared: &Declared) {
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
    fn remote(&self, node: &str, host: &Host, login: &Login) -> Result<Remote, NoWay> {
        let address = host.ip.first().ok_or(NoWay::NoAddress)?;
        let known = known_host(self.workdir, node, address.to_string(), Code::RecoveryFailed)
            .map_err(|report| NoWay::HostKey(report.what))?;
        Ok(Remote::ssh(known, login))
    }

    /// With the call that was tried, which knows the host's key. Where nobody knows it, ssh asks the person.
    fn handed_over(
        &self,
        host: &Host,
        call: Option<String>,
        login: &Login,
        why_not: Option<String>,
    ) -> HandedOver {
        let file = script_of(host);
        let address = host.ip.first().map(ToString::to_string).unwrap_or_default();
        let key = login
            .key
            .as_ref()
            .map(|key| format!("-i {} ", shell_word(&key.display().to_string())))
            .unwrap_or_default();
        let port = if login.port == 22 { String::new() } else { format!("-p {} ", login.port) };
        let root = if login.user == "root" { "" } else { "sudo " };
        let path = shell_word(&self.workdir.shown(&file));
        let by_hand = || format!("ssh {key}{port}{}@{address} {root}bash -s", login.user);
        let command = format!("{} <{path}", call.unwrap_or_else(by_hand));
        HandedOver { host: host.name.clone(), file, command, why_not }
    }
}

fn script_of(host: &Host) -> String {
    work_paths::recovery_script(&host.name)
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
