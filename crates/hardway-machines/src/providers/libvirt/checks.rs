//! What libvirt asks of this host before anything is built.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use hardway_assets::Cluster;
use hardway_base::Judged;

use crate::check::{CheckedSite, NoAnswer, SHORT, ask_program};

// The daemon that makes virtual machines.

/// Where libvirt is, as the inventory says.
pub(super) fn uri(cluster: &Cluster) -> &str {
    cluster.inventory.machines.settings["uri"].as_str().unwrap_or("qemu:///system")
}

/// Whether libvirt runs on another host: then this one's disks, memory and ports are not the machines'.
pub(super) fn is_remote(uri: &str) -> bool {
    uri.split_once("://").is_some_and(|(_, rest)| !rest.starts_with('/'))
}

pub(super) fn libvirt(site: &CheckedSite<'_>) -> Judged {
    let uri = uri(site.cluster);
    judge_daemon(uri, &ask_program("virsh", &["-c", uri, "version", "--daemon"], SHORT))
}

fn judge_daemon(uri: &str, version: &Result<String, NoAnswer>) -> Judged {
    match version {
        Err(NoAnswer::Missing) => Judged::not_applicable("virsh is missing: see programs"),
        Err(why) => Judged::refused(
            format!("virsh -c {uri} version: {why}"),
            "start libvirtd (systemctl enable --now libvirtd), join the group libvirt (usermod -aG libvirt $USER, then log in again), or correct machines.libvirt.uri",
        ),
        // Machines of a session have no network of their own, and end when their user logs out.
        Ok(_) if uri.ends_with("/session") => Judged::refused(
            format!("{uri} is a user session of libvirt, which has no networks"),
            "set machines.libvirt.uri to qemu:///system",
        ),
        Ok(text) => {
            let daemon = text.lines().find_map(|line| line.strip_prefix("Running against daemon: "));
            Judged::passed(format!("{uri} answers, libvirt {}", daemon.unwrap_or("of unknown version")))
        }
    }
}

// Virtualization by the processor. Without it a control plane is too slow to ever come up.

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

pub(super) fn kvm(site: &CheckedSite<'_>) -> Judged {
    let uri = uri(site.cluster);
    if site.setting("accelerator") == Some("tcg") {
        let seen = "the inventory asks for emulated machines (accelerator: tcg)".to_owned();
        return Judged::warned(vec![seen], "remove it for machines of a real cluster");
    }
    let processor = fs_err::read_to_string("/proc/cpuinfo").unwrap_or_default();
    judge_kvm(&Kvm {
        has_device: (!is_remote(uri)).then(|| Path::new("/dev/kvm").exists()),
        is_nested: flags(&processor).contains(&"hypervisor"),
        capabilities: ask_program("virsh", &["-c", uri, "domcapabilities", "--virttype", "kvm"], SHORT),
    })
}

