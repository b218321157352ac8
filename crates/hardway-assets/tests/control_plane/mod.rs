//! A real etcd, kube-apiserver, kube-controller-manager and kube-scheduler, started from the generated files alone: the
//! certificates, configuration and flags that `bootstrap.ign` would put on the bootstrap host.
//!
//! Needs the binaries of tools/kubernetes (`HARDWAY_TOOLS_BIN`, set by ./test.sh) and root, for a network namespace.

mod host;
mod namespace;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use hardway_assets::graph::{Graph, Inputs, Lock, World, plan};
use hardway_assets::ignition::{KUBECONFIG_PATH, NodeConfig, data_of};
use hardway_assets::install_config::{self, Rules};
use hardway_assets::inventory::{self, KeyAlgorithm};
use hardway_assets::release_payload::{ReleaseManifest, ReleasePayload, sample};
use hardway_assets::secrets::SecretBundle;
use hardway_assets::static_pods::upstream::{self, Replace};
use hardway_assets::{Cluster, Tree, pki, yaml};
use hardway_testing::{Running as Server, needed};
use host::Host;
use namespace::Namespace;
use serde_json::Value;

use crate::common::{Made, texts};

#[test]
fn the_generated_control_plane_runs() {
    runs_with(KeyAlgorithm::Rsa2048);
}

/// Leaves, and signers that no operator signs with.
#[test]
fn the_generated_control_plane_runs_with_ecdsa_keys() {
    runs_with(KeyAlgorithm::EcdsaP256);
}

fn runs_with(algorithm: KeyAlgorithm) {
    let Some(bin) = needed("HARDWAY_TOOLS_BIN") else { return };
    let dir = tempfile::tempdir().unwrap();
    let made = fresh(algorithm);
    let host = Host::from_ignition(made.tree.get("bootstrap.ign").unwrap(), &dir.path().join("root"));
    let names = [made.cluster.api_host(), made.cluster.api_int_host()];
    let address = made.cluster.bootstrap_ip().to_string();
    let network =
        Namespace::new(dir.path(), &address, &names).expect("a network namespace: this test needs root");
    let cluster = Running::start(&network, &host, &bin, dir.path(), &address);

    cluster.identities(&made);
    cluster.objects(&made);
    cluster.hosts_may_ask(&made);
    cluster.node_joins(&made);
}

/// With keys drawn now, as a user would get; with the real CRDs of 4.18 where they are at hand.
fn fresh(algorithm: KeyAlgorithm) -> Made {
    let (config, inventory) = texts("ha");
    let config = install_config::read(&config, Rules::for_version("4.18.1")).unwrap().value;
    let mut inventory = inventory::read(&inventory, Some(&config)).unwrap().value;
    assert_eq!(inventory.pki.key_algorithm, KeyAlgorithm::Rsa2048, "the default");
    inventory.pki.key_algorithm = algorithm;
    let release = with_real_crds(sample());
    let mut secrets = SecretBundle::default();
    #[expect(clippy::disallowed_methods, reason = "real servers check certificates against the real clock")]
    secrets.draw_identity("ocp4", jiff::Timestamp::now());
    let cluster = Cluster { config, inventory, identity: secrets.identity().unwrap() };
    secrets.complete(&pki::catalogue::keys(&cluster)).unwrap();
    let graph = Graph::of(&cluster, &release, &Tree::default(), &Lock::default()).unwrap();
    let (empty, lock) = (Tree::default(), Lock::default());
    let inputs = Inputs { cluster: &cluster, release: &release, secrets: &secrets, tree: &empty };
    let plan =
        plan(&graph, &World { inputs, lock: &lock, generator: "test", expiring: &[], undone: &[] }, |_| true)
            .unwrap();
    let mut tree = Tree::default();
    plan.writes.iter().for_each(|file| tree.insert(&file.path, file.bytes.clone()));
    Made { cluster, release, secrets, tree, plan }
}

fn with_real_crds(mut release: ReleasePayload) -> ReleasePayload {
    let Some(folder) = hardway_testing::real_data("crds-4.18") else { return release };
    let real: Vec<ReleaseManifest> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| ReleaseManifest {
            file_name: path.file_name().unwrap().to_str().unwrap().to_owned(),
            text: std::fs::read_to_string(path).unwrap(),
        })
        .collect();
    let kinds: Vec<String> = real.iter().map(|crd| crd_name(&crd.text)).collect();
    release.crds.retain(|crd| !kinds.contains(&crd_name(&crd.text)));
    release.crds.extend(real);
    release
}

