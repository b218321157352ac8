//! HAProxy and its addresses on this host: changed as they run, back after a reboot, and gone at the end.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use hardway_assets::Cluster;
use hardway_assets::host_services::InstallStage;
use hardway_machines::actions::Action;
use hardway_machines::load_balancer;
use hardway_machines::providers::{LoadBalancer, Provider as _};
use hardway_testing::{inside_with_units, sshd, succeed, until};
use serde_json::json;

use super::site::{cluster, down, provider, up};

fn actions(cluster: &Cluster, folder: &Path, stage: InstallStage) -> (Vec<Action>, PathBuf) {
    let provider = provider(cluster, folder, stage);
    let LoadBalancer::Haproxy { admin_socket } = provider.load_balancer() else { panic!("it is ours") };
    (provider.infrastructure(), admin_socket)
}

fn members(socket: &Path) -> BTreeSet<String> {
    load_balancer::servers(socket).unwrap_or_default().into_iter().map(|server| server.name).collect()
}

fn shell(line: &str) -> String {
    succeed(Command::new("bash").args(["-ec", line]))
}

/// Files, processes and addresses that hardway could leave behind.
fn host() -> String {
    shell(
        "ip -4 -o address | awk '{print $2, $4}'; ps -eo args= | grep -E '^(/usr/sbin/)?(haproxy|dnsmasq) ' | sort || :; \
         find /etc/hardway /run/hardway /etc/systemd/system -name '*hardway*' 2>/dev/null | sort || :",
    )
}

/// A new configuration is taken up as HAProxy runs, and nothing is left behind.
fn bootstrap_goes_and_all_with_it(cluster: &Cluster, folder: &Path, socket: &Path, before: &str) {
    let (later, _) = actions(cluster, folder, InstallStage::Installed);
    assert_eq!(up(folder, &later), ["balancer/haproxy"]);
    until("bootstrap is no member", || {
        let found = members(socket);
        found.contains("master-0") && !found.contains("bootstrap")
    });
    down(folder);
    until("the host is as it was", || host() == before);
}

#[test]
fn real_haproxy_and_its_addresses_come_back_with_the_host() {
    if !inside_with_units() {
        return;
    }
    shell(
        "ip link add eno1 type veth peer name wire && ip address add 192.168.126.2/24 dev eno1 && ip link set wire up && ip link set eno1 up",
    );
    let (folder, before) = (tempfile::tempdir().unwrap(), host());
    let cluster = cluster(json!({"interface": "eno1"}));
    let (wanted, socket) = actions(&cluster, folder.path(), InstallStage::Bootstrapping);
    assert_eq!(up(folder.path(), &wanted), ["dns/records", "network/addresses", "balancer/haproxy"]);
    assert_eq!(up(folder.path(), &wanted), [""; 0], "twice changes nothing");
    until("HAProxy has its members", || members(&socket).contains("bootstrap"));

    // The power fails: processes, addresses and /run are gone, files stay.
    shell("pkill -9 -x haproxy; ip address flush dev eno1; ip address add 192.168.126.2/24 dev eno1");
    shell("rm -rf /run/hardway /run/systemctl");
    assert!(!socket.exists() && !shell("ss -Hltn").contains(":6443"));
    shell("systemctl boot");
    until("HAProxy is back", || members(&socket).contains("master-0"));
    let listens = shell("ss -Hltn");
    for port in [6443, 22623] {
        assert!(listens.contains(&format!("192.168.126.10:{port}")), "{listens}");
    }
    assert!(listens.contains("192.168.126.11:443"), "{listens}");
    assert_eq!(up(folder.path(), &wanted), [""; 0], "all of it holds, with nothing done by hardway");

    bootstrap_goes_and_all_with_it(&cluster, folder.path(), &socket, &before);
}

#[test]
fn real_haproxy_runs_without_systemd_too() {
    if !inside_with_units() {
        return;
    }
    let (folder, before) = (tempfile::tempdir().unwrap(), host());
    let cluster = cluster(json!({"interface": "lo", "services": "daemon"}));
    let (wanted, socket) = actions(&cluster, folder.path(), InstallStage::Bootstrapping);
    assert_eq!(up(folder.path(), &wanted).len(), 4);
    assert_eq!(up(folder.path(), &wanted), [""; 0]);
    until("HAProxy has its members", || members(&socket).contains("bootstrap"));
    bootstrap_goes_and_all_with_it(&cluster, folder.path(), &socket, &before);
}

/// Two balancers are this very host twice: once as it is, once over a real sshd. Their files are the same ones, so only one is built.
#[test]
fn real_another_host_is_set_up_over_ssh_and_left_as_it_was() {
    if !inside_with_units() {
        return;
    }
    shell("ip link add eno1 type veth peer name wire && ip link set wire up && ip link set eno1 up");
    shell("ip address add 192.168.126.6/24 dev eno1");
    let keys = tempfile::tempdir().unwrap();
    let key = keys.path().display();
    shell(&format!(
        "ssh-keygen -q -t ed25519 -N '' -f {key}/user; ssh-keygen -q -t ed25519 -N '' -f {key}/host_key; cp {key}/user.pub {key}/authorized_keys; \
         echo \"127.0.0.1 $(cat {key}/host_key.pub)\" >{key}/known; mkdir -p /etc/ssh/ssh_config.d; \
         printf '%s\\n' 'IdentityFile {key}/user' 'UserKnownHostsFile {key}/known' >/etc/ssh/ssh_config.d/00-test.conf"
    ));
    let _sshd = sshd(keys.path(), 22, "host_key", "MaxStartups 100\n");
    until("sshd lets us in", || {
        Command::new("ssh")
            .args(["-q", "-o", "BatchMode=yes", "root@127.0.0.1", "true"])
            .status()
            .unwrap()
            .success()
    });
    let (folder, before) = (tempfile::tempdir().unwrap(), host());
    let cluster = cluster(json!({"balancers": {
        "lb-0": {"ip": "192.168.126.5", "interface": "eno1"},
        "lb-1": {"ip": "192.168.126.6", "interface": "eno1", "ssh": "root@127.0.0.1"},
    }}));
    let planned = provider(&cluster, folder.path(), InstallStage::Bootstrapping);
    assert_eq!(planned.load_balancer(), LoadBalancer::ByConfiguration);
    let there = |stage| -> Vec<Action> {
        let actions = provider(&cluster, folder.path(), stage).infrastructure();
        actions.into_iter().filter(|action| action.id.starts_with("balancer/lb-1/")).collect()
    };
    let wanted = there(InstallStage::Bootstrapping);
    assert_eq!(up(folder.path(), &wanted), ["balancer/lb-1/haproxy", "balancer/lb-1/keepalived"]);
    assert_eq!(up(folder.path(), &wanted), [""; 0]);
    until("keepalived brings the addresses", || host().contains("eno1 192.168.126.10/32"));
    let socket = PathBuf::from(format!("/run/hardway/{}/haproxy.sock", cluster.identity.infra_id));
    until("HAProxy has its members", || members(&socket).contains("bootstrap"));
    assert_eq!(up(folder.path(), &there(InstallStage::Installed)), ["balancer/lb-1/haproxy"]);
    until("bootstrap is no member", || {
        let found = members(&socket);
        found.contains("master-0") && !found.contains("bootstrap")
    });
    down(folder.path());
    until("the host is as it was", || host() == before);
}
