//! Workers of a hosted cluster in the lab: node containers that fetch their config with a token, join through the controller and
//! become nodes; while it runs, what can be lost is lost.
//!
//! ```text
//! Site           management and hosted cluster, ignition server, stand-in of HyperShift   site.rs, control-plane.sh
//! payload()      what a pool's machines get                                              payload.rs
//! upgraded()     another config, in place                                                upgrade.rs, machine-config-daemon.sh
//! ```

mod payload;
mod site;
mod upgrade;

use std::io::Write as _;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use site::Site;

use super::run::Run;

pub(super) fn run() -> Result<()> {
    let mut story = Story { began: Instant::now() };
    let mut site = Site::start()?;
    story.tell("two control planes, an ignition server and a published config")?;
    let controllers = from_zero(&mut site, &mut story)?;
    replaced(&site, &mut story)?;
    scaled_away(&site, &mut story)?;
    upgrade::upgraded(&mut site, &mut story)?;
    one_acts(&site)?;
    drop(controllers);
    site.stand_in = None;
    site.server = None;
    site.lab.destroy()
}

/// When what happened.
struct Story {
    began: Instant,
}

impl Story {
    fn tell(&mut self, what: &str) -> Result<()> {
        Ok(writeln!(std::io::stderr(), "{:5.1} s  {what}", self.began.elapsed().as_secs_f64())?)
    }
}

/// Three of them. The controller is killed as soon as a machine is on, and two others go on; the ignition server is killed and
/// started again, and the token changes.
fn from_zero(site: &mut Site, story: &mut Story) -> Result<[Run; 2]> {
    let first = site.controller("controller-0")?;
    site.hosted(&["workers", "add", "-n=3", "--pool=demo", "--cluster=demo", "--no-wait"])?;
    site.until("a machine is on", |site| {
        Ok(site.workers()?.iter().any(|worker| worker["stage"] != "planned"))
    })?;
    first.kill()?;
    story.tell("the controller is killed")?;
    site.serve()?;
    story.tell("the ignition server was killed and started again")?;
    let before = token(site)?;
    rotate(site)?;
    site.until("the token changes", |site| Ok(token(site)? != before))?;
    story.tell("the token has changed")?;
    let both = [site.controller("controller-1")?, site.controller("controller-2")?];
    site.until("three nodes are Ready", |site| Ok(site.ready_nodes()?.len() == 3))?;
    story.tell("three nodes are Ready")?;
    site.until("three workers are settled", |site| {
        Ok(site.workers()?.iter().filter(|worker| is_settled(worker)).count() == 3)
    })?;
    for worker in site.workers()? {
        story.tell(&told(&worker))?;
    }
    Ok(both)
}

/// Another machine under the same name.
fn replaced(site: &Site, story: &mut Story) -> Result<()> {
    let uid = |site: &Site| -> Result<Option<String>> {
        Ok(site.ready_nodes()?.into_iter().find(|(name, _)| name == "worker-1").map(|(_, uid)| uid))
    };
    let before = uid(site)?.context("worker-1 is no node")?;
    site.hosted(&["workers", "replace", "worker-1", "--cluster=demo", "--no-wait"])?;
    site.until("another worker-1 is Ready", |site| Ok(uid(site)?.is_some_and(|uid| uid != before)))?;
    site.until("it is settled", |site| {
        let is_it = |worker: &&Value| worker["name"] == "worker-1" && worker["incarnation"] == 2;
        Ok(site.workers()?.iter().find(is_it).is_some_and(is_settled))
    })?;
    story.tell("worker-1 was replaced")
}

