//! `hardway etcd restore` with three real etcd members behind real ssh servers, and a real API server on them.
//!
//! A master here is a mount namespace with folders of its own below /etc/kubernetes, /var/lib and /home/core. The kubelet is a stand-in:
//! it starts etcd when its pod's file is there and ends it when the file is gone, and reads nothing in it. So is the etcd operator: this test
//! adds members one by one, as the operator does.

use std::path::{Path, PathBuf};
use std::process::Command;

use hardway_cluster::age::Identity;
use hardway_testing::{ControlPlane, Ran, Server, inside, run, succeed, tools, until};
use serde_json::{Value, json};

use super::first_boot::on_machine_network;
use super::node::create;
use super::site::Site;
use crate::work;

const MASTERS: [(&str, &str); 3] =
    [("master-0", "192.168.126.101"), ("master-1", "192.168.126.102"), ("master-2", "192.168.126.103")];

fn node(host: &str) -> String {
    format!("{host}.ocp4.example.com")
}

/// A certificate that the folder's etcd authority has signed, for all three.
const MAKE_CERTIFICATE: &str = "openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=etcd -keyout tls.key -out tls.csr
printf 'subjectAltName=IP:192.168.126.101,IP:192.168.126.102,IP:192.168.126.103\n' >tls.ext
openssl x509 -req -in tls.csr -CA \"$1/pki/etcd-signer.crt\" -CAkey \"$1/secrets/etcd-signer.key\" -CAcreateserial -CAserial serial -days 2 -extfile tls.ext -out tls.crt
cp \"$1/pki/etcd-signer.crt\" ca.crt
ssh-keygen -q -t ed25519 -N '' -f login
cp login.pub authorized_keys";

/// `bash -c MASTER bash ROOT ADDRESS NODE BIN SHARED`, in namespaces of its own.
const MASTER: &str = r#"set -eu
root=$1 address=$2 node=$3 bin=$4 shared=$5
for folder in etc/kubernetes var/lib/etcd var/lib/etcd-backup home/core; do
  mkdir -p "/$folder" "$root/$folder"
  mount --bind "$root/$folder" "/$folder"
done
mkdir -p /run/sshd
/usr/sbin/sshd -e -f "$root/sshd_config"
peer=https://$address:2380
all=master-0.ocp4.example.com=https://192.168.126.101:2380,master-1.ocp4.example.com=https://192.168.126.102:2380,master-2.ocp4.example.com=https://192.168.126.103:2380
members() {
  "$bin/etcdctl" --endpoints=https://192.168.126.101:2379,https://192.168.126.102:2379,https://192.168.126.103:2379 \
    --cacert="$shared/ca.crt" --command-timeout=3s member list
}
# Whoever has no data waits until it is a member, as discover-etcd-initial-cluster does.
initial() {
  members | while IFS=, read -r _ state name url _; do
    url=${url# } name=${name# }
    case "${state# } $url" in
      "unstarted $peer") echo "$node=$url" ;;
      # It is told that its data have been destroyed, and that its member has to be removed first.
      "started $peer") ;;
      started*) echo "$name=$url" ;;
    esac
  done | paste -sd,
}
serve() {
  state=new cluster=$all
  if [ -e "$root/began" ] && [ ! -d /var/lib/etcd/member ]; then
    state=existing
    until cluster=$(initial) && case $cluster in *"$node=$peer"*) true;; *) false;; esac; do sleep 0.3; done
  fi
  touch "$root/began"
  exec "$bin/etcd" --name="$node" --data-dir=/var/lib/etcd --unsafe-no-fsync --peer-auto-tls \
    --cert-file="$shared/tls.crt" --key-file="$shared/tls.key" \
    --listen-client-urls="https://$address:2379" --advertise-client-urls="https://$address:2379" \
    --listen-peer-urls="$peer" --initial-advertise-peer-urls="$peer" \
    --initial-cluster="$cluster" --initial-cluster-state=$state
}
etcd=
while sleep 0.2; do
  if [ -e "$root/lose" ]; then
    kill -9 "$etcd"
    wait "$etcd" || :
    rm -rf /var/lib/etcd/member "$root/lose"
    etcd=
  fi
  if [ -e /etc/kubernetes/manifests/etcd-pod.yaml ]; then
    if [ -z "$etcd" ] || ! kill -0 "$etcd" 2>/dev/null; then serve >>"$root/etcd.log" 2>&1 & etcd=$!; fi
  elif [ -n "$etcd" ]; then
    kill "$etcd" 2>/dev/null || :
    wait "$etcd" || :
    etcd=
  fi
