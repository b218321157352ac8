//! `hardway version`

use serde_json::json;

use crate::cli::{Format, VersionArgs};
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// The same as `--version`, for programs too.
pub(crate) fn run(args: &VersionArgs, out: &Output) -> Result<Exit, Report> {
    let (name, version) = ("hardway", env!("CARGO_PKG_VERSION"));
    match args.output {
        Format::Text => out.data(&format!("{name} {version}\n")),
        format => out.value(&json!({"name": name, "version": version}), format),
    }
    Ok(Exit::Done)
}
