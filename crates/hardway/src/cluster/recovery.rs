//! After a long time off: what has ended, and silent nodes let in again, once each and by policy.
//!
//! ```text
//! CertRecovery      what this folder knows, before anybody is asked
//! BegunRecovery     a way to the cluster, and an approver of its own
//! RecoveryDone      everything that was found and done, for whoever shows it
//! ```

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hardway_assets::pki;
use hardway_cluster::approver::{Approver, ApproverError, News};
use hardway_cluster::csr_policy::PolicySettings;
use hardway_cluster::declared::Declared;
use hardway_cluster::leader_election::Standing;
use hardway_cluster::recovery::{Assessment, Recovered, Recovery};
use hardway_cluster::remote::Login;
use jiff::SignedDuration;
use tokio::sync::mpsc;

use super::approver_words::ApproverLine;
use super::{Access, ExpiredInstall, HandOverFolder, HandedOver, Intent, WayIn, client, declared, identity};
use crate::clock;
use crate::inputs::Workdir;
use crate::report::{Code, Exit, Report};
use crate::runtime::{self, Stop};
use crate::terminal::Output;

/// What a person may choose.
#[derive(Clone, Debug)]
pub(crate) struct RecoverOptions {
    pub(crate) access: Access,
    /// Another address of the API server.
    pub(crate) server: Option<http::Uri>,
    /// A document of who is expected, in place of the folder.
    pub(crate) declared: Option<PathBuf>,
    /// How long a node says nothing before it counts as silent.
    pub(crate) silence: SignedDuration,
    /// How long nodes may take to come back.
    pub(crate) patience: SignedDuration,
    /// Lets nobody in.
    pub(crate) only_looks: bool,
    /// How to log in to hosts that get an identity.
    pub(crate) login: Login,
}

/// Everything that was found and done.
#[derive(Default)]
pub(crate) struct RecoveryDone {
    pub(crate) found: Assessment,
    pub(crate) worn: ExpiredInstall,
    pub(crate) handed_over: Vec<HandedOver>,
    pub(crate) recovered: Option<Recovered>,
}

/// Told as things become known.
pub(crate) trait RecoveryListener {
    /// What is the matter; also when the cluster could not be asked.
    fn found(&self, done: &RecoveryDone);

    /// Who got an identity, and who did not.
    fn handed_over(&self, all: &[HandedOver]);
}

/// A recovery that is to be.
pub(crate) struct CertRecovery<'w> {
    workdir: &'w Workdir,
    options: RecoverOptions,
    declared: Declared,
    worn: ExpiredInstall,
    folder: Option<HandOverFolder<'w>>,
}

/// One that can ask the cluster.
pub(crate) struct BegunRecovery<'w> {
    recovery: Recovery,
    folder: Option<HandOverFolder<'w>>,
    only_looks: bool,
    login: Login,
    patience: SignedDuration,
}

/// When a node stays away.
const SILENT_FIX: &str = "check that the machine is on and its clock is right; its console and `journalctl -u \
 kubelet` show why it does not request a certificate; for held requests, see the reason above";

/// When the API server itself presents one that has ended. Its recovery certificate lives ten years, and so does the kubeconfig for it
/// (openshift/cluster-kube-apiserver-operator pkg/operator/certrotationcontroller, `localhost-recovery`).
const EXPIRED_FIX: &str = "the API server's certificate has expired; it is renewed once the server reaches the other masters. Copy \
    /etc/kubernetes/static-pod-resources/kube-apiserver-certs/secrets/node-kubeconfigs/localhost-recovery.kubeconfig from a master, and then: \
    hardway certs recover --kubeconfig localhost-recovery.kubeconfig --server https://MASTER:6443";

impl<'w> CertRecovery<'w> {
    pub(crate) fn open(workdir: &'w Workdir, options: RecoverOptions, out: &Output) -> Result<Self, Report> {
        let declared = declared(workdir, options.declared.as_deref(), out)?;
        let worn = match options.declared {
            // What there is to warn of was said above.
            None => ExpiredInstall::of(workdir, options.access.release_dir.as_deref(), &Output::silent())?,
            Some(_) => ExpiredInstall::default(),
        };
        // A dry run lets nobody in, and a document of who is expected comes without secrets.
        let folder = match options.only_looks || options.declared.is_some() {
            true => None,
            false => HandOverFolder::open(workdir)?,
        };
        Ok(Self { workdir, options, declared, worn, folder })
    }

    /// What is known before anybody was asked.
    pub(crate) fn done(&self) -> RecoveryDone {
        RecoveryDone { worn: self.worn.clone(), ..RecoveryDone::default() }
    }

