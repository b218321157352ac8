//! A host on which nothing is wrong, until a test changes that.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use fs_err as fs;
use hardway_assets::host_services::{BalancedPort, Dnsmasq, Haproxy, InstallStage, Names, dnsmasq, haproxy};
use hardway_assets::{Cluster, example};
use hardway_testing::{INSTALL_CONFIG, Ran};
use serde_json::Value;

use crate::work::PROGRAM;

/// Everything about the host and the cluster that is to be. `@/` in texts is the folder of the run.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) inventory: String,
    /// Programs on the path: a shell script each, or `-> PATH` for the real one.
    pub(crate) programs: BTreeMap<&'static str, String>,
    /// Files in place of the host's own.
    pub(crate) files: BTreeMap<&'static str, String>,
    /// Lines of a shell, run as root before the program.
    pub(crate) set_up: String,
    pub(crate) dnsmasq: Option<String>,
    pub(crate) haproxy: Option<String>,
    /// Before the program on its command line.
    pub(crate) through: String,
    pub(crate) environment: BTreeMap<&'static str, String>,
    pub(crate) arguments: Vec<&'static str>,
}

/// What `hardway check` found.
#[derive(Debug)]
pub(crate) struct Seen(pub(crate) Ran);

const FLAGS: &str = "fpu cx16 lahf_lm pni popcnt sse4_1 sse4_2 ssse3";
const VIRSH: &str = r#"case "$*" in
  *version*) echo "Running against daemon: 9.0.0" ;;
  *domcapabilities*) echo "<domainCapabilities/>" ;;
  *pool-info*) printf 'Name:           default\nState:          running\n' ;;
  *pool-dumpxml*) echo "<pool><target><path>@/pool/images</path></target></pool>" ;;
esac"#;
const GCLOUD: &str = r#"case "$*" in *auth*) echo me@example.com ;; *) echo lab-1 ;; esac"#;
const PODMAN: &str = r#"echo '{"version":{"Version":"4.3.1"},"host":{"ociRuntime":{"name":"crun"}},"store":{"volumePath":"@/pool"}}'"#;

impl World {
    /// Of a provider, with nothing on the network.
    pub(crate) fn of(provider: &str) -> Self {
        let real = ["ip", "mkdir", "modprobe", "mount", "nft", "nsenter", "sh", "tail", "unshare", "busybox"];
        let stand_ins =
            ["curl", "docker-registry", "go", "haproxy", "jq", "mmdebstrap", "runc", "skopeo", "ssh"];
        let mut programs: BTreeMap<&str, String> = stand_ins.map(|name| (name, "exit 0".to_owned())).into();
        programs.extend(real.map(|name| (name, "->".to_owned())));
        programs.extend([
            ("gcloud", GCLOUD.to_owned()),
            ("podman", PODMAN.to_owned()),
            ("timedatectl", "echo yes".to_owned()),
            ("virsh", VIRSH.to_owned()),
        ]);
        let files = [
            ("/etc/hosts", "127.0.0.1 localhost\n"),
            ("/etc/resolv.conf", "nameserver 192.168.126.1\nsearch ocp4.example.com\n"),
            ("/proc/cpuinfo", &format!("processor\t: 0\nflags\t\t: {FLAGS}\n")),
            ("/proc/meminfo", "MemTotal:       209715200 kB\nMemAvailable:   204472320 kB\n"),
            ("/proc/sys/fs/inotify/max_user_instances", "1024\n"),
        ];
        Self {
            inventory: inventory(provider),
            programs,
            files: files.map(|(path, text)| (path, text.to_owned())).into(),
            set_up: "ip link set lo up\nmkdir @/pool/images\n".to_owned(),
            dnsmasq: None,
            haproxy: None,
            through: String::new(),
            environment: [("HARDWAY_LAB_FILES", "@/scripts".to_owned())].into(),
            arguments: match provider {
                "lab" => Vec::new(),
                // As many processors as machines want are not to be had everywhere.
                "libvirt" => vec!["--skip-check", "processors", "--skip-check", "release-image"],
                // The release is the built-in one, of which no machine can be made.
                _ => vec!["--skip-check", "release-image"],
            },
        }
    }

