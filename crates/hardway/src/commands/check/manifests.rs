//! `hardway check manifests`

use hardway_manifests::{Finding, Findings, junit, sarif};
use serde_json::{Value, json};

use crate::cli::{CheckManifestsArgs, FindingsFormat, Format, Global};
use crate::inputs::{InputFiles, Workdir};
use crate::project::Judged;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// Judges what is on disk, and what would be made of the rest. Exit code 3 when something would be refused.
pub(crate) fn run(global: &Global, args: &CheckManifestsArgs, out: &Output) -> Result<Exit, Report> {
    let workdir = Workdir::open(&global.dir)?;
    let files = InputFiles::open(&workdir)?;
    let judged = Judged::here(&workdir, &files, out)?.ok_or_else(|| {
        Report::new(Code::ReleaseNotFetched, "the release to check the manifests against is not here yet")
            .fix("fetch it with `hardway create manifests`")
    })?;
    let findings = &judged.findings;
    match args.output {
        FindingsFormat::Text => return tell(&judged, out),
        FindingsFormat::Json => out.value(&value(findings), Format::Json),
        FindingsFormat::Yaml => out.value(&value(findings), Format::Yaml),
        FindingsFormat::Junit => out.data(&junit("manifests", &judged.files(), &findings.rows())),
        FindingsFormat::Sarif => {
            out.value(&sarif(env!("CARGO_PKG_VERSION"), &findings.rows()), Format::Json);
        }
    }
    Ok(if findings.errors().next().is_none() { Exit::Done } else { Exit::Config })
}

/// For people.
pub(crate) fn tell(judged: &Judged, out: &Output) -> Result<Exit, Report> {
    judged.warnings().iter().for_each(|warning| out.finding(warning));
    if let Some(line) = judged.findings.unchecked_line() {
        out.info(&line);
    }
    if let Some(report) = judged.refused() {
        return Err(report);
    }
    out.info(&format!("{} objects checked: the API server would accept all of them", judged.findings.judged));
    Ok(Exit::Done)
}

/// For programs.
pub(crate) fn value(findings: &Findings) -> Value {
    let unchecked: Vec<Value> = findings
        .unchecked
        .iter()
        .map(|row| json!({"file": row.file, "object": row.object, "reason": row.reason}))
        .collect();
    json!({
        "judged": findings.judged,
        "findings": findings.found.iter().map(row).collect::<Vec<_>>(),
        "unchecked": unchecked,
    })
}

/// One finding, as `validate` shows those of the input files.
pub(crate) fn row(finding: &Finding) -> Value {
    json!({
        "severity": finding.severity.word(),
        "file": finding.file,
        "line": finding.line,
        "column": finding.column,
        "object": finding.object,
        "field": finding.mistake.path.to_string(),
        "message": finding.mistake.to_string(),
        "fix": finding.mistake.fix,
    })
}
