//! The daemon that makes virtual machines.

use crate::preflight::asked_program::{NoAnswer, SHORT, ask_program};
use crate::preflight::check_result::Judged;
use crate::preflight::scene::Scene;

/// Where libvirt is, as the inventory says.
pub(in crate::preflight) fn libvirt_uri<'a>(scene: &'a Scene<'_>) -> &'a str {
    scene.setting("uri").unwrap_or("qemu:///system")
}

/// Whether libvirt runs on another host: then this one's disks, memory and ports are not the machines'.
pub(in crate::preflight) fn is_remote(uri: &str) -> bool {
    uri.split_once("://").is_some_and(|(_, rest)| !rest.starts_with('/'))
}

pub(in crate::preflight) fn libvirt(scene: &Scene<'_>) -> Judged {
    let uri = libvirt_uri(scene);
    judge(uri, &ask_program("virsh", &["-c", uri, "version", "--daemon"], SHORT))
}

fn judge(uri: &str, version: &Result<String, NoAnswer>) -> Judged {
    match version {
        Err(NoAnswer::Missing) => Judged::not_applicable("virsh is missing: see programs"),
        Err(why) => Judged::refused(
            format!("virsh -c {uri} version: {why}"),
            "start libvirtd (systemctl enable --now libvirtd), join the group libvirt (usermod -aG libvirt $USER, then log in again), or correct machines.libvirt.uri",
        ),
        // Machines of a session have no network of their own, and end when their user logs out.
        Ok(_) if uri.ends_with("/session") => Judged::refused(
            format!("{uri} is a user's own libvirt, without networks"),
            "set machines.libvirt.uri to qemu:///system",
        ),
        Ok(text) => {
            let daemon = text.lines().find_map(|line| line.strip_prefix("Running against daemon: "));
            Judged::passed(format!("{uri} answers, libvirt {}", daemon.unwrap_or("of unknown version")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preflight::Verdict;

    #[test]
    fn a_daemon_that_does_not_answer_is_named() {
        let version = || Ok("Using library: libvirt 9.0.0\nRunning against daemon: 9.0.0\n".to_owned());
        assert_eq!(judge("qemu:///system", &version()).seen, ["qemu:///system answers, libvirt 9.0.0"]);
        let said = "Failed to connect socket to '/var/run/libvirt/libvirt-sock'".to_owned();
        let down = judge("qemu:///system", &Err(NoAnswer::Failed { status: String::new(), said }));
        assert_eq!((down.verdict, down.seen[0].contains("libvirt-sock")), (Verdict::Failed, true));
        assert_eq!(judge("qemu:///session", &version()).verdict, Verdict::Failed);
    }

    #[test]
    fn a_host_in_the_address_is_another_host() {
        assert!(is_remote("qemu+ssh://root@kvm1/system") && !is_remote("qemu:///system"));
    }
}
