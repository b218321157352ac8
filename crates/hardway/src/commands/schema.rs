//! `hardway schema`

use hardway_assets::schema;

use crate::cli::{Format, SchemaArgs, SchemaFile};
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// For the `yaml.schemas` setting of editors.
pub(crate) fn run(args: &SchemaArgs, out: &Output) -> Result<Exit, Report> {
    let schema = match args.file {
        SchemaFile::InstallConfig => schema::install_config_schema(),
        SchemaFile::Inventory => schema::inventory_schema(),
    };
    out.value(&schema, Format::Json);
    Ok(Exit::Done)
}