done
"#;

/// Three of them, and what they share.
struct Masters {
    folder: tempfile::TempDir,
    bin: PathBuf,
    servers: [Option<Server>; 3],
}

impl Masters {
    fn start(site: &Site) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bin = tools(&["etcd", "etcdctl", "etcdutl"]);
        let made = ["-ec", MAKE_CERTIFICATE, "bash"];
        succeed(Command::new("bash").args(made).arg(site.path("")).current_dir(folder.path()));
        let mut masters = Self { folder, bin, servers: [None, None, None] };
        for number in 0..3 {
            masters.install(site, number);
            masters.switch_on(number);
        }
        masters
    }

    /// What is on the disk of a master that runs.
    fn install(&self, site: &Site, number: usize) {
        let (host, address) = MASTERS[number];
        let root = self.root(number);
        fs_err::create_dir_all(root.join("etc/kubernetes/manifests")).unwrap();
        fs_err::write(root.join("etc/kubernetes/manifests/etcd-pod.yaml"), format!("the pod of {host}"))
            .unwrap();
        let config = format!(
            "Port 22\nListenAddress {address}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n\
             PidFile none\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n",
            site.path(&format!("secrets/ssh-host-{host}.key")).display(),
            self.path("authorized_keys").display(),
        );
        fs_err::write(root.join("sshd_config"), config).unwrap();
    }

    fn switch_on(&mut self, number: usize) {
        let (host, address) = MASTERS[number];
        let root = self.root(number);
        let words =
            ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-c", MASTER, "bash"];
        let mut arguments: Vec<String> = words.map(str::to_owned).into();
        arguments.extend([root.display().to_string(), address.to_owned(), node(host)]);
        arguments.extend([&self.bin, &self.path("")].map(|path| path.display().to_string()));
        self.servers[number] = Some(Server::start(Path::new("/usr/bin/unshare"), arguments, &root));
    }

    /// Its data are gone, and with them its etcd; the machine stays.
    fn lose_data(&self, number: usize) {
        let order = self.root(number).join("lose");
        fs_err::write(&order, "").unwrap();
        until("its data are gone", || !order.exists());
    }

    fn etcdctl(&self, number: usize) -> Command {
        let mut command = Command::new(self.bin.join("etcdctl"));
        command.arg(format!("--endpoints=https://{}:2379", MASTERS[number].1));
        command.args(["--command-timeout=5s", "--cacert"]).arg(self.path("ca.crt"));
        command
    }

    /// As the etcd operator does it: a learner first, which votes once it has caught up.
    fn add(&self, number: usize) {
        let (host, address) = MASTERS[number];
        let peer = format!("--peer-urls=https://{address}:2380");
        until("it is added", || {
            run(self.etcdctl(0).args(["member", "add", &node(host), &peer, "--learner"])).0
                || self.members().iter().any(|line| line.contains(address))
        });
        until("it votes", || {
            let members = self.members();
            let line = members.iter().find(|line| line.contains(address)).cloned().unwrap_or_default();
            let id = line.split(',').next().unwrap_or_default();
            run(self.etcdctl(0).args(["member", "promote", id])).0
                || line.ends_with(", false") && line.contains("started")
        });
    }

    fn members(&self) -> Vec<String> {
        let (is_done, said) = run(self.etcdctl(0).args(["member", "list"]));
        if is_done { said.lines().map(str::to_owned).collect() } else { Vec::new() }
    }

    fn root(&self, number: usize) -> PathBuf {
        self.path(MASTERS[number].0)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// What operators of static pods are told.
const OPERATORS: [(&str, &str); 4] = [
    ("Etcd", "etcds"),
    ("KubeAPIServer", "kubeapiservers"),
    ("KubeControllerManager", "kubecontrollermanagers"),
    ("KubeScheduler", "kubeschedulers"),
];

fn operators(plane: &ControlPlane) {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    for (kind, plural) in OPERATORS {
        let name = format!("{plural}.operator.openshift.io");
        create(
            plane,
            &json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": name}, "spec": {"group": "operator.openshift.io", "scope": "Cluster",
                "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List")},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}}),
        );
        let waited = format!("crd/{name}");
        succeed(plane.kubectl().args(["wait", "--for=condition=Established", &waited, "--timeout=120s"]));
        create(
            plane,
            &json!({"apiVersion": "operator.openshift.io/v1", "kind": kind, "metadata": {"name": "cluster"}, "spec": {}}),
        );
    }
}

