//! The host that carries the machines.

use crate::diagnosis::evidence::{Api, Evidence};

/// Before the API answered for the first time, nothing says that the addresses were ever there.
pub(in crate::diagnosis) fn addresses_lost(evidence: &Evidence) -> Vec<String> {
    if !evidence.install.api_came_up || !matches!(evidence.api, Api::Silent(_)) {
        return Vec::new();
    }
    let lost = evidence.host.lost_addresses.iter();
    lost.map(|address| format!("no interface of this host has {address}, and the API answered once"))
        .collect()
}

/// A machine that is off has no interface; one that works hangs on a bridge.
pub(in crate::diagnosis) fn interfaces_loose(evidence: &Evidence) -> Vec<String> {
    if evidence.is_settled() {
        return Vec::new();
    }
    let loose = evidence.host.loose_interfaces.iter();
    loose.map(|name| format!("interface {name} of a machine hangs on no bridge")).collect()
}
