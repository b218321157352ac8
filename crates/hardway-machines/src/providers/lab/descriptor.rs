//! The lab, as the rest of hardway knows it.

use hardway_assets::inventory;
use hardway_base::Judged;
use hardway_base::podman;

use super::{IMAGES, Lab, LabSettings, LabSite, checks};
use crate::check::{CheckName, FITS, NAMES};
use crate::providers::Provider;
use crate::providers::advice::Complaint;
use crate::providers::descriptor::{
    Descriptor, Footprint, GATEWAY, Ground, Inputs, NeededProgram, ProviderError, ProviderSurroundings,
    Sample,
};

/// The provider's row.
pub static DESCRIPTOR: Descriptor = Descriptor {
    keeps: Some(IMAGES),
    lab: Some(LabSite::of),
    sample: Sample {
        settings: "",
        name_server: GATEWAY,
        release: Some("192.168.126.1:5000/hardway-lab/release:lab"),
        server: "",
        hosts: "",
        host: |n| format!(", mac: \"52:54:00:7e:00:{n:02x}\", installDisk: /dev/vda"),
        is_complete: true,
    },
    complaints: COMPLAINTS,
    checks: &[NAMES, FITS],
    own_checks: &[
        (CheckName::Root, checks::root),
        (CheckName::ContainerRuntime, checks::container_runtime),
        (CheckName::Inotify, checks::inotify),
        (CheckName::Kernel, checks::kernel),
        (CheckName::LabFiles, checks::lab_files),
    ],
    surroundings: ProviderSurroundings {
        ground: |_| Ground::Namespace,
        brings_names: |_| true,
        registry: Some("the lab has its own registry"),
        needs_podman: true,
        programs: |_| PROGRAMS.to_vec(),
        // Measured: see lab/README.md.
        footprint: Footprint::Measured {
            memory: [1100, 300, 200],
            disk: [1 << 30, 3 << 30],
            one_processor: "this host has one processor: the lab's control planes need at least two to start",
        },
        disks: |_| {
            checks::storage_folder().map_err(|why| {
                Judged::not_applicable(format!(
                    "podman does not report its storage path: {why}; see container-runtime"
                ))
            })
        },
        ..ProviderSurroundings::ELSEWHERE
    },
    ..Descriptor::new(
        inventory::Provider::Lab,
        |cluster, findings| drop(LabSettings::look(cluster, findings)),
        planner,
    )
};

fn planner(inputs: &Inputs<'_>) -> Result<Box<dyn Provider>, ProviderError> {
    let Inputs { cluster, folder, program, stage } = *inputs;
    let site = LabSite::of(cluster)?;
    let (program, folder) = (program.to_owned(), folder.to_owned());
    let podman_options = podman::limits_here().into_iter().chain(podman::runtime_here()).collect();
    let (cluster, watches) = (cluster.clone(), watches());
    Ok(Box::new(Lab { cluster, site, program, folder, stage, watches, podman_options }))
}

/// Where it cannot be read there is no limit that matters.
fn watches() -> u32 {
    let text = fs_err::read_to_string(checks::INOTIFY_LIMIT).unwrap_or_default();
    text.trim().parse().unwrap_or(u32::MAX)
}

const PROGRAMS: [NeededProgram; 10] = [
    NeededProgram::new("ip", "iproute2", "the lab's network"),
    NeededProgram::new("nsenter", "util-linux", "the lab's network"),
    NeededProgram::new("unshare", "util-linux", "the lab's network"),
    NeededProgram::new("jq", "jq", "the lab's release"),
    NeededProgram::new("curl", "curl", "the lab's machines"),
    NeededProgram::new("mmdebstrap", "mmdebstrap", "the nodes' root file system"),
    NeededProgram::new("go", "golang", "the lab's programs"),
    NeededProgram::new("busybox", "busybox-static", "the lab's images"),
    NeededProgram::new("skopeo", "skopeo", "the lab's release"),
    NeededProgram::new("docker-registry", "docker-registry", "the lab's release"),
];

/// What to do about the words that podman and the lab's scripts complain with.
const COMPLAINTS: &[Complaint] = &[
    Complaint {
        words: &["podman", "could not be started"],
        advice: "podman is not installed: install the package podman",
    },
    Complaint {
        words: &["No space left on device"],
        advice: "the disk with podman's images is full: `podman system df` shows what uses it, `podman system prune` frees \
         what is unused",
    },
    Complaint {
        words: &["File exists", "netns"],
        advice: "another lab of this name exists: run `hardway destroy` in its folder, or choose another name with \
         machines.lab.name",
    },
    Complaint {
        words: &["is already in use by", "podman container"],
        advice: "a container of this name exists and is not part of this lab: `podman ps --all` shows it; remove it, or choose \
         another name with machines.lab.name",
    },
    Complaint {
        words: &["Too many open files"],
        advice: "the host has too few inotify instances for so many machines: `sysctl fs.inotify.max_user_instances=1024`",
    },
    Complaint {
        words: &["no release with real operators"],
        advice: "put one together with `hardway lab release --from PULLSPEC` or `--programs DIR`, or set machines.lab.operators to \
         stand-ins",
    },
    Complaint {
        words: &["Operation not permitted"],
        advice: "only root can create the lab's networks and machines: run hardway as root",
    },
];
