//! Installs in which nothing goes wrong.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use fs_err as fs;
use serde_json::Value;

use super::lab::Lab;
use super::page::Page;

/// Phases that are looked at anew each time.
const ALWAYS: &str = "verify-cluster";
/// How long after the bootstrap host's end an error may still be of its making, in seconds. etcd's leader goes with it, unannounced;
/// a request that was on its way to that leader is given up after seven (five, and two election timeouts), and the others need one
/// or two for a new one.
const AFTERMATH: f64 = 9.0;

/// The whole cluster.
pub(super) fn full() -> Result<()> {
    let lab = Lab::init("install", 3, 2)?;
    create_with_client(&lab, "15m")?;
    everything_is_finished(&lab)?;
    pod_answers_through_a_service(&lab)?;
    every_phase_again(&lab)?;
    Page::start(&lab)?.must_play(&lab)?;
    lab.destroy()
}

/// Creates the cluster while a client reads and writes, and tells how long either took.
pub(super) fn create_with_client(lab: &Lab, stall_after: &str) -> Result<()> {
    let mut run = lab.start(&["create", "cluster", "--stall-after", stall_after])?;
    run.until_said("await-bootstrap: done")?;
    let client = Client::start(lab)?;
    run.must_succeed()?;
    report(&fs::read_to_string(lab.path("drill.log"))?)?;
    let log = client.end()?;
    client_was_served(lab, &log)
}

/// The smallest one.
pub(super) fn small() -> Result<()> {
    let lab = Lab::init("small", 1, 0)?;
    lab.create()?;
    report(&fs::read_to_string(lab.path("drill.log"))?)?;
    everything_is_finished(&lab)?;
    every_phase_again(&lab)?;
    lab.destroy()
}

/// What each phase took, for who looks on.
fn report(said: &str) -> Result<()> {
    let table = said.lines().skip_while(|line| !line.contains(" is installed: "));
    let mut out = std::io::stderr();
    table.take(22).try_for_each(|line| Ok(writeln!(out, "{line}")?))
}

pub(super) fn everything_is_finished(lab: &Lab) -> Result<()> {
    for (phase, state) in lab.phases()? {
        ensure!(state == "finished", "{phase} is {state}");
    }
    let verified: Value = serde_json::from_str(&lab.ok(&["verify", "-o", "json"])?)?;
    ensure!(verified["passed"] == true, "{verified:#}");
    Ok(())
}

/// A second time there is nothing to do, and nothing is written down.
fn every_phase_again(lab: &Lab) -> Result<()> {
    for (phase, _) in lab.phases()? {
        let before = fs::read(lab.path("journal.jsonl"))?;
        let run = lab.start(&["phase", "run", &phase])?;
        run.must_succeed().with_context(|| format!("{phase}, a second time"))?;
        if phase != ALWAYS {
            let said = fs::read_to_string(lab.path("drill.log"))?;
            ensure!(said.contains(&format!("{phase}: already done")), "{phase}, a second time:\n{said}");
            ensure!(before == fs::read(lab.path("journal.jsonl"))?, "{phase} wrote into the journal");
        }
    }
    Ok(())
}

