//! Two control planes, an ignition server, HyperShift's stand-in and a network that gives addresses: what hosted workers need.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use fs_err as fs;
use serde_json::Value;

use super::super::lab::{Lab, last_lines};
use super::super::run::Run;
use super::payload::payload;
use super::upgrade::IMAGE;

/// Where everything answers: the lab's gateway.
const ADDRESS: &str = "192.168.126.1";
const HOSTED_PORT: u16 = 7443;
const MANAGEMENT_PORT: u16 = 8443;
const BOOTSTRAPPER: &str = "openshift-machine-config-operator";
const IGNITION: &str = "192.168.126.1:22700";
/// Longer than anything takes, on a computer that is busy.
const LIMIT: Duration = Duration::from_secs(600);

/// Fields are dropped in order: who asks goes before who is asked.
pub(super) struct Site {
    pub(super) stand_in: Option<Run>,
    pub(super) server: Option<Run>,
    _network: Plugged,
    _planes: [Plugged; 2],
    pub(super) lab: Lab,
}

/// A program of the lab's network; ends with its standard input, and it is waited for.
struct Plugged(Child);

impl Drop for Plugged {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

impl Site {
    /// With a HostedCluster and a pool `demo`, whose config is published.
    pub(super) fn start() -> Result<Self> {
        let lab = Lab::init("hosted", 1, 3)?;
        lab.ok(&["infra", "up"])?;
        let bin = programs()?;
        let plane = |name: &str, port: u16| -> Result<Plugged> {
            let script =
                crate::repository().join("xtask/src/drill/hosted/control-plane.sh").display().to_string();
            let folder = lab.path(name).display().to_string();
            plugged(lab.inside_command(&[&script, &bin, &folder, ADDRESS, &port.to_string()]))
        };
        let planes = [plane("management", MANAGEMENT_PORT)?, plane("hosted", HOSTED_PORT)?];
        let network = plugged(addresses(&lab)?)?;
        let mut site = Self { stand_in: None, server: None, _network: network, _planes: planes, lab };
        for plane in ["management", "hosted"] {
            site.until(&format!("the API server of the {plane} cluster answers"), |site| {
                Ok(site.kubectl(plane, &["get", "--raw=/readyz"])? == "ok")
            })?;
        }
        site.make_cluster()?;
        site.make_bootstrapper()?;
        site.make_payload("4.18.1")?;
        site.serve()?;
        site.stand_in()?;
        Ok(site)
    }

    /// kubectl on one of both clusters.
    pub(super) fn kubectl(&self, plane: &str, words: &[&str]) -> Result<String> {
        let kubeconfig = self.lab.path(plane).join("kubeconfig").display().to_string();
        let kubectl = ["kubectl", "--request-timeout=20s", "--kubeconfig", &kubeconfig];
        self.lab.inside(&[&kubectl[..], words].concat())
    }

    /// `hardway hosted`, which must succeed.
    pub(super) fn hosted(&self, words: &[&str]) -> Result<String> {
        let kubeconfig = self.management();
        self.lab.ok(&[&["hosted", "--kubeconfig", &kubeconfig], words].concat())
    }

    /// A controller with this name for its log.
    pub(super) fn controller(&self, name: &str) -> Result<Run> {
        let kubeconfig = self.management();
        let words =
            ["hosted", "--kubeconfig", &kubeconfig, "controller", "--cluster=demo", "--ignition=required"];
        self.run(
            &[&words[..], &["--config-rest=0s", "--drain-timeout=30s", "--daemon-image", IMAGE]].concat(),
            name,
        )
    }

    /// Face (c), from the Secrets of the management cluster.
    pub(super) fn serve(&mut self) -> Result<()> {
        self.server = None;
        let file = |name: &str| self.lab.path("management").join(name).display().to_string();
        let (certificate, key, kubeconfig) = (file("server.crt"), file("server.key"), file("kubeconfig"));
        let program = self.lab.command(&[]).get_program().to_string_lossy().into_owned();
        let folder = self.lab.path("").display().to_string();
        let serve = [
            &program,
            "--dir",
            &folder,
            "serve",
            "--face=hosted",
            "--listen",
            IGNITION,
            "--namespace=clusters-demo",
        ];
        let files = ["--certificate", &certificate, "--key", &key, "--kubeconfig", &kubeconfig];
        let command = self.lab.inside_command(&[&serve[..], &files].concat());
        self.server =
            Some(Run::start(command, &self.lab.path("serve.log"), &self.lab.path("journal.jsonl"))?);
        Ok(())
    }

