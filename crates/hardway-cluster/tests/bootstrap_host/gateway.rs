//! A real systemd-journal-gatewayd, with a journal that a real systemd-journal-remote wrote.
//!
//! Debian builds it without `--trust`; a real HAProxy before it stands in for its half of TLS: it presents the gateway's
//! certificate, and lets nobody through without one of root-ca.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fs_err as fs;
use hardway_base::Secret;
use hardway_base::redaction::Redactor;
use hardway_cluster::bootstrap_progress::{BootstrapHost, Gateway, HostWatch, State, Which};
use hardway_cluster::diagnosis::{BundleLimits, from_bundle};
use hardway_cluster::gather::from_journal;
use hardway_cluster::remote::Remote;
use hardway_testing::{Server, free_port, succeed};
use serde_json::json;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

/// A gateway, and the journal it serves.
struct Site {
    folder: TempDir,
    gateway: Gateway,
    _servers: [Server; 2],
}

/// As hardway makes them: no names, one for both sides, signed by root-ca; RSA keys in PKCS#1, which is what an inventory that says
/// nothing gets, and keys of the other kind for the others.
const CERTIFICATES: &str = r#"set -euo pipefail
key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"; }
leaf() {
  if [ "$1" = journal-gatewayd ]; then openssl genrsa -traditional -out "$1.key" 2048; else key "$1"; fi
  openssl req -new -key "$1.key" -subj "/O=OpenShift Bootstrap/CN=$2" -addext extendedKeyUsage=serverAuth,clientAuth -out "$1.csr"
  openssl x509 -req -in "$1.csr" -CA "$3.crt" -CAkey "$3.key" -CAcreateserial -days 2 -copy_extensions copyall -out "$1.crt"
  cat "$1.crt" "$1.key" >"$1.pem"
}
for ca in root-ca other-ca; do
  key $ca
  openssl req -x509 -key $ca.key -subj /CN=$ca -days 2 -out $ca.crt
done
leaf journal-gatewayd journal-gatewayd root-ca
leaf stranger journal-gatewayd other-ca
leaf machine-config-server system:machine-config-server root-ca
"#;

impl Site {
    /// The journal is empty but for one entry of somebody else.
    fn start(presents: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        succeed(Command::new("bash").args(["-c", CERTIFICATES]).current_dir(folder.path()));
        fs::create_dir(folder.path().join("journal")).unwrap();
        let [port, plain] = [free_port(), free_port()];
        let arguments = [
            format!("--listen=127.0.0.1:{plain}"),
            "/usr/lib/systemd/systemd-journal-gatewayd".to_owned(),
            format!("--directory={}", path("journal")),
        ];
        let daemon = Server::start(Path::new("/usr/bin/systemd-socket-activate"), arguments, folder.path());
        let config = format!(
            "defaults\n  mode http\n  timeout connect 30s\n  timeout client 60s\n  timeout server 60s\n\
             frontend tls\n  bind 127.0.0.1:{port} ssl crt {} ca-file {} verify required\n  default_backend gateway\n\
             backend gateway\n  server gateway 127.0.0.1:{plain}\n",
            path(&format!("{presents}.pem")),
            path("root-ca.crt"),
        );
        fs::write(folder.path().join("haproxy.cfg"), config).unwrap();
        let tls = Server::start(Path::new("/usr/sbin/haproxy"), ["-db", "-f", "haproxy.cfg"], folder.path());
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        let mut gateway = Gateway::new(
            "127.0.0.1".parse().unwrap(),
            read("root-ca.crt"),
            read("journal-gatewayd.crt"),
            Secret::new(read("journal-gatewayd.key").as_str()),
        );
        gateway.address.set_port(port);
        gateway.patience = Duration::from_secs(60);
        let site = Self { folder, gateway, _servers: [tls, daemon] };
        site.append("0", &[&[("MESSAGE", "hello"), ("_SYSTEMD_UNIT", "init.scope")]]);
        site
    }

    /// A client that shows another certificate.
    fn as_another(&self, name: &str) -> Gateway {
        let read = |end: &str| fs::read_to_string(self.folder.path().join(format!("{name}{end}"))).unwrap();
        Gateway { certificate: read(".crt"), key: Secret::new(read(".key").as_str()), ..self.gateway.clone() }
    }

