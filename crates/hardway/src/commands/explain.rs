//! `hardway explain WHAT`

use hardway_assets::Phase;
use hardway_assets::explain::{Explanation, Kind};
use hardway_assets::guide::{self, Page};
use serde_json::{Value, json};

use crate::cli::{ExplainArgs, Format};
use crate::explanations;
use crate::report::{Code, Exit, Report};
use crate::terminal::Output;

/// Everything known under that name; a page of the guide for `stage 7` or the name of a phase.
pub(crate) fn run(args: &ExplainArgs, out: &Output) -> Result<Exit, Report> {
    let what = args.what.join(" ");
    let stage = what.strip_prefix("stage").map(str::trim);
    let catalogue = explanations::catalogue();
    let found = catalogue.find(&what);
    if found.is_empty() {
        let name = stage.unwrap_or_else(|| what.strip_prefix("phase ").unwrap_or(&what));
        if let Some(page) = guide::page(name) {
            match args.output {
                Format::Text => out.data(page.text),
                format => out.value(&page_value(page), format),
            }
            return Ok(Exit::Done);
        }
        if let Some(stage) = stage {
            return Err(Report::new(Code::Usage, format!("the guide has no stage {stage:?}"))
                .fix("stages are 1 to 17, and 0 is the map"));
        }
        let near = catalogue.near_with(&what, Phase::ALL.iter().map(|phase| phase.name()));
        let report = Report::new(Code::Usage, format!("nothing is known about {what:?}"));
        return Err(report.fix(match near.is_empty() {
            false => format!("near: {}", near.join(", ")),
            true => "files, certificates, kubeconfigs, flags, units, fields of both input files, phases, error codes and reasons are known; \
                     `hardway phase list`, `hardway status --all` and `hardway diagnose --list` name many"
                .to_owned(),
        }));
    }
    match args.output {
        Format::Text => out.data(&found.iter().map(|e| text(e)).collect::<Vec<_>>().join("\n")),
        format => out.value(&Value::Array(found.iter().map(|e| value(e)).collect()), format),
    }
    Ok(Exit::Done)
}

fn text(e: &Explanation) -> String {
    let labels = match e.kind {
        Kind::Check => ["asks", "why", "looks at", "fix", "source"],
        Kind::Diagnosis | Kind::HostedDiagnosis => ["symptom", "cause", "shows in", "fix", "source"],
        _ => ["what", "why", "read by", "without", "source"],
    };
    let mut text = format!("{} ({})\n", e.name, e.kind.name());
    for (label, told) in labels.iter().zip([e.what, e.why, e.readers, e.without, e.source]) {
        text += &format!("  {label:9} {told}\n");
    }
    text
}

fn page_value(page: &Page) -> Value {
    json!({
        "stage": page.stage,
        "phase": page.phase.map(Phase::name),
        "title": page.title,
        "text": page.text,
    })
}

fn value(e: &Explanation) -> Value {
    json!({
        "name": e.name,
        "kind": e.kind.name(),
        "what": e.what,
        "why": e.why,
        "readers": e.readers,
        "without": e.without,
        "source": e.source,
    })
}
