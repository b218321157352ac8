//! `hardway graph`

use hardway_assets::graph::{Graph, to_dot, to_json, to_mermaid};

use crate::cli::{Global, GraphArgs, GraphFormat};
use crate::input::{Checked, Project};
use crate::output::Output;
use crate::report::Report;
use crate::workdir::Workdir;

/// The graph of the cluster in the folder; of a made-up one where there is none.
pub(crate) fn run(global: &Global, args: &GraphArgs, out: &Output) -> Result<u8, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let graph = if workdir.text("install-config.yaml")?.is_some() {
        let checked = Checked::load(&workdir, args.release_dir.as_deref(), out)?;
        Project::load(&workdir, checked)?.0.graph
    } else {
        out.info("no install-config.yaml here: this is the graph of a made-up cluster");
        let release = hardway_assets::release_payload::sample();
        Graph::new(hardway_assets::assets(&hardway_assets::example::cluster(), &release))
            .map_err(|error| Report::from_error("asset-failed", &error))?
    };
    match args.output {
        GraphFormat::Dot => out.data(&to_dot(&graph)),
        GraphFormat::Mermaid => out.data(&to_mermaid(&graph)),
        GraphFormat::Json => out.data(&format!("{:#}\n", to_json(&graph))),
    }
    Ok(0)
}