fn crd_name(text: &str) -> String {
    yaml::read(text).unwrap().to_json()["metadata"]["name"].as_str().unwrap().to_owned()
}

struct Running<'a> {
    network: &'a Namespace,
    host: &'a Host,
    bin: &'a Path,
    dir: &'a Path,
    _servers: Vec<Server>,
}

impl<'a> Running<'a> {
    fn start(network: &'a Namespace, host: &'a Host, bin: &'a Path, dir: &'a Path, address: &str) -> Self {
        let mut running = Self { network, host, bin, dir, _servers: Vec::new() };
        let etcd = running.etcd();
        running.secrets();
        let mut kas = running.kube_apiserver(address);
        kas.until_so("readyz", || running.kubectl("loopback", &["get", "--raw", "/readyz"]).is_ok());
        let others = [running.kube_controller_manager(), running.kube_scheduler()];
        running._servers = vec![etcd, kas];
        running._servers.extend(others);
        running.until_leases();
        running
    }

    /// From the pod: its flags and environment, with the mount turned back into the host's folder.
    fn etcd(&self) -> Server {
        let pod = yaml::read(&self.host.text("/opt/openshift/etcd-member-pod.yaml")).unwrap().to_json();
        let container = container(&pod, "etcd");
        let certs = self.host.at("/etc/kubernetes/static-pod-resources/etcd-member");
        let mut command = self.network.command(self.bin.join("etcd"));
        for argument in container["args"].as_array().unwrap() {
            command.arg(argument.as_str().unwrap().replace("/etc/ssl/etcd", &certs));
        }
        for variable in container["env"].as_array().unwrap() {
            let value = variable["value"]
                .as_str()
                .unwrap()
                .replace("/var/lib/etcd", &format!("{}/etcd", self.dir.display()));
            command.env(variable["name"].as_str().unwrap(), value);
        }
        let mut server = Server::start(command);
        let tls = self.host.at("/opt/openshift/tls");
        server.until_so("healthy", || {
            self.network
                .command(self.bin.join("etcdctl"))
                .args(["--endpoints", "https://localhost:2379", "endpoint", "health"])
                .args([format!("--cacert={tls}/etcd-ca-bundle.crt")])
                .args([format!("--cert={tls}/etcd-client.crt"), format!("--key={tls}/etcd-client.key")])
                .output()
                .unwrap()
                .status
                .success()
        });
        server
    }

    /// What bootkube.sh does before it starts the pods: tls and the loopback kubeconfig become the pods' secrets.
    fn secrets(&self) {
        let to = self.host.path("/etc/kubernetes/bootstrap-secrets");
        std::fs::create_dir_all(&to).unwrap();
        for entry in std::fs::read_dir(self.host.path("/opt/openshift/tls")).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
        std::fs::copy(self.host.path("/opt/openshift/auth/kubeconfig-loopback"), to.join("kubeconfig"))
            .unwrap();
    }

    fn replace(&self) -> Replace {
        BTreeMap::from([
            ("/etc/kubernetes/secrets".to_owned(), self.host.at("/etc/kubernetes/bootstrap-secrets")),
            ("/etc/kubernetes/config".to_owned(), self.host.at("/etc/kubernetes/bootstrap-configs")),
            ("/var/log/kube-apiserver".to_owned(), self.dir.to_str().unwrap().to_owned()),
            ("/var/run/kubernetes".to_owned(), self.dir.to_str().unwrap().to_owned()),
        ])
    }

    fn kube_apiserver(&self, address: &str) -> Server {
        let config = self.host.text("/etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml");
        let upstream = upstream::kube_apiserver(&config, &self.replace()).unwrap();
        for (path, text) in &upstream.files {
            std::fs::write(path, text).unwrap();
        }
        assert!(
            upstream.arguments.contains(&"--etcd-prefix=kubernetes.io".to_owned()),
            "T1: the masters' prefix"
        );
        let mut command = self.network.command(self.bin.join("kube-apiserver"));
        command.args(&upstream.arguments).arg(format!("--advertise-address={address}"));
        Server::start(command)
    }

    fn kube_controller_manager(&self) -> Server {
        let config = self.host.text("/etc/kubernetes/bootstrap-configs/kube-controller-manager-config.yaml");
        let upstream = upstream::kube_controller_manager(&config, &self.replace()).unwrap();
        let mut command = self.network.command(self.bin.join("kube-controller-manager"));
        command.args(&upstream.arguments);
        command.arg(format!("--kubeconfig={}", self.host.at("/etc/kubernetes/bootstrap-secrets/kubeconfig")));
        Server::start(command)
    }

