//! `hardway wait-for bootstrap-complete|install-complete`

mod approving;

use std::path::Path;

use hardway_assets::File;
use hardway_assets::work_paths;
use hardway_cluster::wait::{Installed, Level, Line, Wait, WaitError, WaitOptions};
use hardway_journal::{FILE_NAME, Journal};
use serde_json::{Value, json};

use approving::Approving;

use crate::cli::{Format, Global, WaitArgs, WaitForArgs, WaitForTarget};
use crate::clock;
use crate::cluster::{Intent, Live};
use crate::inputs::{Workdir, at};
use crate::journal::{end_bootstrap, journal_report};
use crate::report::{Code, Exit, Report};
use crate::runtime;
use crate::terminal::Output;

/// Says what openshift-install says, on standard error; standard output gets the result, if a format is asked for.
pub(crate) fn run(global: &Global, args: &WaitForArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    runtime::run("waiting", async {
        match &args.target {
            WaitForTarget::BootstrapComplete(args) => bootstrap_complete(&workdir, args, out).await,
            WaitForTarget::InstallComplete(args) => install_complete(&workdir, args, out).await,
        }
    })
}

async fn bootstrap_complete(workdir: &Workdir, args: &WaitArgs, out: &Output) -> Result<Exit, Report> {
    let live = Live::open(workdir, &(&args.cluster).into(), Intent::Change, out).await?;
    let mut approving = Approving::begin(&live, workdir, args, out)?;
    let mut say = |line: Line| print(&line, out);
    let mut wait = begin(&live, workdir, args, &mut say);
    match approving.beside(wait.bootstrap_complete(), out).await {
        Ok(decision) => {
            if let Err(report) = told_bootstrap_ended(&live, workdir) {
                out.warn(&format!(
                    "{}; the bootstrap host's token stays valid until it expires",
                    report.what
                ));
            }
            result(&wait, args.output, out, "bootstrap-complete", None, json!({"pivot": decision}));
            Ok(Exit::Done)
        }
        Err(error) => {
            let decision = json!({"pivot": wait.decision().await});
            result(&wait, args.output, out, "bootstrap-complete", Some(&error), decision);
            wait.complaints().iter().for_each(|line| print(line, out));
            out.info("Use the following command to gather logs from the bootstrap host");
            out.info(&out.advice("hardway gather bootstrap"));
            Err(failed(&error, &approving))
        }
    }
}

/// A server of this folder reads it, and gives the bootstrap host's config to nobody any more.
fn told_bootstrap_ended(live: &Live, workdir: &Workdir) -> Result<(), Report> {
    let path = workdir.path(FILE_NAME);
    // Where nothing was ever served or built there is no journal, and nobody to tell.
    let Some(cluster) = live.cluster.as_ref().filter(|_| path.exists()) else { return Ok(()) };
    let journal = Journal::open(&path).map_err(|error| journal_report(&error))?;
    end_bootstrap(cluster, &journal, clock::now())
}

async fn install_complete(workdir: &Workdir, args: &WaitArgs, out: &Output) -> Result<Exit, Report> {
    let live = Live::open(workdir, &(&args.cluster).into(), Intent::Change, out).await?;
    let mut approving = Approving::begin(&live, workdir, args, out)?;
    let mut say = |line: Line| print(&line, out);
    let mut wait = begin(&live, workdir, args, &mut say);
    match approving.beside(wait.install_complete(), out).await {
        Ok(installed) => {
            let known = finish(workdir, live.kubeconfig.as_deref(), &installed, out)?;
            result(&wait, args.output, out, "install-complete", None, known);
            Ok(Exit::Done)
        }
        Err(error) => {
            result(&wait, args.output, out, "install-complete", Some(&error), json!({}));
            wait.complaints().iter().for_each(|line| print(line, out));
            Err(failed(&error, &approving))
        }
    }
}

fn begin<'s>(live: &Live, workdir: &Workdir, args: &WaitArgs, say: &'s mut dyn FnMut(Line)) -> Wait<'s> {
    let options = WaitOptions {
        timeout: args.timeout,
        stall_after: args.stall_after,
        stable_for: args.stable_for,
        ..WaitOptions::new()
    };
    live.wait(workdir, options, say)
}

