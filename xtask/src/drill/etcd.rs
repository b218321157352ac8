//! Backups of a lab's etcd, and a lab that loses two of its three masters.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use fs_err as fs;
use serde_json::Value;

use super::lab::Lab;

/// What a person made, and the backup has.
const OBJECTS: usize = 50;

/// One master: backed up with its static pods, proven, and thinned out.
pub(super) fn backup() -> Result<()> {
    let site = Site::init("backup", 1)?;
    site.lab.create()?;
    site.make_objects()?;
    let first = site.back_up()?;
    let page = first.replace(".tar.age", ".json");
    ensure!(fs::metadata(&page).is_ok(), "there is no {page}");
    let proven =
        site.etcd(&["prove", &first, "--identity", &site.key, "--programs", &site.programs, "-o", "json"])?;
    let proven: Value = serde_json::from_str(&proven)?;
    ensure!(proven["proof"]["hasApi"] == true, "{proven:#}");
    ensure!(proven["backup"]["staticPodsOf"].is_string(), "{proven:#}");
    let second = site.back_up()?;
    ensure!(fs::metadata(&first).is_err() && fs::metadata(&second).is_ok(), "--keep 1 keeps the newest");
    writeln!(std::io::stderr(), "proven in {} s", proven["seconds"])?;
    site.lab.destroy()
}

/// Two of three masters are switched off for good: writable again, then all three back, and nothing lost that the backup had.
pub(super) fn lost_majority() -> Result<()> {
    let site = Site::init("majority", 3)?;
    let lab = &site.lab;
    lab.create()?;
    site.make_objects()?;
    let file = site.back_up()?;
    let before = site.objects()?;
    for host in ["master-1", "master-2"] {
        let killed = Command::new("podman").args(["kill", &lab.container(host)]).output()?;
        ensure!(killed.status.success(), "{}", String::from_utf8_lossy(&killed.stderr));
    }
    let began = Instant::now();
    let restore = [
        "restore",
        &file,
        "--identity",
        &site.key,
        "--programs",
        &site.programs,
        "--key",
        &site.login,
        "--yes",
    ];
    // A person would run it again as well: until the two are really gone, etcd may still have a quorum.
    let said = loop {
        let output = lab.hardway(&[&["etcd"], &restore[..]].concat())?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            Some(0) => break said,
            Some(9) if began.elapsed() < Duration::from_secs(120) => {}
            code => bail!("etcd restore ended with {code:?}:\n{said}"),
        }
    };
    let writable = began.elapsed().as_secs();
    ensure!(said.contains("hardway node replace master-1 --apply"), "it does not say what is left:\n{said}");
    lab.kubectl(&["create", "configmap", "after"])?;
    let mut out = std::io::stderr();
    writeln!(out, "two masters lost: restored and writable after {writable} s")?;
    for host in ["master-1", "master-2"] {
        let began = Instant::now();
        lab.start(&["node", "replace", host, "--apply", "--force"])?.must_succeed()?;
        site.until_members(if host == "master-1" { 2 } else { 3 })?;
        writeln!(out, "{host} replaced, and a member of etcd, after {} s", began.elapsed().as_secs())?;
    }
    let now = site.objects()?;
    ensure!(
        now == before,
        "what the backup had is not what is there: {} objects, then {}",
        before.len(),
        now.len()
    );
    lab.destroy()
}

/// A lab with what backups need.
struct Site {
    lab: Lab,
    /// Folder with etcdutl and the servers.
    programs: String,
    /// What opens backups, and what they are made for.
    key: String,
    recipient: String,
    /// The private ssh key that masters let in.
    login: String,
}

impl Site {
    fn init(drill: &str, masters: u8) -> Result<Self> {
        let lab = Lab::init(drill, masters, 0)?;
        let path = |name: &str| lab.path(name).display().to_string();
        let (key, login) = (path("backup.key"), path("login"));
        run(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &login]))?;
        let public = fs::read_to_string(lab.path("login.pub"))?;
        let config = lab.path("install-config.yaml");
        let text = fs::read_to_string(&config)?;
        fs::write(&config, format!("{}\nsshKey: {}\n", text.trim_end(), public.trim()))?;
        run(Command::new("age-keygen").args(["-o", &key]))?;
        let recipient = run(Command::new("age-keygen").args(["-y", &key]))?.trim().to_owned();
        let build = crate::repository().join("tools/kubernetes/build.sh");
        let programs =
            run(Command::new(build).args(["etcd", "etcdutl", "kube-apiserver"]).stderr(Stdio::inherit()))?;
        Ok(Self { lab, programs: programs.trim().to_owned(), key, recipient, login })
    }

    fn etcd(&self, words: &[&str]) -> Result<String> {
        self.lab.ok(&[&["etcd"], words].concat())
    }

    /// The backup's file.
    fn back_up(&self) -> Result<String> {
        let words = ["backup", "--recipient", &self.recipient, "--keep", "1", "--key", &self.login];
        Ok(self.etcd(&words)?.trim().to_owned())
    }

    fn make_objects(&self) -> Result<()> {
        for number in 0..OBJECTS {
            let (name, value) = (format!("drill-{number}"), format!("--from-literal=of={number}"));
            self.lab.kubectl(&["create", "configmap", &name, &value])?;
        }
        Ok(())
    }

    /// Those, with uid and revision.
    fn objects(&self) -> Result<Vec<Value>> {
        let list: Value = serde_json::from_str(&self.lab.kubectl(&["get", "configmaps", "-o", "json"])?)?;
        let items = list["items"].as_array().context("no list of ConfigMaps")?;
        let is_ours =
            |item: &&Value| item["metadata"]["name"].as_str().is_some_and(|name| name.starts_with("drill-"));
        let items: Vec<Value> = items.iter().filter(is_ours).cloned().collect();
        ensure!(items.len() == OBJECTS, "{} of {OBJECTS} ConfigMaps are there", items.len());
        Ok(items)
    }

    fn until_members(&self, count: usize) -> Result<()> {
        let until = Instant::now() + Duration::from_secs(30 * 60);
        loop {
            let output = self.lab.hardway(&["etcd", "members", "-o", "json"])?;
            let listed: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            let votes = |row: &&Value| row["isWell"] == true && row["member"]["isLearner"] == false;
            if listed["members"]
                .as_array()
                .is_some_and(|members| members.iter().filter(votes).count() >= count)
            {
                return Ok(());
            }
            ensure!(Instant::now() < until, "etcd has not {count} members: {listed:#}");
            std::thread::sleep(Duration::from_secs(5));
        }
    }
}

fn run(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