/// Drained, switched off, and gone from both clusters.
fn scaled_away(site: &Site, story: &mut Story) -> Result<()> {
    site.hosted(&["workers", "scale", "2", "--pool=demo", "--cluster=demo", "--no-wait"])?;
    site.until("two workers are left", |site| {
        Ok(site.workers()?.len() == 2
            && site.kubectl("hosted", &["get", "nodes", "-o=name"])?.lines().count() == 2)
    })?;
    let left: Vec<String> = site.ready_nodes()?.into_iter().map(|(name, _)| name).collect();
    ensure!(left.len() == 2, "both that are left are Ready: {left:?}");
    let machines = std::process::Command::new("podman").args(["ps", "--format={{.Names}}"]).output()?;
    let running = String::from_utf8_lossy(&machines.stdout).into_owned();
    for name in ["worker-0", "worker-1", "worker-2"] {
        let is_on = running.lines().any(|line| line == site.lab.container(name));
        ensure!(is_on == left.iter().any(|one| one == name), "{name} is on: {is_on}; nodes: {left:?}");
    }
    story.tell("one was scaled away")
}

/// Whatever was killed and however many controllers there were: every machine was switched on once, and once more where it was replaced.
fn one_acts(site: &Site) -> Result<()> {
    let journal = fs_err::read_to_string(site.lab.path("journal.jsonl"))?;
    let mut boots = std::collections::BTreeMap::<String, usize>::new();
    for line in journal.lines() {
        let record: Value = serde_json::from_str(line)?;
        let action = record["body"]["action"].as_str().unwrap_or_default();
        if record["kind"] == "action-finished" && action.ends_with("/booted") {
            *boots.entry(action.to_owned()).or_default() += 1;
        }
    }
    let wanted =
        [("machine/worker-0/booted", 1), ("machine/worker-1/booted", 2), ("machine/worker-2/booted", 1)];
    ensure!(boots.iter().map(|(name, times)| (name.as_str(), *times)).eq(wanted), "switched on: {boots:?}");
    let leads = |name: &&&str| {
        let said = fs_err::read_to_string(site.lab.path(&format!("{name}.log"))).unwrap_or_default();
        said.contains("this process holds the lease for the machines")
    };
    let leading = ["controller-1", "controller-2"].iter().filter(leads).count();
    ensure!(leading == 1, "{leading} of two controllers act");
    ensure!(!journal.contains(&token(site)?), "a token is in the journal");
    Ok(())
}

fn is_settled(worker: &Value) -> bool {
    worker["stage"] == "ready" && worker["history"]["labelled"].is_string()
}

/// The token as a pointer carries it.
fn token(site: &Site) -> Result<String> {
    let template = "-o=jsonpath={.items[*].data.token}";
    let token = site.kubectl("management", &["-n=clusters-demo", "get", "secrets", template])?;
    ensure!(!token.trim().is_empty(), "there is no token");
    Ok(token.trim().to_owned())
}

/// Its age is changed, and whoever keeps it looks.
fn rotate(site: &mut Site) -> Result<()> {
    let names = site.kubectl("management", &["-n=clusters-demo", "get", "secrets", "-o=name"])?;
    let name =
        names.lines().find(|name| name.starts_with("secret/token-")).context("no token Secret")?.to_owned();
    let made = "-o=jsonpath={.metadata.annotations.hypershift\\.openshift\\.io/last-token-generation-time}";
    let made: jiff::Timestamp =
        site.kubectl("management", &["-n=clusters-demo", "get", &name, made])?.trim().parse()?;
    let age = format!(
        "hypershift.openshift.io/last-token-generation-time={}",
        made - jiff::SignedDuration::from_hours(6)
    );
    site.kubectl("management", &["-n=clusters-demo", "annotate", "--overwrite", &name, &age])?;
    site.stand_in()
}

/// One worker's way, in seconds.
fn told(worker: &Value) -> String {
    let steps = worker["seconds"].as_array().into_iter().flatten();
    let steps: Vec<String> = steps
        .map(|step| {
            format!(
                "{} {:.1} s",
                step["to"].as_str().unwrap_or_default(),
                step["seconds"].as_f64().unwrap_or_default()
            )
        })
        .collect();
    format!("{}: {}", worker["name"].as_str().unwrap_or_default(), steps.join(", "))
}
