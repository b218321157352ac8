//! The same over ssh: a real sshd, on loopback of the test's own host.

use std::process::Command;

use hardway_machines::actions::Action;
use hardway_machines::load_balancer::servers;
use hardway_machines::providers::{LoadBalancer, Provider as _};
use hardway_testing::{inside_with_libvirt, until};
use serde_json::json;

use super::site::{Work, run, state};

/// Answers to one key only.
const SSHD: &str = "
mkdir -p /run/sshd /run/ssh
ssh-keygen -q -t ed25519 -N '' -f /run/ssh/host
ssh-keygen -q -t ed25519 -N '' -f /run/ssh/user
cp /run/ssh/user.pub /run/ssh/authorized
printf '%s\\n' 'Port 2222' 'ListenAddress 127.0.0.1' 'HostKey /run/ssh/host' 'AuthorizedKeysFile /run/ssh/authorized' \
  'PermitRootLogin prohibit-password' 'StrictModes no' 'UsePAM no' 'PidFile /run/ssh/pid' 'MaxStartups 100' >/run/ssh/config
/usr/sbin/sshd -f /run/ssh/config
";

#[test]
fn another_host_is_built_on_and_left_as_it_was() {
    if !inside_with_libvirt() {
        return;
    }
    run("sh", &["-ec", SSHD]);
    let login =
        ["-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"];
    until("sshd lets us in", || {
        let mut ssh = Command::new("ssh");
        ssh.args(login).args(["-q", "-p", "2222", "-i", "/run/ssh/user", "root@127.0.0.1", "true"]);
        ssh.status().unwrap().success()
    });
    let (mut work, before) = (Work::new(), state());
    let uri = "qemu+ssh://root@127.0.0.1:2222/system?keyfile=/run/ssh/user&no_verify=1";
    work.cluster.inventory.machines.settings = json!({"uri": uri, "pool": "ocp4", "accelerator": "tcg"});
    // Every call is a login: without the machines, which only virsh knows.
    let actions: Vec<Action> =
        work.actions().into_iter().filter(|action| !action.id.starts_with("machine/")).collect();
    work.up(&actions);
    assert_eq!(work.up(&actions), [""; 0]);
    assert!(state()["rules"].contains("masquerade") && state()["processes"].contains("haproxy"));
    let LoadBalancer::Haproxy { admin_socket } = work.provider().load_balancer() else { panic!("not ours") };
    assert!(servers(&admin_socket).unwrap().iter().any(|server| server.name == "bootstrap"));
    work.down();
    assert_eq!(state(), before);
    assert!(!admin_socket.exists());
}
