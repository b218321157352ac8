//! `hardway recover certs`

mod hand_over;
mod show;

use std::sync::Arc;
use std::time::Duration;

use hardway_assets::pki;
use hardway_cluster::approver::{Approver, ApproverError, News};
use hardway_cluster::csr_policy::Settings;
use hardway_cluster::declared::Declared;
use hardway_cluster::leader_election::Standing;
use hardway_cluster::recovery::{Assessment, Recovered, Recovery};
use kube::Client;
use serde_json::Value;
use tokio::sync::mpsc;

use hand_over::{Folder, HandedOver};

use super::approve::{ApproverEvent, print};
use crate::cli::{Format, Global, RecoverArgs, RecoverCertsArgs, RecoverVerb};
use crate::clock;
use crate::cluster::{ExpiredInstall, WayIn, declared, identity};
use crate::inputs::Workdir;
use crate::report::{Code, Exit, Report};
use crate::runtime::{self, Stop};
use crate::terminal::Output;

/// Says what has ended, and lets silent nodes in again, once each and by policy. Exit 9 when a person has to do something.
pub(crate) fn run(global: &Global, args: &RecoverArgs, out: &Output) -> Result<Exit, Report> {
    let RecoverVerb::Certs(args) = &args.verb;
    let workdir = Workdir::open(&global.dir)?;
    let declared = declared(&workdir, args.declared.as_deref(), out)?;
    let worn = match args.declared {
        None => ExpiredInstall::of(&workdir, args.cluster.release_dir.as_deref(), out)?,
        Some(_) => ExpiredInstall::default(),
    };
    // A dry run lets nobody in, and a document of who is expected comes without secrets.
    let folder = match args.dry_run || args.declared.is_some() {
        true => None,
        false => Folder::open(&workdir, out)?,
    };
    runtime::run_to_its_end(recover(&workdir, args, declared, worn, folder, out))
}

async fn recover(
    workdir: &Workdir,
    args: &RecoverCertsArgs,
    declared: Declared,
    worn: ExpiredInstall,
    folder: Option<Folder<'_>>,
    out: &Output,
) -> Result<Exit, Report> {
    let (recovery, events) = begin(workdir, args, declared, out).await?;
    let mut done = Done { worn, ..Done::default() };
    let (end, decisions) =
        tokio::join!(carry_out(recovery, args, folder, &mut done, out), listen(events, args.output, out));
    if args.output != Format::Text {
        out.value(&show::value(&done, &decisions), args.output);
    }
    end
}

/// Everything that was found and done.
#[derive(Default)]
struct Done {
    found: Assessment,
    worn: ExpiredInstall,
    handed_over: Vec<HandedOver>,
    recovered: Option<Recovered>,
}

/// Decisions are printed as they are taken, or kept for the one document that programs get.
async fn listen(events: mpsc::UnboundedReceiver<ApproverEvent>, format: Format, out: &Output) -> Vec<Value> {
    if format == Format::Text {
        print(events, format, out).await;
        return Vec::new();
    }
    let (mut events, mut decisions) = (events, Vec::new());
    while let Some(event) = events.recv().await {
        match event {
            ApproverEvent::Decided(outcome) => {
                decisions.push(serde_json::to_value(&outcome).unwrap_or_default())
            }
            ApproverEvent::Line(text) => out.info(&text),
            ApproverEvent::Warning(text) => out.warn(&text),
        }
    }
    decisions
}