    /// Of a provider that does not make machines on this host: name server and load balancer are there, and so are the
    /// addresses of one member for each port.
    pub(crate) fn with_services(provider: &str) -> Self {
        let cluster = example::cluster();
        let mut world = Self::of(provider);
        world.inventory =
            world.inventory.replace("image: sample", "image: registry.example.net/ocp/release:4.18.1-x86_64");
        world.set_up += "mkdir -p @/bmc/redfish/v1; echo '{}' > @/bmc/redfish/v1/index.html\n";
        world.set_up += "mkdir -m 700 @/work/secrets; (umask 077; echo hush > @/work/secrets/bmc)\n";
        world.set_up += "ip link add hw0 type veth peer name hw1\nip link set hw0 up\nip link set hw1 up\n";
        world.set_up += "ip addr add 192.168.126.1/24 dev hw0\n";
        for n in [10, 11, 101, 110] {
            world.set_up += &format!("ip addr add 192.168.126.{n}/32 dev hw0\n");
        }
        world.set_up += "busybox httpd -p 192.168.126.1:8000 -h @/bmc\n";
        world.dnsmasq = Some(name_server(&cluster) + "address=/registry.example.net/192.168.126.1\n");
        let files = Haproxy {
            socket: "@/haproxy.sock".to_owned(),
            pid_file: "@/haproxy.pid".to_owned(),
            binds_early: false,
        };
        world.haproxy = Some(haproxy(&BalancedPort::all(&cluster, InstallStage::Bootstrapping), &files));
        // There is no such registry: those are tried with real ones.
        for check in ["release-image", "mirrors", "clock-skew"] {
            world.arguments.extend(["--skip-check", check]);
        }
        world
    }

    /// Replaces a text that stands somewhere in the load balancer's or the name server's configuration once.
    pub(crate) fn edit(text: &mut Option<String>, from: &str, to: &str) {
        let text = text.as_mut().unwrap();
        assert_eq!(text.matches(from).count(), 1, "{from} in:\n{text}");
        *text = text.replace(from, to);
    }

    /// Runs `hardway check` there.
    pub(crate) fn check(&self) -> Seen {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::set_permissions(root, std::fs::Permissions::from_mode(0o755)).unwrap();
        self.write(root);
        let output = Command::new("unshare")
            .args([
                "--net",
                "--mount",
                "--propagation=private",
                "--pid",
                "--fork",
                "--kill-child",
                "--mount-proc",
            ])
            .arg("bash")
            .arg(root.join("run.sh"))
            .stdin(Stdio::null())
            .env_remove("HARDWAY_NOW")
            .output()
            .unwrap();
        Seen(Ran::from(output))
    }

