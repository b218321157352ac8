//! etcd restored from a backup: what it would take, and each of its steps. Whatever is done is in the journal, and a run that was cut
//! off goes on from there.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hardway_assets::Cluster;
use hardway_assets::inventory::{Host, Role};
use hardway_cluster::etcd::restore::{
    BUMP, DataError, LostMembers, MasterShell, RestorePlan, RestoreRefused, RestoredData, RestoredMember,
    SeenMaster, note_restore, redeploy,
};
use hardway_cluster::etcd::{EtcdAccess, EtcdStatus, MembersError, Opened, ask_members, ask_status};
use hardway_cluster::node_change::set_unsafe_etcd;
use hardway_cluster::remote::{Login, Remote, RemoteError};
use hardway_journal::{Entry, EtcdRestoreBegun, EtcdRestoreStep, FILE_NAME, Journal, RestoreStep, Restores};
use kube::Client;
use tokio::task::JoinSet;

use super::backup::master;
use super::no_certificate;
use crate::clock;
use crate::cluster::{Access, Intent, Live, folder_client};
use crate::inputs::Workdir;
use crate::journal::{history, journal_report};
use crate::report::{Code, Exit, Report};
use crate::runtime;
use crate::terminal::Output;

/// A kubelet starts etcd within a minute, and etcd reads its database.
const UNTIL_ETCD: Duration = Duration::from_secs(10 * 60);
/// API servers start again and again until etcd is there.
const UNTIL_API: Duration = Duration::from_secs(15 * 60);
/// The operator adds one member after the other, each with a rollout of its own.
const UNTIL_MEMBERS: Duration = Duration::from_secs(60 * 60);

/// How a backup is restored.
#[derive(Debug)]
pub(crate) struct EtcdRestore {
    pub(crate) access: Access,
    /// As whom masters are logged in to.
    pub(crate) login: Login,
    /// The master that a person wants it on.
    pub(crate) recovery: Option<String>,
    /// Restores snapshots.
    pub(crate) etcdutl: PathBuf,
}

/// What would be done, and with what.
pub(crate) struct PlannedRestore {
    pub(crate) plan: RestorePlan,
    /// The name of one that is under way; none: a new one begins.
    pub(crate) resumes: Option<String>,
    restores: Restores,
    cluster: Cluster,
    etcd: EtcdAccess,
    shells: BTreeMap<String, Remote>,
}

impl EtcdRestore {
    /// Looks at etcd and every master, and says what it would take. Nothing is changed.
    pub(crate) async fn plan(
        &self,
        workdir: &Workdir,
        opened: &Opened,
        out: &Output,
    ) -> Result<PlannedRestore, Report> {
        let live = Live::open(workdir, &self.access, Intent::Look, out).await?;
        let etcd = live.etcd(workdir).ok_or_else(no_certificate)?;
        let cluster = live.cluster.ok_or_else(no_certificate)?;
        let restores = history(workdir)?.restores;
        let begun = self.under_way(&restores, opened)?;
        let wanted = begun.as_ref().map(|begun| begun.host.clone()).or_else(|| self.recovery.clone());
        let status = ask_status(&etcd).await;
        let (masters, shells) = self.look(workdir, &cluster, &etcd, status.as_ref().ok()).await;
        let revision = opened.manifest.revision;
        let plan = match begun.is_some() && restores.is_done(RestoreStep::StopEtcd) {
            // What answers now is what was restored.
            true => RestorePlan::on(LostMembers::Majority, masters, wanted.as_deref(), revision, 0),
            // The data as an archive and unpacked, with the log that etcd sets aside from the beginning.
            false => {
                let needed = 2 * (opened.manifest.size + 100_000_000);
                RestorePlan::of(status, masters, wanted.as_deref(), revision, needed)
            }
        };
        let plan = plan.map_err(|error| refused(&cluster, &error))?;
        let resumes = begun.map(|begun| begun.restore);
        Ok(PlannedRestore { plan, resumes, restores, cluster, etcd, shells })
    }

