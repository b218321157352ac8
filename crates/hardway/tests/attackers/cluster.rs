//! The folder, the control plane and the machines.

use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::process::Command;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hardway_journal::{CsrDecided, CsrVerdict, Face, IgnitionRedeemed, NodeJoined, Record};
use hardway_testing::{ControlPlane, Identity, Machine, Running, node_request, succeed, until};
use jiff::Timestamp;
use serde_json::Value;
use tempfile::TempDir;

use super::ask::object;
use super::credential::{Credential, Server};
use crate::bare_metal::first_boot::on_machine_network;
use crate::bare_metal::node::keeps_user_data;
use crate::bare_metal::site::Site;

const DOMAIN: &str = "ocp4.example.com";
const API_ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 168, 126, 10));

/// The host that joins while others want to.
pub(crate) const HOST: &str = "worker-0";
/// The host that joined in quiet, and is somebody else's since.
pub(crate) const COMPROMISED: &str = "worker-1";

/// Where the control plane of a hosted cluster is, and the address of one of its workers.
pub(crate) const HOSTED: &str = "clusters-demo";
const HOSTED_WORKER: u8 = 102;
/// A request that is there for attackers to approve.
pub(crate) const BAIT: &str = "bait";
/// What that worker's user data holds.
const HOSTED_TOKEN: &str = "550e8400-e29b-41d4-a716-446655440000";

/// A cluster that is being installed on the machine network of a namespace.
pub(crate) struct Cluster {
    pub(crate) site: Site,
    pub(crate) plane: ControlPlane,
}

/// A host that is switched on: its kubelet, and what is on its disk.
pub(crate) struct Host {
    machine: Machine,
    pub(crate) disk: TempDir,
    pub(crate) name: &'static str,
}

/// An address of the machine network.
pub(crate) fn address(last: u8) -> IpAddr {
    IpAddr::from([192, 168, 126, last])
}

/// The address of a host of the inventory.
pub(crate) fn address_of(host: &str) -> IpAddr {
    address(match host {
        HOST => 110,
        COMPROMISED => 111,
        other => panic!("{other} is no host of this drill"),
    })
}

pub(crate) fn node_name(host: &str) -> String {
    format!("{host}.{DOMAIN}")
}

impl Cluster {
    /// With everything made, and an API server that has the authorities, names and admission of the cluster. Whoever is known
    /// to it at all may ask for certificates there, which only some may in a real one: here nothing but the policy refuses.
    pub(crate) fn start() -> Self {
        let mut addresses = vec!["192.168.126.2".to_owned(), API_ADDRESS.to_string()];
        addresses.extend([66, 101, 102, 110, 111].map(|last| address(last).to_string()));
        on_machine_network(&addresses.iter().map(String::as_str).collect::<Vec<_>>());
        let site = Site::with_two_workers();
        knows_names(&site);
        // Its files count, and not that a test's folder is closed to others.
        site.set_mode("", 0o755);
        site.set_mode("install-config.yaml", 0o600);
        let (pki, secrets) = (site.path("pki"), site.path("secrets"));
        let (pki, secrets) = (pki.display(), secrets.display());
        let served = |server: &str, name: &str| {
            format!("--tls-sni-cert-key={pki}/{server}.crt,{secrets}/{server}.key:{name}.{DOMAIN}")
        };
        let flags = [
            "--bind-address=0.0.0.0".to_owned(),
            format!("--advertise-address={API_ADDRESS}"),
            format!("--client-ca-file={pki}/kube-apiserver-complete-client-ca-bundle.crt"),
            "--enable-admission-plugins=NodeRestriction".to_owned(),
            served("kube-apiserver-lb-server", "api"),
            served("kube-apiserver-internal-lb-server", "api-int"),
        ];
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let mut plane = ControlPlane::of_cluster(6443, &flags, &site.read("auth/kubeconfig"));
        plane.start_controller_manager_with(&[
            &format!("--cluster-signing-cert-file={pki}/kubelet-signer.crt"),
            &format!("--cluster-signing-key-file={secrets}/kubelet-signer.key"),
        ]);
        keeps_user_data(&plane, "worker");
        let mut bait = object(
            node_request(&node_name(HOST), "").as_bytes(),
            "example.com/bait",
            &["client auth".to_owned()],
            None,
        );
        bait["metadata"] = serde_json::json!({"name": BAIT});
        plane.apply(&bait);
        succeed(plane.kubectl().args(["create", "namespace", HOSTED]));
        plane.apply(&token_secret(HOSTED, HOSTED_TOKEN));
        Self { site, plane }
    }

    /// The ignition server, for hosts of the inventory and for workers of a hosted cluster.
    pub(crate) fn serve(&self) -> Running {
        let kubeconfig = self.site.path("auth/kubeconfig").display().to_string();
        let hosted =
            ["--face", "host", "--face", "hosted", "--namespace", HOSTED, "--kubeconfig", &kubeconfig];
        let mut run = self.site.start(&[&["serve", "--only-from-own-address"][..], &hosted].concat());
        run.until_said("serving on ");
        run
    }

