//! Load balancer and names as the real programs read them.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::process::Command;

use hardway_assets::Cluster;
use hardway_assets::host_services::{
    BalancedPort, BootOptions, Dnsmasq, Haproxy, InstallStage, Keepalived, Leases, Names, bind_zones,
    dnsmasq, dnsmasq_leases, haproxy, kea_dhcp4, kea_dhcp6, keepalived,
};
use hardway_testing::{Running, until};

use crate::common::{SCENARIOS, made};

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {text}");
    text
}

#[test]
fn real_haproxy_takes_every_configuration_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let files = Haproxy {
        socket: folder.path().join("haproxy.sock").display().to_string(),
        pid_file: folder.path().join("haproxy.pid").display().to_string(),
        binds_early: false,
    };
    for scenario in SCENARIOS {
        for stage in [InstallStage::Bootstrapping, InstallStage::Installed] {
            let text = haproxy(&BalancedPort::all(&made(scenario).cluster, stage), &files);
            let path = folder.path().join("haproxy.cfg");
            std::fs::write(&path, &text).unwrap();
            let said = succeeds(Command::new("haproxy").arg("-c").arg("-dW").arg("-f").arg(&path));
            assert!(!said.contains("WARNING"), "{scenario} {stage:?}: {said}\n{text}");
        }
    }
}

#[test]
fn who_answers_follows_the_cluster_and_the_stage() {
    let members = |scenario: &str, stage, name: &str| {
        let all = BalancedPort::all(&made(scenario).cluster, stage);
        let found = all.into_iter().find(|balanced| balanced.name == name).unwrap();
        found
            .members
            .into_iter()
            .map(|m| m.name + if m.is_backup { "?" } else { "" })
            .collect::<Vec<_>>()
            .join(" ")
    };
    for (scenario, stage, name, answers) in [
        ("ha", InstallStage::Bootstrapping, "api", "bootstrap? master-0 master-1 master-2"),
        ("ha", InstallStage::Bootstrapping, "machine-config-server", "bootstrap? master-0 master-1 master-2"),
        ("ha", InstallStage::Installed, "api", "master-0 master-1 master-2"),
        ("ha", InstallStage::Installed, "ingress-https", "worker-0 worker-1"),
        ("compact", InstallStage::Installed, "ingress-http", "master-0 master-1 master-2"),
        ("single-node-in-place", InstallStage::Bootstrapping, "api", "master-0"),
    ] {
        assert_eq!(members(scenario, stage, name), answers, "{scenario} {stage:?} {name}");
    }
}