    /// One that is to be gone on with. Another backup may take its place as long as no data were replaced.
    fn under_way(&self, restores: &Restores, opened: &Opened) -> Result<Option<EtcdRestoreBegun>, Report> {
        let Some(begun) = restores.under_way() else { return Ok(None) };
        let is_other_host = self.recovery.as_ref().is_some_and(|host| *host != begun.host);
        let is_same = begun.hash == opened.manifest.hash && begun.revision == opened.manifest.revision;
        match restores.is_done(RestoreStep::SwapData) {
            false if !is_same || is_other_host => Ok(None),
            true if !is_same => {
                let what = format!(
                    "a restore on {} from the backup with revision {} and hash {} is not finished",
                    begun.host, begun.revision, begun.hash
                );
                Err(Report::new(Code::RestoreFailed, what)
                    .fix("finish it with that backup first")
                    .exit(Exit::Blocked))
            }
            _ => Ok(Some(begun.clone())),
        }
    }

    /// Every master: what its etcd says, and what is on it.
    async fn look(
        &self,
        workdir: &Workdir,
        cluster: &Cluster,
        etcd: &EtcdAccess,
        status: Option<&EtcdStatus>,
    ) -> (Vec<SeenMaster>, BTreeMap<String, Remote>) {
        let (mut masters, mut shells, mut looks) = (BTreeMap::new(), BTreeMap::new(), JoinSet::new());
        for host in cluster.inventory.with_role(Role::Master) {
            let node = cluster.node_name(host);
            let address = address_of(cluster, host);
            let revision = status.and_then(|status| revision_at(status, etcd, &node, address));
            let mut seen =
                SeenMaster { host: host.name.clone(), node, revision, look: None, unreachable: None };
            match master(workdir, cluster, &seen.node, &self.login, Code::RestoreFailed) {
                Err(report) => seen.unreachable = Some(report.what),
                Ok(remote) => {
                    let name = host.name.clone();
                    looks.spawn(async move { (name, MasterShell::look(&remote).await, remote) });
                }
            }
            masters.insert(host.name.clone(), seen);
        }
        // All at once: one that is off takes its time.
        while let Some(looked) = looks.join_next().await {
            let Ok((host, look, remote)) = looked else { continue };
            let Some(seen) = masters.get_mut(&host) else { continue };
            match look {
                Ok(look) => {
                    seen.look = Some(look);
                    shells.insert(host, remote);
                }
                Err(error) => seen.unreachable = Some(hardway_base::error_sentence(&error)),
            }
        }
        (masters.into_values().collect(), shells)
    }

    /// Does every step that is not done. The data are made and compared before anything is touched.
    pub(crate) async fn carry_out(
        &self,
        planned: &PlannedRestore,
        opened: &Opened,
        scratch: &Path,
        workdir: &Workdir,
        out: &Output,
    ) -> Result<(), Report> {
        let is_new = planned.resumes.is_none();
        let restore = match &planned.resumes {
            Some(restore) => restore.clone(),
            None => clock::now().strftime("%Y%m%dT%H%M%SZ").to_string(),
        };
        let is_done = |step| !is_new && planned.restores.is_done(step);
        let data = match is_done(RestoreStep::SendData) {
            true => None,
            false => Some(self.data(planned, opened, &restore, scratch, out).await?),
        };
        let path = workdir.path(FILE_NAME);
        let journal = Journal::open(&path).map_err(|error| journal_report(&error))?;
        let write = |entry: Entry| journal.append(&[entry]).map(drop).map_err(|error| journal_report(&error));
        if is_new {
            let begun = EtcdRestoreBegun {
                restore: restore.clone(),
                hash: opened.manifest.hash.clone(),
                revision: opened.manifest.revision,
                host: planned.plan.recovery.host.clone(),
            };
            write(Entry::of(clock::now(), &begun))?;
        }
        let work = RestoreWork { planned, opened, restore: &restore, data, workdir, out };
        for step in RestoreStep::ALL.into_iter().filter(|step| !is_done(*step)) {
            out.info(&format!("{}: {}", step.word(), planned.why(step)));
            runtime::aloud(out, || format!("still at {}", step.word()), work.take(step)).await?;
            write(Entry::of(clock::now(), &EtcdRestoreStep { restore: restore.clone(), step }))?;
        }
        Ok(())
    }

