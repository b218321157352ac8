//! The lab, as the rest of hardway knows it.

use hardway_assets::inventory;

use super::{IMAGES, Lab, LabSettings, Place, checks};
use crate::preflight::{CheckName, FITS, Judged, NAMES};
use crate::providers::Provider;
use crate::providers::advice::Complaint;
use crate::providers::descriptor::{
    Descriptor, Footprint, Ground, Inputs, NeededProgram, ProviderError, Sample, Surroundings,
};

/// The provider's row.
pub static DESCRIPTOR: Descriptor = Descriptor {
    keeps: Some(IMAGES),
    place: Some(Place::of),
    sample: Sample {
        settings: "",
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
    surroundings: Surroundings {
        ground: |_| Ground::Namespace,
        brings_names: true,
        registry: Some("the lab has a registry of its own"),
        needs_podman: true,
        programs: |_| PROGRAMS.to_vec(),
        // Measured: see lab/README.md.
        footprint: Footprint::Measured {
            memory: [1100, 300, 200],
            disk: [1 << 30, 3 << 30],
            one_processor: "this host has one processor: control planes of the lab do not come up with less than two",
        },
        disks: |_| {
            checks::storage_folder().map_err(|why| {
                Judged::not_applicable(format!("podman does not say where: {why}; see container-runtime"))
            })
        },
        ..Surroundings::ELSEWHERE
    },
    ..Descriptor::new(
        inventory::Provider::Lab,
        |cluster, findings| drop(LabSettings::look(cluster, findings)),
        planner,
    )
};

fn planner(inputs: &Inputs<'_>) -> Result<Box<dyn Provider>, ProviderError> {
    let Inputs { cluster, folder, program, stage } = *inputs;
    let place = Place::of(cluster)?;
    let (program, folder) = (program.to_owned(), folder.to_owned());
    Ok(Box::new(Lab { cluster: cluster.clone(), place, program, folder, stage, watches: watches() }))
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
        advice: "the disk of podman's images is full: `podman system df` says of what, `podman system prune` frees what nobody uses",
    },
    Complaint {
        words: &["File exists", "netns"],
        advice: "another lab of this name is there: `hardway destroy` in its folder, or another name with machines.lab.name",
    },
    Complaint {
        words: &["is already in use by", "podman container"],
        advice: "a container of this name is there and is not this lab's: `podman ps --all` shows it; remove it, or choose another name with machines.lab.name",
    },
    Complaint {
        words: &["Too many open files"],
        advice: "the host has too few inotify instances for so many machines: `sysctl fs.inotify.max_user_instances=1024`",
    },
    Complaint {
        words: &["Operation not permitted"],
        advice: "labs make networks and machines, which only root may: run hardway as root",
    },
];