    /// Writes entries into a file of the journal, in the export format.
    fn append(&self, file: &str, entries: &[&[(&str, &str)]]) {
        let text = export(file.parse().unwrap(), entries);
        let source = self.folder.path().join("entries.export");
        fs::write(&source, text).unwrap();
        let target = self.folder.path().join(format!("journal/{file}.journal"));
        succeed(
            Command::new("/usr/lib/systemd/systemd-journal-remote").arg("--output").arg(target).arg(source),
        );
    }

    /// What a service recorded, and what bootkube said.
    fn records(&self, file: &str, records: &[serde_json::Value], said: &[&str]) {
        let texts: Vec<String> = records.iter().map(ToString::to_string).collect();
        let record = |text| vec![("MESSAGE", text), ("SYSLOG_IDENTIFIER", "bootstrap-record"), ("_UID", "0")];
        let line = |text| {
            vec![
                ("MESSAGE", text),
                ("SYSLOG_IDENTIFIER", "bootkube.sh"),
                ("_SYSTEMD_UNIT", "bootkube.service"),
            ]
        };
        let mut all: Vec<Vec<(&str, &str)>> = texts.iter().map(|text| record(text.as_str())).collect();
        all.extend(said.iter().map(|text| line(*text)));
        self.append(file, &all.iter().map(Vec::as_slice).collect::<Vec<_>>());
    }
}

fn export(number: u64, entries: &[&[(&str, &str)]]) -> String {
    let mut text = String::new();
    let second = 1_800_000_000_000_000 + number * 1_000_000;
    for (at, entry) in entries.iter().enumerate() {
        let time = second + at as u64;
        let _ = writeln!(
            text,
            "__REALTIME_TIMESTAMP={time}\n__MONOTONIC_TIMESTAMP={time}\n_BOOT_ID=11112222333344445555666677778888"
        );
        for (field, value) in *entry {
            let _ = writeln!(text, "{field}={value}");
        }
        text.push('\n');
    }
    text
}

fn stage(name: &str, phase: &str, result: Option<&str>) -> serde_json::Value {
    json!({"service": "bootkube", "timestamp": "2026-11-15T10:00:00Z", "phase": phase, "stage": name, "result": result})
}

