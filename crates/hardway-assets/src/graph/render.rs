//! The graph as text for other programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Graph;

/// Graphviz, phases as clusters.
pub fn to_dot(graph: &Graph) -> String {
    let mut text = "digraph assets {\n  rankdir=LR;\n  node [shape=box];\n".to_owned();
    let mut phase = None;
    for asset in graph.assets() {
        if phase != Some(asset.phase()) {
            if phase.is_some() {
                text.push_str("  }\n");
            }
            phase = Some(asset.phase());
            let _ = writeln!(text, "  subgraph \"cluster_{0}\" {{\n    label=\"{0}\";", asset.phase());
        }
        let _ = writeln!(text, "    \"{}\";", asset.id());
    }
    text.push_str("  }\n");
    for (from, to) in graph.edges() {
        let _ = writeln!(text, "  \"{from}\" -> \"{to}\";");
    }
    text + "}\n"
}

/// Mermaid, for Markdown pages.
pub fn to_mermaid(graph: &Graph) -> String {
    let mut text = "flowchart LR\n".to_owned();
    for asset in graph.assets() {
        let _ = writeln!(text, "  {0}[\"{0}\"]", asset.id());
    }
    for (from, to) in graph.edges() {
        let _ = writeln!(text, "  {from} --> {to}");
    }
    text
}

/// Everything, for scripts.
pub fn to_json(graph: &Graph) -> Value {
    let assets: Vec<Value> = graph
        .assets()
        .map(|asset| {
            json!({
                "id": asset.id(),
                "phase": asset.phase().name(),
                "sources": asset.sources().iter().map(ToString::to_string).collect::<Vec<_>>(),
                "files": asset.outputs().iter().map(|output| output.path.clone()).collect::<Vec<_>>(),
            })
        })
        .collect();
    let edges: Vec<Value> = graph.edges().iter().map(|(from, to)| json!({"from": from, "to": to})).collect();
    json!({"assets": assets, "edges": edges})
}
