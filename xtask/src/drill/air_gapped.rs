//! An install in which everything comes out of one file.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use fs_err as fs;
use serde_json::Value;

use super::install::everything_is_finished;
use super::lab::Lab;

/// The lab's own registry and its gateway, as `hardway init --provider lab` has them.
const SOURCE: &str = "192.168.126.1:5000/hardway-lab/release:lab";
const MIRROR: &str = "192.168.126.1:5443";

/// The release is bundled, its registry is switched off, and the file is served in its place. From then on nobody asks for anything
/// that is neither on the segment nor in the cluster, and nobody the registry that is gone.
pub(super) fn run() -> Result<()> {
    let lab = Lab::init("gap", 1, 1)?;
    for phase in ["check-host", "build-infra"] {
        lab.start(&["phase", "run", phase])?.must_succeed()?;
    }
    let file = lab.path("release.tar");
    let release = bundle(&lab, &file)?;
    stop_registry(&lab)?;
    let served = Served::start(&lab, &file)?;
    declare(&lab, &release, &served.snippet)?;
    // Every image is where nodes will look for it, before the first of them boots.
    lab.ok(&["check", "images"])?;
    let counters = Counters::start(&lab)?;
    lab.create()?;
    everything_is_finished(&lab)?;
    let counted = counters.read()?;
    writeln!(std::io::stderr(), "packets: {counted:?}")?;
    ensure!(counted.mirror > 1000, "hardly anything came from the bundle: {counted:?}");
    ensure!(counted.elsewhere == 0 && counted.registry == 0, "somebody asked elsewhere: {counted:?}");
    drop(served);
    lab.destroy()
}

/// The release by digest.
fn bundle(lab: &Lab, file: &Path) -> Result<String> {
    let to = file.display().to_string();
    let words = ["release", "bundle", SOURCE, "--plain-http", "--media", "none", "--to", &to, "-o", "json"];
    let text = lab.inside(&[&[lab.program()][..], &words].concat())?;
    let made: Value = serde_json::from_str(&text)?;
    Ok(made["release"].as_str().context("the bundle names no release")?.to_owned())
}

fn stop_registry(lab: &Lab) -> Result<()> {
    let container = lab.container("registry");
    let output = Command::new("podman").args(["stop", "--time=1", &container]).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// What a person would paste.
fn declare(lab: &Lab, release: &str, snippet: &str) -> Result<()> {
    let config = lab.path("install-config.yaml");
    let text = fs::read_to_string(&config)?;
    fs::write(&config, format!("{}\n{snippet}", text.trim_end()))?;
    let inventory = lab.path("inventory.yaml");
    let text = fs::read_to_string(&inventory)?;
    ensure!(text.contains(SOURCE), "inventory.yaml does not name {SOURCE}");
    Ok(fs::write(&inventory, text.replace(SOURCE, release))?)
}

/// `hardway release serve` in the lab's network. Ends when it is dropped.
struct Served {
    child: Child,
    snippet: String,
}

impl Served {
    fn start(lab: &Lab, file: &Path) -> Result<Self> {
        let (printed, said) = (lab.path("served.yaml"), lab.path("served.log"));
        let folder = lab.path("gateway");
        fs::create_dir_all(&folder)?;
        let words = [
            lab.program().to_owned(),
            "release".to_owned(),
            "serve".to_owned(),
            file.display().to_string(),
            format!("--listen={MIRROR}"),
            format!("--dir={}", folder.display()),
        ];
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let child = lab
            .inside_command(&words)
            .stdin(Stdio::null())
            .stdout(fs::File::create(&printed)?.into_parts().0)
            .stderr(fs::File::create(&said)?.into_parts().0)
            .spawn()?;
        let mut served = Self { child, snippet: String::new() };
        let began = Instant::now();
        while !fs::read_to_string(&said)?.contains("serving https://") {
            if served.child.try_wait()?.is_some() || began.elapsed() > Duration::from_secs(120) {
                bail!("hardway release serve does not serve:\n{}", fs::read_to_string(&said)?);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        served.snippet = fs::read_to_string(&printed)?;
        Ok(served)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // `hardway lab run` hands the signal on; kill(2) by way of the program would not let it.
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

/// Packets that came to the lab's gateway, or left it.
#[derive(Debug)]
struct Counted {
    /// For anything outside the segment, the pods and the services.
    elsewhere: u64,
    /// For the registry that is gone.
    registry: u64,
    /// For the one that is made of the bundle.
    mirror: u64,
}

struct Counters {
    namespace: String,
}

const RULES: &str = "
table inet hardway_gap {
  counter elsewhere {}
  counter registry {}
  counter mirror {}
  set near { type ipv4_addr; flags interval; elements = { 10.128.0.0/14, 127.0.0.0/8, 172.30.0.0/16, 192.168.126.0/24, 224.0.0.0/4, 255.255.255.255 } }
  set near6 { type ipv6_addr; flags interval; elements = { ::1, fe80::/10, ff00::/8 } }
  chain arriving { type filter hook prerouting priority -300; policy accept; jump counted; }
  chain leaving { type filter hook output priority -300; policy accept; jump counted; }
  chain counted {
    ip daddr != @near counter name elsewhere
    ip6 daddr != @near6 counter name elsewhere
    tcp dport 5000 counter name registry
    tcp dport 5443 counter name mirror
  }
}
";

impl Counters {
    fn start(lab: &Lab) -> Result<Self> {
        let counters = Self { namespace: format!("hardway-{}", lab.name) };
        let mut nft = counters.nft(&["-f", "-"]).stdin(Stdio::piped()).spawn()?;
        nft.stdin.take().context("nft takes no input")?.write_all(RULES.as_bytes())?;
        ensure!(nft.wait()?.success(), "nft does not take the counters");
        Ok(counters)
    }

    fn read(&self) -> Result<Counted> {
        let output = self.nft(&["-j", "list", "counters", "table", "inet", "hardway_gap"]).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let told: Value = serde_json::from_slice(&output.stdout)?;
        let rows = told["nftables"].as_array().context("nft lists nothing")?;
        let packets = |name: &str| {
            let mut counters = rows.iter().map(|row| &row["counter"]);
            let counter = counters.find(|counter| counter["name"] == name);
            counter
                .and_then(|counter| counter["packets"].as_u64())
                .with_context(|| format!("no counter {name}"))
        };
        let (elsewhere, registry, mirror) = (packets("elsewhere")?, packets("registry")?, packets("mirror")?);
        Ok(Counted { elsewhere, registry, mirror })
    }

    fn nft(&self, words: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.namespace, "nft"]).args(words);
        command
    }
}
