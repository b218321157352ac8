//! `hardway validate`

use hardway_assets::inventory::Errors;
use hardway_assets::violation::Violation;
use serde_json::{Value, json};

use crate::cli::{Format, Global, ValidateArgs};
use crate::inputs::{InputFile, InputFiles, Purpose, Workdir};
use crate::project;
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// Both files alone: nobody is asked, nothing is made. What machines still need to boot is a warning, as files can be made
/// without it.
pub(crate) fn run(global: &Global, args: &ValidateArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let files = InputFiles::open(&workdir)?;
    let InputFiles { config, inventory, .. } = &files;
    let rules = project::rules_before_release(&workdir, inventory);
    let found = files.examine(rules, Purpose::Machines);
    let is_good = found.is_ok();
    let found = found.map_or_else(
        |errors| errors,
        |read| Errors {
            odd_install_config: read.config.warnings.clone(),
            odd_inventory: [read.inventory.warnings.as_slice(), &read.unready].concat(),
            ..Errors::default()
        },
    );
    if args.output != Format::Text {
        out.value(&findings(&found, config, inventory), args.output);
        return Ok(if is_good { Exit::Done } else { Exit::Config });
    }
    if !is_good {
        return Err(files.invalid(&found));
    }
    found.odd_install_config.iter().for_each(|violation| out.finding(&config.warning(violation)));
    found.odd_inventory.iter().for_each(|violation| out.finding(&inventory.warning(violation)));
    let odd = match found.odd_install_config.len() + found.odd_inventory.len() {
        0 => String::new(),
        1 => ", 1 warning".to_owned(),
        count => format!(", {count} warnings"),
    };
    out.info(&format!("no mistakes in {} and {}{odd}", config.path, inventory.path));
    Ok(Exit::Done)
}

/// Everything that was found, for programs.
fn findings(found: &Errors, config: &InputFile, inventory: &InputFile) -> Value {
    let rows = [
        ("error", config, &found.install_config),
        ("error", inventory, &found.inventory),
        ("warning", config, &found.odd_install_config),
        ("warning", inventory, &found.odd_inventory),
    ];
    let row = |(severity, file, violations): (&str, &InputFile, &Vec<Violation>)| -> Vec<Value> {
        violations.iter().map(|violation| finding(severity, file, violation)).collect()
    };
    Value::Array(rows.into_iter().flat_map(row).collect())
}

fn finding(severity: &str, file: &InputFile, violation: &Violation) -> Value {
    let (line, column) = file.line_and_column(violation);
    json!({
        "severity": severity,
        "file": file.path,
        "line": line,
        "column": column,
        "field": violation.path,
        "message": file.message(violation),
        "fix": violation.fix,
    })
}
