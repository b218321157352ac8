//! `hardway page` beside a drill, looked at with a real Chromium.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use fs_err as fs;
use serde_json::Value;

use super::lab::Lab;

/// Ended when it is dropped.
pub(super) struct Page {
    child: Child,
    url: String,
}

/// A section of `status -o json`, the view that has it, and what a row's attributes on the page are called there.
type Section = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const SECTIONS: [Section; 5] = [
    ("phases", "Install", &[("phase", "phase"), ("state", "state")]),
    ("hosts", "Install", &[("host", "host"), ("state", "state")]),
    ("etcd", "Cluster", &[("member", "name"), ("role", "role"), ("healthy", "isHealthy")]),
    ("requests", "Cluster", &[("request", "request"), ("verdict", "verdict"), ("reason", "reason")]),
    (
        "operators",
        "Cluster",
        &[
            ("operator", "operator"),
            ("available", "available"),
            ("progressing", "progressing"),
            ("degraded", "degraded"),
        ],
    ),
];
/// Names a folder: then pictures of the install are taken there.
const PICTURES: &str = "HARDWAY_SCREENSHOTS";
/// So many are looked at of a whole install.
const MOMENTS: usize = 10;

/// The page looks at the journal four times a second; this computer may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

impl Page {
    /// Of a lab's folder.
    pub(super) fn start(lab: &Lab) -> Result<Self> {
        let mut command = lab.command(&["page", "--no-browser"]);
        let mut child = command.stderr(Stdio::piped()).spawn()?;
        let stderr = child.stderr.take().context("it says nothing")?;
        let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
        let url = lines.find_map(|line| line.split_once("the page is at ").map(|(_, url)| url.to_owned()));
        // Whoever does not read what it says would hold it up.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Self { url: url.context("there is no page")?, child })
    }

    /// Phases and hosts are on it as `status` tells them: now, or as soon as it has read the journal.
    pub(super) fn must_show_what_status_says(&self, lab: &Lab) -> Result<()> {
        let status: Value = serde_json::from_str(&lab.ok(&["status", "-o", "json"])?)?;
        self.must_show(&status, "Install", "")
    }

    /// The whole install played: at ten moments everything is on it as `status` told it when the journal ended there.
    pub(super) fn must_play(&self, lab: &Lab) -> Result<()> {
        let folder = tempfile::tempdir()?;
        let copied = Command::new("cp").arg("-a").arg(lab.path(".")).arg(folder.path()).status()?;
        ensure!(copied.success(), "cp ended with {copied}");
        // Somebody is at work, as far as anybody can tell: what was begun at a moment went on.
        let lock = fs::File::create(folder.path().join(".hardway.lock"))?;
        lock.file().lock()?;
        let journal = fs::read_to_string(lab.path("journal.jsonl"))?;
        let lines: Vec<&str> = journal.lines().collect();
        for step in 1..=MOMENTS {
            let count = lines.len() * step / MOMENTS;
            fs::write(folder.path().join("journal.jsonl"), lines[..count].join("\n") + "\n")?;
            let told = lab.command_in(folder.path(), &["status", "-o", "json"]).output()?;
            ensure!(told.status.success(), "status: {}", String::from_utf8_lossy(&told.stderr));
            let status = serde_json::from_slice(&told.stdout)?;
            for view in ["Install", "Cluster"] {
                let place = format!("#view={view}&line={count}");
                self.must_show(&status, view, &place).with_context(|| format!("after line {count}"))?;
            }
        }
        match std::env::var_os(PICTURES) {
            Some(folder) => draw(lab, Path::new(&folder), lines.len()),
            None => Ok(()),
        }
    }

    fn must_show(&self, status: &Value, view: &str, place: &str) -> Result<()> {
        let of_view = SECTIONS.iter().filter(|(_, of, _)| *of == view);
        let wanted: Vec<String> = of_view
            .flat_map(|(section, _, keys)| {
                status[section].as_array().into_iter().flatten().map(|row| marks(keys, row))
            })
            .collect();
        ensure!(view != "Install" || !wanted.is_empty(), "status names neither phases nor hosts");
        let end = Instant::now() + PATIENCE;
        loop {
            let page = self.drawn(place)?;
            let missing: Vec<&String> = wanted.iter().filter(|mark| !page.contains(mark.as_str())).collect();
            if missing.is_empty() {
                return Ok(());
            }
            if Instant::now() > end {
                bail!("not on the page: {missing:?}");
            }
        }
    }

    /// What a browser has made of it.
    fn drawn(&self, place: &str) -> Result<String> {
        browse(&["--dump-dom"], &format!("{}{place}", self.url))
    }
}

/// The pictures of the README, of this very install. As one file it is all there when it is loaded, and that is when a picture is
/// taken.
fn draw(lab: &Lab, folder: &Path, lines: usize) -> Result<()> {
    let page = lab.path("page.html").display().to_string();
    lab.ok(&["page", "--export", &page])?;
    for (view, part, name) in [("Install", 6, "page-install.png"), ("Cluster", 8, "page-cluster.png")] {
        let picture = format!("--screenshot={}", std::path::absolute(folder.join(name))?.display());
        let url = format!("file://{page}#view={view}&line={}", lines * part / 10);
        browse(&["--hide-scrollbars", "--window-size=1280,860", &picture], &url)?;
    }
    Ok(())
}

fn browse(words: &[&str], url: &str) -> Result<String> {
    let home = tempfile::tempdir()?;
    let output = Command::new("chromium")
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--disable-background-networking", "--virtual-time-budget=5000"])
        .arg(format!("--user-data-dir={}", home.path().display()))
        .args(words)
        .arg(url)
        .stderr(Stdio::null())
        .output()?;
    ensure!(output.status.success(), "chromium ended with {}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The attributes of its element, as the page writes them.
fn marks(keys: &[(&str, &str)], row: &Value) -> String {
    let mark = |(attribute, key): &(&str, &str)| match &row[*key] {
        Value::String(text) => format!("data-{attribute}=\"{text}\""),
        other => format!("data-{attribute}=\"{other}\""),
    };
    keys.iter().map(mark).collect::<Vec<_>>().join(" ")
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_row_is_found_by_its_attributes() {
        let row = json!({"name": "m", "role": "leader", "isHealthy": true});
        let (_, _, keys) = SECTIONS[2];
        assert_eq!(marks(keys, &row), "data-member=\"m\" data-role=\"leader\" data-healthy=\"true\"");
    }
}
