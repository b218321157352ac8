//! A stall: nothing has happened for a while.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::{HostProgress, HostReport};
use crate::providers::Installs;

/// After how long without news a machine is worth a look.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(15);

/// A machine that stands still.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stall {
    /// As in the inventory.
    pub host: String,
    /// For how long nothing was heard.
    pub minutes: i64,
    /// What to look at, the likeliest first.
    pub look_at: Vec<String>,
}

/// Whether nothing was heard of a machine for longer than that. `begun` is when it was first waited for: of a machine
/// that never said anything, nothing else is known.
pub fn stall(
    state: &HostReport,
    begun: Timestamp,
    now: Timestamp,
    patience: SignedDuration,
) -> Option<Stall> {
    if state.progress == HostProgress::Joined {
        return None;
    }
    let quiet = now.duration_since(state.heard.unwrap_or(begun).max(begun));
    let (host, minutes) = (state.host.clone(), quiet.as_mins());
    (quiet > patience).then(|| Stall { host, minutes, look_at: look_at(state) })
}

/// The failures that show themselves as silence in this state.
fn look_at(state: &HostReport) -> Vec<String> {
    let mut found = Vec::new();
    if state.is_on == Some(false) && state.progress > HostProgress::Off {
        found.push("it is off: switch it on, or check its management controller's log for the reason");
    }
    if let Some(refused) = &state.refused {
        let mut text = vec![format!(
            "its kubelet's certificate request was not approved: {refused}; see `hardway approve --dry-run`"
        )];
        text.extend(found.into_iter().map(str::to_owned));
        return text;
    }
    found.extend(match (state.progress, state.installs) {
        (HostProgress::Off, _) => &[
            "whether it has power",
            "without a management controller, the first visible progress is that it fetches its config",
        ][..],
        (HostProgress::On, Installs::FromMedia) => &[
            "its console: whether it boots the install medium, or what was on its disk before",
            "whether the management controller reached the medium: whether it is still inserted, and the ISO server was \
             contacted",
            "whether the disk in installDisk exists: the installer waits for it",
            "its path to the ignition server: address, gateway, VLAN, firewall, and its clock (the certificate may not be \
             valid yet)",
        ],
        (HostProgress::On, Installs::FromImage) => &[
            "its console: `GET …: attempt #N` shows what it cannot reach",
            "its path to the ignition server: route and firewall to the address in ignitionServer.url",
            "whether it got its pointer config as user-data",
        ],
        (HostProgress::Seen, Installs::FromMedia) => &[
            "its console: the installer shows how much of the image is written",
            "whether it is the right disk, and not a failing one",
        ],
        (HostProgress::Seen, Installs::FromImage) => &[
            "its console: Ignition names the file or unit it could not write, and stops in an emergency shell",
            "whether it can pull from the registries: the first boot replaces the OS by the release's and restarts",
        ],
        (HostProgress::OsWritten, _) => &[
            "its boot order: the disk must come first, or it reinstalls itself forever",
            "whether the medium was ejected",
        ],
        (HostProgress::Rebooted, _) => &[
            "whether it can pull from the registries: the first boot replaces the OS by the release's and restarts",
            "on the host: journalctl -u machine-config-daemon-firstboot -u kubelet",
            "whether api-int resolves there and port 6443 answers",
        ],
        (HostProgress::KubeletUp | HostProgress::Joined, _) => &[
            "whether its second certificate request is approved: `hardway approve --watch` must run",
            "on the host: journalctl -u kubelet",
        ],
    });
    found.into_iter().map(str::to_owned).collect()
}