    /// A hosted worker gets its config: what others are refused is there.
    pub(crate) async fn serves_hosted_workers(&self) {
        let worker = Credential::none("a hosted worker", address(HOSTED_WORKER), &self.trusted());
        let headers = [hosted_header(HOSTED_TOKEN)];
        hardway_testing::eventually("the hosted worker's config", async || {
            worker.send(&self.ignition(), "GET", "/ignition", &headers, "").await.status == 200
        })
        .await;
    }

    pub(crate) fn approve(&self) -> Running {
        self.site.start(&["approve", "--watch"])
    }

    pub(crate) fn api(&self) -> Server {
        Server { name: format!("api-int.{DOMAIN}"), address: SocketAddr::new(API_ADDRESS, 6443) }
    }

    /// Where pointers lead.
    pub(crate) fn ignition(&self) -> Server {
        let pointer = self.pointer(HOST);
        let source = pointer["source"].as_str().unwrap();
        let address = source.strip_prefix("https://").unwrap().split('/').next().unwrap();
        let address: SocketAddr = address.parse().unwrap();
        Server { name: address.ip().to_string(), address }
    }

    /// What a host's pointer makes Ignition fetch, as it is now.
    pub(crate) fn pointer(&self, host: &str) -> Value {
        let text = self.site.read(&format!("ignition/pointers/{host}.ign"));
        serde_json::from_str::<Value>(&text).unwrap()["ignition"]["config"]["merge"][0].clone()
    }

    /// What a host asks for its first certificate with, as it is now.
    pub(crate) fn kubeconfig_of(&self, host: &str) -> String {
        self.site.read(&format!("kubeconfigs/hosts/{host}.kubeconfig"))
    }

    /// Everything that clients of either server trust.
    pub(crate) fn trusted(&self) -> Vec<u8> {
        let bundle = self.site.read("pki/kube-apiserver-complete-server-ca-bundle.crt");
        (bundle + &self.site.read("pki/root-ca.crt")).into_bytes()
    }

    /// A host's first boot: its config, from its own address; what its disk has then; and its kubelet, which is off.
    pub(crate) async fn install(&self, host: &'static str) -> Host {
        let own = Credential::none("the host", address_of(host), &self.trusted());
        let path = format!("/ignition/{host}");
        let reply = own.send(&self.ignition(), "GET", &path, &headers(&self.pointer(host)), "").await;
        assert_eq!(reply.status, 200, "{host}: {}", String::from_utf8_lossy(&reply.body));
        let config: Value = serde_json::from_slice(&reply.body).unwrap();
        self.host(host, &file_of(&config, "/etc/kubernetes/kubeconfig").expect("what a kubelet begins with"))
    }

    /// A machine that has this bootstrap kubeconfig.
    pub(crate) fn host(&self, name: &'static str, kubeconfig: &[u8]) -> Host {
        let disk = tempfile::tempdir().unwrap();
        let path = disk.path().join("given.kubeconfig");
        fs_err::write(&path, kubeconfig).unwrap();
        let (node, who) = (node_name(name), Identity::of(path));
        let machine = tokio::task::block_in_place(|| {
            Machine::new(&self.plane, disk.path(), &node, address_of(name), &who)
        });
        Host { machine, disk, name }
    }

    /// Waits until a host that was just switched on is a node with both certificates; how long that took from the moment
    /// at which its kubelet first asked.
    pub(crate) fn until_joined(&self, host: &str, switched_on: Timestamp) -> Duration {
        until(&format!("{host} joins"), || self.joined(host, switched_on).is_some());
        let asked = self.asked(host, switched_on);
        let joined = self.joined(host, switched_on).unwrap();
        Duration::try_from(joined.duration_since(asked)).unwrap_or_default()
    }

    /// When both of its certificates were approved since, by the journal.
    fn joined(&self, host: &str, since: Timestamp) -> Option<Timestamp> {
        let node = node_name(host);
        let of = |serving: bool| {
            let decided = self.facts::<CsrDecided>().into_iter().filter(|(at, decided)| {
                *at >= since
                    && decided.verdict == CsrVerdict::Approve
                    && decided.node == node
                    && (decided.signer == "kubernetes.io/kubelet-serving") == serving
            });
            decided.map(|(at, _)| at).max()
        };
        Some(of(true)?.max(of(false)?))
    }

    /// When its kubelet first asked since, by the API server's clock, which counts in seconds.
    fn asked(&self, host: &str, since: Timestamp) -> Timestamp {
        let all = self.requests();
        let since = Timestamp::from_second(since.as_second()).unwrap();
        let created = |one: &Value| -> Timestamp {
            one["metadata"]["creationTimestamp"].as_str().unwrap().parse().unwrap()
        };
        let decided: Vec<String> = self
            .facts::<CsrDecided>()
            .into_iter()
            .filter(|(_, one)| one.node == node_name(host))
            .map(|(_, one)| one.request)
            .collect();
        let is_its = |one: &&Value| {
            let name = one["metadata"]["name"].as_str().unwrap();
            !name.starts_with("attack-") && decided.iter().any(|known| known == name) && created(one) >= since
        };
        all.iter().filter(is_its).map(created).min().unwrap_or(since)
    }