    async fn data(
        &self,
        planned: &PlannedRestore,
        opened: &Opened,
        restore: &str,
        scratch: &Path,
        out: &Output,
    ) -> Result<RestoredData, Report> {
        let recovery = &planned.plan.recovery;
        let member = RestoredMember {
            name: recovery.node.clone(),
            peer_url: format!("https://{}", SocketAddr::new(planned.address(&recovery.host)?, 2380)),
            token: format!("hardway-{restore}"),
        };
        let doing = || "still restoring the backup on this computer".to_owned();
        let made = RestoredData::make(&self.etcdutl, opened, &member, scratch);
        runtime::aloud(out, doing, made).await.map_err(|error| no_data(&error))
    }
}

impl PlannedRestore {
    /// What a step is for.
    pub(crate) fn why(&self, step: RestoreStep) -> String {
        let recovery = &self.plan.recovery.host;
        match step {
            RestoreStep::StopEtcd => {
                let hosts: Vec<&str> = self.shells.keys().map(String::as_str).collect();
                format!("etcd is stopped on {}", hosts.join(", "))
            }
            RestoreStep::SendData => format!("the restored data are copied to {recovery}"),
            RestoreStep::SwapData => format!(
                "they replace etcd's data on {recovery}; the old data are kept there in /var/lib/etcd-backup"
            ),
            RestoreStep::StartEtcd => format!("etcd starts on {recovery} as its only member"),
            RestoreStep::AwaitApi => "the API server reads and writes again".to_owned(),
            RestoreStep::AllowFewer => "the etcd operator accepts fewer members for a while".to_owned(),
            RestoreStep::Redeploy => {
                "operators redeploy etcd, kube-apiserver, kube-controller-manager and kube-scheduler"
                    .to_owned()
            }
            RestoreStep::ReturnOthers => match names(&self.plan.returning).as_str() {
                "" => "there is no other master that could join again by itself".to_owned(),
                hosts => format!("etcd starts without its old data on {hosts}, and joins"),
            },
            RestoreStep::InsistOnAll => match names(&self.plan.gone).as_str() {
                "" => "all masters are members, and the etcd operator requires all of them again".to_owned(),
                hosts => format!("left to the replacement of {hosts}"),
            },
        }
    }

    fn address(&self, host: &str) -> Result<IpAddr, Report> {
        let found = self.cluster.inventory.hosts.iter().find(|other| other.name == host);
        found.and_then(|host| address_of(&self.cluster, host)).ok_or_else(|| {
            Report::new(Code::RestoreFailed, format!("{host} has no address in inventory.yaml"))
        })
    }
}

/// The steps of one restore, while they are done.
struct RestoreWork<'r> {
    planned: &'r PlannedRestore,
    opened: &'r Opened,
    restore: &'r str,
    data: Option<RestoredData>,
    workdir: &'r Workdir,
    out: &'r Output,
}

