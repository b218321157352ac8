//! `hardway diff --against DIR`

use hardway_assets::diff;

use crate::cli::{DiffArgs, Format, Global};
use crate::output::Output;
use crate::report::{EXIT_ERROR, Report};
use crate::workdir::Workdir;

/// Compares by meaning. Exit 0 when every difference has a reason, 1 when one has not.
pub(crate) fn run(global: &Global, args: &DiffArgs, out: &Output) -> Result<u8, Report> {
    let ours = Workdir::open(&global.dir)?.everything()?;
    let theirs = Workdir::open(&args.against)?.everything()?;
    let differences = diff::compare(&ours, &theirs);
    match args.output {
        Format::Text => out.data(&diff::report(&differences)),
        format => out.value(&serde_json::to_value(&differences).unwrap_or_default(), format),
    }
    Ok(if differences.iter().all(|difference| difference.reason.is_some()) { 0 } else { EXIT_ERROR })
}