    /// Publishes the pool's config and keeps its tokens.
    pub(super) fn stand_in(&mut self) -> Result<()> {
        self.stand_in = None;
        let (kubeconfig, config) = (self.management(), self.lab.path("payload.ign").display().to_string());
        let authority = self.lab.path("management/ca.crt").display().to_string();
        let words = [
            "hosted",
            "--kubeconfig",
            &kubeconfig,
            "stand-in",
            "--cluster=demo",
            "--pool=demo",
            "--config",
            &config,
        ];
        let server = ["--ignition-server", IGNITION, "--ignition-ca", &authority, "--release-version=4.18.1"];
        let mut run = self.run(&[&words[..], &server].concat(), "stand-in")?;
        run.until_said("is published by hardway's stand-in")?;
        self.stand_in = Some(run);
        Ok(())
    }

    /// Every worker's record, as `hardway hosted workers list` tells it.
    pub(super) fn workers(&self) -> Result<Vec<Value>> {
        let text = self.hosted(&["workers", "list", "--cluster=demo", "-o=json"])?;
        Ok(serde_json::from_str::<Value>(&text)?.as_array().context("no list")?.clone())
    }

    /// Nodes that are Ready, with their uids.
    pub(super) fn ready_nodes(&self) -> Result<Vec<(String, String)>> {
        let nodes: Value = serde_json::from_str(&self.kubectl("hosted", &["get", "nodes", "-o=json"])?)?;
        let is_ready = |node: &&Value| {
            let conditions = node["status"]["conditions"].as_array();
            conditions
                .is_some_and(|all| all.iter().any(|one| one["type"] == "Ready" && one["status"] == "True"))
        };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let nodes = nodes["items"].as_array().context("no nodes")?.iter().filter(is_ready);
        Ok(nodes.map(|node| (text(&node["metadata"]["name"]), text(&node["metadata"]["uid"]))).collect())
    }

    /// Waits; what is asked may fail until then.
    pub(super) fn until(&self, what: &str, holds: impl Fn(&Self) -> Result<bool>) -> Result<()> {
        let began = Instant::now();
        let mut last = None;
        while began.elapsed() < LIMIT {
            match holds(self) {
                Ok(true) => return Ok(()),
                Ok(false) => last = None,
                Err(error) => last = Some(error),
            }
            std::thread::sleep(Duration::from_secs(1));
        }
        let log = |name: &str| last_lines(&fs::read_to_string(self.lab.path(name)).unwrap_or_default(), 15);
        let logs = ["serve.log", "stand-in.log", "controller-1.log", "controller-2.log"];
        let logs: Vec<String> = logs.iter().map(|name| format!("--- {name}\n{}", log(name))).collect();
        bail!("in vain: {what}; {last:?}\n{}", logs.join("\n"))
    }

    fn management(&self) -> String {
        self.lab.path("management/kubeconfig").display().to_string()
    }

    fn run(&self, words: &[&str], name: &str) -> Result<Run> {
        Run::start(
            self.lab.command(words),
            &self.lab.path(&format!("{name}.log")),
            &self.lab.path("journal.jsonl"),
        )
    }