/// The recovery, and what it will tell.
async fn begin(
    workdir: &Workdir,
    args: &RecoverCertsArgs,
    declared: Declared,
    out: &Output,
) -> Result<(Recovery, mpsc::UnboundedReceiver<ApproverEvent>), Report> {
    let WayIn { mut config, .. } = WayIn::find(workdir, args.cluster.kubeconfig.as_deref(), out).await?;
    if let Some(server) = &args.server {
        // What is trusted is the name, not the way to it.
        let name = config.cluster_url.host().unwrap_or_default().to_owned();
        config.tls_server_name.get_or_insert(name);
        config.cluster_url = server.clone();
    }
    let client =
        Client::try_from(config).map_err(|error| Report::from_error(Code::KubeconfigUnusable, &error))?;
    let (sender, receiver) = mpsc::unbounded_channel();
    let approver = Approver {
        client,
        folder: workdir.path(""),
        declared,
        settings: Settings::default(),
        identity: identity(),
        standing: Standing::Principal,
        dry_run: false,
        now: Arc::new(clock::now),
        tell: Arc::new(move |news| {
            if let News::Following(holder) = news {
                let _ = sender.send(ApproverEvent::Warning(format!(
                    "{holder} approves for this cluster: unless it works in this folder, it knows nothing of this recovery; stop it until this is over"
                )));
            }
            let _ = sender.send(ApproverEvent::of(news));
        }),
    };
    Ok((Recovery { silence: args.silence, ..Recovery::new(approver) }, receiver))
}

/// Takes the recovery, so that whoever listens knows when there is nothing more to come.
async fn carry_out(
    mut recovery: Recovery,
    args: &RecoverCertsArgs,
    folder: Option<Folder<'_>>,
    done: &mut Done,
    out: &Output,
) -> Result<Exit, Report> {
    out.info("looking at the nodes, twice, to be sure who is silent");
    let looked = tokio::select! {
        looked = runtime::aloud(out, || "still looking".to_owned(), recovery.assess()) => looked,
        _ = runtime::told_to_stop() => return Err(runtime::interrupted("looking")),
    };
    let is_text = args.output == Format::Text;
    if let (Err(error), true) = (&looked, is_text) {
        out.data(&show::text(done));
        return Err(unreachable_api(error, &done.worn));
    }
    done.found = looked.map_err(|error| unreachable_api(&error, &done.worn))?;
    if recovery.is_bootstrapped().await.unwrap_or(true) {
        done.worn = ExpiredInstall::default();
    }
    if is_text {
        out.data(&show::text(done));
    }
    let found = &done.found;
    if args.dry_run || (found.silent().next().is_none() && !found.is_anything_waiting()) {
        return verdict(done);
    }
    match &folder {
        Some(folder) => {
            let (declared, client) = (&recovery.approver.declared, &recovery.approver.client);
            done.handed_over = folder.hand_over(found, declared, args, client, out).await?;
            recovery.approver.declared = folder.declared(&Output::silent())?;
        }
        None => tell_of_identities(found, &recovery.approver.declared, out),
    }
    if is_text {
        out.data(&hand_over::text(&done.handed_over));
    }
    let limit = Duration::try_from(args.timeout).unwrap_or(Duration::MAX);
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
    verdict(done)
}

/// Whoever has no secrets of the cluster cannot bring a host its next identity.
fn tell_of_identities(found: &Assessment, declared: &Declared, out: &Output) {
    let has_identity = |node: &str| declared.node(node).is_some_and(|node| node.identity.is_some());
    let silent: Vec<&str> =
        found.silent().map(|one| one.node.as_str()).filter(|node| has_identity(node)).collect();
    if !silent.is_empty() {
        out.warn(&format!(
            "no identity can be made here for {}: run this in the folder that the cluster was installed from, without --declared",
            silent.join(", ")
        ));
    }
}

/// Zero when nothing is left to do.
fn verdict(Done { found, worn, recovered, .. }: &Done) -> Result<Exit, Report> {
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
        return Ok(Exit::Done);
    }
    let fix = if worn.is_empty() { show::SILENT_FIX } else { pki::ENDED_FIX };
    Err(Report::new(Code::RecoveryBlocked, left.join("; ")).fix(fix))
}

/// The folder may know more than the cluster tells.
fn unreachable_api(error: &ApproverError, worn: &ExpiredInstall) -> Report {
    let report = failed(error);
    if error.is_expired_certificate() {
        return report.fix(show::EXPIRED_FIX);
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
