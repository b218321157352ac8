//! `hardway validate`

use hardway_assets::inventory::Errors;
use hardway_assets::violation::Violation;
use hardway_base::counted;
use hardway_manifests::{PipelineRow, Severity, junit, sarif};
use serde_json::{Value, json};

use super::check::manifests;
use crate::cli::{FindingsFormat, Format, Global, ValidateArgs, ValidateWhat};
use crate::inputs::{HostedFindings, InputFile, InputFiles, Purpose, Workdir};
use crate::project::{self, Judged};
use crate::report::{Exit, Report};
use crate::terminal::Output;

/// Both files, and the manifests as far as the release is here: nobody is asked, nothing is made. What machines still need to
/// boot is a warning, as files can be made without it.
pub(crate) fn run(global: &Global, args: &ValidateArgs, out: &Output) -> Result<Exit, Report> {
    if let Some(ValidateWhat::Schema(args)) = &args.what {
        return super::schema::run(args, out);
    }
    let workdir = Workdir::open(&global.dir)?;
    if let Some(found) = HostedFindings::look(&workdir)? {
        return hosted(&found, args, out);
    }
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
    let judged = match is_good {
        true => Judged::here(&workdir, &files, out)?,
        false => None,
    };
    if args.output != FindingsFormat::Text {
        for_programs(&found, &files, judged.as_ref(), args.output, out);
        let is_refused = judged.is_some_and(|judged| judged.findings.errors().next().is_some());
        return Ok(if is_good && !is_refused { Exit::Done } else { Exit::Config });
    }
    if !is_good {
        return Err(files.invalid(&found));
    }
    found.odd_install_config.iter().for_each(|violation| out.finding(&config.warning(violation)));
    found.odd_inventory.iter().for_each(|violation| out.finding(&inventory.warning(violation)));
    let odd = match found.odd_install_config.len() + found.odd_inventory.len() {
        0 => String::new(),
        count => format!(", {}", counted(count, "warning")),
    };
    out.info(&format!("no mistakes in {} and {}{odd}", config.path, inventory.path));
    match judged {
        Some(judged) => manifests::tell(&judged, out),
        None => {
            out.info(
                "manifests were not checked: the release is not here yet; fetch it with `hardway create manifests`",
            );
            Ok(Exit::Done)
        }
    }
}

/// The one file of a folder with machines of hosted clusters.
fn hosted(found: &HostedFindings, args: &ValidateArgs, out: &Output) -> Result<Exit, Report> {
    let HostedFindings { file, errors, warnings, .. } = found;
    let is_good = errors.is_empty();
    let all = || {
        let errors = errors.iter().map(|violation| (Severity::Error, violation));
        errors.chain(warnings.iter().map(|violation| (Severity::Warning, violation)))
    };
    let value =
        || -> Value { all().map(|(severity, violation)| finding(severity, file, violation)).collect() };
    let rows = || -> Vec<PipelineRow> {
        all().map(|(severity, violation)| row(severity, file, violation)).collect()
    };
    match args.output {
        FindingsFormat::Text if !is_good => return Err(found.report()),
        FindingsFormat::Text => {
            warnings.iter().for_each(|violation| out.finding(&file.warning(violation)));
            let (pools, machines) = (found.pools(), found.machines());
            out.info(&format!(
                "no mistakes in {}: {}, {machines} machines at most",
                file.path,
                if pools == 1 { "1 pool".to_owned() } else { format!("{pools} pools") }
            ));
        }
        FindingsFormat::Json => out.value(&value(), Format::Json),
        FindingsFormat::Yaml => out.value(&value(), Format::Yaml),
        FindingsFormat::Junit => out.data(&junit("validate", &[file.path.as_str()], &rows())),
        FindingsFormat::Sarif => out.value(&sarif(env!("CARGO_PKG_VERSION"), &rows()), Format::Json),
    }
    Ok(if is_good { Exit::Done } else { Exit::Config })
}

/// Everything that was found, in both files and in the manifests.
fn for_programs(
    found: &Errors,
    files: &InputFiles,
    judged: Option<&Judged>,
    format: FindingsFormat,
    out: &Output,
) {
    let of_inputs = findings(found, files);
    let value = || -> Value {
        let of_manifests = judged.into_iter().flat_map(|judged| &judged.findings.found).map(manifests::row);
        of_inputs
            .iter()
            .map(|(severity, file, violation)| finding(*severity, file, violation))
            .chain(of_manifests)
            .collect()
    };
    let rows = || -> Vec<PipelineRow> {
        let of_manifests = judged.into_iter().flat_map(|judged| judged.findings.rows());
        of_inputs
            .iter()
            .map(|(severity, file, violation)| row(*severity, file, violation))
            .chain(of_manifests)
            .collect()
    };
    match format {
        FindingsFormat::Text | FindingsFormat::Json => out.value(&value(), Format::Json),
        FindingsFormat::Yaml => out.value(&value(), Format::Yaml),
        FindingsFormat::Junit => {
            let of_manifests = judged.map(Judged::files).unwrap_or_default();
            let cases =
                [vec![files.config.path.as_str(), files.inventory.path.as_str()], of_manifests].concat();
            out.data(&junit("validate", &cases, &rows()));
        }
        FindingsFormat::Sarif => out.value(&sarif(env!("CARGO_PKG_VERSION"), &rows()), Format::Json),
    }
    if let Some(line) = judged.and_then(|judged| judged.findings.unchecked_line()) {
        out.info(&line);
    }
}

/// Everything that was found in both input files.
fn findings<'f>(found: &'f Errors, files: &'f InputFiles) -> Vec<(Severity, &'f InputFile, &'f Violation)> {
    let rows = [
        (Severity::Error, &files.config, &found.install_config),
        (Severity::Error, &files.inventory, &found.inventory),
        (Severity::Warning, &files.config, &found.odd_install_config),
        (Severity::Warning, &files.inventory, &found.odd_inventory),
    ];
    let all = |(severity, file, violations): (Severity, &'f InputFile, &'f Vec<Violation>)| {
        violations.iter().map(move |violation| (severity, file, violation))
    };
    rows.into_iter().flat_map(all).collect()
}

fn row(severity: Severity, file: &InputFile, violation: &Violation) -> PipelineRow {
    let (line, column) = file.line_and_column(violation);
    let meaning = violation.kind.text();
    PipelineRow {
        rule: format!("input/{}", meaning.to_lowercase().replace(' ', "-")),
        meaning: meaning.to_owned(),
        severity,
        case: file.path.clone(),
        file: file.path.clone(),
        line,
        column,
        object: String::new(),
        message: file.message(violation),
        fix: violation.fix.clone(),
    }
}

fn finding(severity: Severity, file: &InputFile, violation: &Violation) -> Value {
    let (line, column) = file.line_and_column(violation);
    json!({
        "severity": severity.word(),
        "file": file.path,
        "line": line,
        "column": column,
        "field": violation.path,
        "message": file.message(violation),
        "fix": violation.fix,
    })
}
