//! DNS.

use crate::bootstrap_progress::State;
use crate::diagnosis::evidence::Evidence;
use crate::verify::ResolvedName;

/// Wrong addresses are wrong for everybody. A name that is not found here counts only when no host of the cluster is known to
/// have found it.
pub(in crate::diagnosis) fn api_names(evidence: &Evidence) -> Vec<String> {
    let mut wrong: Vec<String> =
        [&evidence.names.api, &evidence.names.api_int].into_iter().flatten().filter_map(foreign).collect();
    if !hosts_resolve(evidence) {
        wrong
            .extend([&evidence.names.api, &evidence.names.api_int].into_iter().flatten().filter_map(missing));
    }
    for stage in evidence.bootstrap.iter().flat_map(|report| &report.stages) {
        if stage.name.starts_with("resolve-api") && stage.state == State::Failed {
            let why = stage.error.as_deref().unwrap_or("it failed");
            wrong.push(format!("bootstrap host, stage {}: {why}", stage.name));
        }
    }
    wrong
}

/// api-int is for nodes; that this host does not find it is no fault then.
pub(in crate::diagnosis) fn only_here(evidence: &Evidence) -> Vec<String> {
    if !hosts_resolve(evidence) {
        return Vec::new();
    }
    evidence.names.api.iter().filter_map(missing).collect()
}

pub(in crate::diagnosis) fn apps(evidence: &Evidence) -> Vec<String> {
    let apps = || evidence.names.apps.iter();
    apps().filter_map(missing).chain(apps().filter_map(foreign)).collect()
}

pub(in crate::diagnosis) fn stray(evidence: &Evidence) -> Vec<String> {
    let Some(ResolvedName { name, found: Ok(found), .. }) = &evidence.names.stray else { return Vec::new() };
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    if found.is_empty() { found } else { vec![format!("{name} is {}", found.join(", "))] }
}

fn hosts_resolve(evidence: &Evidence) -> bool {
    let both = ["resolve-api-url", "resolve-api-int-url"];
    both.iter().all(|stage| evidence.is_stage(stage, State::Done))
        || evidence.state.nodes.values().any(crate::objects::Node::is_ready)
}

fn missing(resolved: &ResolvedName) -> Option<String> {
    match &resolved.found {
        Err(why) => Some(format!("{} does not resolve here: {why}", resolved.name)),
        Ok(found) if found.is_empty() => Some(format!("{} has no address here", resolved.name)),
        Ok(_) => None,
    }
}

fn foreign(resolved: &ResolvedName) -> Option<String> {
    let ResolvedName { name, expected, found } = resolved;
    let foreign = found.iter().flatten().find(|ip| !expected.is_empty() && !expected.contains(ip))?;
    let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
    Some(format!("{name} resolves to {foreign} here, but {} is declared", expected.join(", ")))
}