/// The balancer's host with its networks, and two more hosts: a master in the machine network, and somebody outside it.
const HOSTS: &str = "
mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns
ip netns add machine && ip netns add outside
ip link add inner type veth peer name eth0 netns machine
ip link add outer type veth peer name eth0 netns outside
sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0
for address in 192.168.126.1/24 192.168.126.10/24 192.168.126.11/24; do ip address add $address dev inner; done
for address in fd00:126::1/64 fd00:126::10/64 fd00:126::11/64; do ip address add $address dev inner nodad; done
ip address add 10.9.0.1/24 dev outer && ip address add fd99::1/64 dev outer nodad
ip link set inner up && ip link set outer up
machine() { ip -n machine \"$@\"; }
machine address add 192.168.126.101/24 dev eth0 && machine address add fd00:126::101/64 dev eth0 nodad
machine link set lo up && machine link set eth0 up
outside() { ip -n outside \"$@\"; }
outside address add 10.9.0.2/24 dev eth0 && outside address add fd99::2/64 dev eth0 nodad
outside link set lo up && outside link set eth0 up
outside route add default via 10.9.0.1 && outside -6 route add default via fd99::1
";

#[test]
fn real_the_config_port_is_for_machines_and_the_api_for_everybody() {
    if !hardway_testing::inside() {
        return;
    }
    succeeds(Command::new("bash").args(["-euc", HOSTS]));
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]);
    openssl.args(["-subj", "/CN=master-0", "-keyout", &path("key"), "-out", &path("crt")]);
    succeeds(&mut openssl);
    // Answers 200 to whatever is asked, health checks too.
    let _members = ["6443", "22623"].map(|port| {
        let mut server = Command::new("ip");
        server.args(["netns", "exec", "machine", "openssl", "s_server", "-quiet", "-www", "-accept", port]);
        Running::start({
            server.args(["-key", &path("key"), "-cert", &path("crt")]);
            server
        })
    });

    let mut cluster = made("dual-stack").cluster;
    cluster.inventory.network.api_vip.push("fd00:126::10".parse().unwrap());
    cluster.inventory.network.ingress_vip.push("fd00:126::11".parse().unwrap());
    let files = Haproxy { socket: path("haproxy.sock"), pid_file: path("haproxy.pid"), binds_early: false };
    let text = haproxy(&BalancedPort::all(&cluster, InstallStage::Installed), &files);
    std::fs::write(path("haproxy.cfg"), &text).unwrap();
    let mut balancer = Command::new("haproxy");
    balancer.args(["-db", "-f", &path("haproxy.cfg")]);
    let _balancer = Running::start(balancer);

    let answers = |from: &str, url: &str| {
        let mut curl = Command::new("ip");
        curl.args(["netns", "exec", from, "curl", "-sk", "--max-time", "5", "-o", "/dev/null"]);
        let output = curl.args(["-w", "%{http_code}", url]).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let well = (0, "200".to_owned());
    for address in ["192.168.126.10", "[fd00:126::10]"] {
        let (api, configs) = (format!("https://{address}:6443/"), format!("https://{address}:22623/"));
        until("the members are well", || answers("machine", &configs) == well);
        until("the API is open to machines", || answers("machine", &api) == well);
        until("the API is open to everybody", || answers("outside", &api) == well);
        let (code, status) = answers("outside", &configs);
        // 7, 35 or 56: curl saw the reset at one point or another. The connection did not time out, and nothing got through.
        assert!([7, 35, 56].contains(&code) && status == "000", "{address}: {code} {status}\n{text}");
    }
}

/// A dnsmasq on a port of its own, until dropped.
struct Server {
    _run: Running,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Server {
    fn start(cluster: &Cluster) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = UdpSocket::bind((LOOPBACK, 0)).unwrap().local_addr().unwrap().port();
        let pid_file = folder.path().join("pid").display().to_string();
        let server =
            Dnsmasq { listen: vec![LOOPBACK], interface: None, port, pid_file, upstream: Vec::new() };
        let path = folder.path().join("dnsmasq.conf");
        std::fs::write(&path, dnsmasq(&Names::of(cluster), &server)).unwrap();
        succeeds(Command::new("dnsmasq").arg("--test").arg("-C").arg(&path));
        let mut command = Command::new("dnsmasq");
        command.arg("--keep-in-foreground").arg("--user=root").arg("-C").arg(&path);
        let server = Self { _run: Running::start(command), port, _folder: folder };
        until("dnsmasq answers", || server.ask(&["api.nowhere.test", "A"]).is_some());
        server
    }

    /// The status, and the answers in order.
    fn ask(&self, question: &[&str]) -> Option<(String, Vec<String>)> {
        let mut dig = Command::new("dig");
        dig.args([
            "@127.0.0.1",
            "-p",
            &self.port.to_string(),
            "+noall",
            "+comments",
            "+answer",
            "+tries=5",
            "+timeout=5",
        ]);
        let output = dig.args(question).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let status = text.split("status: ").nth(1)?.split(',').next()?.to_owned();
        let mut answers: Vec<String> = text
            .lines()
            .filter(|line| !line.starts_with(';') && !line.is_empty())
            .filter_map(|line| line.split_whitespace().last().map(str::to_owned))
            .collect();
        answers.sort();
        Some((status, answers))
    }
}

#[test]
fn real_dnsmasq_answers_every_question_of_the_documentation() {
    for scenario in SCENARIOS {
        let cluster = made(scenario).cluster;
        let (server, domain) = (Server::start(&cluster), cluster.domain());
        let sorted = |addresses: &[IpAddr], is_ipv6: bool| {
            let mut found: Vec<_> =
                addresses.iter().filter(|ip| ip.is_ipv6() == is_ipv6).map(ToString::to_string).collect();
            found.sort();
            found
        };
        let network = &cluster.inventory.network;
        let mut expected: Vec<(String, &[IpAddr])> = vec![
            (format!("api.{domain}"), &network.api_vip),
            (format!("api-int.{domain}"), &network.api_vip),
            (format!("console-openshift-console.apps.{domain}"), &network.ingress_vip),
            (format!("a.b.apps.{domain}"), &network.ingress_vip),
        ];
        expected
            .extend(cluster.inventory.hosts.iter().map(|host| (cluster.node_name(host), host.ip.as_slice())));
        for (name, addresses) in expected {
            for (kind, is_ipv6) in [("A", false), ("AAAA", true)] {
                let (status, answers) = server.ask(&[&name, kind]).unwrap();
                assert_eq!(
                    (status.as_str(), answers),
                    ("NOERROR", sorted(addresses, is_ipv6)),
                    "{scenario} {name} {kind}"
                );
            }
        }
        for host in &cluster.inventory.hosts {
            for ip in &host.ip {
                let (_, answers) = server.ask(&["-x", &ip.to_string()]).unwrap();
                assert_eq!(answers, [cluster.node_name(host) + "."], "{scenario} {ip}");
            }
        }
        // A wildcard above apps would make every search-domain lookup succeed.
        assert_eq!(server.ask(&[&format!("nothing.{domain}"), "A"]).unwrap().0, "NXDOMAIN");
        assert_ne!(server.ask(&["example.org", "A"]).unwrap().0, "NOERROR");
    }
}

#[test]
fn real_bind_tools_take_every_zone() {
    let folder = tempfile::tempdir().unwrap();
    for scenario in SCENARIOS {
        let names = Names::of(&made(scenario).cluster);
        let zones = bind_zones(&names, names.names[0].addresses[0], 7);
        assert_eq!(
            zones.len(),
            1 + usize::from(scenario != "ipv6") + usize::from(scenario == "ipv6" || scenario == "dual-stack")
        );
        for zone in zones {
            let path = folder.path().join("zone");
            std::fs::write(&path, &zone.text).unwrap();
            let said =
                succeeds(Command::new("named-checkzone").arg("-i").arg("local").arg(&zone.name).arg(&path));
            assert!(
                said.contains("loaded serial 7") && !said.contains("ignoring"),
                "{scenario}: {said}\n{}",
                zone.text
            );
        }
    }
}

#[test]
fn real_dhcp_servers_take_leases_and_boot_options() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let boot = BootOptions {
        script: "http://192.168.126.2:8080/secret/boot.ipxe".to_owned(),
        efi: Some("http://192.168.126.2:8080/secret/ipxe.efi".to_owned()),
        tftp_root: Some(folder.path().display().to_string()),
    };
    let classes = write("kea-boot.json", &boot.kea4());
    let options = write("dnsmasq-boot.conf", &boot.dnsmasq());
    for scenario in SCENARIOS {
        let leases = Leases::of(&made(scenario).cluster);
        for include in [None, Some(options.as_str())] {
            let conf = write("dnsmasq.conf", &dnsmasq_leases(&leases, include));
            succeeds(Command::new("dnsmasq").arg("--test").arg("-C").arg(conf));
        }
        for include in [None, Some(classes.as_str())] {
            if let Some(text) = kea_dhcp4(&leases, include) {
                let conf = write("kea-dhcp4.conf", &text);
                succeeds(Command::new("kea-dhcp4").arg("-t").arg(conf));
            }
        }
        let six = kea_dhcp6(&leases);
        assert_eq!(six.is_some(), leases.subnets.iter().any(|subnet| subnet.net.addr().is_ipv6()));
        if let Some(text) = six {
            let conf = write("kea-dhcp6.conf", &text);
            succeeds(Command::new("kea-dhcp6").arg("-t").arg(conf));
        }
    }
}

#[test]
fn real_keepalived_takes_both_families() {
    // It takes no loopback for an interface.
    if !hardway_testing::inside() {
        return;
    }
    succeeds(Command::new("ip").args(["link", "add", "eno1", "type", "veth", "peer", "name", "wire"]));
    let folder = tempfile::tempdir().unwrap();
    for own in ["192.168.126.5", "fd00:126::5"] {
        let text = keepalived(&Keepalived {
            name: "lb-0".to_owned(),
            interface: "eno1".to_owned(),
            own: own.parse().unwrap(),
            peers: vec![own.replace('5', "6").parse().unwrap()],
            router: 51,
            priority: 200,
            addresses: vec!["192.168.126.10".parse().unwrap(), "fd00:126::10".parse().unwrap()],
            check: "/bin/true".to_owned(),
        });
        let path = folder.path().join("keepalived.conf");
        std::fs::write(&path, &text).unwrap();
        let said = succeeds(Command::new("keepalived").arg("--config-test").arg("--use-file").arg(&path));
        assert!(said.trim().is_empty(), "{said}\n{text}");
    }
}
