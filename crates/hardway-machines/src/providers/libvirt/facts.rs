//! What the host can do. Looked at once, before planning; a plan is pure from there on.

use super::settings::Settings;
use super::virsh::Virsh;
use crate::actions::{Host, Program};
use crate::providers::place::Place;

/// What was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostFacts {
    /// Whether libvirt offers machines of type kvm.
    pub has_kvm: bool,
    /// Whether systemd runs the host.
    pub has_systemd: bool,
    /// Whether firewalld runs.
    pub has_firewalld: bool,
    /// Whether SELinux is enforcing.
    pub has_selinux: bool,
    /// Who answers the host's own questions about names.
    pub resolver: Resolver,
}

/// Who answers the host's own questions about names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolver {
    /// systemd-resolved, which can ask one server about one domain.
    SystemdResolved,
    /// NetworkManager, which can start a dnsmasq that does so.
    NetworkManager,
    /// A plain resolv.conf, which cannot.
    Other,
}

impl HostFacts {
    /// Looks. What cannot be seen is taken to be as on most hosts: the first action that needs it says what is wrong.
    pub fn look(settings: &Settings) -> Self {
        let hypervisor = Place::of(settings.uri.ssh.as_ref());
        let is = |line: &str| Host::default().run(&hypervisor.run(Program::words(line))).is_ok();
        let prints = |line: &str, what: &str| {
            Host::default()
                .run(&hypervisor.run(Program::words(line)))
                .is_ok_and(|printed| printed.trim() == what)
        };
        let capabilities = Host::default().run(&Virsh::new(&settings.uri).call("capabilities", [""; 0]));
        let has_systemd = is("test -d /run/systemd/system");
        Self {
            has_kvm: capabilities.map_or(true, |text| text.contains("<domain type='kvm'")),
            has_systemd,
            has_firewalld: is("firewall-cmd --state"),
            has_selinux: prints("getenforce", "Enforcing"),
            resolver: match () {
                () if !has_systemd => Resolver::Other,
                () if is("systemctl is-active --quiet systemd-resolved") => Resolver::SystemdResolved,
                () if is("systemctl is-active --quiet NetworkManager") => Resolver::NetworkManager,
                () => Resolver::Other,
            },
        }
    }
}