    fn write(&self, root: &Path) {
        let here = |text: &str| here(text, root);
        for folder in ["bin", "files", "pool", "scripts", "work"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for (name, script) in &self.programs {
            let path = root.join("bin").join(name);
            if script == "->" {
                // One that this computer lacks is not what the test is about.
                let real = real(name).unwrap_or_else(|| "/bin/true".into());
                fs_err::os::unix::fs::symlink(real, &path).unwrap();
                continue;
            }
            fs::write(&path, format!("#!/bin/sh\n{}\n", here(script))).unwrap();
            fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::write(root.join("hardway"), "").unwrap();
        fs::write(
            root.join("work/install-config.yaml"),
            INSTALL_CONFIG.replace("replicas: 1", "replicas: 2"),
        )
        .unwrap();
        fs::write(root.join("work/inventory.yaml"), here(&self.inventory)).unwrap();
        fs::write(root.join("run.sh"), here(&self.script(root))).unwrap();
    }

    fn script(&self, root: &Path) -> String {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut lines = vec![
            "set -eu".to_owned(),
            // Gives up after a minute or more.
            "until_true() { for _ in $(seq 600); do eval \"$1\" && return; sleep 0.1; done; echo \"never: $1\" >&2; exit 99; }"
                .to_owned(),
            "mount -t tmpfs -o size=1000g,mode=755 tmpfs @/pool".to_owned(),
            format!("mount --bind {PROGRAM} @/hardway"),
            format!("mount --bind {} @/scripts", sources.join("lab").display()),
            "mkdir @/dev; for file in null zero full random urandom tty kvm; do touch @/dev/$file; \
             [ ! -e /dev/$file ] || mount --bind /dev/$file @/dev/$file; done"
                .to_owned(),
        ];
        for (number, (path, text)) in self.files.iter().enumerate() {
            fs::write(root.join(format!("files/{number}")), text).unwrap();
            lines.push(format!("mount --bind @/files/{number} {path}"));
        }
        lines.push(self.set_up.clone());
        lines.push("mount --rbind @/dev /dev".to_owned());
        let until = |what: &str| format!("until_true '{what}'");
        if let Some(text) = &self.dnsmasq {
            fs::write(root.join("dnsmasq.conf"), here(text, root)).unwrap();
            lines.push("dnsmasq --keep-in-foreground --user=root -C @/dnsmasq.conf >&2 &".to_owned());
            lines.push(until("dig @192.168.126.1 +tries=1 +time=1 api.ocp4.example.com >/dev/null"));
        }
        if let Some(text) = &self.haproxy {
            fs::write(root.join("haproxy.cfg"), here(text, root)).unwrap();
            lines.push("haproxy -db -f @/haproxy.cfg >&2 &".to_owned());
            lines.push(until("[ -S @/haproxy.sock ]"));
        }
        lines.push("cd @/work".to_owned());
        for (name, value) in &self.environment {
            lines.push(format!("export {name}={value}"));
        }
        let json = if self.arguments.contains(&"--output") { "" } else { "-o json" };
        let arguments = self.arguments.join(" ");
        lines.push(format!(
            "code=0; PATH=@/bin {} @/hardway check {json} {arguments} || code=$?",
            self.through
        ));
        lines.push("exit $code\n".to_owned());
        lines.join("\n")
    }
}

impl Deref for Seen {
    type Target = Ran;

    fn deref(&self) -> &Ran {
        &self.0
    }
}

impl Seen {
    /// The result of one check.
    pub(crate) fn of(&self, check: &str) -> Value {
        self.results()
            .into_iter()
            .find(|result| result["check"] == check)
            .unwrap_or_else(|| panic!("no {check}: {self:#?}"))
    }

    /// The checks with this verdict.
    pub(crate) fn with(&self, verdict: &str) -> Vec<String> {
        let results = self.results();
        let named = results.iter().filter(|result| result["verdict"] == verdict);
        named.map(|result| result["check"].as_str().unwrap().to_owned()).collect()
    }

    fn results(&self) -> Vec<Value> {
        self.json()["checks"].as_array().unwrap().clone()
    }
}

fn here(text: &str, root: &Path) -> String {
    text.replace("@/", &format!("{}/", root.display()))
}

/// The configuration that hardway makes, on the segment's gateway.
fn name_server(cluster: &Cluster) -> String {
    let server = Dnsmasq {
        listen: vec![[192, 168, 126, 1].into()],
        interface: None,
        port: 53,
        pid_file: "@/dnsmasq.pid".to_owned(),
        upstream: Vec::new(),
    };
    dnsmasq(&Names::of(cluster), &server)
}

/// The hosts of `example::cluster()`.
fn inventory(provider: &str) -> String {
    let settings = match provider {
        "bare-metal" => BARE_METAL,
        "gce" => {
            "  gce: {project: lab-1, zones: [us-central1-a], image: rhcos}\nignitionServer: {url: \"https://192.168.126.2\"}\n"
        }
        _ => "",
    };
    let mut text = format!(
        "apiVersion: hardway.dev/v1alpha1\nkind: Inventory\nrelease:\n  image: sample\nmachines:\n  provider: {provider}\n{settings}\
         network:\n  gateway: 192.168.126.1\n  dns: [192.168.126.1]\n  apiVIP: 192.168.126.10\n  ingressVIP: 192.168.126.11\n\
         pki:\n  keyAlgorithm: ECDSA-P256\nhosts:\n"
    );
    for host in example::cluster().inventory.hosts {
        let (role, ip, mac) = (host.role, host.ip[0], host.mac.unwrap());
        let size = if role.name() == "worker" { "cpus: 2, memoryGiB: 8" } else { "cpus: 4, memoryGiB: 16" };
        text += &format!(
            "- {{name: {}, role: {role}, ip: {ip}, mac: \"{mac}\", installDisk: /dev/vda, {size}, diskGiB: 100}}\n",
            host.name
        );
    }
    text
}

/// One machine has a management controller; its stand-in answers as little as a check asks for.
const BARE_METAL: &str = "  bare-metal:\n    mediaUrl: http://192.168.126.1:8080\n    hosts:\n      master-0: {bmc: {address: \"redfish+http://192.168.126.1:8000\", user: admin, passwordFile: secrets/bmc}}\n";

/// Where this computer has a program.
fn real(name: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let sbin = ["/usr/sbin", "/sbin"].map(std::path::PathBuf::from);
    std::env::split_paths(&path).chain(sbin).map(|folder| folder.join(name)).find(|file| file.is_file())
}
