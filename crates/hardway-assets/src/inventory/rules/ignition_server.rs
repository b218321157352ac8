//! The address of the ignition server.

use hardway_base::redaction::HIDDEN;

use super::super::ServerUrl;
use super::super::draft::Draft;
use crate::schema::Findings;
use crate::violation::Violation;

pub(super) fn check(draft: &Draft<'_>, findings: &mut Findings<'_>) {
    if let Some(url) = &draft.ignition_server
        && let Err(reason) = ServerUrl::parse(url)
    {
        // A password that was put there must not be shown.
        let shown = if url.contains('@') { HIDDEN } else { url };
        findings.error(Violation::invalid("ignitionServer.url", shown, reason));
    }
}
