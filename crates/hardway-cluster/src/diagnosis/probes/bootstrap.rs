//! The bootstrap host.

use jiff::SignedDuration;

use super::logs;
use crate::bootstrap_progress::{BootstrapReport, State};
use crate::diagnosis::evidence::Evidence;

/// etcd complains from one second on; asking over ssh takes some of that by itself.
const TOO_FAR: SignedDuration = SignedDuration::from_secs(30);

/// A slow request now and then is nothing.
const SLOW: usize = 10;

pub(in crate::diagnosis) fn clocks_differ(evidence: &Evidence) -> Vec<String> {
    let clock = evidence.bootstrap.as_ref().and_then(|report| report.clock);
    let (Some(now), Some(clock)) = (evidence.now, clock) else { return Vec::new() };
    if clock.duration_since(now).abs() < TOO_FAR {
        return Vec::new();
    }
    vec![format!("the bootstrap host's clock says {clock:.0}, this host's {now:.0}")]
}

pub(in crate::diagnosis) fn no_release_image(evidence: &Evidence) -> Vec<String> {
    let pulled = evidence.bootstrap.as_ref().map(BootstrapReport::release_image);
    let failed = pulled.filter(|pulled| {
        pulled.state == State::Failed || pulled.error.is_some() && pulled.state == State::Running
    });
    failed.map(|sentence| sentence.to_string()).into_iter().collect()
}

pub(in crate::diagnosis) fn slow_disk(evidence: &Evidence) -> Vec<String> {
    let patterns: &[&[&str]] = &[&["etcd", "apply request took too long"]];
    if logs::count(evidence, patterns) < SLOW { Vec::new() } else { logs::lines_with(evidence, patterns) }
}

/// A stage that failed. Bootkube tries again by itself, so what runs now is looked at by other probes.
pub(in crate::diagnosis) fn stage_failed(evidence: &Evidence) -> Vec<String> {
    if evidence.is_bootstrap_over() {
        return Vec::new();
    }
    let failed =
        evidence.bootstrap.iter().flat_map(|report| &report.stages).find(|s| s.state == State::Failed);
    let Some(stage) = failed else { return Vec::new() };
    let why = stage.error.as_deref().unwrap_or("no message");
    vec![format!("stage {} failed, attempt {}: {why}", stage.name, stage.tries)]
}
