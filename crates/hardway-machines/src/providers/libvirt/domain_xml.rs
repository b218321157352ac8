//! A machine as libvirt's XML.
//!
//! Elements are those of libvirt/libvirt docs/formatdomain.rst.

use std::fmt::Write as _;

use super::xml::{Mark, escaped};

/// What differs between machines.
pub(super) struct Domain<'d> {
    pub(super) name: &'d str,
    pub(super) uuid: &'d str,
    /// As install-config says it.
    pub(super) architecture: &'d str,
    pub(super) has_kvm: bool,
    pub(super) cpus: u32,
    pub(super) memory_gib: u32,
    pub(super) pool: &'d str,
    /// Volumes of the pool.
    pub(super) disk: &'d str,
    pub(super) medium: &'d str,
    pub(super) network: &'d str,
    pub(super) mac: &'d str,
    /// The file that its serial console is logged to.
    pub(super) log: &'d str,
}

impl Domain<'_> {
    /// The definition, and the mark in it.
    pub(super) fn xml(&self) -> (String, Mark) {
        let Self { name, uuid, cpus, memory_gib, .. } = self;
        let kind = if self.has_kvm { "kvm" } else { "qemu" };
        let head = format!("<domain type='{kind}'>\n  <name>{name}</name>\n  <uuid>{uuid}</uuid>\n");
        let mut body = format!("  <memory unit='GiB'>{memory_gib}</memory>\n  <vcpu>{cpus}</vcpu>\n");
        body.push_str(&self.firmware());
        // RHCOS 9 needs a processor of level x86-64-v2: QEMU's default is older than that.
        let cpu = if self.has_kvm { "host-passthrough" } else { "maximum" };
        let _ = writeln!(body, "  <cpu mode='{cpu}'/>\n  <clock offset='utc'/>");
        // The installer restarts the machine; with `destroy` it would stay off with the OS on its disk.
        body.push_str("  <on_poweroff>destroy</on_poweroff>\n  <on_reboot>restart</on_reboot>\n  <on_crash>destroy</on_crash>\n");
        body.push_str(&self.devices());
        let mark = Mark::of(&format!("{head}{body}"));
        (format!("{head}{}{body}</domain>\n", mark.metadata()), mark)
    }

    fn firmware(&self) -> String {
        let (attribute, architecture, machine, features) = match self.architecture {
            "arm64" => (" firmware='efi'", "aarch64", "virt", "<acpi/>"),
            _ => ("", "x86_64", "q35", "<acpi/><apic/>"),
        };
        format!(
            "  <os{attribute}>\n    <type arch='{architecture}' machine='{machine}'>hvm</type>\n  </os>\n  \
             <features>{features}</features>\n"
        )
    }

    /// Disk first: while it is empty the firmware goes on to the CD-ROM, and afterwards never again. No screen: a VNC
    /// server without a password is a way in; the serial line is kept in a file and can be typed at with `virsh console`.
    fn devices(&self) -> String {
        let Self { pool, disk, medium, network, mac, log, .. } = self;
        let [pool, disk, medium, network, log] = [pool, disk, medium, network, log].map(|text| escaped(text));
        let serial = if self.architecture == "arm64" { "system-serial" } else { "isa-serial" };
        format!(
            "  <devices>
    <disk type='volume' device='disk'>
      <driver name='qemu' type='qcow2' discard='unmap'/>
      <source pool='{pool}' volume='{disk}'/>
      <target dev='vda' bus='virtio'/>
      <boot order='1'/>
    </disk>
    <disk type='volume' device='cdrom'>
      <driver name='qemu' type='raw'/>
      <source pool='{pool}' volume='{medium}'/>
      <target dev='sda' bus='{cdrom}'/>
      <readonly/>
      <boot order='2'/>
    </disk>
    <interface type='network'>
      <mac address='{mac}'/>
      <source network='{network}'/>
      <model type='virtio'/>
    </interface>
    <serial type='pty'>
      <log file='{log}' append='on'/>
      <target type='{serial}' port='0'/>
    </serial>
    <console type='pty'>
      <target type='serial' port='0'/>
    </console>
    <rng model='virtio'>
      <backend model='random'>/dev/urandom</backend>
    </rng>
  </devices>
",
            cdrom = if self.architecture == "arm64" { "scsi" } else { "sata" },
        )
    }
}
