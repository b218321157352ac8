//! `hardway graph`

use hardway_assets::graph::{to_dot, to_json, to_mermaid};

use crate::cli::{Global, GraphArgs, GraphFormat};
use crate::inputs::Workdir;
use crate::project::{Checked, example_graph, graph_of};
use crate::release::Reach;
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// The graph of the cluster in the folder; of a made-up one where there is none.
pub(crate) fn run(global: &Global, args: &GraphArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let graph = if workdir.path("install-config.yaml").exists() {
        graph_of(&workdir, Checked::load(&workdir, Reach::local(args.release_dir.as_deref()), out)?)?
    } else {
        out.info("no install-config.yaml here: showing the graph of an example cluster");
        example_graph()?
    };
    match args.output {
        GraphFormat::Dot => out.data(&to_dot(&graph)),
        GraphFormat::Mermaid => out.data(&to_mermaid(&graph)),
        GraphFormat::Json => out.data(&format!("{:#}\n", to_json(&graph))),
    }
    Ok(Exit::Done)
}