    /// Facts of one kind in the journal, with their times.
    pub(crate) fn facts<F: hardway_journal::Fact>(&self) -> Vec<(Timestamp, F)> {
        let records = hardway_journal::read(&self.site.path(hardway_journal::FILE_NAME)).unwrap_or_default();
        records
            .iter()
            .filter_map(|record: &Record| Some((record.time, record.fact::<F>()?.unwrap())))
            .collect()
    }

    /// Who got a config, from where, and from where they should.
    pub(crate) fn redemptions(&self) -> Vec<(String, IpAddr, IpAddr)> {
        let all = self.facts::<IgnitionRedeemed>().into_iter();
        all.map(|(_, redeemed)| {
            let right = match redeemed.face {
                Face::Hosted => address(HOSTED_WORKER),
                Face::Host | Face::Pool => address_of(&redeemed.host),
            };
            (redeemed.host, redeemed.source.to_canonical(), right)
        })
        .collect()
    }

    pub(crate) fn has_joined(&self, host: &str) -> bool {
        self.facts::<NodeJoined>().iter().any(|(_, joined)| joined.host == host)
    }

    /// All certificate requests there are.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.plane.get(&["csr"])["items"].as_array().unwrap().clone()
    }
}

impl Host {
    /// Switches it on; when.
    pub(crate) fn boot(&mut self) -> Timestamp {
        let now = Timestamp::now();
        self.machine.boot();
        now
    }

    pub(crate) fn cut_power(&mut self) {
        self.machine.cut_power();
    }

    /// A person brings it another identity, and what its kubelet had is over.
    pub(crate) fn is_given(&self, kubeconfig: &str) {
        let disk = self.disk.path();
        fs_err::remove_dir_all(disk.join("kubelet-pki")).unwrap();
        fs_err::remove_file(disk.join("kubelet.kubeconfig")).unwrap();
        fs_err::write(disk.join("given.kubeconfig"), kubeconfig).unwrap();
        self.machine.becomes(&Identity::of(disk.join("given.kubeconfig")));
    }

    /// Certificate and key of its node.
    pub(crate) fn node_certificate(&self) -> Vec<u8> {
        fs_err::read(self.disk.path().join("kubelet-pki/kubelet-client-current.pem")).unwrap()
    }

    /// What its kubelet began with.
    pub(crate) fn kubeconfig(&self) -> String {
        fs_err::read_to_string(self.disk.path().join("bootstrap.kubeconfig")).unwrap()
    }
}

/// A token Secret with a payload, as HyperShift makes one in the namespace of a control plane.
pub(crate) fn token_secret(namespace: &str, token: &str) -> Value {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(br#"{"ignition": {"version": "3.2.0"}}"#).unwrap();
    let payload = STANDARD.encode(gzip.finish().unwrap());
    let annotations = serde_json::json!({
        "hypershift.openshift.io/ignition-config": "true",
        "hypershift.openshift.io/nodePool": "clusters/demo",
    });
    serde_json::json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "token-demo-0123abcd", "namespace": namespace, "annotations": annotations},
        "stringData": {"token": token, "payload": payload},
    })
}

/// How a hosted worker shows a token.
pub(crate) fn hosted_header(token: &str) -> (String, String) {
    ("Authorization".to_owned(), format!("Bearer {}", STANDARD.encode(token)))
}

/// The headers of a pointer.
pub(crate) fn headers(pointer: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = pointer["httpHeaders"].as_array().unwrap().iter();
    all.map(|header| (text(&header["name"]), text(&header["value"]))).collect()
}

/// A file that a config writes, or one that is merged into it from a `data:` URL; of several the last counts, as in Ignition.
/// What a pointer to another server brings is not there: nobody serves that here.
fn file_of(config: &Value, path: &str) -> Option<Vec<u8>> {
    let data = |value: &Value| hardway_assets::ignition::data_of(value["source"].as_str()?);
    let own = config["storage"]["files"].as_array().into_iter().flatten();
    let own = own.filter(|file| file["path"] == path).find_map(|file| data(&file["contents"]));
    let merged = config["ignition"]["config"]["merge"].as_array().into_iter().flatten().rev();
    let merged = merged.filter_map(data).filter_map(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    own.or_else(|| merged.into_iter().find_map(|config| file_of(&config, path)))
}

/// Names that a name server would know.
fn knows_names(site: &Site) {
    let hosts = format!("127.0.0.1 localhost\n{API_ADDRESS} api.{DOMAIN} api-int.{DOMAIN}\n");
    site.write("hosts-of-the-test", hosts);
    succeed(Command::new("mount").arg("--bind").arg(site.path("hosts-of-the-test")).arg("/etc/hosts"));
}
