//! Virtualization by the processor. Without it a control plane is too slow to ever come up.

use std::path::Path;

use super::{is_remote, libvirt_uri};
use crate::preflight::asked_program::{NoAnswer, SHORT, ask_program};
use crate::preflight::check_result::Judged;
use crate::preflight::scene::Scene;

/// What is known of it.
#[derive(Clone, Debug)]
struct Kvm {
    /// Nothing where libvirt is on another host.
    has_device: Option<bool>,
    /// Whether this host is itself a virtual machine.
    is_nested: bool,
    /// libvirt's own answer.
    capabilities: Result<String, NoAnswer>,
}

pub(in crate::preflight) fn kvm(scene: &Scene<'_>) -> Judged {
    let uri = libvirt_uri(scene);
    if scene.setting("accelerator") == Some("tcg") {
        let seen = "the inventory asks for emulated machines (accelerator: tcg)".to_owned();
        return Judged::warned(vec![seen], "leave it out for machines that shall become a cluster");
    }
    let processor = fs_err::read_to_string("/proc/cpuinfo").unwrap_or_default();
    judge(&Kvm {
        has_device: (!is_remote(uri)).then(|| Path::new("/dev/kvm").exists()),
        is_nested: super::processor::flags(&processor).contains(&"hypervisor"),
        capabilities: ask_program("virsh", &["-c", uri, "domcapabilities", "--virttype", "kvm"], SHORT),
    })
}

fn judge(kvm: &Kvm) -> Judged {
    let fix = match kvm.is_nested && kvm.has_device.is_some() {
        true => {
            "this host is a virtual machine: switch nested virtualization on in the host below (kvm_intel or kvm_amd nested=1, CPU host-passthrough)"
        }
        false => "switch virtualization on in the firmware, and load kvm_intel or kvm_amd",
    };
    if kvm.has_device == Some(false) {
        return Judged::refused("/dev/kvm is missing", fix);
    }
    match &kvm.capabilities {
        Ok(_) if kvm.is_nested && kvm.has_device.is_some() => Judged::passed(
            "libvirt can use KVM; this host is itself a virtual machine, which costs some speed",
        ),
        Ok(_) => Judged::passed("libvirt can use KVM"),
        Err(NoAnswer::Failed { said, .. }) if said.contains("failed to connect") => {
            Judged::not_applicable("libvirt does not answer: see libvirt")
        }
        Err(NoAnswer::Missing) => Judged::not_applicable("virsh is missing: see programs"),
        Err(why) => Judged::refused(format!("libvirt cannot use KVM: {why}"), fix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::Verdict;

    #[test]
    fn the_fix_fits_the_host() {
        let good = Kvm { has_device: Some(true), is_nested: false, capabilities: Ok(String::new()) };
        assert_eq!(judge(&good).verdict, Verdict::Passed);
        let gone = judge(&Kvm { has_device: Some(false), ..good.clone() });
        assert_eq!(gone.seen, ["/dev/kvm is missing"]);
        assert!(gone.fix.unwrap().contains("firmware"));
        let nested = judge(&Kvm { has_device: Some(false), is_nested: true, ..good.clone() });
        assert!(nested.fix.unwrap().contains("nested virtualization"));
        let said =
            "invalid argument: KVM is not supported by '/usr/bin/qemu-system-x86_64' on this host".to_owned();
        let refused = Err(NoAnswer::Failed { status: String::new(), said });
        assert!(judge(&Kvm { capabilities: refused, ..good }).seen[0].contains("KVM is not supported"));
    }
}