impl RestoreWork<'_> {
    async fn take(&self, step: RestoreStep) -> Result<(), Report> {
        let plan = &self.planned.plan;
        match step {
            RestoreStep::StopEtcd => {
                for host in self.planned.shells.keys() {
                    self.shell(host)?.stop().await.map_err(|error| on(host, &error))?;
                }
                Ok(())
            }
            RestoreStep::SendData => {
                let host = &plan.recovery.host;
                let Some(data) = &self.data else { return Ok(()) };
                self.shell(host)?.send(data).await.map_err(|error| on(host, &error))
            }
            RestoreStep::SwapData => {
                let host = &plan.recovery.host;
                self.shell(host)?.swap().await.map_err(|error| on(host, &error))
            }
            RestoreStep::StartEtcd => {
                let host = &plan.recovery.host;
                self.shell(host)?.start().await.map_err(|error| on(host, &error))?;
                self.until_etcd_answers(host).await
            }
            RestoreStep::AwaitApi => {
                let backup = &self.opened.manifest;
                self.with_api(async |client| note_restore(&client, self.restore, backup).await).await
            }
            RestoreStep::AllowFewer => {
                self.with_api(async |client| set_unsafe_etcd(&client, true).await).await
            }
            RestoreStep::Redeploy => {
                self.with_api(async |client| redeploy(&client, self.restore).await).await
            }
            RestoreStep::ReturnOthers => {
                for SeenMaster { host, .. } in &plan.returning {
                    self.shell(host)?.join_anew().await.map_err(|error| on(host, &error))?;
                }
                Ok(())
            }
            RestoreStep::InsistOnAll if plan.gone.is_empty() => {
                self.until_all_are_members().await?;
                self.with_api(async |client| set_unsafe_etcd(&client, false).await).await
            }
            RestoreStep::InsistOnAll => Ok(()),
        }
    }

    fn shell(&self, host: &str) -> Result<MasterShell, Report> {
        let remote = self.planned.shells.get(host).ok_or_else(|| {
            Report::new(Code::RestoreFailed, format!("nobody can log in to {host} any more"))
        })?;
        Ok(MasterShell::new(remote.clone(), self.restore))
    }

    /// At the revision of what was restored: an etcd on the old data says something else.
    async fn until_etcd_answers(&self, host: &str) -> Result<(), Report> {
        let access = EtcdAccess { addresses: vec![self.planned.address(host)?], ..self.planned.etcd.clone() };
        let wanted = self.opened.manifest.revision + BUMP;
        let until = Instant::now() + UNTIL_ETCD;
        loop {
            let why = match ask_status(&access).await {
                Ok(status) if status.has_quorum => {
                    let revision = status
                        .members
                        .iter()
                        .filter_map(|one| one.answer.as_ref())
                        .map(|answer| answer.revision);
                    match revision.max().unwrap_or_default() {
                        found if found >= wanted => return Ok(()),
                        found => format!("it is at revision {found}, which is not what was restored"),
                    }
                }
                Ok(_) => "it has no leader".to_owned(),
                Err(error) => hardway_base::error_sentence(&error),
            };
            if Instant::now() > until {
                let what = format!("etcd on {host} does not come back: {why}");
                return Err(Report::new(Code::RestoreFailed, what).fix(format!(
                    "look at etcd's log on {host}: sudo crictl logs $(sudo crictl ps -a --name '^etcd$' -q | head -n 1); then run the same command again to continue"
                )));
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    async fn until_all_are_members(&self) -> Result<(), Report> {
        let wanted = self.planned.plan.returning.len() + 1;
        let until = Instant::now() + UNTIL_MEMBERS;
        loop {
            let members = ask_members(&self.planned.etcd).await.unwrap_or_default();
            let healthy = members.iter().filter(|member| member.is_healthy && !member.is_learner).count();
            if healthy >= wanted {
                return Ok(());
            }
            if Instant::now() > until {
                let what = format!("{healthy} of {wanted} masters are members of etcd again");
                return Err(Report::new(Code::RestoreFailed, what).fix(
                    "`hardway diagnose` shows what blocks the etcd operator; run the same command again to continue",
                ));
            }
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    }

    /// Until the API server takes it: while operators write it anew it comes and goes.
    async fn with_api(&self, ask: impl AsyncFn(Client) -> Result<(), kube::Error>) -> Result<(), Report> {
        let until = Instant::now() + UNTIL_API;
        loop {
            let asked = match folder_client(self.workdir).await {
                Ok(client) => {
                    ask(client).await.map_err(|error| Report::from_error(Code::RestoreFailed, &error))
                }
                Err(report) => Err(report),
            };
            match asked {
                Err(report) if Instant::now() > until => {
                    return Err(report.fix(
                        "`hardway diagnose` shows what is wrong with the API server; run the same command again to continue",
                    ));
                }
                Err(report) => self.out.debug(&report.what),
                Ok(()) => return Ok(()),
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}

/// Of some masters, for people.
pub(crate) fn names(masters: &[SeenMaster]) -> String {
    masters.iter().map(|master| master.host.as_str()).collect::<Vec<_>>().join(", ")
}

fn address_of(cluster: &Cluster, host: &Host) -> Option<IpAddr> {
    host.ip.iter().find(|ip| ip.is_ipv6() == cluster.is_ipv6_primary()).copied()
}

/// With a quorum members are known by their names, without by where they answer.
fn revision_at(status: &EtcdStatus, etcd: &EtcdAccess, node: &str, address: Option<IpAddr>) -> Option<u64> {
    let url = address.map(|address| format!("https://{}", SocketAddr::new(address, etcd.port)));
    let is_it = |one: &&hardway_cluster::etcd::MemberStatus| match one.member.name.as_str() {
        "" => url.as_ref().is_some_and(|url| one.member.client_urls.contains(url)),
        name => name == node,
    };
    status.members.iter().find(is_it)?.answer.as_ref().map(|answer| answer.revision)
}

fn refused(cluster: &Cluster, error: &RestoreRefused) -> Report {
    let report = Report::from_error(Code::RestoreFailed, error).exit(Exit::Blocked);
    match error {
        RestoreRefused::Quorum { lost, .. } => {
            let is_lost = |host: &&Host| lost.contains(&cluster.node_name(host));
            let hosts = cluster.inventory.with_role(Role::Master).filter(is_lost);
            let commands: Vec<String> =
                hosts.map(|host| format!("hardway node replace {}", host.name)).collect();
            match commands.is_empty() {
                true => report.fix("nothing is lost: `hardway etcd status` shows the members"),
                false => report.fix(format!("replace the lost member's machine instead: {}", commands.join(", "))),
            }
        }
        RestoreRefused::Unstoppable { host, .. } => report.fix(format!(
            "name a key that {host} accepts with --key, or switch {host} off: two etcds of one cluster must never run"
        )),
        RestoreRefused::NoMaster(_) => report.fix(
            "make one master reachable over ssh: a restore needs one that was a member before, with its certificates and static pods",
        ),
        RestoreRefused::Unfit { .. } => {
            report.exit(Exit::Usage).fix("name another master with --recovery-host, or none")
        }
        RestoreRefused::Etcd(MembersError::Certificate(_)) => report.exit(Exit::Config),
        RestoreRefused::Etcd(_) => report,
    }
}

fn no_data(error: &DataError) -> Report {
    let report = Report::from_error(Code::RestoreFailed, error);
    match error {
        DataError::Version { .. } | DataError::Start { .. } => report.exit(Exit::Usage).fix(
            "name the folder with the cluster's own etcdutl with --programs; the release's etcd image has it in /usr/bin",
        ),
        DataError::Refused(_) => report.fix(
            "nothing was changed. etcdutl must be of etcd 3.5.10 or newer, which can raise revisions; `hardway etcd prove` shows more about the backup",
        ),
        _ => report.fix("nothing was changed; `hardway etcd prove` shows more about the backup"),
    }
}

fn on(host: &str, error: &RemoteError) -> Report {
    let report = Report::from_error(Code::RestoreFailed, error);
    let fix =
        error.fix().unwrap_or_else(|| format!("repair {host} and run the same command again to continue"));
    Report { what: format!("{host}: {}", report.what), ..report }.fix(fix)
}
