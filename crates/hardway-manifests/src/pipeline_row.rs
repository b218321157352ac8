//! Findings as pipelines take them: JUnit XML, which every CI knows, and SARIF 2.1.0, which code hosts draw into the lines of a
//! change.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use hardway_assets::violation::FieldErrorKind;
use serde_json::{Value, json};

use crate::{Finding, Findings, Severity};

/// Something wrong at a place, whatever looked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineRow {
    /// Such as `manifest/not-found`.
    pub rule: String,
    /// What that means, in a few words.
    pub meaning: String,
    /// How bad it is.
    pub severity: Severity,
    /// What was looked at: a test case.
    pub case: String,
    /// Path of the file.
    pub file: String,
    /// From one.
    pub line: usize,
    /// From one.
    pub column: usize,
    /// What it is about.
    pub object: String,
    /// What is wrong, in a sentence.
    pub message: String,
    /// What to do.
    pub fix: Option<String>,
}

impl Findings {
    /// A row for each finding.
    pub fn rows(&self) -> Vec<PipelineRow> {
        self.found.iter().map(row).collect()
    }
}

/// As a report of tests; `cases` are all that were looked at. A warning is told in the case's output.
pub fn junit(suite: &str, cases: &[&str], rows: &[PipelineRow]) -> String {
    let mut by_case: BTreeMap<&str, Vec<&PipelineRow>> =
        cases.iter().map(|case| (*case, Vec::new())).collect();
    for row in rows {
        by_case.entry(&row.case).or_default().push(row);
    }
    let is_bad = |rows: &&Vec<&PipelineRow>| rows.iter().any(|row| row.severity == Severity::Error);
    let failures = by_case.values().filter(is_bad).count();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let count = by_case.len();
    let _ = writeln!(
        xml,
        "<testsuites><testsuite name=\"hardway {suite}\" tests=\"{count}\" failures=\"{failures}\">"
    );
    for (case, rows) in by_case {
        let _ = writeln!(xml, "<testcase classname=\"{suite}\" name=\"{}\">", escape(case));
        for row in rows {
            let text = told(row);
            let _ = match row.severity {
                Severity::Error => {
                    writeln!(xml, "<failure message=\"{}\">{}</failure>", escape(&row.message), escape(&text))
                }
                Severity::Warning => writeln!(xml, "<system-out>{}</system-out>", escape(&text)),
            };
        }
        xml.push_str("</testcase>\n");
    }
    xml + "</testsuite></testsuites>\n"
}

/// As one run of one tool; `version` is the tool's.
pub fn sarif(version: &str, rows: &[PipelineRow]) -> Value {
    let rules: BTreeMap<&str, &str> =
        rows.iter().map(|row| (row.rule.as_str(), row.meaning.as_str())).collect();
    let rules: Vec<Value> =
        rules.iter().map(|(id, meaning)| json!({"id": id, "shortDescription": {"text": meaning}})).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "hardway", "version": version, "rules": rules}},
            "results": rows.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

fn row(finding: &Finding) -> PipelineRow {
    PipelineRow {
        rule: rule(finding.mistake.kind),
        meaning: finding.mistake.kind.text().to_owned(),
        severity: finding.severity,
        case: finding.file.clone(),
        file: finding.file.clone(),
        line: finding.line,
        column: finding.column,
        object: finding.object.clone(),
        message: finding.mistake.to_string(),
        fix: finding.mistake.fix.clone(),
    }
}

/// What a kind of mistake is called in reports for pipelines: `manifest/not-found`.
pub fn rule(kind: FieldErrorKind) -> String {
    format!("manifest/{}", kind.text().to_lowercase().replace(' ', "-"))
}

fn result(row: &PipelineRow) -> Value {
    let fix = row.fix.as_ref().map(|fix| format!(" (fix: {fix})")).unwrap_or_default();
    json!({
        "ruleId": row.rule,
        "level": row.severity.word(),
        "message": {"text": format!("{}{}{fix}", subject(row), row.message)},
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": row.file},
            "region": {"startLine": row.line, "startColumn": row.column},
        }}],
    })
}

fn told(row: &PipelineRow) -> String {
    let fix = row.fix.as_ref().map(|fix| format!("\nfix: {fix}")).unwrap_or_default();
    format!("{}:{}:{}: {}{}{fix}", row.file, row.line, row.column, subject(row), row.message)
}

/// What a sentence is about, where that is more than its file.
fn subject(row: &PipelineRow) -> String {
    if row.object.is_empty() { String::new() } else { format!("{}: ", row.object) }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