async fn answers(gateway: &Gateway) {
    let began = Instant::now();
    while let Err(error) = gateway.entries(&[], Which::All).await {
        assert!(began.elapsed() < Duration::from_secs(120), "{error}");
        sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_the_stages_are_read_from_the_journal_and_followed() {
    let site = Site::start("journal-gatewayd");
    answers(&site.gateway).await;
    let host = BootstrapHost { ssh: None, gateway: Some(site.gateway.clone()) };
    let nothing = host.look().await.unwrap();
    assert!(nothing.stages.iter().all(|stage| stage.state == State::Waiting), "{nothing:?}");

    let mut watch = HostWatch::start(host.clone(), Duration::from_millis(200));
    site.records(
        "1",
        &[
            stage("openshift-manifests", "stage start", None),
            stage("openshift-manifests", "stage end", Some("success")),
            stage("etcd-bootstrap", "stage start", None),
        ],
        &["stage etcd-bootstrap", "created 3 of 17"],
    );
    let state = async |watch: &mut HostWatch, name: &str, wanted: State| {
        let began = Instant::now();
        loop {
            if let Some(Ok(report)) = watch.news()
                && report.stages.iter().any(|stage| stage.name == name && stage.state == wanted)
            {
                return report;
            }
            assert!(began.elapsed() < Duration::from_secs(120), "{name} never became {wanted:?}");
            sleep(Duration::from_millis(50)).await;
        }
    };
    let report = state(&mut watch, "etcd-bootstrap", State::Running).await;
    let manifests = report.manifests.clone().unwrap();
    assert_eq!((manifests.created, manifests.total), (3, 17));
    assert_eq!(report.current().unwrap().what, "the etcd pod is started");
    assert_eq!(report.clock.unwrap().to_string(), "2027-01-15T08:00:01.000004Z");

    // What was told is remembered, what is new comes after the cursor; and a failure keeps its words.
    let mut failed = stage("etcd-bootstrap", "stage end", Some("failure"));
    failed["errorLine"] = "bootkube.sh:99".into();
    failed["errorMessage"] = "no space\nleft".into();
    site.records("2", &[failed], &["created 17 of 17"]);
    let report = state(&mut watch, "etcd-bootstrap", State::Failed).await;
    assert_eq!(report.stages[0].state, State::Done);
    assert_eq!(report.stages[1].error.as_deref(), Some("bootkube.sh:99: no space | left"));

    let journals = host.journals(&["bootkube", "kubelet"], 2).await.unwrap();
    let lines: Vec<&str> = journals["bootkube"].iter().map(|line| line.split_once(' ').unwrap().1).collect();
    assert_eq!(lines, ["bootkube.sh: created 3 of 17", "bootkube.sh: created 17 of 17"]);
    assert!(journals["kubelet"].is_empty());
    is_gathered(&site).await;
}

/// A bundle of the journal alone tells the same, without secrets.
async fn is_gathered(site: &Site) {
    site.append("3", &[&[("MESSAGE", "password: hush-hush"), ("_SYSTEMD_UNIT", "kubelet.service")]]);
    let redactor = Redactor::new(vec![Secret::new("hush-hush")]);
    let mut bundle = Vec::new();
    let gathered = from_journal(&site.gateway, &redactor, &mut bundle).await.unwrap();
    assert_eq!((gathered.files, gathered.redacted), (3, 1), "{gathered:?}");
    let evidence = from_bundle(bundle.as_slice(), BundleLimits::default()).unwrap();
    assert_eq!(evidence.bootstrap.unwrap().stages[1].state, State::Failed);
    let names: Vec<&str> = evidence.logs.iter().map(|log| log.name.as_str()).collect();
    assert_eq!(names, ["bootkube", "kubelet"]);
    assert!(!format!("{:?}", evidence.logs).contains("hush-hush"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_neither_side_talks_to_a_stranger() {
    let site = Site::start("journal-gatewayd");
    answers(&site.gateway).await;
    let error = site.as_another("stranger").entries(&[], Which::All).await.unwrap_err().to_string();
    assert!(error.contains("TLS") || error.contains("401") || error.contains("answers"), "{error}");
    // What anybody else than root writes under the recorder's name counts for nothing.
    let record = stage("etcd-bootstrap", "stage start", None).to_string();
    site.append("1", &[&[("MESSAGE", &record), ("SYSLOG_IDENTIFIER", "bootstrap-record"), ("_UID", "1000")]]);
    let host = BootstrapHost { ssh: None, gateway: Some(site.gateway.clone()) };
    assert!(host.look().await.unwrap().stages.iter().all(|stage| stage.state == State::Waiting));

    for (presents, why) in [("stranger", "UnknownIssuer"), ("machine-config-server", "NotValidForName")] {
        let site = Site::start(presents);
        let began = Instant::now();
        loop {
            let error = site.gateway.entries(&[], Which::All).await.unwrap_err().to_string();
            if error.contains(why) {
                break;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{presents}: {error}");
            sleep(Duration::from_millis(100)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_whichever_of_ssh_and_gateway_answers_is_used() {
    let site = Site::start("journal-gatewayd");
    answers(&site.gateway).await;
    site.records("1", &[stage("etcd-bootstrap", "stage start", None)], &[]);
    let remote = |script: &str| Remote {
        command: ["bash", "-c", script].map(str::to_owned).into(),
        environment: Vec::new(),
        patience: Duration::from_secs(60),
        host: None,
    };
    let dead =
        Gateway { address: format!("127.0.0.1:{}", free_port()).parse().unwrap(), ..site.gateway.clone() };
    let with = |ssh: &str, gateway: &Gateway| BootstrapHost {
        ssh: Some(remote(ssh)),
        gateway: Some(gateway.clone()),
    };
    let shell = "echo '== static-pods'; echo etcd-member-pod.yaml";

    let report = with("exit 255", &site.gateway).look().await.unwrap();
    assert_eq!(report.stages[1].state, State::Running, "the journal told");
    let report = with(shell, &dead).look().await.unwrap();
    assert_eq!(report.static_pods, ["etcd-member-pod.yaml"], "the shell told");
    let report = with(&format!("sleep 0.5; {shell}"), &site.gateway).look().await.unwrap();
    assert_eq!(report.static_pods, ["etcd-member-pod.yaml"], "the shell tells more");
    let report = with("sleep 60", &site.gateway).look().await.unwrap();
    assert_eq!(report.stages[1].state, State::Running, "and is not waited for");
    let error = with("echo no route >&2; exit 255", &dead).look().await.unwrap_err().to_string();
    assert!(error.contains("no route") && error.contains("journal gateway at 127.0.0.1"), "{error}");
}