fn judge_kvm(kvm: &Kvm) -> Judged {
    let fix = match kvm.is_nested && kvm.has_device.is_some() {
        true => {
            "this host is a virtual machine: enable nested virtualization on its hypervisor (kvm_intel or kvm_amd nested=1, \
             CPU host-passthrough)"
        }
        false => "enable virtualization in the firmware, and load kvm_intel or kvm_amd",
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

// Whether the processor is new enough for the system that runs on the machines.

/// What x86-64-v2 adds (x86-64 psABI, table 3.1), by the kernel's names. RHEL 9 is built for it.
const NEEDED: [&str; 7] = ["cx16", "lahf_lm", "pni", "popcnt", "sse4_1", "sse4_2", "ssse3"];

pub(super) fn processor(site: &CheckedSite<'_>) -> Judged {
    let architecture = &site.cluster.config.control_plane.architecture;
    if is_remote(uri(site.cluster)) {
        return Judged::not_applicable("the machines are on another host");
    }
    if architecture != "amd64" {
        return Judged::not_applicable(format!("there are no requirements for {architecture}"));
    }
    judge_processor(&fs_err::read_to_string("/proc/cpuinfo").unwrap_or_default())
}

/// The flags of the first processor.
pub(super) fn flags(cpuinfo: &str) -> Vec<&str> {
    let line = cpuinfo.lines().find_map(|line| line.strip_prefix("flags"));
    line.and_then(|line| line.split_once(':'))
        .map_or_else(Vec::new, |(_, flags)| flags.split_whitespace().collect())
}

fn judge_processor(cpuinfo: &str) -> Judged {
    let flags = flags(cpuinfo);
    let missing: Vec<&str> = NEEDED.iter().copied().filter(|flag| !flags.contains(flag)).collect();
    if missing.is_empty() {
        return Judged::passed("the processor supports x86-64-v2");
    }
    Judged::refused(
        format!("the processor lacks {} of x86-64-v2", missing.join(", ")),
        "use another host; if this one is a virtual machine, give it the CPU model host-passthrough",
    )
}

// Where disks and install media of virtual machines lie.

/// Where libvirt's own pool is, and below which build-infra makes others.
const USUAL: &str = "/var/lib/libvirt/images";

/// A pool.
#[derive(Clone, Debug)]
struct Pool {
    name: String,
    /// What `virsh pool-info` says.
    info: Result<String, NoAnswer>,
    folder: PathBuf,
    /// Each folder on the way, with its permissions.
    way: Vec<(PathBuf, u32)>,
}

pub(super) fn libvirt_pool(site: &CheckedSite<'_>) -> Judged {
    let (uri, name) = (uri(site.cluster), pool_name(site));
    let info = ask_program("virsh", &["-c", uri, "pool-info", name], SHORT);
    let folder = pool_folder(site).unwrap_or_else(|_| to_be_made(site));
    let way = if is_remote(uri) { Vec::new() } else { way(&folder) };
    judge_pool(&Pool { name: name.to_owned(), info, folder, way })
}

/// The folder of the pool that the inventory names; the usual one where build-infra has yet to make it. An error where libvirt
/// does not answer.
pub(super) fn pool_folder(site: &CheckedSite<'_>) -> Result<PathBuf, NoAnswer> {
    let text = ask_program("virsh", &["-c", uri(site.cluster), "pool-dumpxml", pool_name(site)], SHORT);
    match text {
        Ok(xml) => Ok(path_in(&xml).unwrap_or_else(|| to_be_made(site))),
        Err(NoAnswer::Failed { said, .. }) if !said.contains("failed to connect") => Ok(to_be_made(site)),
        Err(why) => Err(why),
    }
}

fn to_be_made(site: &CheckedSite<'_>) -> PathBuf {
    let own = match pool_name(site) {
        "default" => PathBuf::from(USUAL),
        name => Path::new(USUAL).join(name),
    };
    site.setting("poolPath").map_or(own, PathBuf::from)
}

fn pool_name<'a>(site: &'a CheckedSite<'_>) -> &'a str {
    site.setting("pool").unwrap_or("default")
}

/// `<target><path>…</path>`
fn path_in(xml: &str) -> Option<PathBuf> {
    let (_, target) = xml.split_once("<target>")?;
    let (_, path) = target.split_once("<path>")?;
    Some(PathBuf::from(path.split_once("</path>")?.0.trim()))
}

fn way(folder: &Path) -> Vec<(PathBuf, u32)> {
    let there = folder
        .ancestors()
        .filter_map(|folder| Some((folder.to_owned(), fs_err::metadata(folder).ok()?.mode())));
    there.collect()
}

/// qemu runs as a user of its own: each folder on the way must let everybody through.
fn judge_pool(pool: &Pool) -> Judged {
    let Pool { name, info, folder, way } = pool;
    let shut = way.iter().filter(|(_, mode)| mode & 0o001 == 0).map(|(folder, mode)| {
        format!("{} (mode {:o}) keeps the qemu user out of pool {name}", folder.display(), mode & 0o7777)
    });
    let wrong: Vec<String> = shut.collect();
    if !wrong.is_empty() {
        let first = way.iter().find(|(_, mode)| mode & 0o001 == 0).map_or(folder, |(folder, _)| folder);
        let fix = format!("run chmod o+x {}, or use a pool elsewhere, such as {USUAL}", first.display());
        return Judged::failed(wrong, fix);
    }
    match info {
        Err(NoAnswer::Missing) => Judged::not_applicable("virsh is missing: see programs"),
        Err(why) if why.to_string().contains("failed to connect") => {
            Judged::not_applicable("libvirt does not answer: see libvirt")
        }
        Err(_) => Judged::passed(format!("pool {name} does not exist yet: build-infra creates it")),
        Ok(info) if !info.lines().any(|line| line.starts_with("State:") && line.ends_with("running")) => {
            Judged::passed(format!("pool {name} is not running yet: build-infra starts it"))
        }
        Ok(_) => Judged::passed(format!("pool {name} is running, in {}", folder.display())),
    }
}

#[cfg(test)]
mod tests {
    use hardway_base::Verdict;

    use super::*;

    #[test]
    fn a_daemon_that_does_not_answer_is_named() {
        let version = || Ok("Using library: libvirt 9.0.0\nRunning against daemon: 9.0.0\n".to_owned());
        assert_eq!(
            judge_daemon("qemu:///system", &version()).seen,
            ["qemu:///system answers, libvirt 9.0.0"]
        );
        let said = "Failed to connect socket to '/var/run/libvirt/libvirt-sock'".to_owned();
        let down = judge_daemon("qemu:///system", &Err(NoAnswer::Failed { status: String::new(), said }));
        assert_eq!((down.verdict, down.seen[0].contains("libvirt-sock")), (Verdict::Failed, true));
        assert_eq!(judge_daemon("qemu:///session", &version()).verdict, Verdict::Failed);
    }

    #[test]
    fn a_host_in_the_address_is_another_host() {
        assert!(is_remote("qemu+ssh://root@kvm1/system") && !is_remote("qemu:///system"));
    }

    #[test]
    fn the_fix_fits_the_host() {
        let good = Kvm { has_device: Some(true), is_nested: false, capabilities: Ok(String::new()) };
        assert_eq!(judge_kvm(&good).verdict, Verdict::Passed);
        let gone = judge_kvm(&Kvm { has_device: Some(false), ..good.clone() });
        assert_eq!(gone.seen, ["/dev/kvm is missing"]);
        assert!(gone.fix.unwrap().contains("firmware"));
        let nested = judge_kvm(&Kvm { has_device: Some(false), is_nested: true, ..good.clone() });
        assert!(nested.fix.unwrap().contains("nested virtualization"));
        let said =
            "invalid argument: KVM is not supported by '/usr/bin/qemu-system-x86_64' on this host".to_owned();
        let refused = Err(NoAnswer::Failed { status: String::new(), said });
        assert!(judge_kvm(&Kvm { capabilities: refused, ..good }).seen[0].contains("KVM is not supported"));
    }

    #[test]
    fn every_flag_can_be_the_one_that_is_missing() {
        let with =
            |flags: &[&str]| format!("processor\t: 0\nflags\t\t: fpu {}\nbugs\t\t: none\n", flags.join(" "));
        assert_eq!(judge_processor(&with(&NEEDED)).verdict, Verdict::Passed);
        for gone in NEEDED {
            let rest: Vec<&str> = NEEDED.iter().copied().filter(|flag| *flag != gone).collect();
            let judged = judge_processor(&with(&rest));
            assert_eq!(judged.seen, [format!("the processor lacks {gone} of x86-64-v2")]);
            assert_eq!(judged.verdict, Verdict::Failed);
        }
    }

    fn good() -> Pool {
        let folder = PathBuf::from("/home/me/images");
        let way =
            ["/home/me/images", "/home/me", "/home", "/"].map(|folder| (PathBuf::from(folder), 0o40755));
        let info = Ok("Name:           ocp4\nState:          running\n".to_owned());
        Pool { name: "ocp4".to_owned(), info, folder, way: way.into() }
    }

    #[test]
    fn the_folder_that_is_shut_is_named() {
        assert_eq!(judge_pool(&good()).verdict, Verdict::Passed);
        let mut shut = good();
        shut.way[1].1 = 0o40700;
        let shut = judge_pool(&shut);
        assert_eq!(shut.seen, ["/home/me (mode 700) keeps the qemu user out of pool ocp4"]);
        assert!(shut.fix.unwrap().starts_with("run chmod o+x /home/me,"));
    }

    #[test]
    fn a_pool_that_does_not_run_or_is_not_there_is_build_infras() {
        let stopped = Pool { info: Ok("State:          inactive\n".to_owned()), ..good() };
        assert_eq!(judge_pool(&stopped).seen, ["pool ocp4 is not running yet: build-infra starts it"]);
        let said = "error: Storage pool not found: no storage pool with matching name 'ocp4'".to_owned();
        let absent = Pool { info: Err(NoAnswer::Failed { status: String::new(), said }), ..good() };
        assert_eq!(judge_pool(&absent).verdict, Verdict::Passed);
    }

    #[test]
    fn the_path_is_that_of_the_target() {
        let xml = "<pool><source><path>no</path></source><target>\n<path>/srv/vm</path></target></pool>";
        assert_eq!(path_in(xml), Some(PathBuf::from("/srv/vm")));
        assert_eq!(path_in("<pool/>"), None);
    }
}