    fn kube_scheduler(&self) -> Server {
        let pod = yaml::read(&self.host.text("/opt/openshift/bootstrap-manifests/kube-scheduler-pod.yaml"))
            .unwrap()
            .to_json();
        let mut command = self.network.command(self.bin.join("kube-scheduler"));
        for argument in container(&pod, "kube-scheduler")["args"].as_array().unwrap() {
            let argument = argument.as_str().unwrap();
            command.arg(
                self.replace().iter().fold(argument.to_owned(), |text, (from, to)| text.replace(from, to)),
            );
        }
        Server::start(command)
    }

    /// Both have joined once they hold their leases.
    fn until_leases(&mut self) {
        let (network, host, bin) = (self.network, self.host, self.bin);
        for (server, lease) in
            self._servers[2..].iter_mut().zip(["kube-controller-manager", "kube-scheduler"])
        {
            server.until_so("leader", || {
                let path =
                    ["get", "lease", "-n", "kube-system", lease, "-o", "jsonpath={.spec.holderIdentity}"];
                kubectl(network, bin, &host.at("/opt/openshift/auth/kubeconfig-loopback"), &path)
                    .is_ok_and(|id| !id.is_empty())
            });
        }
    }

    /// kubectl with one of the host's kubeconfigs.
    fn kubectl(&self, kubeconfig: &str, args: &[&str]) -> Result<String, String> {
        kubectl(
            self.network,
            self.bin,
            &self.host.at(&format!("/opt/openshift/auth/kubeconfig-{kubeconfig}")),
            args,
        )
    }

    fn admin(&self, args: &[&str]) -> String {
        self.kubectl("loopback", args).unwrap_or_else(|e| panic!("kubectl {args:?}: {e}"))
    }

    /// Every kubeconfig authenticates as the identity it names.
    fn identities(&self, made: &Made) {
        let admin = ("system:admin", vec!["system:authenticated", "system:masters"]);
        let bootstrapper = (
            "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper",
            vec![
                "system:authenticated",
                "system:serviceaccounts",
                "system:serviceaccounts:openshift-machine-config-operator",
            ],
        );
        let plain = |name| (name, vec!["system:authenticated"]);
        for row in hardway_assets::kubeconfigs::KUBECONFIGS {
            let (name, groups) = match row.client {
                "admin-kubeconfig-client" => admin.clone(),
                "kubelet-client" => bootstrapper.clone(),
                "kube-controller-manager-client" => plain("system:kube-controller-manager"),
                "kube-scheduler-client" => plain("system:kube-scheduler"),
                other => panic!("no identity is known for {other}"),
            };
            let file = self.dir.join("kubeconfig-under-test");
            std::fs::write(&file, made.tree.get(row.path).unwrap()).unwrap();
            let answer =
                kubectl(self.network, self.bin, file.to_str().unwrap(), &["auth", "whoami", "-o", "json"]);
            let answer: Value =
                serde_json::from_str(&answer.unwrap_or_else(|e| panic!("{}: {e}", row.path))).unwrap();
            let user = &answer["status"]["userInfo"];
            let mut seen: Vec<&str> =
                user["groups"].as_array().unwrap().iter().map(|g| g.as_str().unwrap()).collect();
            seen.sort_unstable();
            assert_eq!((user["username"].as_str().unwrap(), seen), (name, groups), "{}", row.path);
        }
    }

    /// The kubeconfig in a host's config is that host, and it may make certificate requests and look at them. Nothing else
    /// that not everybody may.
    fn hosts_may_ask(&self, made: &Made) {
        let nobody = ["--as=nobody", "--as-group=system:authenticated"];
        let everybody = self.admin(&[&["auth", "can-i", "--list", "--no-headers"][..], &nobody].concat());
        for host in made.cluster.inventory.hosts.iter().filter(|host| host.has_identity()) {
            let file = self.own_kubeconfig(made, host);
            let call = |args: &[&str]| kubectl(self.network, self.bin, file.to_str().unwrap(), args);
            let answer: Value =
                serde_json::from_str(&call(&["auth", "whoami", "-o", "json"]).unwrap()).unwrap();
            let user = &answer["status"]["userInfo"];
            assert_eq!(user["username"], format!("hardway:host:{}:1", host.name));
            assert_eq!(user["groups"], serde_json::json!(["hardway:hosts", "system:authenticated"]));
            let listed = call(&["auth", "can-i", "--list", "--no-headers"]).unwrap();
            let rights = |text: &str| -> BTreeSet<String> {
                text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
            };
            let own: Vec<String> = rights(&listed).difference(&rights(&everybody)).cloned().collect();
            assert_eq!(own, ["certificatesigningrequests.certificates.k8s.io [] [] [create get list watch]"]);
            for refused in [&["get", "nodes"][..], &["get", "secrets", "-A"], &["get", "configmaps", "-A"]] {
                assert!(call(refused).unwrap_err().contains("Forbidden"), "{refused:?}");
            }
        }
    }