/// Between the pod and who asks there are two nodes, a Service and kube-proxy.
fn pod_answers_through_a_service(lab: &Lab) -> Result<()> {
    let image = cli_image(lab)?;
    let pod = |name: &str, command: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: default, labels: {{drill: {name}}}}}\nspec:\n  \
             nodeSelector: {{node-role.kubernetes.io/worker: \"\"}}\n  containers:\n  - name: drill\n    image: {image}\n    \
             command: [sh, -c, \"{command}\"]\n---\n"
        )
    };
    let manifest = pod(
        "answers",
        "mkdir /tmp/www && echo drilled >/tmp/www/index.html && exec busybox httpd -f -p 8080 -h /tmp/www",
    ) + "apiVersion: v1\nkind: Service\nmetadata: {name: answers, namespace: default}\nspec:\n  selector: {drill: answers}\n  ports: [{port: 80, targetPort: 8080}]\n";
    let mut apply = lab
        .inside_command(&["kubectl", "apply", "-f", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    apply.stdin.take().context("kubectl takes no input")?.write_all(manifest.as_bytes())?;
    ensure!(apply.wait()?.success(), "kubectl apply failed");
    lab.inside(&["kubectl", "wait", "--for=condition=Ready", "--timeout=180s", "pod/answers"])?;
    let address = lab.kubectl(&["get", "service", "answers", "-o", "jsonpath={.spec.clusterIP}"])?;
    let url = format!("http://{address}/");
    // Asked from a master, which is not where the pod runs. A pod that is Ready becomes an endpoint, and that a rule of kube-proxy on
    // every node, one after the other: until then the connection is refused.
    let patient = ["--retry", "60", "--retry-delay", "1", "--retry-all-errors", "--max-time", "20"];
    let asked = Command::new("podman")
        .args(["exec", &lab.container("master-0"), "curl", "--silent", "--show-error"])
        .args(patient)
        .arg(&url)
        .output()?;
    let (answer, why) = (String::from_utf8_lossy(&asked.stdout), String::from_utf8_lossy(&asked.stderr));
    ensure!(answer.trim() == "drilled", "the service answered {answer:?}: {}", why.trim());
    lab.inside(&["kubectl", "delete", "--wait=false", "pod/answers", "service/answers"])?;
    Ok(())
}

fn cli_image(lab: &Lab) -> Result<String> {
    let text = fs::read_to_string(lab.path("release/image-references"))?;
    let references: Value = serde_json::from_str(&text)?;
    let tags = references["spec"]["tags"].as_array().context("no tags")?;
    let cli = tags.iter().find(|tag| tag["name"] == "cli").context("no image cli")?;
    Ok(cli["from"]["name"].as_str().unwrap_or_default().to_owned())
}

/// Reads and writes through the load balancer.
struct Client {
    child: Child,
    log: std::path::PathBuf,
}

impl Client {
    fn start(lab: &Lab) -> Result<Self> {
        let (script, log) = (crate::repository().join("lab/client.sh"), lab.path("client.log"));
        let words = [
            script.display().to_string(),
            lab.path("auth/kubeconfig").display().to_string(),
            log.display().to_string(),
        ];
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Ok(Self { child: lab.inside_command(&words).spawn()?, log })
    }

    fn end(mut self) -> Result<String> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(fs::read_to_string(&self.log)?)
    }
}

/// How long a client had no good answer while the bootstrap host went is told, not judged: it is what the cluster's operators do, and
/// those of no version hand etcd's leadership over first.
fn client_was_served(lab: &Lab, log: &str) -> Result<()> {
    let (from, to) = times_of(lab, "remove-bootstrap")?;
    let (errors, served) = errors(log)?;
    let longest = |errors: &mut dyn Iterator<Item = &Error>| errors.map(Error::lasted).fold(0.0, f64::max);
    let is_during = |error: &&Error| error.until >= from && error.since <= to + AFTERMATH;
    let (during, overall) = (longest(&mut errors.iter().filter(is_during)), longest(&mut errors.iter()));
    writeln!(
        std::io::stderr(),
        "client: {served} reads and writes; longest error while the bootstrap host went {during:.2} s, of the whole install {overall:.2} s"
    )?;
    ensure!(served > 100, "the client was served only {served} times");
    for error in errors.iter().filter(is_during) {
        writeln!(std::io::stderr(), "client: {:.2} s: {}", error.lasted(), error.why)?;
    }
    Ok(())
}

/// From the last good answer before it to the first one after it.
struct Error {
    since: f64,
    until: f64,
    why: String,
}

impl Error {
    fn lasted(&self) -> f64 {
        self.until - self.since
    }
}

/// All errors, and how often all was well. Slow is not wrong: this computer may be busy.
fn errors(log: &str) -> Result<(Vec<Error>, usize)> {
    let (mut errors, mut served, mut last, mut failed) = (Vec::new(), 0, None, None);
    for line in log.lines() {
        let (time, outcome) = line.split_once(' ').context("no time")?;
        let time: f64 = time.parse()?;
        if let Some(why) = outcome.strip_prefix("failed ") {
            failed.get_or_insert_with(|| why.to_owned());
            continue;
        }
        if let Some(why) = failed.take() {
            errors.push(Error { since: last.unwrap_or(time), until: time, why });
        }
        (last, served) = (Some(time), served + 1);
    }
    Ok((errors, served))
}

/// When a phase was begun and ended, in seconds.
fn times_of(lab: &Lab, phase: &str) -> Result<(f64, f64)> {
    let text = fs::read_to_string(lab.path("journal.jsonl"))?;
    let mut times = (None, None);
    for line in text.lines() {
        let record: Value = serde_json::from_str(line)?;
        if record["body"]["phase"] == phase {
            let time = record["time"].as_str().and_then(seconds);
            match record["kind"].as_str() {
                Some("phase-started") => times.0 = time,
                Some("phase-finished") => times.1 = time,
                _ => {}
            }
        }
    }
    Ok((times.0.context("it never began")?, times.1.context("it never ended")?))
}

fn seconds(time: &str) -> Option<f64> {
    let time: jiff::Timestamp = time.parse().ok()?;
    Some(time.as_duration().as_secs_f64())
}