    /// As a person makes it, and then what HyperShift's operators would write once its control plane is up.
    fn make_cluster(&self) -> Result<()> {
        let own = crate::repository().join("crates/hardway-testing/crds");
        let crds = std::env::var_os("HARDWAY_HYPERSHIFT_CRDS").map_or(own, Into::into);
        for kind in ["hostedclusters", "nodepools"] {
            let text = fs::read_to_string(crds.join(format!("{kind}.yaml")))?;
            let lines = text.lines().filter(|line| !line.contains("feature-gate.release.openshift.io/:"));
            let file = self.lab.path(&format!("{kind}.yaml"));
            fs::write(&file, lines.collect::<Vec<_>>().join("\n"))?;
            self.kubectl("management", &["apply", "--server-side", "-f", &file.display().to_string()])?;
            let crd = format!("crd/{kind}.hypershift.openshift.io");
            self.kubectl("management", &["wait", "--for=condition=Established", "--timeout=60s", &crd])?;
        }
        for namespace in ["clusters", "clusters-demo"] {
            self.kubectl("management", &["create", "namespace", namespace])?;
        }
        let pull_secret = self.lab.path("pull-secret.json");
        fs::write(&pull_secret, r#"{"auths":{}}"#)?;
        let pull_secret = pull_secret.display().to_string();
        let image = "--release-image=quay.io/openshift-release-dev/ocp-release:4.18.1-x86_64";
        self.hosted(&[
            "cluster",
            "create",
            "demo",
            "--external-api-server-address",
            ADDRESS,
            image,
            "--pull-secret",
            &pull_secret,
            "--node-pool-replicas=0",
        ])?;
        let kubeconfig = format!("--from-file=kubeconfig={}", self.lab.path("hosted/kubeconfig").display());
        let secret = ["-n=clusters", "create", "secret", "generic", "demo-admin-kubeconfig", &kubeconfig];
        self.kubectl("management", &secret)?;
        let status = format!(
            r#"{{"status":{{"kubeconfig":{{"name":"demo-admin-kubeconfig"}},"ignitionEndpoint":"{IGNITION}","conditions":[]}}}}"#
        );
        let patch = [
            "-n=clusters",
            "patch",
            "hostedcluster",
            "demo",
            "--subresource=status",
            "--type=merge",
            "-p",
            &status,
        ];
        self.kubectl("management", &patch).map(drop)
    }

    /// Who may ask for certificates in the hosted cluster.
    fn make_bootstrapper(&self) -> Result<()> {
        let account = format!("{BOOTSTRAPPER}:node-bootstrapper");
        let of_namespace = format!("--namespace={BOOTSTRAPPER}");
        self.kubectl("hosted", &["create", "namespace", BOOTSTRAPPER])?;
        self.kubectl("hosted", &["create", "serviceaccount", "node-bootstrapper", &of_namespace])?;
        let binding =
            ["create", "clusterrolebinding", "node-bootstrapper", "--clusterrole=system:node-bootstrapper"];
        self.kubectl("hosted", &[&binding[..], &["--serviceaccount", &account]].concat()).map(drop)
    }

    /// The config of a release, with a token of theirs.
    pub(super) fn make_payload(&self, release: &str) -> Result<()> {
        let of_namespace = format!("--namespace={BOOTSTRAPPER}");
        let token = ["create", "token", "node-bootstrapper", "--duration=24h", &of_namespace];
        let token = self.kubectl("hosted", &token)?;
        let authority = fs::read_to_string(self.lab.path("hosted/ca.crt"))?;
        let server = format!("https://{ADDRESS}:{HOSTED_PORT}");
        let config = payload(&server, &authority, token.trim(), release);
        Ok(fs::write(self.lab.path("payload.ign"), config.to_string())?)
    }
}

fn plugged(mut command: Command) -> Result<Plugged> {
    Ok(Plugged(command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?))
}

/// The real control plane's programs; of the API server the one that lets kubelets label themselves as OpenShift's do.
fn programs() -> Result<String> {
    let built = |script: &str, words: &[&str]| -> Result<String> {
        let output =
            Command::new(crate::repository().join(script)).args(words).stderr(Stdio::inherit()).output()?;
        ensure!(output.status.success(), "{script} failed");
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let lab = built("lab/kubernetes/build.sh", &[])?;
    Ok(format!(
        "{lab}:{}",
        built(
            "tools/kubernetes/build.sh",
            &["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"]
        )?
    ))
}

/// The same config for all means that each machine asks the network for its address, as HyperShift's do. Each gets that of the
/// inventory.
fn addresses(lab: &Lab) -> Result<Command> {
    let text = fs::read_to_string(lab.path("inventory.yaml"))?;
    let mut words = vec!["sh".to_owned(), "-c".to_owned(), WATCHED.to_owned(), "sh".to_owned()];
    words.extend(
        [
            "dnsmasq",
            "--keep-in-foreground",
            "--conf-file=/dev/null",
            "--port=0",
            "--interface=lab0",
            "--bind-interfaces",
        ]
        .map(str::to_owned),
    );
    words.push("--dhcp-range=192.168.126.0,static,255.255.255.0,1h".to_owned());
    words.push("--dhcp-option=option:router,192.168.126.1".to_owned());
    words.push("--dhcp-option=option:dns-server,192.168.126.1".to_owned());
    words.push(format!("--dhcp-leasefile={}", lab.path("leases").display()));
    for (mac, ip) in cards(&text) {
        words.push(format!("--dhcp-host={mac},{ip}"));
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok(lab.inside_command(&words))
}

/// Runs a program until its own standard input ends.
const WATCHED: &str = r#""$@" </dev/null & cat >/dev/null; kill $!; wait $! || true"#;

/// MAC and address of every host that has both, from the inventory's text.
fn cards(inventory: &str) -> Vec<(String, String)> {
    let value = |line: &str, key: &str| {
        let (_, rest) = line.split_once(key)?;
        Some(rest.trim_start().trim_start_matches('"').split(['"', ',', '}']).next()?.trim().to_owned())
    };
    inventory.lines().filter_map(|line| Some((value(line, "mac:")?, value(line, "ip:")?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_of_an_inventory() {
        let text = "- {name: worker-0, role: worker, ip: 192.168.126.110, mac: \"52:54:00:7e:00:6e\"}\n- {name: x}\n";
        assert_eq!(cards(text), [("52:54:00:7e:00:6e".to_owned(), "192.168.126.110".to_owned())]);
    }
}