/// openshift-install's last words. The password is never printed, as with its --skip-password-print: logs are kept and
/// passed on. And auth/kubeconfig stays as it was made: the routers' CA is put beside it.
fn finish(
    workdir: &Workdir,
    kubeconfig: Option<&Path>,
    installed: &Installed,
    out: &Output,
) -> Result<Value, Report> {
    let absolute = |path: &Path| std::path::absolute(path).map_err(|error| at(path, &error));
    let kubeconfig = kubeconfig.map(absolute).transpose()?;
    let password = absolute(&workdir.path(work_paths::KUBEADMIN_PASSWORD))?;
    if let Some(ca) = &installed.router_ca {
        let (name, path) = (work_paths::ROUTER_CA, workdir.path(work_paths::ROUTER_CA));
        if fs_err::read_to_string(&path).ok().as_ref() != Some(ca) {
            workdir.write(&File::public(name, ca.clone()))?;
        }
        out.info(&format!("The routers' certificates are signed by {}", workdir.shown(name)));
    }
    out.info("Install complete!");
    if let Some(kubeconfig) = &kubeconfig {
        out.info(&format!(
            "To access the cluster as the system:admin user when using 'oc', run\n    export KUBECONFIG={}",
            kubeconfig.display()
        ));
    }
    if let Some(url) = &installed.console_url {
        out.info(&format!("Access the OpenShift web-console here: {url}"));
        out.info(&format!("Credentials omitted, if necessary verify the {} file", password.display()));
    }
    Ok(json!({
        "kubeconfig": kubeconfig,
        "consoleURL": installed.console_url,
        "kubeadminPasswordFile": password,
    }))
}

/// The result as data; a wait that failed has one too.
fn result(
    wait: &Wait<'_>,
    format: Format,
    out: &Output,
    target: &str,
    error: Option<&WaitError>,
    more: Value,
) {
    if format == Format::Text {
        return;
    }
    let index = wait.index();
    let timeline: Vec<_> = index.timeline().moments().collect();
    let mut value = json!({
        "target": target,
        "complete": error.is_none(),
        "exitCode": error.map_or(Exit::Done, |error| code(error).exit()).number(),
        "elapsedSeconds": wait.elapsed().as_secs(),
        "version": index.version(),
        "operators": index.operators(),
        "missingNodes": index.missing_nodes(),
        "bootstrapHost": wait.bootstrap_host(),
        "timeline": timeline,
    });
    if let Some(error) = error {
        value["error"] = error.to_string().into();
        value["gaveUp"] = error.why().map(ToString::to_string).into();
        value["firstBroken"] = json!(error.why().and_then(|why| why.broken()));
    }
    if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
        value.extend(more);
    }
    out.value(&value, format);
}

fn failed(error: &WaitError, approving: &Approving) -> Report {
    let report = Report::new(code(error), error.to_string());
    let why = error.why();
    let mut evidence: Vec<String> = vec![error.hint().to_owned()];
    evidence.extend(why.map(|why| format!("{why}")));
    let broken = why.and_then(|why| why.broken());
    evidence.extend(broken.map(|link| format!("first broken link: {}", link.what)));
    evidence.extend(approving.evidence());
    let report = report.evidence(evidence);
    match broken.and_then(|link| link.fix.clone()) {
        Some(fix) => report.fix(fix),
        None => report,
    }
}

fn code(error: &WaitError) -> Code {
    match error {
        WaitError::Api { .. } | WaitError::Bootstrap { .. } => Code::BootstrapFailed,
        WaitError::Client(_) => Code::KubeconfigUnusable,
        WaitError::Initialize { .. } | WaitError::Nodes { .. } => Code::InstallFailed,
        WaitError::Stability { .. } => Code::OperatorsUnstable,
    }
}

fn print(line: &Line, out: &Output) {
    match line.level {
        Level::Debug => out.debug(&line.text),
        Level::Info => out.info(&line.text),
        Level::Warn => out.warn(&line.text),
        Level::Error => out.finding(&line.text),
    }
}
