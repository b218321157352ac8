//! `hardway check images`

use hardway_manifests::{PipelineRow, junit, sarif};
use serde_json::{Value, json};

use crate::cli::{CheckImagesArgs, FindingsFormat, Format, Global};
use crate::inputs::{InputFiles, Workdir};
use crate::project::{self, Hole, ImageCheck, ImagesSought};
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// Looks for every image as nodes will. Exit code 2 when one of them cannot be had.
pub(crate) fn run(global: &Global, args: &CheckImagesArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let files = InputFiles::open(&workdir)?;
    let cluster = project::cluster_before_release(&workdir, &files)?;
    let check = ImageCheck::prepare(&workdir, &files, &cluster, &(&args.registry).into(), args.deep, out)?;
    let sought = check.look(out)?;
    let rows: Vec<PipelineRow> = sought.holes.iter().map(Hole::row).collect();
    let cases: Vec<&str> = sought.images.iter().map(String::as_str).collect();
    match args.output {
        FindingsFormat::Text => return tell(&sought, out),
        FindingsFormat::Json => out.value(&value(&sought), Format::Json),
        FindingsFormat::Yaml => out.value(&value(&sought), Format::Yaml),
        FindingsFormat::Junit => out.data(&junit("images", &cases, &rows)),
        FindingsFormat::Sarif => out.value(&sarif(env!("CARGO_PKG_VERSION"), &rows), Format::Json),
    }
    Ok(if sought.errors().next().is_none() { Exit::Done } else { Exit::Usage })
}

fn tell(sought: &ImagesSought, out: &Output) -> Result<Exit, Report> {
    sought.warnings().iter().for_each(|warning| out.finding(warning));
    sought.unchecked.iter().for_each(|what| out.info(&format!("not checked: {what}")));
    if let Some(report) = sought.refused() {
        return Err(report);
    }
    let left_out = match sought.left_out.len() {
        0 => String::new(),
        count => format!("; {count} more of the release are not for this cluster"),
    };
    out.info(&format!("all {} images are where nodes will look for them{left_out}", sought.images.len()));
    Ok(Exit::Done)
}

fn value(sought: &ImagesSought) -> Value {
    let holes = sought.holes.iter().map(|hole| {
        let tried = hole
            .tried
            .iter()
            .map(|tried| json!({"place": tried.place, "isMirror": tried.is_mirror, "fault": tried.fault}));
        json!({
            "severity": hole.severity.word(),
            "kind": hole.kind.name(),
            "image": hole.image,
            "component": hole.name,
            "users": hole.users,
            "who": hole.who,
            "file": hole.file,
            "line": hole.line,
            "column": hole.column,
            "message": hole.sentence(),
            "tried": tried.collect::<Vec<_>>(),
            "mapping": hole.mapping,
            "fix": hole.fix,
            "command": hole.command,
        })
    });
    json!({
        "images": sought.images,
        "holes": holes.collect::<Vec<_>>(),
        "leftOut": sought.left_out,
        "unchecked": sought.unchecked,
    })
}