    /// Finds the way in. With it comes what will be told until the recovery is over.
    pub(crate) async fn begin(
        self,
        out: &Output,
    ) -> Result<(BegunRecovery<'w>, mpsc::UnboundedReceiver<ApproverLine>), Report> {
        let Self { workdir, options, declared, folder, .. } = self;
        let WayIn { mut config, .. } =
            WayIn::find(workdir, options.access.kubeconfig.as_deref(), Intent::Change, out).await?;
        if let Some(server) = &options.server {
            // What is trusted is the name, not the way to it.
            let name = config.cluster_url.host().unwrap_or_default().to_owned();
            config.tls_server_name.get_or_insert(name);
            config.cluster_url = server.clone();
        }
        let client = client(config)?;
        let (sender, receiver) = mpsc::unbounded_channel();
        let approver = Approver {
            client,
            folder: workdir.path(""),
            fetches: None,
            declared,
            settings: PolicySettings::default(),
            identity: identity(),
            standing: Standing::Principal,
            dry_run: false,
            now: Arc::new(clock::now),
            tell: Arc::new(move |news| {
                if let News::Following(holder) = news {
                    let _ = sender.send(ApproverLine::Warning(format!(
                    "{holder} is approving for this cluster: unless it uses this folder, it does not know about this recovery; \
                     stop it until the recovery is over"
                )));
                }
                let _ = sender.send(ApproverLine::of(news));
            }),
        };
        let recovery = Recovery { silence: options.silence, ..Recovery::new(approver) };
        let RecoverOptions { only_looks, login, patience, .. } = options;
        Ok((BegunRecovery { recovery, folder, only_looks, login, patience }, receiver))
    }
}

impl BegunRecovery<'_> {
    /// Takes the recovery, so that whoever listens knows when there is nothing more to come.
    pub(crate) async fn carry_out(
        self,
        done: &mut RecoveryDone,
        listener: &dyn RecoveryListener,
        out: &Output,
    ) -> Result<(), Report> {
        let Self { mut recovery, folder, only_looks, login, patience } = self;
        out.info("looking at the nodes twice to find out which are silent");
        let looked = tokio::select! {
            looked = runtime::aloud(out, || "still looking".to_owned(), recovery.assess()) => looked,
            _ = runtime::told_to_stop() => return Err(runtime::interrupted("looking")),
        };
        done.found = match looked {
            Ok(found) => found,
            Err(error) => {
                listener.found(done);
                return Err(unreachable_api(&error, &done.worn));
            }
        };
        if recovery.is_bootstrapped().await.unwrap_or(true) {
            done.worn = ExpiredInstall::default();
        }
        listener.found(done);
        let found = &done.found;
        if only_looks || (found.silent().next().is_none() && !found.is_anything_waiting()) {
            return done.verdict();
        }
        match &folder {
            Some(folder) => {
                let (declared, client) = (&recovery.approver.declared, &recovery.approver.client);
                done.handed_over = folder.hand_over(found, declared, &login, client, out).await?;
                recovery.approver.declared = folder.declared(&Output::silent())?;
            }
            None => tell_of_identities(found, &recovery.approver.declared, out),
        }
        listener.handed_over(&done.handed_over);
        let limit = Duration::try_from(patience).unwrap_or(Duration::MAX);
        let mut stop = None;
        let stopped = async {
            tokio::select! {
                told = runtime::told_to_stop() => stop = Some(told),
                () = tokio::time::sleep(limit) => {}
            }
        };
        let recovered = recovery.run(found, stopped).await.map_err(|error| failed(&error))?;
        out.info(&format!("{} nodes are back", recovered.back.len()));
        if let Some(folder) = &folder {
            folder.clear(&done.handed_over, &recovered.back, &recovery.approver.declared);
        }
        done.recovered = Some(recovered);
        if stop == Some(Stop::Interrupted) {
            return Err(runtime::interrupted("nodes were coming back"));
        }
        done.verdict()
    }
}

impl RecoveryDone {
    /// Nothing where nothing is left to do.
    pub(crate) fn verdict(&self) -> Result<(), Report> {
        let Self { found, worn, recovered, .. } = self;
        let silent: Vec<String> = match recovered {
            Some(recovered) => recovered.silent.clone(),
            None => found.silent().map(|one| one.node.clone()).collect(),
        };
        let held = recovered.as_ref().map_or(0, |recovered| recovered.summary.held);
        let mut left = Vec::new();
        if !silent.is_empty() {
            left.push(format!("silent: {}", silent.join(", ")));
        }
        if held > 0 {
            left.push(format!("{held} requests are held"));
        }
        if !worn.is_empty() {
            left.push(worn.sentence());
        }
        if left.is_empty() {
            return Ok(());
        }
        let fix = if worn.is_empty() { SILENT_FIX } else { pki::ENDED_FIX };
        Err(Report::new(Code::RecoveryBlocked, left.join("; ")).fix(fix))
    }
}

/// Whoever has no secrets of the cluster cannot bring a host its next identity.
fn tell_of_identities(found: &Assessment, declared: &Declared, out: &Output) {
    let has_identity = |node: &str| declared.node(node).is_some_and(|node| node.identity.is_some());
    let silent: Vec<&str> =
        found.silent().map(|one| one.node.as_str()).filter(|node| has_identity(node)).collect();
    if !silent.is_empty() {
        out.warn(&format!(
            "cannot make an identity for {} here: run this in the folder that the cluster was installed from, without \
             --declared",
            silent.join(", ")
        ));
    }
}

/// The folder may know more than the cluster tells.
fn unreachable_api(error: &ApproverError, worn: &ExpiredInstall) -> Report {
    let report = failed(error);
    if error.is_expired_certificate() {
        return report.fix(EXPIRED_FIX);
    }
    match worn.is_empty() {
        true => report,
        false => Report { what: format!("{}; {}", report.what, worn.sentence()), ..report }
            .fix(pki::ENDED_FIX)
            .exit(Exit::Blocked),
    }
}

fn failed(error: &ApproverError) -> Report {
    Report::from_error(Code::RecoveryFailed, error).fix(error.fix())
}
