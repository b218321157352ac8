//! A host of the test's own: namespaces in which the test itself runs. What it starts there ends with it.

use std::io::Write as _;
use std::process::Command;

use crate::{succeed, until};

/// Lines that a test there begins so are passed on.
const MEASURED: &str = "measured: ";

const INSIDE: &str = "HARDWAY_TEST_INSIDE";

/// What libvirt and hardway write goes to memory. Control groups are left to those outside.
const LIBVIRT: &str = "
mount --make-rprivate /
umount --recursive --lazy /sys
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
mkdir -p /run/old/etc /run/work/etc /run/libvirt /run/lock
mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/old/etc,workdir=/run/work/etc /etc
for folder in lib cache log; do
  mkdir -p /run/old/$folder
  cp -a /var/$folder/libvirt/. /run/old/$folder/
  mount --bind /run/old/$folder /var/$folder/libvirt
done
rm -f /etc/libvirt/qemu/networks/*.xml /etc/libvirt/qemu/networks/autostart/*
mkdir -p /var/log/libvirt/qemu
echo 'cgroup_controllers = []' >>/etc/libvirt/qemu.conf
virtlogd --daemon
libvirtd --daemon
";

/// What hardway writes goes to memory. Units that are there already are others'.
const UNITS: &str = "
mount --make-rprivate /
mount -t tmpfs tmpfs /run
mkdir -p /run/old/etc /run/work/etc
mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/old/etc,workdir=/run/work/etc /etc
mkdir -p /run/systemd/system /etc/systemd/system
";

const SYSTEMCTL: &str = include_str!("systemctl.sh");

/// Outside it starts this very test in namespaces of its own and gives back false; there it gives back true, and the test
/// goes on, on a host whose only interface is loopback. Needs root, and the test's own thread: it has the test's name.
///
/// # Panics
/// When the test fails there.
pub fn inside() -> bool {
    if std::env::var_os(INSIDE).is_some() {
        succeed(Command::new("ip").args(["link", "set", "lo", "up"]));
        return true;
    }
    let thread = std::thread::current();
    let test = thread.name().expect("the thread of a test has its name");
    let output = Command::new("unshare")
        .args(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"])
        // The first process of a namespace has to bury the others; libvirtd waits for that.
        .args(["bash", "-c", "\"$@\"; exit $?", "init"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    for line in said.lines().filter(|line| line.starts_with(MEASURED)) {
        let _ = writeln!(std::io::stderr(), "{line}");
    }
    false
}

/// A host that has systemd's folders, and a stand-in for systemctl (`systemctl.sh` says what it leaves out). /etc and /run are its own.
pub fn inside_with_units() -> bool {
    if !inside() {
        return false;
    }
    succeed(Command::new("bash").args(["-ec", &own_units_script()]));
    true
}

/// The script that makes it so for whoever runs it in a mount namespace of their own.
pub fn own_units_script() -> String {
    format!(
        "{UNITS}cat >/run/stand-in <<'END_OF_STAND_IN'\n{SYSTEMCTL}END_OF_STAND_IN\nchmod +x /run/stand-in\nmount --bind /run/stand-in /usr/bin/systemctl\n"
    )
}

/// The same with a libvirtd of its own, at `qemu:///system`.
pub fn inside_with_libvirt() -> bool {
    if !inside() {
        return false;
    }
    succeed(Command::new("sh").args(["-ec", LIBVIRT]));
    until("libvirtd answers", || {
        Command::new("virsh").args(["-c", "qemu:///system", "version"]).output().unwrap().status.success()
    });
    true
}
