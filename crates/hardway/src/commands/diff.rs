//! `hardway diff --against DIR`

use std::path::Path;

use hardway_assets::{Tree, diff};

use crate::cli::{DiffArgs, Format, Global};
use crate::inputs::Workdir;
use crate::report::{Code, Exit, Report, is_there};
use crate::terminal::Output;

/// Compares by meaning. Exit 0 when every difference has a reason, 1 when one has not.
pub(crate) fn run(global: &Global, args: &DiffArgs, out: &Output) -> Result<Exit, Report> {
    is_there(&args.against)?;
    if !args.against.is_dir() {
        return Err(Report::new(Code::Usage, format!("{} is not a folder", args.against.display()))
            .fix("name the output folder of openshift-install"));
    }
    let theirs = made_in(&args.against, "name the output folder of openshift-install with --against")?;
    let ours = made_in(&global.dir, "run `hardway create ignition-configs` first")?;
    let differences = diff::compare(&ours, &theirs);
    match args.output {
        Format::Text => out.data(&diff::report(&differences)),
        format => out.value(&serde_json::to_value(&differences).unwrap_or_default(), format),
    }
    Ok(if differences.iter().all(|difference| difference.reason.is_some()) {
        Exit::Done
    } else {
        Exit::Error
    })
}

/// The files of a folder in which something was made: two empty folders are not two equal clusters.
fn made_in(dir: &Path, fix: &str) -> Result<Tree, Report> {
    let tree = Workdir::open(dir)?.everything()?;
    let is_made = |path: &str| {
        path.ends_with(".ign") || path.starts_with("manifests/") || path.starts_with("openshift/")
    };
    if tree.iter().any(|(path, _)| is_made(path)) {
        return Ok(tree);
    }
    Err(Report::new(Code::Usage, format!("{} has no manifests and no Ignition configs", dir.display()))
        .fix(fix))
}
