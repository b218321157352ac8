//! What to do about the words that podman and the lab's scripts complain with.

use crate::providers::advice::Known;

/// The more special come first.
pub(in crate::providers) const KNOWN: &[Known] = &[
    Known {
        words: &["podman", "could not be started"],
        advice: "podman is not installed: install the package podman",
    },
    Known {
        words: &["No space left on device"],
        advice: "the disk of podman's images is full: `podman system df` says of what, `podman system prune` frees what nobody uses",
    },
    Known {
        words: &["File exists", "netns"],
        advice: "another lab of this name is there: `hardway destroy` in its folder, or another name with machines.lab.name",
    },
    Known {
        words: &["is already in use by", "podman container"],
        advice: "a container of this name is there and is not this lab's: `podman ps --all` shows it; remove it, or choose another name with machines.lab.name",
    },
    Known {
        words: &["Too many open files"],
        advice: "the host has too few inotify instances for so many machines: `sysctl fs.inotify.max_user_instances=1024`",
    },
    Known {
        words: &["Operation not permitted"],
        advice: "labs make networks and machines, which only root may: run hardway as root",
    },
];
