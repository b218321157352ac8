//! `hardway validate schema`

use hardway_assets::input_tables;

use crate::cli::{Format, SchemaArgs, SchemaFile};
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// For the `yaml.schemas` setting of editors.
pub(super) fn run(args: &SchemaArgs, out: &Output) -> Result<Exit, Report> {
    let schema = match args.file {
        SchemaFile::InstallConfig => input_tables::install_config_schema(),
        SchemaFile::Inventory => input_tables::inventory_schema(),
        SchemaFile::HostedInventory => input_tables::hosted_inventory_schema(),
    };
    out.value(&schema, Format::Json);
    Ok(Exit::Done)
}
