//! Who fetched which config.

use crate::diagnosis::evidence::Evidence;

use super::nodes::awaited;

/// More often than an install with a mistake or two needs.
const OFTEN: usize = 4;

pub(in crate::diagnosis) fn again_and_again(evidence: &Evidence) -> Vec<String> {
    let Some(fetched) = &evidence.fetched else { return Vec::new() };
    let is_node = |name: &str| evidence.state.nodes.contains_key(name);
    let often = fetched.iter().filter(|(node, times)| **times >= OFTEN && !is_node(node));
    often.map(|(node, times)| format!("{node} fetched its config {times} times and is no node")).collect()
}

/// Counts only when others did fetch theirs from here: configs may also travel on media.
pub(in crate::diagnosis) fn never_fetched(evidence: &Evidence) -> Vec<String> {
    let Some(fetched) = evidence.fetched.as_ref().filter(|fetched| !fetched.is_empty()) else {
        return Vec::new();
    };
    let missing = awaited(evidence)
        .filter(|node| !fetched.contains_key(&node.name) && !evidence.state.nodes.contains_key(&node.name));
    missing.map(|node| format!("{} {} has not fetched its config", node.role_name(), node.name)).collect()
}