fn map(plane: &ControlPlane, name: &str) {
    create(
        plane,
        &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}, "data": {"of": name}}),
    );
}

/// Names, uids and contents of all that a person can have made.
fn objects(plane: &ControlPlane) -> Vec<Value> {
    let items = plane.get(&["configmaps,secrets,clusterroles,namespaces", "-A"])["items"].clone();
    let mut items: Vec<Value> = items.as_array().cloned().unwrap_or_default();
    items.retain(|item| item["metadata"]["name"] != "hardway-etcd-restore");
    items
}

fn steps_done(site: &Site) -> usize {
    let journal = fs_err::read_to_string(site.path(hardway_journal::FILE_NAME)).unwrap_or_default();
    journal.lines().filter(|line| line.contains(r#""kind":"etcd-restore-"#)).count()
}

#[test]
fn real_etcd_is_restored_where_a_majority_is_lost_and_never_over_a_quorum() {
    if !inside() {
        return;
    }
    on_machine_network(&["192.168.126.2", MASTERS[0].1, MASTERS[1].1, MASTERS[2].1]);
    let site = Site::new("{}");
    let masters = Masters::start(&site);
    let urls: Vec<String> = MASTERS.iter().map(|(_, address)| format!("https://{address}:2379")).collect();
    let mut plane = ControlPlane::start();
    plane.kill_api_server();
    until("three members are well", || {
        run(masters.etcdctl(0).args(["endpoint", "health", "--cluster"])).0 && masters.members().len() == 3
    });
    let flags = [
        format!("--etcd-servers={}", urls.join(",")),
        format!("--etcd-cafile={}", masters.path("ca.crt").display()),
    ];
    plane.start_api_server_with(&flags.each_ref().map(String::as_str), &plane.kubeconfig());
    work::lead_to(&site, &plane);
    operators(&plane);
    map(&plane, "before");

    let identity = Identity::draw().unwrap();
    let key = site.path("backup.key");
    fs_err::write(&key, identity.text().expose()).unwrap();
    let recipient = identity.recipient().to_string();
    let file = site
        .ok(&["etcd", "backup", "--recipient", &recipient, "--without-static-pods", "--keep", "3"])
        .stdout;
    let file = file.trim();
    let before = objects(&plane);
    map(&plane, "after");

    let (key, bin, login) = (
        key.display().to_string(),
        masters.bin.display().to_string(),
        masters.path("login").display().to_string(),
    );
    let restore = [
        "etcd",
        "restore",
        file,
        "--identity",
        &key,
        "--programs",
        &bin,
        "--key",
        &login,
        "--ssh-user",
        "root",
    ];
    let with = |more: &[&'static str]| [&restore[..], more].concat();

    // With a quorum it is refused: with all three, and with two.
    let Ran { code, stderr, .. } = site.run(&with(&["--yes"]));
    assert!(code == Some(9) && stderr.contains("3 of 3 members are healthy"), "{stderr}");
    masters.lose_data(2);
    until("one is lost", || site.run(&with(&["--dry-run"])).stderr.contains("2 of 3 members are healthy"));
    let Ran { code, stderr, .. } = site.run(&with(&["--yes"]));
    assert!(code == Some(9) && stderr.contains("node replace master-2"), "{stderr}");

    // Two are lost.
    masters.lose_data(1);
    let mut plan = String::new();
    until("a majority is lost", || {
        plan = site.run(&with(&["--dry-run"])).stdout;
        plan.contains("a majority is lost")
    });
    assert!(plan.contains("master-0: restored here; its etcd is at revision"), "{plan}");
    assert!(
        plan.contains("master-1: joins again without its old data") && plan.contains("1. stop-etcd"),
        "{plan}"
    );
    let refused = site.run(&with(&[])).stderr;
    assert!(refused.contains("--yes was not given"), "{refused}");
    assert_eq!(steps_done(&site), 0, "a plan does nothing");

    // Killed behind every line that it writes, it goes on.
    for lines in 1..=9 {
        let mut running = site.start(&with(&["--yes"]));
        running.until_so("the next step is in the journal", || steps_done(&site) >= lines);
        running.signal("KILL");
        drop(running);
    }
    let mut running = site.start(&with(&["--yes"]));
    running.until_said("insist-on-all: ");
    for operator in ["etcd", "kubeapiserver", "kubecontrollermanager", "kubescheduler"] {
        let spec = plane.get(&[operator, "cluster"])["spec"].clone();
        let reason = spec["forceRedeploymentReason"].as_str().unwrap_or_default();
        assert!(reason.starts_with("hardway-etcd-restore-2"), "{operator}: {spec}");
    }
    let overrides = || plane.get(&["etcd", "cluster"])["spec"]["unsupportedConfigOverrides"].clone();
    assert_eq!(overrides()["useUnsupportedUnsafeNonHANonProductionUnstableEtcd"], true);
    assert_eq!(masters.members().len(), 1, "nobody else is in it yet");
    masters.add(1);
    assert_eq!(masters.members().len(), 2);
    masters.add(2);
    let said = running.end().expect(0).stderr;
    assert!(said.contains("etcd was restored on master-0, and all masters are members again"), "{said}");
    assert!(overrides().is_null(), "all three are insisted on again");
    let begun = site.journal().lines().filter(|line| line.contains(r#""kind":"etcd-restore-begun""#)).count();
    assert_eq!(begun, 1, "one restore, however often it was killed");

    // All that the backup had, as it was; what came later is gone, and new things can be written.
    until("the API server has read what etcd holds now", || plane.get(&["configmap", "after"]).is_null());
    assert_eq!(objects(&plane), before);
    map(&plane, "later");
    let note = plane.get(&["configmap", "hardway-etcd-restore", "-n", "kube-system"]);
    let revision: u64 = note["data"]["revision"].as_str().unwrap().parse().unwrap();
    let newest: u64 =
        plane.get(&["configmap", "later"])["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
    assert!(newest > revision + 1_000_000_000, "{newest} after {revision}");
    // Whoever watches from before is told that this past is gone.
    let mut watch = Command::new("timeout");
    watch.arg("60").arg(masters.bin.join("etcdctl")).args(masters.etcdctl(2).get_args());
    watch.args(["watch", "--prefix", "/registry/", "--rev", &(revision + 1).to_string()]);
    let watched = watch.output().unwrap();
    let heard = String::from_utf8_lossy(&watched.stdout) + String::from_utf8_lossy(&watched.stderr);
    assert!(heard.contains("required revision has been compacted"), "{heard}");
    // Old data are kept on each master that had any.
    let kept =
        succeed(Command::new("find").arg(masters.root(0).join("var/lib/etcd-backup")).args(["-name", "db"]));
    assert_eq!(kept.lines().count(), 1, "{kept}");
    // And it is over: from here on a quorum is in the way again.
    let Ran { code, stderr, .. } = site.run(&with(&["--yes"]));
    assert!(code == Some(9) && stderr.contains("3 of 3 members are healthy"), "{stderr}");
}