    /// The kubeconfig that a host boots with, out of its own config.
    fn own_kubeconfig(&self, made: &Made, host: &inventory::Host) -> PathBuf {
        let config: Value = serde_json::from_slice(made.tree.get(&NodeConfig::path(host)).unwrap()).unwrap();
        let files = config["storage"]["files"].as_array().unwrap();
        let file = files.iter().find(|file| file["path"] == KUBECONFIG_PATH).unwrap();
        let path = self.dir.join(format!("{}.bootstrap.kubeconfig", host.name));
        std::fs::write(&path, data_of(file["contents"]["source"].as_str().unwrap()).unwrap()).unwrap();
        path
    }

    /// bootkube's own create loop puts every object in, status included.
    fn objects(&self, made: &Made) {
        let folders = ["crds", "operator-seeds", "manifests", "openshift"]
            .map(|f| self.host.at(&format!("/opt/openshift/{f}")));
        let output = self
            .network
            .command("timeout")
            .args(["180", "bash", &self.host.at("/usr/local/bin/create-manifests.sh")])
            .args(["--kubeconfig", &self.host.at("/opt/openshift/auth/kubeconfig-loopback")])
            .args(["--state-dir", self.dir.join("created").to_str().unwrap()])
            .args(&folders)
            .env("OC", self.bin.join("kubectl"))
            .output()
            .unwrap();
        let log =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "create-manifests.sh: {log}");
        for folder in ["operator-seeds", "manifests", "openshift"] {
            for (path, bytes) in made.tree.folder(folder) {
                for object in yaml::read_all(std::str::from_utf8(bytes).unwrap()).unwrap() {
                    self.exists(path, &object.to_json());
                }
            }
        }
        let infrastructure = self.object(&["infrastructure.config.openshift.io", "cluster"]);
        assert_eq!(infrastructure["status"]["apiServerInternalURI"], made.cluster.api_int_url());
        assert_eq!(infrastructure["status"]["controlPlaneTopology"], "HighlyAvailable");
        let gates = self.object(&["featuregate.config.openshift.io", "cluster"]);
        assert_eq!(gates["status"]["featureGates"][0]["version"], made.release.version);
        let version = self.object(&["clusterversion.config.openshift.io", "version"]);
        assert_eq!(version["spec"]["clusterID"], made.cluster.identity.cluster_id);
        assert!(version["spec"]["overrides"].as_array().unwrap().len() > 15);
        // kube-root-ca.crt in every namespace is what pods trust the API by (T13).
        let root = self.object(&["configmap", "-n", "openshift-etcd", "kube-root-ca.crt"]);
        let bundle = pki::inspect(root["data"]["ca.crt"].as_str().unwrap()).unwrap();
        assert_eq!(bundle.len(), 3);
    }

    fn exists(&self, path: &str, object: &Value) {
        let group = object["apiVersion"]
            .as_str()
            .unwrap()
            .split_once('/')
            .map(|(g, v)| format!(".{v}.{g}"))
            .unwrap_or_default();
        let kind = format!("{}{group}", object["kind"].as_str().unwrap());
        let mut args = vec!["get", &kind, object["metadata"]["name"].as_str().unwrap(), "-o", "name"];
        if let Some(namespace) = object["metadata"]["namespace"].as_str() {
            args.extend(["-n", namespace]);
        }
        self.kubectl("loopback", &args).unwrap_or_else(|e| panic!("{path} was not created: {e}"));
    }

    fn object(&self, what: &[&str]) -> Value {
        serde_json::from_str(&self.admin(&[&["get", "-o", "json"], what].concat())).unwrap()
    }

    /// A client shaped like a kubelet gets both its certificates with nothing but the kubeconfig of its own config.
    fn node_joins(&self, made: &Made) {
        let node = made.cluster.node_name(&made.cluster.inventory.hosts[1]);
        let bootstrap = self.own_kubeconfig(made, &made.cluster.inventory.hosts[1]);
        let client =
            self.request(&bootstrap, &node, "kubernetes.io/kube-apiserver-client-kubelet", "client auth", "");
        let serving_kubeconfig = self.kubeconfig_with(&client, &node);
        let answer = kubectl(
            self.network,
            self.bin,
            serving_kubeconfig.to_str().unwrap(),
            &["auth", "whoami", "-o", "json"],
        );
        let answer: Value = serde_json::from_str(&answer.unwrap()).unwrap();
        assert_eq!(answer["status"]["userInfo"]["username"], format!("system:node:{node}"));
        let names = format!("DNS:{node},IP:{}", made.cluster.inventory.hosts[1].ip[0]);
        let serving =
            self.request(&serving_kubeconfig, &node, "kubernetes.io/kubelet-serving", "server auth", &names);
        let facts = pki::inspect(&serving).unwrap().remove(0);
        assert_eq!(
            facts.issuer_common_name, "kubelet-signer",
            "the controller manager signs with the seeded signer"
        );
        assert!(facts.sans.contains(&node));
        let signer = pki::inspect(made.text("pki/kubelet-signer.crt")).unwrap().remove(0);
        assert_eq!(facts.authority_key_id, signer.subject_key_id);
    }

    /// Makes a key and a request, has it approved, and returns the certificate the controller manager signed.
    fn request(&self, kubeconfig: &Path, node: &str, signer: &str, usage: &str, names: &str) -> String {
        let name = format!("csr-{}", usage.replace(' ', "-"));
        let (key, csr) = (self.dir.join(format!("{name}.key")), self.dir.join(format!("{name}.csr")));
        let mut openssl = Command::new("openssl");
        openssl.args(["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]);
        openssl.args(["-subj", &format!("/O=system:nodes/CN=system:node:{node}")]);
        openssl.arg("-keyout").arg(&key).arg("-out").arg(&csr);
        if !names.is_empty() {
            openssl.args(["-addext", &format!("subjectAltName={names}")]);
        }
        assert!(openssl.output().unwrap().status.success());
        use base64::Engine as _;
        let request = base64::engine::general_purpose::STANDARD.encode(std::fs::read(csr).unwrap());
        let object = serde_json::json!({
            "apiVersion": "certificates.k8s.io/v1",
            "kind": "CertificateSigningRequest",
            "metadata": {"name": name},
            "spec": {"request": request, "signerName": signer, "usages": ["digital signature", usage]},
        });
        let file = self.dir.join(format!("{name}.json"));
        std::fs::write(&file, object.to_string()).unwrap();
        let created = kubectl(
            self.network,
            self.bin,
            kubeconfig.to_str().unwrap(),
            &["create", "-f", file.to_str().unwrap()],
        );
        created.unwrap_or_else(|e| panic!("{signer}: {e}"));
        self.admin(&["certificate", "approve", &name]);
        for _ in 0..100 {
            let text = self.admin(&["get", "csr", &name, "-o", "jsonpath={.status.certificate}"]);
            if !text.is_empty() {
                return String::from_utf8(base64::engine::general_purpose::STANDARD.decode(text).unwrap())
                    .unwrap();
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("{signer} was approved but never signed");
    }

    fn kubeconfig_with(&self, certificate: &str, node: &str) -> PathBuf {
        std::fs::write(self.dir.join("client.crt"), certificate).unwrap();
        let path = self.dir.join(format!("{node}.kubeconfig"));
        let text = self.host.text("/opt/openshift/auth/kubeconfig-kubelet");
        let mut config = yaml::read(&text).unwrap().to_json();
        config["users"][0]["user"] = serde_json::json!({
            "client-certificate": self.dir.join("client.crt"),
            "client-key": self.dir.join("csr-client-auth.key"),
        });
        std::fs::write(&path, yaml::write(&config)).unwrap();
        path
    }
}

fn kubectl(network: &Namespace, bin: &Path, kubeconfig: &str, args: &[&str]) -> Result<String, String> {
    let output = network
        .command(bin.join("kubectl"))
        .args(["--kubeconfig", kubeconfig, "--request-timeout=20s"])
        .args(args)
        .output()
        .unwrap();
    if output.status.success() {
        Ok(String::from_utf8(output.stdout).unwrap())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn container<'p>(pod: &'p Value, name: &str) -> &'p Value {
    pod["spec"]["containers"].as_array().unwrap().iter().find(|c| c["name"] == name).unwrap()
}
